package benchmark_test

import (
	"math/big"
	"testing"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
)

// The reference solver that competes gets 99 % of the oracle's best on every intent
// that can be served, more than the best single pool on a third of them, and by over
// 5 % on three and more, for less than a tenth of the fuel it may spend. What it learned
// saves it reads in the next epoch, and changes no plan.
func TestRouterCompetes(t *testing.T) {
	t.Parallel()
	pack, snaps := base(t)
	p, err := benchmark.Prepare(t.Context(), pack, snaps, newEngine(t))
	if err != nil {
		t.Fatal(err)
	}
	store := openStore(t, t.TempDir())
	entrants := []benchmark.Entrant{{Miner: "router", Module: solver(t, "router")}, {Miner: "swap", Module: solver(t, "swap")}}
	first := runEpoch(t, p, entrants, 2, store)
	router, direct := sessionOf(t, first, "router"), sessionOf(t, first, "swap")

	number := func(text string) *big.Int {
		n, ok := new(big.Int).SetString(text, 10)
		if !ok {
			t.Fatalf("amount %q", text)
		}
		return n
	}
	percent := func(n *big.Int, share int64) *big.Int {
		n = new(big.Int).Mul(n, big.NewInt(share))
		return n.Quo(n, big.NewInt(100))
	}
	servable, better, muchBetter := 0, 0, 0
	for i, r := range router.Records {
		c := pack.Cases[i]
		checkRow(t, r.Row)
		switch {
		case c.Truth != nil && !*c.Truth:
			if r.Row.Value != "1" {
				t.Errorf("nonce %d is not due: %q, %s", c.State.Nonce, r.Row.Value, r.Row.Cause)
			}
			continue
		case c.Best == "":
			if r.Row.Value != "" {
				t.Errorf("nonce %d is out of reach, and yet %s was delivered", c.State.Nonce, r.Row.Value)
			}
			continue
		case r.Row.Cause != intent.CauseNone:
			t.Errorf("nonce %d of %s: %s: %s", c.State.Nonce, c.App, r.Row.Cause, r.Detail)
			continue
		}
		servable++
		value, best := number(r.Row.Value), number(c.Best)
		if value.Cmp(percent(best, 99)) < 0 {
			t.Errorf("nonce %d of %s: %s, less than 99 %% of the best %s", c.State.Nonce, c.App, value, best)
		}
		other := direct.Records[i].Row.Value
		if other == "" || value.Cmp(number(other)) > 0 {
			better++
		}
		if other != "" && value.Cmp(percent(number(other), 105)) >= 0 {
			muchBetter++
		}
	}
	t.Logf("of %d that can be served: better than one pool on %d, by 5 %% and more of what it gives on %d", servable, better, muchBetter)
	if servable < 40 || 3*better < servable || muchBetter < 3 {
		t.Errorf("of %d that can be served: better on %d, by 5 %% on %d", servable, better, muchBetter)
	}

	limits := pack.Limits
	budget := limits.SessionFuel + uint64(p.Intents())*limits.SessionFuelPerIntent
	if spent := summaryOf(t, first, "router").Fuel; 10*spent >= budget {
		t.Errorf("spent %d fuel, a tenth of the pack's is %d", spent, budget/10)
	} else {
		t.Logf("spent %d of %d fuel, %d.%02d %%", spent, budget, 100*spent/budget, 10_000*spent/budget%100)
	}

	second := runEpoch(t, p, entrants, 1, store)
	before, after := summaryOf(t, first, "router").Reads, summaryOf(t, second, "router").Reads
	if after >= before {
		t.Errorf("%d reads in the second epoch, %d in the first", after, before)
	}
	t.Logf("%d reads in the first epoch, %d in the second", before, after)
	for i, r := range sessionOf(t, second, "router").Records {
		if a := router.Records[i].Row; r.Row.PlanHash != a.PlanHash || r.Row.Value != a.Value {
			t.Errorf("%s: what was learned changes %s to %s", a.IntentID, a.Value, r.Row.Value)
		}
	}
}
