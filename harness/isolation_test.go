package harness_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
)

// isolated are options of a session whose intents are on their own.
func (p *puppet) isolated() harness.Options {
	o := p.options()
	o.Isolation = harness.IsolationIntent
	return o
}

func fork(t testing.TB, s *harness.Solver) *harness.Solver {
	t.Helper()
	f := s.Fork()
	t.Cleanup(func() { f.Close(context.WithoutCancel(t.Context())) })
	return f
}

// Every task starts where the opening ended, whatever was asked before: a solver
// that counts its plans makes its first one each time, and so it does after a death.
func TestIsolatedTasksStartWhereTheOpeningEnded(t *testing.T) {
	t.Parallel()
	p := &puppet{world: func(context.Context, uint64, []byte, harness.Cost) ([]byte, harness.Cost, error) {
		return []byte(`{"jsonrpc":"2.0","id":1,"result":"0x11"}`), harness.Cost{Requests: 1}, nil
	}}
	o := p.isolated()
	o.State = []byte{4}
	s := open(t, load(t, script(counting)), o)
	f := fork(t, s)
	var answers []harness.Answer
	for _, nonce := range []uint64{1, 1, 9, 1} {
		task := p.task()
		task.State.Nonce, task.Rules.Nonce = nonce, nonce
		a := run(t, f, task)
		if nonce == 9 {
			if a.Cause != intent.CauseOutput {
				t.Errorf("the task that kills: %s, want output", harness.Explain(a.Cause, a.Detail))
			}
			continue
		}
		if a.Plan == nil || a.Plan.Interactions[0].CallData != "0x05" {
			t.Errorf("answer %+v, want the fifth plan", a)
		}
		answers = append(answers, a)
	}
	for i, a := range answers {
		if diff := cmp.Diff(answers[0], a); diff != "" {
			t.Errorf("answer %d differs from the first:\n%s", i, diff)
		}
	}
	if got := finish(t, s); !got.Saved || string(got.State) != "\x04" || s.Restarts() != 0 {
		t.Errorf("Finish() = %+v after %d restarts, want the state the session came with", got, s.Restarts())
	}
}

// Forks work beside each other and answer as one would.
func TestForksAnswerAlike(t *testing.T) {
	t.Parallel()
	read := func(context.Context, uint64, []byte, harness.Cost) ([]byte, harness.Cost, error) {
		return []byte(`{"jsonrpc":"2.0","id":1,"result":"0x11"}`), harness.Cost{Requests: 1}, nil
	}
	p := &puppet{world: read}
	s := open(t, load(t, script(counting)), p.isolated())
	forks := []*harness.Solver{fork(t, s), fork(t, s), fork(t, s), fork(t, s)}
	answers := make([]harness.Answer, 20)
	var wait sync.WaitGroup
	for n, f := range forks {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := n; i < len(answers); i += len(forks) {
				a, err := f.Run(t.Context(), p.task())
				if err != nil {
					t.Error(err)
				}
				answers[i] = a
			}
		}()
	}
	wait.Wait()
	for i, a := range answers {
		if diff := cmp.Diff(answers[0], a); diff != "" || a.Plan == nil {
			t.Errorf("answer %d differs from the first:\n%s", i, diff)
		}
	}
}

// What can't be checkpointed goes through the whole opening again for every task,
// and has the fuel for it that the first one had.
func TestIsolatedWithoutCheckpoints(t *testing.T) {
	t.Parallel()
	p := &puppet{act: obedient}
	o := withEverything(p)
	o.Isolation = harness.IsolationIntent
	s := open(t, compile(t, puppetModule(checkpoints)), o)
	f := fork(t, s)
	for range 2 {
		run(t, f, p.task())
	}
	finish(t, s)
	task := append(slices.Clone(opening), "generate_plan")
	want := slices.Concat(opening, task, task, opening, []string{"on_benchmark_end", "serialize_state"})
	if diff := cmp.Diff(want, p.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// A state that the solver refused with a message is offered again where the opening
// is repeated, for what came before the message may have left its mark. One that an
// instance died of is not.
func TestRefusedStateWithoutCheckpoints(t *testing.T) {
	t.Parallel()
	for op, want := range map[byte]int{1: 3, opTrap: 1} {
		offered := 0
		p := &puppet{act: func(phase harness.Phase, input []byte) (byte, []byte) {
			if phase == harness.PhaseRestore {
				offered++
				return op, []byte("version 0")
			}
			return obedient(phase, input)
		}}
		o := p.isolated()
		o.State = []byte("s")
		s := open(t, compile(t, puppetModule(checkpoints)), o)
		f := fork(t, s)
		refused := s.StateRefused()
		for range 2 {
			if a := run(t, f, p.task()); a.Cause != intent.CauseNone {
				t.Errorf("%d: %s, want a plan", op, harness.Explain(a.Cause, a.Detail))
			}
		}
		if offered != want || refused == "" || f.StateRefused() != refused {
			t.Errorf("%d: offered %d times, want %d; refused %q, by the fork %q", op, offered, want, refused, f.StateRefused())
		}
	}
}

// A task may spend what the session had left when its opening ended, alone.
func TestIsolatedTasksShareNoFuel(t *testing.T) {
	t.Parallel()
	for _, module := range [][]byte{puppetModule(), puppetModule(checkpoints)} {
		p := &puppet{act: but(harness.PhasePlan, opSpin, "")}
		o := p.isolated()
		o.Limits = harness.DefaultLimits()
		o.Limits.SessionFuel = 20_000_000
		o.Limits.SessionFuelPerIntent = 0
		s := open(t, compile(t, module), o)
		f := fork(t, s)
		first, second := run(t, f, p.task()), run(t, f, p.task())
		if first.Cause != intent.CauseSessionFuel || first.Usage.Fuel < 15_000_000 {
			t.Errorf("%s after %d fuel, want session_fuel after nearly all", harness.Explain(first.Cause, first.Detail), first.Usage.Fuel)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("the second task differs:\n%s", diff)
		}
		p.act = obedient
		if a := run(t, f, p.task()); a.Cause != intent.CauseNone {
			t.Errorf("the next task: %s", harness.Explain(a.Cause, a.Detail))
		}
		if got := finish(t, s); !got.Saved {
			t.Errorf("Finish() = %+v, want the state saved", got)
		}
	}
}

// A stall is told by the fork that saw it, which asks nothing more.
func TestAStallStopsItsFork(t *testing.T) {
	t.Parallel()
	p := &puppet{act: but(harness.PhasePlan, opSpin, "")}
	o := p.isolated()
	o.Limits = short(harness.PhasePlan)
	s := open(t, compile(t, puppetModule()), o)
	f := fork(t, s)
	if a := run(t, f, p.task()); a.Cause != intent.CauseStalled || f.Stalled() == "" || s.Stalled() != "" {
		t.Errorf("%s, stalled %q and %q, want the fork stalled", harness.Explain(a.Cause, a.Detail), f.Stalled(), s.Stalled())
	}
	if a := run(t, f, p.task()); a.Cause != intent.CauseSessionEnded || a.Detail != f.Stalled() {
		t.Errorf("the next task: %s, want session_ended for %s", harness.Explain(a.Cause, a.Detail), f.Stalled())
	}
}

func TestUnknownIsolationIsUsage(t *testing.T) {
	t.Parallel()
	o := (&puppet{act: obedient}).options()
	o.Isolation = "process"
	var usage *intent.UsageFault
	if s, err := harness.Open(t.Context(), compile(t, puppetModule()), o); s != nil || !errors.As(err, &usage) {
		t.Errorf("Open() = %v, %v, want a usage fault", s, err)
	}
}
