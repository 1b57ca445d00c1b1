package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Call is one call of an export and all it may use.
type Call struct {
	Export      string
	Input       []byte        // what the guest pulls; not modified, at most 2 GiB
	Wall        time.Duration // wall limit; must be set
	Fuel        uint64        // fuel it may spend, its host calls included; must be set
	OutputLimit int           // bytes it may output; 0 = none
	Seed        [32]byte      // of the ChaCha8 stream (C2SP chacha8rand) that WASI's random_get reads
	Read        ReadFunc      // serves rpc; nil = no chain is known
	ReadOut     int           // bytes of replies it may get; beyond that it is over budget
}

// A Result is what a call gave and what it took.
type Result struct {
	Status int32  // what the export returned
	Output []byte // what it output; nil = nothing
	Log    []byte // what it logged, at most CallLogBytes, as in Log
	Usage  Usage
}

// Usage is what a call took. Every field is the same on every host.
type Usage struct {
	Fuel      uint64 // spent, the work of host calls included
	PeakPages uint32 // the memory's size at the end, which is its largest
	HostCalls uint64 // calls of imports
	Reads     int    // calls of the ReadFunc
	VirtualNS uint64 // nanoseconds that passed on its clock
}

// A ReadFunc serves one rpc: a request to a chain. The request is the callee's
// to keep. ctx ends with the call's wall limit, and it must then return within
// 10 ms. It must not wait for another guest of the engine. An error is the host's
// own and ends the call.
type ReadFunc func(ctx context.Context, chain uint64, req []byte) (Reply, error)

// A Reply is what a read gave.
type Reply struct {
	Body   []byte     // counts only with status ReadOK
	Status ReadStatus // the zero value is ReadOK
	Fuel   uint64     // what serving it costs the guest, besides the bytes moved
}

// A ReadStatus is what rpc returns instead of a length.
type ReadStatus int32

// Statuses of a read.
const (
	ReadOK           ReadStatus = 0
	ReadUnknownChain ReadStatus = -1
	ReadBudget       ReadStatus = -2 // over budget, and so is every further read of the call
	ReadTooLarge     ReadStatus = -3 // the request or its reply
)

// RequestLimit is the most bytes of one rpc request; more is ReadTooLarge.
const RequestLimit = 1 << 20

// A call is the state of a [Call] that runs. Only the goroutine that runs the
// guest touches it.
type call struct {
	Call
	instance *Instance
	taken    int // bytes of the input
	output   []byte
	reply    []byte // what is left of it
	replied  int    // bytes of all replies
	over     bool   // over budget
	logged   []byte
	random   *rand.ChaCha8
	usage    Usage
	tank     tank
	tracer   *tracer   // nil unless fuel is profiled
	deadline time.Time // of the host's clock
	expired  bool      // the wall limit ended the call
	stopped  error     // why host code ended the call: a fault, a refusal or the host's own error
}

type callKey struct{}

func (i *Instance) newCall(limits Call) *call {
	c := &call{Call: limits, instance: i, random: rand.NewChaCha8(limits.Seed)}
	c.fill(limits.Fuel)
	c.tracer = i.module.engine.config.FuelProfile.trace(c, limits.Export)
	return c
}

// stop records why the call ends. The first reason counts.
func (c *call) stop(err error) {
	if c.stopped == nil {
		c.stopped = err
	}
}

var (
	errWallLimit = errors.New("wall limit")
	errSpent     = errors.New("allowance spent")
	errStopped   = errors.New("stopped by the host")
)

// run calls into the guest under the call's limits and says how it ended. After
// an error the instance is dead.
func (i *Instance) run(ctx context.Context, c *call, enter func(context.Context) error) (err error) {
	engine, allowance := i.module.engine, i.env.Allowance
	wall, limit := engine.wall(c.Wall), errWallLimit
	if allowance != nil {
		if err := allowance.Err(); err != nil {
			i.kill()
			return err
		}
		if left := allowance.rest(); left < wall {
			wall, limit = left, errSpent
		}
	}
	began := engine.config.Clock()
	c.deadline = began.Add(wall)
	defer func() { allowance.spend(engine.config.Clock().Sub(began), c.usage.Fuel) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(engine.ctx, func() { cancel(ErrClosed) })()
	ctx, release := context.WithTimeoutCause(ctx, wall, limit)
	defer release()

	i.memory.refused = false
	virtual := i.virtual
	err = enterRecovered(context.WithValue(ctx, callKey{}, c), enter)
	c.usage.PeakPages = i.memory.pages()
	c.usage.VirtualNS = i.virtual - virtual
	c.tracer.end()
	c.usage.Fuel = c.tank.spent()
	err = i.ended(ctx, c, limit, err)
	if engine.onEnd != nil {
		engine.onEnd(i, i.memory.bytes(), c.usage.Fuel)
	}
	if err != nil {
		i.kill()
	}
	if i.env.Log != nil && !byWall(err) {
		i.env.Log.append(c.logged)
	}
	return err
}

// byWall reports whether a wall limit ended the call.
func byWall(err error) bool {
	var fault *Fault
	return errors.Is(err, ErrWall) || errors.As(err, &fault) && fault.Cause == CauseStalled
}

// enterRecovered turns a panic outside of the guest into an error of the host's.
func enterRecovered(ctx context.Context, enter func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return enter(ctx)
}

// ended decides whose doing the end of a call was. What the host knows of
// itself comes first, then what the guest did for certain, then the clock.
func (i *Instance) ended(ctx context.Context, c *call, limit, err error) error {
	if i.memory.err != nil {
		return i.memory.err
	}
	if c.stopped != nil {
		var fault *Fault
		if errors.As(c.stopped, &fault) && fault.Cause == CauseExit && i.memory.exhausted() {
			return i.memoryFault(fault.Detail)
		}
		return c.stopped
	}
	if what, ok := i.module.trap(err); ok {
		if i.memory.exhausted() {
			return i.memoryFault(what)
		}
		return &Fault{CauseTrap, what}
	}
	if !c.expired {
		return err
	}
	if ctx.Err() != nil {
		limit = context.Cause(ctx)
	}
	switch {
	case i.module.probe:
		return ErrWall
	case errors.Is(limit, errWallLimit):
		return i.module.engine.wallStop(fmt.Sprintf("stopped after %v", c.Wall))
	case errors.Is(limit, errSpent):
		a := i.env.Allowance
		a.spend(a.rest(), 0) // whatever the clock says, its timer has ended
		return a.Err()
	default:
		return limit
	}
}

func (i *Instance) memoryFault(what string) error {
	return &Fault{CauseMemory, fmt.Sprintf("%s, with %s of %s pages", what, thousands(i.memory.pages()), thousands(i.module.maxPages))}
}

// traps are the texts of wazero's errors for what a guest may do wrong. Their
// type isn't exported, and a text that isn't here is taken for the host's.
var traps = map[string]bool{
	"invalid conversion to integer": true,
	"integer overflow":              true,
	"integer divide by zero":        true,
	"unreachable":                   true,
	"out of bounds memory access":   true,
	"invalid table access":          true,
	"indirect call type mismatch":   true,
}

// frames finds the functions in wazero's stack trace, the innermost first. The
// module was compiled without names, so they are printed as .$index.
var frames = regexp.MustCompile(`\n\t\.\$([0-9]+)\(`)

// trap tells whether an error is the guest's trap, and which in which function.
func (m *Module) trap(err error) (what string, ok bool) {
	if err == nil {
		return "", false
	}
	text, root := err.Error(), err
	for next := root; next != nil; next = errors.Unwrap(next) {
		root = next
	}
	if what = root.Error(); !traps[what] {
		// A data segment beyond the memory is found while instantiating.
		const segment = ": out of bounds memory access"
		return text, strings.HasPrefix(text, "data[") && strings.HasSuffix(text, segment)
	}
	// A function of the rewrite's own stands for its caller.
	for _, found := range frames.FindAllStringSubmatch(text, 4) {
		index, err := strconv.ParseUint(found[1], 10, 32)
		if err != nil {
			break
		}
		if original, ok := m.meter.Original(uint32(index)); ok {
			return what + " in " + describe(m.names, original), true
		}
	}
	return what, true
}
