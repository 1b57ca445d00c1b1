package harness_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// A trap mid-pack costs one row. The instance that follows goes on from where the
// opening ended; one that can't be put there goes through the opening again, with the
// incoming state.
func TestDeathCostsOneRow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		module []byte
		again  []string
	}{
		{name: "checkpointable", module: puppetModule()},
		{name: "not checkpointable", module: puppetModule(checkpoints), again: opening},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var plans int
			var restored [][]byte
			p := &puppet{act: func(p harness.Phase, input []byte) (byte, []byte) {
				switch p {
				case harness.PhaseRestore:
					restored = append(restored, bytes.Clone(input))
				case harness.PhasePlan:
					if plans++; plans == 2 {
						return opTrap, nil
					}
				}
				return obedient(p, input)
			}}
			o := withEverything(p)
			s := open(t, compile(t, tt.module), o)
			var causes []intent.Cause
			for range 3 {
				causes = append(causes, run(t, s, p.task()).Cause)
			}
			f := finish(t, s)
			if diff := cmp.Diff([]intent.Cause{"", intent.CauseTrap, ""}, causes); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
			for _, state := range restored {
				if !bytes.Equal(state, o.State) {
					t.Errorf("restored %x, want %x", state, o.State)
				}
			}
			if !f.Saved || s.Restarts() != 1 {
				t.Errorf("Finish() = %+v after %d restarts, want saved after 1", f, s.Restarts())
			}
			want := slices.Concat(opening, []string{"generate_plan", "generate_plan"}, tt.again,
				[]string{"generate_plan", "on_benchmark_end", "serialize_state"})
			if diff := cmp.Diff(want, p.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

// Five deaths are seen, four restarts are made, every row has its cause.
func TestRestartsAreExhausted(t *testing.T) {
	t.Parallel()
	p := &puppet{act: but(harness.PhasePlan, opTrap, "")}
	s := open(t, compile(t, puppetModule()), p.options())
	var causes []intent.Cause
	for range 7 {
		causes = append(causes, run(t, s, p.task()).Cause)
	}
	want := append(slices.Repeat([]intent.Cause{intent.CauseTrap}, 5), slices.Repeat([]intent.Cause{intent.CauseSessionRestarts}, 2)...)
	if diff := cmp.Diff(want, causes); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
	if s.Restarts() != 4 {
		t.Errorf("%d restarts, want 4", s.Restarts())
	}
	if f := finish(t, s); f.Saved || f.Note != harness.NoteNoInstance {
		t.Errorf("Finish() = %+v, want no_instance", f)
	}
	if end := slices.Index(p.calls, "on_benchmark_end"); end >= 0 {
		t.Error("on_benchmark_end was called without a live instance")
	}
}

// A restart that dies costs the row it was made for, and a restart.
func TestRestartDies(t *testing.T) {
	t.Parallel()
	var starts int
	p := &puppet{}
	p.act = func(phase harness.Phase, input []byte) (byte, []byte) {
		if phase == harness.PhaseInitialize {
			if starts++; starts == 2 {
				return opTrap, nil
			}
		}
		if phase == harness.PhasePlan && starts == 1 {
			return opBadPointer, nil
		}
		return obedient(phase, input)
	}
	s := open(t, compile(t, puppetModule(checkpoints)), p.options())
	var got []string
	for range 3 {
		a := run(t, s, p.task())
		got = append(got, string(a.Phase)+" "+string(a.Cause))
	}
	if diff := cmp.Diff([]string{"generate_plan bad_pointer", "initialize trap", " "}, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if s.Restarts() != 2 {
		t.Errorf("%d restarts, want 2", s.Restarts())
	}
}

// The last instance died on the last intent: the old state stays.
func TestDeathOnTheLastIntentSavesNothing(t *testing.T) {
	t.Parallel()
	p := &puppet{act: but(harness.PhasePlan, opTrap, "")}
	s := open(t, compile(t, puppetModule()), p.options())
	run(t, s, p.task())
	if f := finish(t, s); f.Saved || f.Note != harness.NoteNoInstance {
		t.Errorf("Finish() = %+v, want no_instance", f)
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		state    []byte
		act      func(harness.Phase, []byte) (byte, []byte)
		limits   harness.Limits
		refused  string
		restarts int
		saved    bool
		calls    []string
	}{
		{name: "no state", act: obedient, saved: true, calls: []string{"initialize", "metadata", "on_benchmark_start"}},
		{name: "empty state", state: []byte{}, act: obedient, saved: true, calls: []string{"initialize", "metadata", "on_benchmark_start"}},
		{name: "taken", state: []byte("s"), act: obedient, saved: true, calls: []string{"initialize", "metadata", "restore_state", "on_benchmark_start"}},
		{name: "not implemented", state: []byte("s"), act: but(harness.PhaseRestore, 2, ""), saved: true, calls: []string{"initialize", "metadata", "restore_state", "on_benchmark_start"}},
		{name: "failed", state: []byte("s"), act: but(harness.PhaseRestore, 1, "version 0"), refused: `restore_state: solver_error: "version 0"`, calls: []string{"initialize", "metadata", "restore_state", "on_benchmark_start"}},
		{name: "trapped", state: []byte("s"), act: but(harness.PhaseRestore, opTrap, ""), refused: "restore_state: trap", restarts: 1, calls: []string{"initialize", "metadata", "restore_state", "initialize", "metadata", "on_benchmark_start"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &puppet{act: tt.act}
			o := p.options()
			o.State, o.Limits = tt.state, tt.limits
			s := open(t, compile(t, puppetModule()), o)
			if diff := cmp.Diff(tt.calls, p.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(s.StateRefused(), tt.refused) || (tt.refused == "") != (s.StateRefused() == "") {
				t.Errorf("refused %q, want %q", s.StateRefused(), tt.refused)
			}
			if a := run(t, s, p.task()); a.Cause != intent.CauseNone {
				t.Errorf("row: %s, want a plan", harness.Explain(a.Cause, a.Detail))
			}
			if s.Restarts() != tt.restarts {
				t.Errorf("%d restarts, want %d", s.Restarts(), tt.restarts)
			}
			f := finish(t, s)
			if f.Saved != tt.saved || !tt.saved && f.Note != harness.NoteStateRefused {
				t.Errorf("Finish() = %+v, saved: want %v", f, tt.saved)
			}
		})
	}
}

// A refused state is not offered to later instances.
func TestRefusedStateIsNotOfferedAgain(t *testing.T) {
	t.Parallel()
	p := &puppet{act: func(p harness.Phase, input []byte) (byte, []byte) {
		if p == harness.PhaseRestore || p == harness.PhasePlan {
			return opTrap, nil
		}
		return obedient(p, input)
	}}
	o := p.options()
	o.State = []byte("s")
	s := open(t, compile(t, puppetModule()), o)
	run(t, s, p.task())
	run(t, s, p.task())
	if n := strings.Count(strings.Join(p.calls, " "), "restore_state"); n != 1 || s.Restarts() != 2 {
		t.Errorf("restored %d times, %d restarts, want 1 and 2", n, s.Restarts())
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		act    func(harness.Phase, []byte) (byte, []byte)
		limits harness.Limits
		want   harness.Final
	}{
		{name: "raw bytes", act: but(harness.PhaseSerialize, 0, "\x00\xff"), want: harness.Final{State: []byte("\x00\xff"), Saved: true}},
		{name: "no state to keep", act: but(harness.PhaseSerialize, 0, ""), want: harness.Final{Saved: true}},
		{name: "not implemented", act: but(harness.PhaseSerialize, 2, ""), want: harness.Final{Note: harness.NoteNotImplemented}},
		{name: "fails", act: but(harness.PhaseSerialize, 1, "disk"), want: harness.Final{Note: `serialize_state: solver_error: "disk"`}},
		{name: "exits", act: but(harness.PhaseSerialize, opExit, ""), want: harness.Final{Note: "serialize_state: exit"}},
		{name: "loops", act: but(harness.PhaseSerialize, opSpin, ""), limits: short(harness.PhaseSerialize), want: harness.Final{Note: "serialize_state: stalled"}},
		{name: "the end traps", act: but(harness.PhaseEnd, opTrap, ""), want: harness.Final{Note: "on_benchmark_end: trap"}},
		{name: "the end fails", act: but(harness.PhaseEnd, 1, "x"), want: harness.Final{State: []byte("learned"), Saved: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &puppet{act: tt.act}
			o := p.options()
			o.Limits = tt.limits
			s := open(t, compile(t, puppetModule()), o)
			got := finish(t, s)
			note, _, _ := strings.Cut(got.Note, ": ")
			if !strings.HasPrefix(got.Note, tt.want.Note) || (note == "") != (tt.want.Note == "") {
				t.Errorf("note %q, want %q", got.Note, tt.want.Note)
			}
			if got.Saved != tt.want.Saved || !bytes.Equal(got.State, tt.want.State) {
				t.Errorf("Finish() = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// 52,428,800 bytes of state are kept, one more is refused; the rows stand.
func TestStateCap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		bytes int
		saved bool
	}{
		{name: "exactly the cap", bytes: 52_428_800, saved: true},
		{name: "one byte more", bytes: 52_428_801, saved: false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := compile(t, wasmtest.Solver(wasmtest.Options{Answers: map[string]wasmtest.Answer{
				"solver_metadata":        {Output: []byte(goodMetadata)},
				"solver_generate_plan":   {Output: []byte(goodPlan)},
				"solver_serialize_state": {Pad: tt.bytes},
			}}))
			p := &puppet{}
			s := open(t, m, harness.Options{})
			if a := run(t, s, p.task()); a.Cause != intent.CauseNone {
				t.Errorf("row: %s, want a plan", harness.Explain(a.Cause, a.Detail))
			}
			f := finish(t, s)
			if f.Saved != tt.saved || tt.saved && len(f.State) != tt.bytes {
				t.Errorf("saved %v, %d bytes", f.Saved, len(f.State))
			}
			if !tt.saved && !strings.HasPrefix(f.Note, "serialize_state: output") {
				t.Errorf("note %q, want serialize_state: output", f.Note)
			}
		})
	}
}

// What one session serialized, the next restores, across restarts too.
func TestStateRoundTrip(t *testing.T) {
	t.Parallel()
	m := compile(t, wasmtest.Solver(wasmtest.Options{Stateful: true, Answers: map[string]wasmtest.Answer{
		"solver_metadata":      {Output: []byte(goodMetadata)},
		"solver_generate_plan": {Output: []byte(goodPlan), Act: wasmtest.Remember},
	}}))
	p := &puppet{}
	var state []byte
	for session := range byte(3) {
		s := open(t, m, harness.Options{State: state})
		run(t, s, p.task())
		run(t, s, p.task())
		f := finish(t, s)
		if want := []byte{2 * (session + 1), 0, 0, 0, 0, 0, 0, 0}; !f.Saved || !bytes.Equal(f.State, want) {
			t.Fatalf("session %d: %+v, want %x", session, f, want)
		}
		state = f.State
	}
}

// How far a guest came until a wall stopped it depends on the host: nothing of
// it is in the answer or in the log.
func TestWallStopLeavesNoNumbers(t *testing.T) {
	t.Parallel()
	p := &puppet{}
	p.act = func(phase harness.Phase, input []byte) (byte, []byte) {
		if phase == harness.PhaseTrigger {
			return opSpin, []byte("some line")
		}
		return obedient(phase, input)
	}
	o := p.options()
	o.Limits = short(harness.PhaseTrigger)
	s := open(t, compile(t, puppetModule()), o)
	task := p.task()
	task.AskTrigger = true
	want := harness.Answer{IntentID: task.IntentID, Cause: intent.CauseStalled, Phase: harness.PhaseTrigger}
	got := run(t, s, task)
	got.Detail = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if len(s.Log()) != 0 {
		t.Errorf("the log has %q, want nothing", s.Log())
	}
}

// Any sequence of behaviours gives one answer per task, in order, and no more
// restarts than there may be.
func TestOneAnswerPerTask(t *testing.T) {
	t.Parallel()
	m := compile(t, puppetModule())
	rapid.Check(t, func(rt *rapid.T) {
		ops := []byte{0, 1, 2, 7, opTrap, opBadPointer, opExit, opLog}
		odd := func(p harness.Phase, input []byte) (byte, []byte) {
			// The opening is as good as any: a session that doesn't start has its own test.
			if p == harness.PhaseInitialize || p == harness.PhaseMetadata || p == harness.PhaseMarket || p == harness.PhaseStart {
				return obedient(p, input)
			}
			_, good := obedient(p, input)
			return rapid.SampledFrom(ops).Draw(rt, string(p)), good
		}
		p := &puppet{act: odd}
		o := p.options()
		o.State = rapid.SampledFrom([][]byte{nil, []byte("s")}).Draw(rt, "state")
		o.Limits = harness.DefaultLimits()
		o.Limits.Restarts = rapid.IntRange(1, 4).Draw(rt, "restarts")
		s, err := harness.Open(t.Context(), m, o)
		if err != nil {
			rt.Fatalf("Open() = %v", err)
		}
		defer s.Close(t.Context())
		var deaths int
		for i := range rapid.IntRange(1, 12).Draw(rt, "tasks") {
			task := p.task()
			task.IntentID = string(rune('a' + i))
			task.Rules.IntentID = task.IntentID
			task.AskTrigger = rapid.Bool().Draw(rt, "trigger")
			task.AskQuote = rapid.Bool().Draw(rt, "quote")
			a, err := s.Run(t.Context(), task)
			if err != nil {
				rt.Fatalf("Run() = %v", err)
			}
			if a.IntentID != task.IntentID || (a.Plan == nil) != (a.Cause != intent.CauseNone) {
				rt.Fatalf("answer %+v to task %s", a, task.IntentID)
			}
			for _, c := range []intent.Cause{a.Cause, a.QuoteCause} {
				if c == intent.CauseTrap || c == intent.CauseBadPointer || c == intent.CauseExit {
					deaths++
				}
			}
			if a.Cause == intent.CauseSessionRestarts && s.Restarts() != o.Limits.Restarts {
				rt.Fatalf("session_restarts after %d of %d", s.Restarts(), o.Limits.Restarts)
			}
			if s.Restarts() > o.Limits.Restarts || s.Restarts() > deaths+1 {
				rt.Fatalf("%d restarts, limit %d, %d deaths", s.Restarts(), o.Limits.Restarts, deaths)
			}
		}
		if _, err := s.Finish(t.Context(), nil); err != nil {
			rt.Fatalf("Finish() = %v", err)
		}
	})
}
