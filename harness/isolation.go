package harness

import (
	"context"
	"slices"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// An Isolation says what a solver may carry from one intent to the next.
type Isolation string

// Isolations.
const (
	IsolationBatch  Isolation = "batch"  // everything: one instance lives through the session
	IsolationIntent Isolation = "intent" // nothing: every intent starts where on_benchmark_start ended
)

// Valid reports whether i is one of the two.
func (i Isolation) Valid() bool { return i == IsolationBatch || i == IsolationIntent }

// env is what instances of the session see.
func (s *Solver) env() sandbox.Env {
	return sandbox.Env{
		Time: s.start,
		Seed: s.loadSeed(),
		Wall: s.limits.Load.Wall,
		Fuel: s.limits.Load.Fuel,
		Log:  &s.log,

		Allowance: s.allowance,
		Subject:   s.program.identity,
	}
}

// settle keeps where the opening ended, if the module can be put back there.
func (s *Solver) settle() (*fault, error) {
	if s.program.module.Checkpointable() != nil {
		return nil, nil
	}
	point, err := s.inst.Checkpoint()
	f, err := s.judge("", err)
	if err == nil && f == nil {
		s.point = point
	}
	return f, err
}

// again takes the session back to where its opening ended, in the instance it has
// or in a fresh one.
func (s *Solver) again(ctx context.Context) (*fault, error) {
	if s.point == nil {
		return s.open(ctx)
	}
	old := s.inst
	s.inst = nil
	inst, err := s.point.Resume(ctx, s.env(), old)
	f, err := s.judge("", err)
	if f != nil || err != nil {
		return f, err
	}
	s.inst = inst
	return nil, nil
}

// rewind is again for the next task of an isolated session: it has the fuel that
// was left when the opening ended, whatever other tasks spend.
func (s *Solver) rewind(ctx context.Context) (*fault, error) {
	if f, err := s.judge("", s.base.Err()); f != nil || err != nil {
		return f, err
	}
	s.allowance = s.base.Fork()
	return s.again(ctx)
}

// Fork gives a solver that answers tasks beside s, from another goroutine, as s
// would. Only an isolated session has forks; they come before its Finish, and each is
// closed by its user. A fork tells of nothing but what its own tasks made of it.
func (s *Solver) Fork() *Solver {
	f := &Solver{
		program:   s.program,
		limits:    s.limits,
		isolation: s.isolation,
		seed:      s.seed,
		start:     s.start,
		reads:     s.reads,
		base:      s.base,
		point:     s.point,
		load:      s.load,
		init:      s.init,
		state:     s.state,
		market:    slices.Clone(s.market),
		count:     s.count,
		meta:      s.meta,
		refused:   s.refused,
		inst:      s.inst, // s needs it no more before it is done
	}
	s.inst = nil
	return f
}

// ended says that the session is over.
func (s *Solver) ended() *fault {
	return &fault{cause: intent.CauseSessionEnded, detail: s.stalled}
}
