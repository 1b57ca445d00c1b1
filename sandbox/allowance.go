package sandbox

import (
	"sync"
	"time"
)

// An Allowance is the wall time that a session's guests may run in all, through
// any number of calls and consecutive instances of one engine: see
// [Env.Allowance]. It counts while a guest runs, its reads included, and not
// between two calls, whatever the host does there.
type Allowance struct {
	engine *Engine
	mu     sync.Mutex
	left   time.Duration // of the host's clock
	fuel   uint64
}

// Allow makes an allowance for instances of the module. Like every wall limit it
// is InterpreterWalls times as long on the interpreter.
func (m *Module) Allow(d time.Duration, fuel uint64) *Allowance {
	return &Allowance{engine: m.engine, left: m.engine.wall(d), fuel: fuel}
}

// Err is nil as long as there is time left. Then it is a [*Fault] with
// CauseTimeout, or ErrWall on the interpreter, as is the error of every further
// call.
func (a *Allowance) Err() error {
	if a == nil || a.rest() > 0 {
		return nil
	}
	return a.engine.wallStop("the session's time is spent")
}

func (a *Allowance) rest() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.left
}

func (a *Allowance) spend(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left -= d
}

// wall is a limit as it holds on this engine.
func (e *Engine) wall(d time.Duration) time.Duration {
	if e.interpreter {
		return d * InterpreterWalls
	}
	return d
}

// wallStop is what a wall limit's end says about the guest: nothing on the
// interpreter.
func (e *Engine) wallStop(detail string) error {
	if e.interpreter {
		return ErrWall
	}
	return &Fault{CauseTimeout, detail}
}

// Fuel is what is left of the fuel.
func (a *Allowance) Fuel() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fuel
}
