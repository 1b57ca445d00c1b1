package harness_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
)

// A call that spends its phase's fuel is dead, and costs what a death costs. The
// same call a second time spends the same to the last unit.
func TestPhaseFuel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		phase harness.Phase
		limit func(*harness.Limits) *harness.CallLimit
	}{
		{harness.PhaseTrigger, func(l *harness.Limits) *harness.CallLimit { return &l.Trigger }},
		{harness.PhasePlan, func(l *harness.Limits) *harness.CallLimit { return &l.Plan }},
	} {
		t.Run(string(tt.phase), func(t *testing.T) {
			t.Parallel()
			p := &puppet{act: but(tt.phase, opSpin, "")}
			o := p.options()
			o.Limits = harness.DefaultLimits()
			tt.limit(&o.Limits).Fuel = 5_000_000
			s := open(t, compile(t, puppetModule()), o)
			task := p.task()
			task.AskTrigger = true
			first, second := run(t, s, task), run(t, s, task)
			if first.Cause != intent.CauseFuel || first.Phase != tt.phase {
				t.Errorf("%s in %q, want fuel in %s", harness.Explain(first.Cause, first.Detail), first.Phase, tt.phase)
			}
			calls := first.Usage.Calls
			if spent := calls[len(calls)-1].Fuel; spent < 5_000_000 || spent > 5_001_000 {
				t.Errorf("spent %d of 5,000,000", spent)
			}
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("the same call differs:\n%s", diff)
			}
			if s.Restarts() != 1 || s.Stalled() != "" {
				t.Errorf("%d restarts, stalled %q, want one restart", s.Restarts(), s.Stalled())
			}
		})
	}
}

// A row says what its calls spent; EVM gas is in it.
func TestUsageHasTheFuelOfReads(t *testing.T) {
	t.Parallel()
	fuel := func(gas uint64) uint64 {
		p := &puppet{act: but(harness.PhasePlan, opRead, "{}"), world: func(context.Context, uint64, []byte, harness.Cost) ([]byte, harness.Cost, error) {
			return nil, harness.Cost{Requests: 1, Gas: gas}, nil
		}}
		s := open(t, compile(t, puppetModule()), p.options())
		a := run(t, s, p.task())
		sum := uint64(0)
		for _, c := range a.Usage.Calls {
			sum += c.Fuel
		}
		if sum != a.Usage.Fuel {
			t.Errorf("calls spent %d, the row %d", sum, a.Usage.Fuel)
		}
		return a.Usage.Fuel
	}
	// The puppet makes the read twice.
	if got, want := fuel(1000)-fuel(0), uint64(2*1000*intent.FuelPerGas); got != want {
		t.Errorf("1,000 gas cost %d fuel, want %d", got, want)
	}
}

// When the session's fuel is spent, that row says so and every later one; nothing
// is called any more and nothing is saved.
func TestSessionFuel(t *testing.T) {
	t.Parallel()
	var plans int
	p := &puppet{act: func(phase harness.Phase, input []byte) (byte, []byte) {
		if phase == harness.PhasePlan {
			if plans++; plans == 2 {
				return opSpin, nil
			}
		}
		return obedient(phase, input)
	}}
	o := p.options()
	o.Count = 3
	o.Limits = harness.DefaultLimits()
	o.Limits.SessionFuel, o.Limits.SessionFuelPerIntent = 10_000_000, 1_000_000
	s := open(t, compile(t, puppetModule()), o)
	var causes []intent.Cause
	for range 4 {
		causes = append(causes, run(t, s, p.task()).Cause)
	}
	want := []intent.Cause{"", intent.CauseSessionFuel, intent.CauseSessionFuel, intent.CauseSessionFuel}
	if diff := cmp.Diff(want, causes); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
	if f := finish(t, s); f.Saved || plans != 2 || s.Restarts() != 0 {
		t.Errorf("Finish() = %+v after %d plans and %d restarts, want nothing saved, two and none", f, plans, s.Restarts())
	}
}

// The session's fuel grows with what is to come.
func TestSessionFuelGrowsWithTheIntents(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]intent.Cause{0: intent.CauseSessionFuel, 5: intent.CauseFuel} {
		p := &puppet{act: but(harness.PhasePlan, opSpin, "")}
		o := p.options()
		o.Count = count
		o.Limits = harness.DefaultLimits()
		o.Limits.Plan.Fuel = 20_000_000
		o.Limits.SessionFuel, o.Limits.SessionFuelPerIntent = 15_000_000, 2_000_000
		s := open(t, compile(t, puppetModule()), o)
		if a := run(t, s, p.task()); a.Cause != want {
			t.Errorf("%d intents: %s, want %s", count, harness.Explain(a.Cause, a.Detail), want)
		}
	}
}

// A session whose fuel does not suffice for its opening never starts.
func TestSessionFuelOfTheOpening(t *testing.T) {
	t.Parallel()
	for _, phase := range []harness.Phase{harness.PhaseInitialize, harness.PhaseRestore, harness.PhaseStart} {
		p := &puppet{act: but(phase, opSpin, "")}
		o := p.options()
		o.State = []byte("s")
		o.Limits = harness.DefaultLimits()
		o.Limits.SessionFuel = 5_000_000
		o.Limits.SessionFuelPerIntent = 0
		s, err := harness.Open(t.Context(), compile(t, puppetModule()), o)
		if err == nil || !strings.HasPrefix(err.Error(), "session_ended: "+string(phase)+": session_fuel") {
			t.Errorf("Open() = %v, want session_fuel in %s", err, phase)
		}
		if s.StateRefused() != "" {
			t.Errorf("the state counts as refused: %s", s.StateRefused())
		}
	}
}
