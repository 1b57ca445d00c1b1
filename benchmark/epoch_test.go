package benchmark_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// quartet is a solver that traps on its fourth intent, one that spends its
// restarts, one that keeps state, and one that does nothing wrong.
func quartet(t testing.TB) []benchmark.Entrant {
	t.Helper()
	return []benchmark.Entrant{
		{Miner: "trapper", Module: acting(t, "trapper", wasmtest.Trap, 4)},
		{Miner: "crasher", Module: acting(t, "crasher", wasmtest.Trap, 0)},
		{Miner: "learner", Module: remembering(t)},
		{Miner: "good", Module: good(t)},
	}
}

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

// The plan sends 900 of the 1,000 granted: what arrived, what was spent and the
// score are known without running anything.
func TestARowSaysWhatHappened(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	r := sessionOf(t, runEpoch(t, p, []benchmark.Entrant{{Miner: "good", Module: good(t)}}, 1, nil), "good").Records[0].Row
	want := benchmark.Row{
		Cause: intent.CauseNone, Success: true, GasUsed: 21_000, GasMetered: 21_000,
		PlanScore: "0.9", Score: "0.9", Value: "900", Credited: "900",
		Deltas: []benchmark.Delta{
			{Account: owner, Token: zeroAddress, Amount: "-900"},
			{Account: receiver, Token: zeroAddress, Amount: "900"},
		},
		Notes: []string{}, StateIn: "",
	}
	got := r
	got.Session, got.Module, got.IntentID, got.PlanHash, got.Transfers, got.Fuel, got.PeakPages = "", "", "", "", "", nil, 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if len(r.Fuel) != 1 || r.Fuel[0].Call != "generate_plan" {
		t.Errorf("fuel of %v, want one call of generate_plan", r.Fuel)
	}
	plan, err := intent.DecodePlan(marshal(t, tipPlan("900")))
	if err != nil {
		t.Fatal(err)
	}
	hash, err := plan.Hash()
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x", hash); r.PlanHash != want {
		t.Errorf("plan hash %s, want %s", r.PlanHash, want)
	}
	id, err := benchmark.SessionID(p.Digest(), r.Module, "", benchmark.RoleCandidate)
	if err != nil || r.Session != id {
		t.Errorf("session %s, want %s (%v)", r.Session, id, err)
	}
}

func TestBadInputIsATypedCauseOnItsRow(t *testing.T) {
	t.Parallel()
	pack := decode(t, marshal(t, standardFile(t)))
	pack.Limits.Plan.Wall = time.Second // for the guest that loops
	p := prepare(t, newEngine(t), pack)

	chain2 := tipPlan("900")
	chain2["interactions"].([]any)[0].(file)["chain_id"] = 2
	many := make([]any, 65)
	for i := range many {
		many[i] = tipPlan("1")["interactions"].([]any)[0]
	}
	tooMany := tipPlan("1")
	tooMany["interactions"] = many
	expired := tipPlan("900")
	expired["deadline"] = blockTime
	wrongNonce := tipPlan("900")
	wrongNonce["nonce"] = 8

	tests := []struct {
		name  string
		wasm  []byte
		cause intent.Cause
	}{
		{"a trap", acting(t, "trap", wasmtest.Trap, 2), intent.CauseTrap},
		{"a loop", acting(t, "loop", wasmtest.Spin, 2), intent.CauseTimeout},
		{"memory without end", acting(t, "memory", wasmtest.Allocate, 2), intent.CauseMemory},
		{"a bad pointer", acting(t, "pointer", wasmtest.BadPointer, 2), intent.CauseBadPointer},
		{"an exit", acting(t, "exit", wasmtest.Exit, 2), intent.CauseExit},
		{"a log without end", acting(t, "log", wasmtest.FloodLog, 2), intent.CauseLog},
		{"two MiB of output", guest(t, "output", func(o *wasmtest.Options) {
			o.Answers[plan] = wasmtest.Answer{Pad: 2 << 20}
		}), intent.CauseOutput},
		{"a message of its own", guest(t, "error", func(o *wasmtest.Options) {
			o.Answers[plan] = wasmtest.Answer{Status: 1, Output: []byte("no route\x1b[31m\u202e")}
		}), intent.CauseSolverError},
		{"not implemented", guest(t, "absent", func(o *wasmtest.Options) {
			o.Answers[plan] = wasmtest.Answer{Status: 2}
		}), intent.CauseNotImplemented},
		{"no answer", raw(t, "empty", nil), intent.CauseBadOutput},
		{"invalid UTF-8", raw(t, "utf8", []byte("{\"intent_id\":\"\xff\"}")), intent.CauseBadOutput},
		{"10,000 nested arrays", raw(t, "nested", append(bytes.Repeat([]byte("["), 10_000), bytes.Repeat([]byte("]"), 10_000)...)), intent.CauseBadOutput},
		{"a plan for another chain", planning(t, "chain", chain2), intent.CauseInvalidPlan},
		{"a value of -1", planning(t, "minus", tipPlan("-1")), intent.CauseInvalidPlan},
		{"a value of 2^256", planning(t, "huge", tipPlan("115792089237316195423570985008687907853269984665640564039457584007913129639936")), intent.CauseInvalidPlan},
		{"65 interactions", planning(t, "many", tooMany), intent.CauseInvalidPlan},
		{"a deadline that is now", planning(t, "expired", expired), intent.CauseInvalidPlan},
		{"another nonce", planning(t, "nonce", wrongNonce), intent.CauseInvalidPlan},
		{"more than the grant", planning(t, "spender", tipPlan("1001")), intent.CauseOverspent},
		{"less than the minimum", planning(t, "stingy", tipPlan("99")), intent.CauseMinOutput},
		{"state the snapshot does not know", planning(t, "explorer", planTo(stranger, "900")), intent.CauseStateMissing},
	}
	entrants := []benchmark.Entrant{{Miner: "good", Module: good(t)}}
	for _, tt := range tests {
		entrants = append(entrants, benchmark.Entrant{Miner: tt.name, Module: tt.wasm})
	}
	e := runEpoch(t, p, entrants, 2, nil)
	for _, tt := range tests {
		s := sessionOf(t, e, tt.name)
		hit := 0
		for _, r := range s.Records {
			checkRow(t, r.Row)
			if strings.ContainsAny(r.Detail, "\x1b\u202e\n") {
				t.Errorf("%s: detail %q is not safe to print", tt.name, r.Detail)
			}
			if r.Row.Cause == tt.cause {
				hit++
			}
		}
		if hit == 0 {
			t.Errorf("%s: causes %q, want %q", tt.name, causes(s), tt.cause)
		}
		if len(s.Records) != intents {
			t.Errorf("%s: %d rows, want %d", tt.name, len(s.Records), intents)
		}
	}
	if sum := summaryOf(t, e, "good"); sum.Valued != intents {
		t.Errorf("the good solver has %d rows with a value beside the bad ones, want %d", sum.Valued, intents)
	}
}

func TestARefusedModuleHasARowForEveryIntent(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	whole := good(t)
	modules := map[string][]byte{
		"truncated":      whole[:len(whole)/2],
		"empty":          {},
		"text":           []byte("#!/bin/sh\n"),
		"no memory":      guest(t, "m", func(o *wasmtest.Options) { o.Omit = append(o.Omit, "memory") }),
		"no plan":        guest(t, "p", func(o *wasmtest.Options) { o.Omit = append(o.Omit, plan) }),
		"unknown import": guest(t, "i", func(o *wasmtest.Options) { o.Extra = [2]string{"env", "system"} }),
	}
	entrants := []benchmark.Entrant{{Miner: "good", Module: whole}}
	for name, wasm := range modules {
		entrants = append(entrants, benchmark.Entrant{Miner: name, Module: wasm})
	}
	e := runEpoch(t, p, entrants, 2, nil)
	for name := range modules {
		s := sessionOf(t, e, name)
		if got, want := causes(s), slices.Repeat([]intent.Cause{intent.CauseRefused}, intents); !slices.Equal(got, want) {
			t.Errorf("%s: causes %q, want all refused", name, got)
		}
		if s.Records[0].Detail == "" {
			t.Errorf("%s: no reason is given", name)
		}
	}
	if sum := summaryOf(t, e, "good"); sum.Valued != intents {
		t.Errorf("the good solver has %d rows with a value, want %d", sum.Valued, intents)
	}
}

func TestASolverThatNeverStartsHasARowForEveryIntent(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	e := runEpoch(t, p, []benchmark.Entrant{
		{Miner: "never", Module: guest(t, "never", func(o *wasmtest.Options) {
			o.Answers["solver_initialize"] = wasmtest.Answer{Act: wasmtest.Trap}
		})},
	}, 1, nil)
	s := sessionOf(t, e, "never")
	if got, want := causes(s), slices.Repeat([]intent.Cause{intent.CauseSessionEnded}, intents); !slices.Equal(got, want) {
		t.Errorf("causes %q, want all session_ended", got)
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

// A second run finds what the first one learned; runs from empty repeat.
func TestRunsRepeatFromEmpty(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	var first []string
	for round := range 2 {
		dir := t.TempDir()
		var digests []string
		for run := range 3 {
			store := openStore(t, dir)
			e := runEpoch(t, p, quartet(t), 1+run, store)
			digests = append(digests, e.RowsDigest)
			s := sessionOf(t, e, "learner")
			if restored := s.StateIn != ""; restored != (run > 0) {
				t.Errorf("run %d: state restored %t", run+1, restored)
			}
			b, err := store.State("learner", benchmark.RoleCandidate)
			if err != nil {
				t.Fatal(err)
			}
			if want := binary.LittleEndian.AppendUint64(nil, uint64((run+1)*intents)); !bytes.Equal(b, want) {
				t.Errorf("run %d: state %x, want a count of %d", run+1, b, (run+1)*intents)
			}
			back, err := store.Epoch(e.Number)
			if err != nil {
				t.Fatal(err)
			}
			if back.RowsDigest != e.RowsDigest || e.Number != uint64(run+1) {
				t.Errorf("run %d is stored as epoch %d with digest %s, want %s", run+1, e.Number, back.RowsDigest, e.RowsDigest)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Compact(slices.Sorted(slices.Values(digests)))[0] == "" || digests[0] == digests[1] || digests[1] == digests[2] {
			t.Errorf("digests %v: a restored state must show in them", digests)
		}
		if round == 0 {
			first = digests
		} else if !slices.Equal(first, digests) {
			t.Errorf("digests from empty %v, the first time %v", digests, first)
		}
	}
}

func TestOnlyAValueSavesState(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	// It learns like the other, but nothing it does has a value.
	poor := guest(t, "poor", func(o *wasmtest.Options) {
		o.Omit, o.Stateful = nil, true
		o.Answers[plan] = wasmtest.Answer{Act: wasmtest.Remember, Output: marshal(t, tipPlan("1"))}
	})
	huge := guest(t, "huge", func(o *wasmtest.Options) {
		o.Omit = nil
		o.Answers[serialize] = wasmtest.Answer{Pad: benchmark.StateLimit + 1}
	})
	full := guest(t, "full", func(o *wasmtest.Options) {
		o.Omit = nil
		o.Answers[serialize] = wasmtest.Answer{Pad: benchmark.StateLimit}
	})
	store := openStore(t, t.TempDir())
	e := runEpoch(t, p, []benchmark.Entrant{
		{Miner: "poor", Module: poor}, {Miner: "huge", Module: huge}, {Miner: "full", Module: full},
		{Miner: "bar", Role: benchmark.RoleBar, Module: remembering(t)},
	}, 2, store)
	for miner, want := range map[string]int{"poor": 0, "huge": 0, "full": benchmark.StateLimit, "bar": 0} {
		if got := sessionOf(t, e, miner).StateOutBytes; got != want {
			t.Errorf("%s: %d bytes of state saved, want %d", miner, got, want)
		}
	}
	for _, miner := range []string{"huge", "full", "bar"} {
		if sum := summaryOf(t, e, miner); sum.Valued != intents {
			t.Errorf("%s: %d rows with a value, want %d: a state never touches a score", miner, sum.Valued, intents)
		}
	}
}

// A solver that refuses its state keeps it in the store, and its rows say so.
func TestARefusedStateIsKept(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	store := openStore(t, t.TempDir())
	runEpoch(t, p, []benchmark.Entrant{{Miner: "ann", Module: remembering(t)}}, 1, store)
	before, err := store.State("ann", benchmark.RoleCandidate)
	if err != nil || len(before) != 8 {
		t.Fatal(before, err)
	}
	picky := guest(t, "picky", func(o *wasmtest.Options) {
		o.Omit = nil
		o.Answers[restore] = wasmtest.Answer{Status: 1, Output: []byte("not mine")}
		o.Answers[serialize] = wasmtest.Answer{Output: []byte("something else")}
	})
	s := sessionOf(t, runEpoch(t, p, []benchmark.Entrant{{Miner: "ann", Module: picky}}, 1, store), "ann")
	for _, r := range s.Records {
		if !slices.Contains(r.Row.Notes, "state_refused") || r.Row.Cause != intent.CauseNone {
			t.Fatalf("row %s: notes %q and cause %q, want state_refused and a value", r.Row.IntentID, r.Row.Notes, r.Row.Cause)
		}
	}
	after, err := store.State("ann", benchmark.RoleCandidate)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("state %x after a refusal, %v, want %x", after, err, before)
	}
}
