package benchmark_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

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
	digest, err := p.Pack().Digest()
	if err != nil {
		t.Fatal(err)
	}
	id, err := benchmark.SessionID(digest, r.Module, "", benchmark.RoleCandidate)
	if err != nil || r.Session != id {
		t.Errorf("session %s, want %s (%v)", r.Session, id, err)
	}
}

func TestBadInputIsATypedCauseOnItsRow(t *testing.T) {
	t.Parallel()
	pack := decode(t, marshal(t, standardFile(t)))
	pack.Limits.Plan.Fuel = 200_000_000 // for the guest that loops
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
		{"a loop", acting(t, "loop", wasmtest.Spin, 2), intent.CauseFuel},
		{"recursion without end", acting(t, "recursion", wasmtest.Recurse, 2), intent.CauseDepth},
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

// A row holds the fuel of each call, the summary their sum, and the solver is told it
// in milliseconds at the end.
func TestFuelIsCountedAndTold(t *testing.T) {
	t.Parallel()
	const bytesAsked, least = 350_000, 3_500_000 // a byte of a request is 10
	f := standardFile(t)
	f["cases"] = f["cases"].([]any)[:2]
	p := prepare(t, newEngine(t), decode(t, marshal(t, f)))
	e := runEpoch(t, p, []benchmark.Entrant{{Miner: "ann", Module: guest(t, "ann", func(o *wasmtest.Options) {
		o.Answers[plan] = wasmtest.Answer{RPC: &wasmtest.RPC{Chain: 99, Request: strings.Repeat("x", bytesAsked)}}
		// What it is told comes back as a note.
		o.Answers["solver_on_benchmark_end"] = wasmtest.Answer{Act: wasmtest.Echo, Status: 1}
	})}}, 1, nil)
	s := sessionOf(t, e, "ann")
	sum := uint64(0)
	for _, r := range s.Records {
		if len(r.Row.Fuel) != 1 || r.Row.Fuel[0].Call != "generate_plan" || r.Row.Fuel[0].Fuel < least || r.Row.Fuel[0].Fuel > least+100_000 {
			t.Fatalf("fuel %+v, want one call of a little more than %d", r.Row.Fuel, least)
		}
		sum += r.Row.Fuel[0].Fuel
	}
	if got := summaryOf(t, e, "ann").Fuel; got != sum {
		t.Errorf("summary has %d fuel, its rows %d", got, sum)
	}
	want := fmt.Sprintf(`[{"elapsed_ms":3,"intent_id":"%s","score":0},{"elapsed_ms":3,`, s.Records[0].Row.IntentID)
	if len(s.Notes) != 1 || !strings.Contains(strings.ReplaceAll(s.Notes[0], `\`, ""), want) {
		t.Errorf("notes %q, want one with %s", s.Notes, want)
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
