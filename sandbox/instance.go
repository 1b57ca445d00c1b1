package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/subnet112/assay/sandbox/meter"
)

// A Module is an admitted, compiled module under a profile. Its methods may be
// called from any goroutine.
type Module struct {
	engine   *Engine
	code     *compilation
	profile  Profile
	report   Report
	exports  map[string]bool // names of functions
	names    []byte          // payload of the name section
	meter    *meter.Module   // what the rewrite says, without its bytes
	minPages uint32
	maxPages uint32
	probe    bool // it is the calibration guest
	closed   bool // guarded by Engine.mu
}

// Close gives the module up: no further instance can be made of it, those
// that there are live on. The compiled code is freed with the last module and the last
// instance of its identity. It may be called again, and after [Engine.Close].
func (m *Module) Close() {
	e := m.engine
	e.mu.Lock()
	was := m.closed
	m.closed = true
	e.mu.Unlock()
	if !was {
		e.release(m.code)
	}
}

// use counts an instance among the users of the code.
func (m *Module) use() error {
	m.engine.mu.Lock()
	defer m.engine.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.code.users++
	return nil
}

// SHA256 is the hash of all the module's bytes.
func (m *Module) SHA256() [32]byte { return m.report.SHA256 }

// Identity is the hash of the module's bytes without custom sections: what it
// does, whatever names and debug information it carries.
func (m *Module) Identity() [32]byte { return m.report.Identity }

// Report is what [Engine.Check] found.
func (m *Module) Report() Report { return m.report }

// Has reports whether the module has an export of its profile.
func (m *Module) Has(name string) bool {
	return m.exports[name] && m.profile.has(name)
}

// Size is the module's size in bytes.
func (m *Module) Size() int { return m.report.Bytes }

// InstantiateWall is the wall limit of [Module.Instantiate] unless [Env.Wall]
// says another.
const InstantiateWall = 10 * time.Second

// InstantiateFuel is the fuel of [Module.Instantiate] unless [Env.Fuel] says
// another.
const InstantiateFuel = 5_000_000_000

// An Env is what an instance sees of the world for as long as it lives.
type Env struct {
	Time uint64        // seconds since 1970 that its clock starts at
	Seed [32]byte      // randomness while it is instantiated; afterwards Call.Seed
	Wall time.Duration // wall limit of instantiation; 0 = InstantiateWall
	Fuel uint64        // fuel of instantiation; 0 = InstantiateFuel
	// Subject is whom a [FuelProfile] counts it for; zero = nobody.
	Subject [32]byte

	Log *Log // where its log goes besides Result.Log; may be nil and shared by consecutive instances

	// Allowance bounds instantiation and all calls together, beside each one's
	// own wall limit; may be nil and shared by consecutive instances.
	Allowance *Allowance
}

// Instantiate makes an instance: memory, data, the start function, _initialize
// if there is one, then the profile's ABI export must return 1. Output isn't
// possible yet, reads answer ReadUnknownChain.
//
// The error is a [*Fault] or [*Refusal] of the guest's, or the host's own.
func (m *Module) Instantiate(ctx context.Context, env Env) (*Instance, error) {
	if err := m.engine.enter(); err != nil {
		return nil, err
	}
	defer m.engine.busy.Done()

	stand, err := m.engine.sit(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("instantiate: %w", err)
	}
	defer stand()
	i, err := m.prepare(env)
	if err != nil {
		return nil, err
	}
	limit := Call{Export: "(instantiate)", Wall: env.Wall, Fuel: env.Fuel, Seed: env.Seed}
	if limit.Wall == 0 {
		limit.Wall = InstantiateWall
	}
	if limit.Fuel == 0 {
		limit.Fuel = InstantiateFuel
	}
	call := i.newCall(limit)
	err = i.run(ctx, call, func(ctx context.Context) error { return i.initialize(ctx, call) })
	if err != nil {
		return nil, fmt.Errorf("instantiate: %w", err)
	}
	i.alive = true
	return i, nil
}

// prepare makes an instance without a guest.
func (m *Module) prepare(env Env) (*Instance, error) {
	if err := m.use(); err != nil {
		return nil, err
	}
	memory, err := newMemory(m.minPages, m.maxPages)
	if err != nil {
		m.engine.release(m.code)
		return nil, err
	}
	return &Instance{module: m, env: env, memory: memory, functions: map[string]api.Function{}}, nil
}

// initialize runs inside of run, under a call's context.
func (i *Instance) initialize(ctx context.Context, c *call) (err error) {
	if err := i.make(ctx); err != nil {
		return err
	}
	c.tank.open(i.guest)
	if f := i.guest.ExportedFunction("_initialize"); f != nil {
		c.tank.depth.Set(meter.DepthSlots)
		if err := f.CallWithStack(ctx, nil); err != nil {
			return err
		}
	}
	if name := i.module.profile.ABI; name != "" {
		var stack [1]uint64
		c.tank.depth.Set(meter.DepthSlots)
		if err := i.guest.ExportedFunction(name).CallWithStack(ctx, stack[:]); err != nil {
			return err
		}
		if version := int32(stack[0]); version != 1 {
			c.stop(&Refusal{ReasonABI, fmt.Sprintf("%s() = %s, want 1", name, thousands(int64(version)))})
		}
	}
	return nil
}

// make gives the instance its guest: memory, data, the start function. ctx
// carries the call that pays for it.
func (i *Instance) make(ctx context.Context) (err error) {
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory {
		return i.memory
	}))
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	i.guest, err = i.module.code.runtime.InstantiateModule(ctx, i.module.code.module, config)
	if err != nil {
		return err
	}
	return nil
}

// An Instance is one running guest. Its methods may be called from any
// goroutine; calls run one after the other.
type Instance struct {
	module    *Module
	env       Env
	memory    *linearMemory
	guest     api.Module
	functions map[string]api.Function
	virtual   uint64 // nanoseconds on its clock
	freed     bool

	mu    sync.Mutex
	alive bool
}

// Alive reports whether the instance can be called: it neither faulted nor was
// closed.
func (i *Instance) Alive() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.alive
}

// Close frees the instance after a running call has ended. It may be called
// again, and on a dead instance.
func (i *Instance) Close(context.Context) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.kill()
}

// kill frees the instance; the caller holds the lock or is the only one that
// knows it.
func (i *Instance) kill() {
	i.alive = false
	if i.freed {
		return
	}
	i.freed = true
	if i.guest != nil {
		_ = i.guest.Close(context.Background()) // it has no files: nothing can fail
	}
	i.functions = nil
	i.memory.Free()
	i.module.engine.release(i.module.code)
}

// Call calls an export with the length of the input and collects its output.
//
// A [*Fault] is the guest's; every other error is the host's own or ctx's. After
// either the instance is dead, unless the call never began: [ErrDead],
// [ErrClosed], a ctx that had ended, an export the module doesn't have. The
// result's usage and log are set whenever the call began, status and output only
// without error.
func (i *Instance) Call(ctx context.Context, c Call) (Result, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.alive {
		return Result{}, ErrDead
	}
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("call %s: %w", c.Export, context.Cause(ctx))
	}
	if !i.module.Has(c.Export) {
		return Result{}, fmt.Errorf("call %s: %w", c.Export, errNoExport)
	}
	if c.Wall <= 0 || c.Fuel == 0 {
		return Result{}, fmt.Errorf("call %s: %w", c.Export, errNoLimit)
	}
	if err := i.module.engine.enter(); err != nil {
		return Result{}, err
	}
	defer i.module.engine.busy.Done()
	stand, err := i.module.engine.sit(ctx, i.module)
	if err != nil {
		return Result{}, fmt.Errorf("call %s: %w", c.Export, err)
	}
	defer stand()

	f := i.functions[c.Export]
	if f == nil {
		f = i.guest.ExportedFunction(c.Export)
		i.functions[c.Export] = f
	}
	call := i.newCall(c)
	call.tank.open(i.guest)
	call.tank.add(0)
	call.tank.depth.Set(meter.DepthSlots)
	stack := [1]uint64{uint64(uint32(len(c.Input)))}
	err = i.run(ctx, call, func(ctx context.Context) error { return f.CallWithStack(ctx, stack[:]) })
	result := Result{Usage: call.usage, Log: call.logged}
	if err != nil {
		return result, fmt.Errorf("call %s: %w", c.Export, err)
	}
	result.Status, result.Output = int32(stack[0]), call.output
	return result, nil
}

var (
	errNoExport = errors.New("not an export of the module's profile")
	errNoLimit  = errors.New("no wall limit, or no fuel")
)
