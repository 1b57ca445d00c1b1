package chain_test

import (
	"errors"
	"testing"

	"github.com/subnet112/assay/intent"
)

// A plan has a receipt for every interaction that was sent, and gas and logs add
// up to its outcome's.
func TestReceiptsAddUp(t *testing.T) {
	t.Parallel()
	w := fixtureWorld(t)
	for _, k := range knownPlans(t) {
		funded, err := w.Fund(t.Context(), k.order)
		if err != nil {
			t.Fatal(err)
		}
		list, err := funded.Receipts(t.Context(), k.Plan)
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := funded.Execute(t.Context(), k.Plan)
		if err != nil {
			t.Fatal(err)
		}
		gas, logs := uint64(0), 0
		for i, r := range list {
			if !r.Status {
				t.Errorf("interaction %d failed", i)
			}
			gas, logs = gas+r.GasUsed, logs+len(r.Logs)
		}
		if len(list) != len(k.Plan.Interactions) || gas != out.GasUsed || logs != out.Logs {
			t.Errorf("%d receipts of %d gas and %d logs; the plan has %d interactions, %d gas, %d logs",
				len(list), gas, logs, len(k.Plan.Interactions), out.GasUsed, out.Logs)
		}
	}
}

// The interaction that fails has the last receipt, with what it reverted with.
func TestReceiptsEndAtAFailure(t *testing.T) {
	t.Parallel()
	w, k := fixtureWorld(t), knownPlans(t)[0]
	funded, err := w.Fund(t.Context(), k.order)
	if err != nil {
		t.Fatal(err)
	}
	p := k.Plan
	swap := p.Interactions[len(p.Interactions)-1]
	p.Interactions = []intent.Interaction{swap, swap} // without the approval
	list, err := funded.Receipts(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := funded.Execute(t.Context(), p)
	if err != nil || out.Revert == nil {
		t.Fatalf("outcome %+v, %v, want a revert", out, err)
	}
	if len(list) != 1 || list[0].Status || len(list[0].Logs) != 0 || string(list[0].Return) != string(out.Revert.Data) {
		t.Errorf("receipts %+v, want one that failed with %x", list, out.Revert.Data)
	}
	var miner *intent.MinerFault
	if _, err := funded.Receipts(t.Context(), intent.Plan{}); !errors.As(err, &miner) || miner.Cause != intent.CauseInvalidPlan {
		t.Errorf("of no interactions: %v, want an invalid plan", err)
	}
}
