package sandbox

import (
	"sync"
	"time"
)

// An Allowance is what a session's guests may spend in all, through any number
// of calls and instances of one engine: see [Env.Allowance]. Wall time counts
// while a guest runs, its reads included, and not between two calls, whatever the
// host does there. Fuel counts wherever it is charged, checkpoints included.
type Allowance struct {
	wall *wallTime // shared by those forked from each other

	mu   sync.Mutex
	fuel uint64
}

// wallTime is what is left of the host's time.
type wallTime struct {
	engine *Engine
	mu     sync.Mutex
	left   time.Duration
	ended  error // what its end means, once known
}

// Allow makes an allowance for instances of the module. Like every wall limit,
// d is InterpreterWalls times as long on the interpreter.
func (m *Module) Allow(d time.Duration, fuel uint64) *Allowance {
	return &Allowance{wall: &wallTime{engine: m.engine, left: m.engine.wall(d)}, fuel: fuel}
}

// Fork makes an allowance with the fuel that is left, spent apart from here on.
// The wall time stays one.
func (a *Allowance) Fork() *Allowance {
	return &Allowance{wall: a.wall, fuel: a.Fuel()}
}

// Err is nil as long as there are time and fuel left. Then it is the error of
// every further call: a [*Fault] with CauseSessionFuel or CauseStalled, or
// ErrWall where the host is too slow.
func (a *Allowance) Err() error {
	switch {
	case a == nil:
		return nil
	case a.rest() <= 0:
		return a.wall.end()
	case a.Fuel() == 0:
		return &Fault{CauseSessionFuel, "the session's fuel is spent"}
	}
	return nil
}

// Fuel is what is left of the fuel.
func (a *Allowance) Fuel() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fuel
}

func (a *Allowance) rest() time.Duration {
	a.wall.mu.Lock()
	defer a.wall.mu.Unlock()
	return a.wall.left
}

// spend takes what a call took; nil has no limits.
func (a *Allowance) spend(d time.Duration, fuel uint64) {
	if a == nil {
		return
	}
	a.wall.mu.Lock()
	a.wall.left -= d
	a.wall.mu.Unlock()
	a.mu.Lock()
	a.fuel -= min(fuel, a.fuel)
	a.mu.Unlock()
}

// end decides once what the end of the time means.
func (w *wallTime) end() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended == nil {
		w.ended = w.engine.wallStop("the session's time is spent")
	}
	return w.ended
}

// wall is a limit as it holds on this engine.
func (e *Engine) wall(d time.Duration) time.Duration {
	if e.interpreter {
		return d * InterpreterWalls
	}
	return d
}
