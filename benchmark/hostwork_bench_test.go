package benchmark_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/fixtures"
	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// dictated is the fixture pack with nothing in it but n intents that are one good
// swap, each with the plan for it in words that the conformance guests do as they
// are told by.
func dictated(t testing.TB, e *sandbox.Engine, n int) *benchmark.Prepared {
	t.Helper()
	const app = "app_swap"
	var f file
	if err := json.Unmarshal(fixtures.Pack(), &f); err != nil {
		t.Fatal(err)
	}
	only := func(list string) []any {
		return slices.DeleteFunc(f[list].([]any), func(v any) bool { return v.(file)["app_id"] != app })
	}
	f["apps"], f["self_tests"] = only("apps"), only("self_tests")
	known := marshal(t, f["self_tests"].([]any)[0])
	intentOf := func(nonce int) (file, file) {
		var c file
		if err := json.Unmarshal(known, &c); err != nil {
			t.Fatal(err)
		}
		state, plan := c["state"].(file), c["plan"].(file)
		state["nonce"], plan["nonce"] = nonce, nonce
		return state, plan
	}
	var cases, smoke []any
	for i := range n {
		state, plan := intentOf(i)
		words := strings.ReplaceAll(string(marshal(t, plan)), `"`, "'")
		state["control"].(file)["_script"] = "generate_plan json " + words
		cases = append(cases, file{"app_id": app, "state": state})
	}
	for i := range benchmark.SmokeIntents {
		state, _ := intentOf(n + i)
		smoke = append(smoke, file{"app_id": app, "state": state})
	}
	f["cases"], f["smoke"] = cases, smoke
	return fixturePrepared(t, e, decode(t, marshal(t, f)))
}

func fixturePrepared(t testing.TB, e *sandbox.Engine, pack *benchmark.Pack) *benchmark.Prepared {
	t.Helper()
	snap, err := chain.DecodeSnapshot(fixtures.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	hash, err := snap.Hash()
	if err != nil {
		t.Fatal(err)
	}
	p, err := benchmark.Prepare(t.Context(), pack, map[common.Hash]*chain.Snapshot{hash: snap}, e)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// guestInC is the conformance guest in C: the least guest that there is.
func guestInC(t testing.TB) []byte {
	t.Helper()
	wasm, err := os.ReadFile("../bin/conformance-c.wasm")
	if errors.Is(err, fs.ErrNotExist) {
		const message = "skipped: conformance-c.wasm is not built: make conformance"
		if os.Getenv("CI") == "true" || os.Getenv("ASSAY_ALL") == "1" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// sessions returns a function that runs one session of the C guest, all of whose
// rows have a value.
func sessions(t testing.TB, e *sandbox.Engine, p *benchmark.Prepared) func() {
	t.Helper()
	program, err := harness.Compile(t.Context(), e, harness.Source{Code: guestInC(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(program.Close)
	return func() {
		s, err := benchmark.RunSession(t.Context(), p, program, nil, benchmark.RoleCandidate, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Records {
			if r.Row.Cause != intent.CauseNone {
				t.Fatalf("%s: %s: %s", r.Row.IntentID, r.Row.Cause, r.Detail)
			}
		}
	}
}

// Around the least guest, what is left of a row besides guest, scorer and EVM is
// no more than what the EVM takes. What a busy machine does to a few hundred samples
// it does not do three times.
func TestHostWorkIsNoMoreThanTheEVMs(t *testing.T) {
	measured(t)
	e := newEngine(t)
	run := sessions(t, e, dictated(t, e, 40))
	run()
	for attempt := 1; ; attempt++ {
		sum, _ := profiled(t, func() {
			for range 80 {
				run()
			}
		})
		if sum.outside() <= sum[inEVM] {
			return
		}
		if attempt == 3 {
			t.Fatalf("outside of guest, scorer and EVM %v, in the EVM %v, and more than that three times", sum.outside(), sum[inEVM])
		}
	}
}

// BenchmarkRow is a row of the least guest with a plan of two interactions.
func BenchmarkRow(b *testing.B) {
	const rows = 40
	e := newEngine(b)
	run := sessions(b, e, dictated(b, e, rows))
	run()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for b.Loop() {
		run()
		n += rows
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(n), "allocs/row")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(n), "B/row")
}

// entrantsOf are n solvers that plan with routes of their own, in Go and in
// JavaScript. The router and the direct solver stand there under several versions:
// another version is another module.
func entrantsOf(t testing.TB, n int) []benchmark.Entrant {
	t.Helper()
	script, err := os.ReadFile("../solvers/templates/js/solver.js")
	if err != nil {
		t.Fatal(err)
	}
	list := []benchmark.Entrant{
		{Miner: "script", Module: script, Script: true},
		{Miner: "template", Module: solver(t, "../templates/go")},
	}
	router, swap := solver(t, "router"), solver(t, "swap")
	for i := len(list); i < n; i++ {
		name, code := "router", router
		if i%2 == 1 {
			name, code = "swap", swap
		}
		version := fmt.Sprintf("1.0.%d", i)
		list = append(list, benchmark.Entrant{Miner: name + " " + version, Module: bytes.ReplaceAll(code, []byte("1.0.0"), []byte(version))})
	}
	return list
}

// fixtureIntents is the fixture pack, its intents repeated under other nonces where
// it has fewer than n.
func fixtureIntents(t testing.TB, n int) *benchmark.Pack {
	t.Helper()
	var f file
	if err := json.Unmarshal(fixtures.Pack(), &f); err != nil {
		t.Fatal(err)
	}
	cases := f["cases"].([]any)
	for i := 0; len(cases) < n; i++ {
		var c file
		if err := json.Unmarshal(marshal(t, cases[i]), &c); err != nil {
			t.Fatal(err)
		}
		c["state"].(file)["nonce"] = 100_000 + i
		cases = append(cases, c)
	}
	f["cases"] = cases
	return decode(t, marshal(t, f))
}

// An epoch of eight solvers and forty intents spends most of its time in what
// nobody can do for it. It is the second of its store: modules are compiled, as
// they are for every epoch but a module's first, and states are read and written.
func TestHostIsASmallShareOfAnEpoch(t *testing.T) {
	measured(t)
	p := fixturePrepared(t, newEngine(t), fixtureIntents(t, 40))
	entrants := entrantsOf(t, 8)
	store := openStore(t, t.TempDir())
	runEpoch(t, p, entrants, 2, store)
	sum, prof := profiled(t, func() {
		e := runEpoch(t, p, entrants, 2, store)
		for _, s := range e.Sessions {
			if s.Fault != "" || len(s.Records) < 40 {
				t.Errorf("%s: %d rows, fault %s", s.Miner, len(s.Records), s.Fault)
			}
		}
	})
	if limit := sum.total() * 15 / 100; sum.outside() > limit {
		t.Errorf("outside of guests, scorers and EVM %v of %v, limit 15%%", sum.outside(), sum.total())
	}
	if out := os.Getenv("ASSAY_FLAME"); out != "" {
		writeFlame(t, out, prof)
	}
}
