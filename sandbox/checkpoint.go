package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/subnet112/assay/sandbox/meter"
)

// ErrNotCheckpointable is why an instance can't be put back: what it did isn't
// in its memory and globals alone.
var ErrNotCheckpointable = errors.New("module is not checkpointable")

// blockBytes is the granularity of what a checkpoint stores: blocks of zeros
// aren't.
const blockBytes = 4096

// A Checkpoint is where an instance was between two calls: its memory, its
// mutable globals, its clock. Any number of goroutines may resume from it.
type Checkpoint struct {
	module  *Module
	pages   uint32
	blocks  []block // by offset
	globals []uint64
	virtual uint64
}

// A block is memory that isn't zero.
type block struct {
	at    int
	bytes []byte // a multiple of blockBytes
}

// Checkpointable is nil, or says why instances of the module can't be
// checkpointed, wrapping [ErrNotCheckpointable].
func (m *Module) Checkpointable() error {
	if m.meter.Unsound != "" {
		return fmt.Errorf("%w: %s", ErrNotCheckpointable, m.meter.Unsound)
	}
	return nil
}

// Checkpoint copies where the instance is. It draws an eighth of the memory's
// bytes in fuel on the allowance, of which there must be enough; the error is
// [ErrNotCheckpointable], [ErrDead] or the allowance's.
func (i *Instance) Checkpoint() (*Checkpoint, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.alive {
		return nil, ErrDead
	}
	if err := i.module.Checkpointable(); err != nil {
		return nil, err
	}
	if err := i.env.Allowance.payCopy(i.memory.size); err != nil {
		return nil, err
	}
	c := &Checkpoint{module: i.module, pages: i.memory.pages(), virtual: i.virtual}
	memory := i.memory.bytes()
	for at := 0; at < len(memory); {
		end := at
		for end < len(memory) && !isZero(memory[end:end+blockBytes]) {
			end += blockBytes
		}
		if end > at {
			c.blocks = append(c.blocks, block{at, bytes.Clone(memory[at:end])})
		}
		at = end + blockBytes
	}
	for _, g := range i.module.meter.Mutable {
		c.globals = append(c.globals, i.guest.ExportedGlobal(meter.MutableGlobal(g.Index)).Get())
	}
	return c, nil
}

// Resume gives an instance that goes on from the checkpoint under env, whose Seed
// is of no account. old, which may be nil or dead, is put back where that is
// possible and closed otherwise; it must not be used any more. Resume draws on
// env.Allowance as [Instance.Checkpoint] does. The error is the allowance's or the
// host's own.
func (c *Checkpoint) Resume(ctx context.Context, env Env, old *Instance) (*Instance, error) {
	err := ctx.Err()
	if err == nil {
		err = env.Allowance.payCopy(uint64(c.pages) * pageSize)
	}
	if err == nil {
		err = c.module.engine.enter()
	}
	if err != nil {
		if old != nil {
			old.Close(ctx)
		}
		return nil, fmt.Errorf("resume: %w", err)
	}
	defer c.module.engine.busy.Done()
	if old != nil {
		if c.restore(old, env) {
			return old, nil
		}
		old.Close(ctx)
	}
	i, err := c.fresh(ctx, env)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	return i, nil
}

// restore puts a live instance back, if its memory hasn't grown: it can't shrink.
func (c *Checkpoint) restore(i *Instance, env Env) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.alive || i.module != c.module || i.memory.pages() > c.pages {
		return false
	}
	return c.write(i, env) == nil
}

// fresh makes an instance without running anything in it.
func (c *Checkpoint) fresh(ctx context.Context, env Env) (*Instance, error) {
	i, err := c.module.prepare(env)
	if err != nil {
		return nil, err
	}
	// Nothing runs that would need a call: there is no start function.
	if err = i.make(context.WithoutCancel(ctx)); err == nil {
		err = c.write(i, env)
	}
	if err != nil {
		i.kill()
		return nil, err
	}
	i.alive = true
	return i, nil
}

// write makes the instance what it was.
func (c *Checkpoint) write(i *Instance, env Env) error {
	if missing := c.pages - i.memory.pages(); missing > 0 {
		if _, ok := i.guest.Memory().Grow(missing); !ok {
			return errors.Join(errors.New("memory can't grow as far as it had"), i.memory.err)
		}
	}
	memory, at := i.memory.bytes(), 0
	for _, b := range c.blocks {
		zero(memory[at:b.at])
		at = b.at + copy(memory[b.at:], b.bytes)
	}
	zero(memory[at:])
	for n, g := range i.module.meter.Mutable {
		i.guest.ExportedGlobal(meter.MutableGlobal(g.Index)).(api.MutableGlobal).Set(c.globals[n])
	}
	i.env, i.virtual, i.memory.refused = env, c.virtual, false
	return nil
}

var zeros [blockBytes]byte

func isZero(b []byte) bool { return bytes.Equal(b, zeros[:len(b)]) }

// zero clears whole blocks. One that is zero already is only read, which leaves
// memory that was never touched untouched.
func zero(b []byte) {
	for ; len(b) > 0; b = b[blockBytes:] {
		if !isZero(b[:blockBytes]) {
			clear(b[:blockBytes])
		}
	}
}

// payCopy takes the fuel for copying bytes; nil has no limit.
func (a *Allowance) payCopy(bytes uint64) error {
	if a == nil {
		return nil
	}
	if err := a.Err(); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if fuel := bytes >> copyShift; fuel <= a.fuel {
		a.fuel -= fuel
		return nil
	}
	a.fuel = 0
	return &Fault{CauseSessionFuel, "the session's fuel is spent"}
}
