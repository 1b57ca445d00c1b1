package benchmark_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

func runEpoch(t testing.TB, p *benchmark.Prepared, entrants []benchmark.Entrant, workers int, store *benchmark.Store) *benchmark.Epoch {
	t.Helper()
	e, err := benchmark.RunEpoch(t.Context(), p, entrants, workers, store, benchmark.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func sessionOf(t testing.TB, e *benchmark.Epoch, miner string) *benchmark.Session {
	t.Helper()
	for _, s := range e.Sessions {
		if s.Miner == miner {
			return s
		}
	}
	t.Fatalf("no session of %s", miner)
	return nil
}

func summaryOf(t testing.TB, e *benchmark.Epoch, miner string) benchmark.Summary {
	t.Helper()
	for _, s := range e.Solvers {
		if s.Miner == miner {
			return s
		}
	}
	t.Fatalf("no summary of %s", miner)
	return benchmark.Summary{}
}

func causes(s *benchmark.Session) []intent.Cause {
	out := make([]intent.Cause, len(s.Records))
	for i, r := range s.Records {
		out[i] = r.Row.Cause
	}
	return out
}

// checkRow holds for any row: value, cause and score agree.
func checkRow(t testing.TB, r benchmark.Row) {
	t.Helper()
	if (r.Cause == intent.CauseNone) != (r.Value != "") {
		t.Errorf("row %s: cause %q with value %q", r.IntentID, r.Cause, r.Value)
	}
	if r.Cause != intent.CauseNone && r.Cause != intent.CauseInfra && r.Score != "0" {
		t.Errorf("row %s: cause %q with score %q", r.IntentID, r.Cause, r.Score)
	}
}

func TestOneFailureCostsOneIntent(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	e := runEpoch(t, p, quartet(t), 2, nil)

	const none, trap, spent = intent.CauseNone, intent.CauseTrap, intent.CauseSessionRestarts
	for miner, want := range map[string][]intent.Cause{
		// A fresh instance counts from one again, so it traps on its fourth
		// intent too.
		"trapper": {none, none, none, trap, none, none, none, trap},
		"crasher": {trap, trap, trap, trap, trap, spent, spent, spent},
		"learner": {none, none, none, none, none, none, none, none},
		"good":    {none, none, none, none, none, none, none, none},
	} {
		s := sessionOf(t, e, miner)
		if got := causes(s); !slices.Equal(got, want) {
			t.Errorf("%s: causes %q, want %q", miner, got, want)
		}
		for i, r := range s.Records {
			if r.Row.IntentID != p.Pack().Cases[i].ID {
				t.Errorf("%s: row %d is of %s, want %s", miner, i, r.Row.IntentID, p.Pack().Cases[i].ID)
			}
			checkRow(t, r.Row)
		}
	}
}

func TestEntrantsAreChecked(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	a, b := good(t), guest(t, "other", nil)
	custom := wasmtest.Section(0, []byte("\x01xcustom"))
	twin := append(slices.Clone(a), custom...)
	refused := guest(t, "refused", func(o *wasmtest.Options) { o.Omit = append(o.Omit, plan) })
	refusedTwin := append(slices.Clone(refused), custom...)
	for name, entrants := range map[string][]benchmark.Entrant{
		"nobody":                             nil,
		"the same file twice":                {{Miner: "ann", Module: a}, {Miner: "bob", Module: a}},
		"one module but for custom sections": {{Miner: "ann", Module: a}, {Miner: "bob", Module: twin}},
		"a refused one but for the same":     {{Miner: "ann", Module: refused}, {Miner: "bob", Module: refusedTwin}},
		"a miner twice":                      {{Miner: "ann", Module: a}, {Miner: "ann", Module: append(b, 0)}},
		"no miner":                           {{Module: a}},
		"a long name":                        {{Miner: strings.Repeat("x", 129), Module: a}},
		"a name that is not UTF-8":           {{Miner: "\xff", Module: a}},
		"an unknown role":                    {{Miner: "ann", Role: "king", Module: a}},
	} {
		_, err := benchmark.RunEpoch(t.Context(), p, entrants, 1, nil, benchmark.Progress{
			Admitted: func(benchmark.Entrant, string) { t.Errorf("%s: found after a module was compiled", name) },
		})
		var usage *intent.UsageFault
		if !errors.As(err, &usage) {
			t.Errorf("%s: %v, want a usage fault", name, err)
		}
		if err := p.CheckEntrants(entrants, 1); !errors.As(err, &usage) {
			t.Errorf("%s: CheckEntrants: %v, want a usage fault", name, err)
		}
	}
	for _, workers := range []int{0, -1, benchmark.MaxWorkers + 1} {
		_, err := benchmark.RunEpoch(t.Context(), p, []benchmark.Entrant{{Miner: "ann", Module: a}}, workers, nil, benchmark.Progress{})
		var usage *intent.UsageFault
		if !errors.As(err, &usage) {
			t.Errorf("%d workers: %v, want a usage fault", workers, err)
		}
	}
}

// A champion that enters again as a candidate runs twice, as two sessions.
func TestOneModuleCanStandInTwoRoles(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	store := openStore(t, t.TempDir())
	entrants := []benchmark.Entrant{
		{Miner: "ann", Role: benchmark.RoleChampion, Module: good(t)},
		{Miner: "ann", Role: benchmark.RoleCandidate, Module: good(t)},
		{Miner: "bob", Role: benchmark.RoleBar, Module: good(t)},
	}
	e := runEpoch(t, p, entrants, 2, store)
	ids := map[string]bool{}
	for _, s := range e.Sessions {
		ids[s.ID] = true
	}
	if len(ids) != len(entrants) {
		t.Errorf("%d sessions of %d entrants", len(ids), len(entrants))
	}
	back, err := store.Epoch(e.Number)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range back.Sessions {
		if len(s.Records) != intents {
			t.Errorf("%s as %s: %d rows are stored, want %d", s.Miner, s.Role, len(s.Records), intents)
		}
	}
}

func TestAnInterruptedEpochLeavesNothing(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	store := openStore(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var rows atomic.Int64
	_, err := benchmark.RunEpoch(ctx, p, quartet(t), 2, store, benchmark.Progress{
		Row: func(benchmark.Entrant, int, int, benchmark.Record) {
			if rows.Add(1) == 5 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	if numbers, err := store.Epochs(); err != nil || len(numbers) != 0 {
		t.Errorf("epochs %v, %v, want none", numbers, err)
	}
	if b, err := store.State("learner", benchmark.RoleCandidate); err != nil || b != nil {
		t.Errorf("state %v, %v, want none", b, err)
	}
	if e := runEpoch(t, p, quartet(t), 2, store); e.Number != 1 {
		t.Errorf("the next epoch is number %d, want 1", e.Number)
	}
}
