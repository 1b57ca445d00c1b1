package benchmark_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/fixtures"
	"github.com/subnet112/assay/intent"
)

// solver builds one of the reference solvers as its README says.
func solver(t testing.TB, dir string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "solver.wasm")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, "../solvers/reference/"+dir)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// The reference solver, in Go, over real Uniswap bytecode: it earns a value on
// most intents, the fallback on none; it finds its routes again in the second
// epoch, and its rows do not depend on the workers.
func TestReferenceSolversOverTheFixture(t *testing.T) {
	t.Parallel()
	snap, err := chain.DecodeSnapshot(fixtures.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	hash, err := snap.Hash()
	if err != nil {
		t.Fatal(err)
	}
	pack := decode(t, fixtures.Pack())
	p, err := benchmark.Prepare(t.Context(), pack, map[common.Hash]*chain.Snapshot{hash: snap}, newEngine(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Dropped()) != 0 {
		t.Fatalf("dropped %+v", p.Dropped())
	}
	entrants := []benchmark.Entrant{{Miner: "fallback", Module: solver(t, "fallback")}, {Miner: "swap", Module: solver(t, "swap")}}

	var digests [2]string
	var states [2][]byte
	for i, workers := range []int{2, 1} {
		store := openStore(t, t.TempDir())
		first := runEpoch(t, p, entrants, workers, store)
		if first.Solvers[0].Miner != "swap" {
			t.Errorf("%s is first, want swap", first.Solvers[0].Miner)
		}
		for _, r := range sessionOf(t, first, "swap").Records {
			checkRow(t, r.Row)
			// The fixture has intents that no direct route serves. The solver
			// knows and says so; whatever it plans must be good, but for a token that
			// keeps a fee, and it waits for no price but its own.
			if c := r.Row.Cause; c != intent.CauseNone && c != intent.CauseSolverError && c != intent.CauseReverted && c != intent.CauseFalseTrigger {
				t.Errorf("swap's plan for %s earns nothing: %s: %s", r.Row.IntentID, r.Row.Cause, r.Detail)
			}
		}
		// 26 can be had by one venue; see fixtures/README.md.
		if sum := summaryOf(t, first, "swap"); sum.Valued != 26 || sum.Intents != 46 {
			t.Errorf("swap earns on %d of %d intents, want 26 of 46", sum.Valued, sum.Intents)
		}
		for _, r := range sessionOf(t, first, "fallback").Records {
			checkRow(t, r.Row)
			// It triggers nothing, which is right for what is not due.
			if declined := r.Row.Triggered != nil && !*r.Row.Triggered; r.Row.Value != "" && !declined {
				t.Errorf("fallback earns %s on %s", r.Row.Value, r.Row.IntentID)
			}
		}
		second := runEpoch(t, p, entrants, workers, store)
		if sessionOf(t, second, "swap").StateIn == "" || sessionOf(t, second, "swap").StateIn != sessionOf(t, first, "swap").StateOut {
			t.Error("the second epoch did not start from the state of the first")
		}
		digests[i] = first.RowsDigest + second.RowsDigest
		if states[i], err = store.State("swap", benchmark.RoleCandidate); err != nil {
			t.Fatal(err)
		}
	}
	if digests[0] != digests[1] || !bytes.Equal(states[0], states[1]) {
		t.Errorf("two workers: rows %s and %d bytes of state; one: %s and %d", digests[0], len(states[0]), digests[1], len(states[1]))
	}
}
