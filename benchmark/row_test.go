package benchmark_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/subnet112/assay/benchmark"
)

// The preimages are written out here as DESIGN gives them: a digest that
// changes by accident is one that no other validator has.
func TestDigestsAreOfTheDocumentedBytes(t *testing.T) {
	t.Parallel()
	sum := func(s string) string {
		h := sha256.Sum256([]byte(s))
		return hex.EncodeToString(h[:])
	}
	id, err := benchmark.SessionID("pp", "mm", "ss", benchmark.RoleBar)
	if err != nil {
		t.Fatal(err)
	}
	if want := sum(`{"module":"mm","pack":"pp","role":"bar","state_in":"ss"}`); id != want {
		t.Errorf("SessionID = %s, want %s", id, want)
	}

	yes := true
	row := benchmark.Row{
		Session: "s", Module: "m", StateIn: "", IntentID: "i", Cause: "reverted", Triggered: &yes, PlanHash: "p",
		Revert: &benchmark.Revert{Index: 1, Data: "d"}, GasUsed: 5, GasMetered: 6,
		Deltas: []benchmark.Delta{{Account: "a", Token: "t", Amount: "-1"}}, Transfers: "x", PlanScore: "0", Score: "0",
		Fuel: []benchmark.CallFuel{{Call: "quote", Fuel: 7}}, PeakPages: 8, Reads: benchmark.Reads{Requests: 9, Gas: 10, Digest: "r"}, Log: "l",
		Notes: []string{"n"},
	}
	const text = `{"above_oracle":false,"cause":"reverted","credited":"","deltas":[{"account":"a","amount":"-1","token":"t"}],` +
		`"fuel":[{"call":"quote","fuel":7}],"gas_metered":6,"gas_used":5,"intent_id":"i","log":"l","module":"m","notes":["n"],` +
		`"peak_pages":8,"plan_hash":"p","plan_score":"0","reads":{"digest":"r","gas":10,"requests":9},` +
		`"revert":{"data":"d","index":1},"score":"0","session":"s","state_in":"","success":false,` +
		`"transfers":"x","triggered":true,"value":"","value_by_scorer":false}`
	got, err := benchmark.RowsDigest("pp", []benchmark.Row{row})
	if err != nil {
		t.Fatal(err)
	}
	if want := sum(`{"pack":"pp","rows":[` + text + `],"schema":1}`); got != want {
		t.Errorf("RowsDigest = %s, want %s", got, want)
	}
}

// Who lists the rows in which order does not matter.
func TestRowsDigestIgnoresTheOrderOfRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "rows")
		rows := make([]benchmark.Row, n)
		for i := range rows {
			rows[i] = benchmark.Row{Session: fmt.Sprint("s", i%3), IntentID: fmt.Sprint("i", i)}
		}
		want, err := benchmark.RowsDigest("p", rows)
		if err != nil {
			t.Fatal(err)
		}
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)).Shuffle(n, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if got, err := benchmark.RowsDigest("p", rows); err != nil || got != want {
			t.Fatalf("shuffled: %s, %v, want %s", got, err, want)
		}
	})
}

// A row has no field that could say who ran it, or when.
func TestARowNamesNoHost(t *testing.T) {
	t.Parallel()
	row := reflect.TypeFor[benchmark.Row]()
	for i := range row.NumField() {
		name := row.Field(i).Tag.Get("json")
		for _, word := range []string{"time", "wall", "elapsed", "worker", "attempt", "engine", "path", "miner", "host", "rss", "detail"} {
			if strings.Contains(name, word) {
				t.Errorf("row field %s", name)
			}
		}
	}
}
