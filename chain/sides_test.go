package chain_test

import (
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// What one plan's measurement read is kept for the next, and changes nothing:
// whichever plan comes first, and however many at once, each has the outcome that
// it has alone.
func TestPlansForOneOrderDoNotMeet(t *testing.T) {
	t.Parallel()
	token, middle := common.Address{19: 0xe1}, common.Address{19: 0xe2}
	s := toySnapshot()
	withContract(s, token, asm(`
		0 CALLDATALOAD @balanceOf JUMPI 0 0 SSTORE STOP
	balanceOf:
		0 SLOAD 0 MSTORE 32 0 RETURN`), chain.Slot{Key: word(0), Value: word(5)})
	withContract(s, middle, asm(`0 0 0 0 0 `+token.Hex()+` GAS CALL POP STOP`))
	w, order := worldOf(t, s), toyOrder(toyToken, 300, toyVyper)
	plans := []intent.Plan{
		toyPlan(callTo(middle, 0, nil)),                               // burns what the owner has of token
		toyPlan(callTo(token, 0, common.LeftPadBytes([]byte{1}, 32))), // reads there
		toyPlan(callTo(middle, 0, nil), callTo(toyVyper, 0, nil)),
	}
	var alone []*chain.Outcome
	for _, p := range plans {
		out, _ := execute(t, w, order, p)
		alone = append(alone, out)
	}
	if alone[0].Cause != intent.CauseOverspent || alone[1].Cause != intent.CauseNone {
		t.Fatalf("alone: %s and %s, want overspent and none", alone[0].Cause, alone[1].Cause)
	}
	f, err := w.Fund(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 24 {
		group.Go(func() {
			n := i % len(plans)
			out, _, err := f.Execute(t.Context(), plans[n])
			if err != nil {
				t.Error(err)
				return
			}
			if diff := cmp.Diff(alone[n], out, bigInts); diff != "" {
				t.Errorf("plan %d (-alone +together):\n%s", n, diff)
			}
		})
	}
	group.Wait()
}
