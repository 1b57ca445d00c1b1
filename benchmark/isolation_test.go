package benchmark_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox/wasm"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// isolatedPack is the standard pack with every intent on its own.
func isolatedPack(t testing.TB, change func(file)) *benchmark.Pack {
	t.Helper()
	f := standardFile(t)
	f["isolation"] = "intent"
	if change != nil {
		change(f)
	}
	return decode(t, marshal(t, f))
}

// withStart is the same solver with a start section that does nothing, so that it
// can't be checkpointed.
func withStart(t testing.TB, code []byte) []byte {
	t.Helper()
	m, err := wasm.Decode(code, wasm.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	imported := uint32(0)
	for _, i := range m.Imports {
		if i.Kind == wasm.KindFunc {
			imported++
		}
	}
	start := imported + uint32(len(m.Funcs))
	m.Types = append(m.Types, wasm.FuncType{})
	m.Funcs = append(m.Funcs, uint32(len(m.Types)-1))
	m.Codes = append(m.Codes, wasm.Code{Body: wasm.AppendInstr(nil, &wasm.Instr{Op: wasm.OpEnd})})
	m.Start = &start
	return m.Encode()
}

// rowsOf are a session's rows without what names the session.
func rowsOf(s *benchmark.Session) []benchmark.Row {
	var rows []benchmark.Row
	for _, r := range s.Records {
		r.Row.Session, r.Row.Module = "", ""
		rows = append(rows, r.Row)
	}
	return rows
}

// The epoch of an isolated pack is the same for any number of workers, to the
// last line of a log. So it is where one solver has all workers, and where several
// share them.
func TestIsolatedRowsAreTheSameForAnyWorkers(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), isolatedPack(t, nil))
	logging := guest(t, "logging", func(o *wasmtest.Options) {
		a := o.Answers[plan]
		a.Log = []byte("planned")
		o.Answers[plan] = a
		o.Answers["solver_on_benchmark_end"] = wasmtest.Answer{Log: []byte("the end")}
	})
	for _, entrants := range [][]benchmark.Entrant{
		{{Miner: "alone", Module: logging}},
		append(quartet(t), benchmark.Entrant{Miner: "logging", Module: logging}),
	} {
		var want []byte
		for _, workers := range []int{1, 2, 8} {
			e := runEpoch(t, p, entrants, workers, openStore(t, t.TempDir()))
			if got := marshal(t, e); want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("%d workers: epoch differs:\n%s\nwant\n%s", workers, got, want)
			}
		}
		if n := strings.Count(string(want), `planned\n`); n != intents {
			t.Errorf("%d lines of log, want one for each of %d intents", n, intents)
		}
	}
}

// A row depends on its intent alone: each is what it is in a pack without the
// others. In a batch the same solver dies of its second intent.
func TestIsolatedRowsAreTheSameAlone(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	mortal := []benchmark.Entrant{{Miner: "mortal", Module: acting(t, "mortal", wasmtest.Trap, 2)}}
	all := rowsOf(sessionOf(t, runEpoch(t, prepare(t, engine, isolatedPack(t, nil)), mortal, 2, nil), "mortal"))
	for i := range intents {
		one := isolatedPack(t, func(f file) { f["cases"] = f["cases"].([]any)[i : i+1] })
		row := rowsOf(sessionOf(t, runEpoch(t, prepare(t, engine, one), mortal, 1, nil), "mortal"))[0]
		j := slices.IndexFunc(all, func(r benchmark.Row) bool { return r.IntentID == row.IntentID })
		if diff := cmp.Diff(all[j], row); diff != "" || row.Cause != intent.CauseNone {
			t.Errorf("case %d alone, cause %q (-among others +alone):\n%s", i, row.Cause, diff)
		}
	}
	batch := runEpoch(t, prepare(t, engine, decode(t, marshal(t, standardFile(t)))), mortal, 2, nil)
	if got := summaryOf(t, batch, "mortal"); got.Valued == intents {
		t.Errorf("a batch has a value on all %d intents: the solver is no test of isolation", got.Valued)
	}
}

// A solver that can't be checkpointed goes through its opening for every intent
// instead, and has the same rows. It does so after a death in a batch, too.
func TestRowsAreTheSameWithoutCheckpoints(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	for name, pack := range map[string]*benchmark.Pack{
		"intent": isolatedPack(t, nil),
		"batch":  decode(t, marshal(t, standardFile(t))),
	} {
		p := prepare(t, engine, pack)
		for guest, code := range map[string][]byte{
			"remembering": remembering(t),
			"trapper":     acting(t, "trapper", wasmtest.Trap, 4),
		} {
			plain := sessionOf(t, runEpoch(t, p, []benchmark.Entrant{{Miner: "ann", Module: code}}, 2, nil), "ann")
			other := sessionOf(t, runEpoch(t, p, []benchmark.Entrant{{Miner: "ann", Module: withStart(t, code)}}, 2, nil), "ann")
			if diff := cmp.Diff(rowsOf(plain), rowsOf(other)); diff != "" {
				t.Errorf("%s, %s: rows (-with checkpoints +without):\n%s", name, guest, diff)
			}
			if plain.StateOut != other.StateOut || plain.Restarts != other.Restarts {
				t.Errorf("%s, %s: state %q and %q, restarts %d and %d", name, guest, plain.StateOut, other.StateOut, plain.Restarts, other.Restarts)
			}
		}
	}
}

// What is serialized is where the opening ended: no intent has left a trace.
func TestIsolatedIntentsLeaveNoState(t *testing.T) {
	t.Parallel()
	learner := []benchmark.Entrant{{Miner: "ann", Module: remembering(t)}}
	for name, want := range map[string]byte{"intent": 0, "batch": intents} {
		f := standardFile(t)
		f["isolation"] = name
		store := openStore(t, t.TempDir())
		runEpoch(t, prepare(t, newEngine(t), decode(t, marshal(t, f))), learner, 2, store)
		state, err := store.State("ann", benchmark.RoleCandidate)
		if err != nil || !bytes.Equal(state, []byte{want, 0, 0, 0, 0, 0, 0, 0}) {
			t.Errorf("%s: state %x, %v, want a count of %d", name, state, err, want)
		}
	}
}

// The session's fuel ends a batch on the way; isolated, every intent has what was
// left when the opening ended.
func TestSessionFuelOfIsolatedIntentsIsNotShared(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	for isolation, want := range map[harness.Isolation]int{harness.IsolationBatch: 2, harness.IsolationIntent: intents} {
		f := standardFile(t)
		f["isolation"] = string(isolation)
		p := decode(t, marshal(t, f))
		talker := guest(t, "talker", func(o *wasmtest.Options) {
			a := o.Answers[plan]
			a.Log = bytes.Repeat([]byte("x"), 60_000) // a byte is a unit of fuel
			o.Answers[plan] = a
		})
		entrants := []benchmark.Entrant{{Miner: "ann", Module: talker}}
		free := runEpoch(t, prepare(t, engine, p), entrants, 1, nil)
		// More than two intents and the opening take, which copies memory in the main,
		// and less than three.
		once := summaryOf(t, free, "ann").Fuel / intents
		p.Limits.SessionFuel, p.Limits.SessionFuelPerIntent = once*29/10, 0
		s := sessionOf(t, runEpoch(t, prepare(t, engine, p), entrants, 2, nil), "ann")
		valued := 0
		for _, r := range s.Records {
			switch r.Row.Cause {
			case intent.CauseNone:
				valued++
			case intent.CauseSessionFuel:
			default:
				t.Errorf("%s: cause %q", isolation, r.Row.Cause)
			}
		}
		if valued != want {
			t.Errorf("%s: value on %d intents of %d, each took %d fuel", isolation, valued, intents, once)
		}
	}
}

// A stall ends the session at its row, whatever other workers have done beyond
// it. Nothing is decided by it and no state is saved.
func TestAStallEndsTheSession(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	for _, tt := range []struct {
		isolation string
		on        int // the plan of an instance that loops
		rows      int // before the stall
	}{
		{"batch", 3, 2},
		{"intent", 1, 0},
	} {
		f := standardFile(t)
		f["isolation"] = tt.isolation
		pack := decode(t, marshal(t, f))
		pack.Limits.Plan.Wall, pack.Limits.Plan.Fuel = 200*time.Millisecond, 1_000_000_000_000
		looping := guest(t, "looping", func(o *wasmtest.Options) {
			a := o.Answers[plan]
			a.Act, a.On = wasmtest.Spin, tt.on
			o.Answers[plan] = a
			o.Omit, o.Stateful = nil, true
		})
		e := runEpoch(t, prepare(t, engine, pack), []benchmark.Entrant{{Miner: "ann", Module: looping}}, 4, nil)
		s := sessionOf(t, e, "ann")
		want := append(make([]intent.Cause, tt.rows), intent.CauseStalled)
		want = append(want, slices.Repeat([]intent.Cause{intent.CauseSessionEnded}, intents-tt.rows-1)...)
		if diff := cmp.Diff(want, causes(s)); diff != "" {
			t.Errorf("%s: causes (-want +got):\n%s", tt.isolation, diff)
		}
		sum := summaryOf(t, e, "ann")
		if s.Adoptable || sum.Adoptable || !strings.Contains(sum.NotAdoptable, s.Records[tt.rows].Row.IntentID) || !strings.Contains(sum.NotAdoptable, "generate_plan: stalled") {
			t.Errorf("%s: adoptable %t, %q, want the stall named", tt.isolation, sum.Adoptable, sum.NotAdoptable)
		}
		if s.StateOut != "" || s.Fault != "" {
			t.Errorf("%s: state %q, fault %q, want neither", tt.isolation, s.StateOut, s.Fault)
		}
	}
}
