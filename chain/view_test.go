package chain_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
)

// The reads of each kind of view, and that none changes what the next sees.
func TestViews(t *testing.T) {
	w := toyWorld(t)
	slot := mappingSlot(toyPoor, 7)
	views := map[string]*chain.View{
		"bare":     w.View(),
		"overlaid": w.OverlaidView(toyPoor, uint256.NewInt(500), toyToken, slot, word(77)),
		"finished": w.FinishedView(func(sdb *state.StateDB) {
			sdb.SetBalance(toyPoor, uint256.NewInt(500), tracing.BalanceChangeUnspecified)
			sdb.SetState(toyToken, slot, word(77))
		}),
	}
	want := map[string][2]uint64{"bare": {1, 0}, "overlaid": {500, 77}, "finished": {500, 77}}
	store := request("eth_call", `[{"to":"`+hexOf(toyStore)+`","data":"0x`+strings.Repeat("0", 63)+"1"+strings.Repeat("0", 63)+`9"}]`)
	for name, v := range views {
		for range 2 {
			if got := ask(t, v, "eth_getBalance", toyPoor.Hex()); got != fmt.Sprintf("0x%x", want[name][0]) {
				t.Errorf("%s: balance %s, want %d", name, got, want[name][0])
			}
			if got := balanceOf(t, v, toyToken, toyPoor).Uint64(); got != want[name][1] {
				t.Errorf("%s: token balance %d, want %d", name, got, want[name][1])
			}
			// What was missing in one read is not missing in the next.
			if got := serve(t, v, request("eth_getBalance", `["`+hexOf(toyUnknown)+`"]`)); !strings.Contains(got, "-32001") {
				t.Errorf("%s: %s", name, got)
			}
			if got := serve(t, v, store); got != result(`"0x"`) {
				t.Errorf("%s: %s", name, got)
			}
			if got := ask(t, v, "eth_getStorageAt", toyStore.Hex(), "0x1"); got != word(1).Hex() {
				t.Errorf("%s: a call left %s behind", name, got)
			}
		}
	}
	if got := ask(t, w.View(), "eth_getBalance", toyPoor.Hex()); got != "0x1" {
		t.Errorf("a view changed its world: balance %s", got)
	}
}

// Many readers of one world, on every kind of view, get what one reader gets.
func TestServeHammer(t *testing.T) {
	w := toyWorld(t)
	views := []*chain.View{
		w.View(),
		w.OverlaidView(toyPoor, uint256.NewInt(500), toyToken, mappingSlot(toyPoor, 7), word(77)),
		w.FinishedView(func(sdb *state.StateDB) { sdb.SetState(toyToken, mappingSlot(toyPoor, 7), word(77)) }),
	}
	requests := []string{
		request("eth_getBalance", `["`+hexOf(toyPoor)+`"]`),
		request("eth_getBalance", `["`+hexOf(toyUnknown)+`"]`),
		request("eth_call", `[{"to":"`+hexOf(toyToken)+`","data":"`+callData(toyPoor)+`"}]`),
		request("eth_call", `[{"to":"`+hexOf(toyOpen)+`","data":"`+callData(toyPoor)+`"}]`),
		request("eth_call", `[{"to":"`+hexOf(toyProxy)+`","data":"`+callData(toyOwner)+`"}]`),
		request("eth_estimateGas", `[{"to":"`+hexOf(toyStore)+`","data":"0x`+strings.Repeat("0", 128)+`"}]`),
		"[" + request("eth_chainId", "[]") + "," + request("eth_getCode", `["`+hexOf(toyToken)+`"]`) + "]",
	}
	want := make([][]string, len(views))
	for i, v := range views {
		for _, req := range requests {
			want[i] = append(want[i], serve(t, v, req))
		}
	}
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for n := range 40 {
				i, j := (g+n)%len(views), (g*7+n)%len(requests)
				reply, _, err := views[i].Serve(t.Context(), []byte(requests[j]), plenty)
				if err != nil || string(reply) != want[i][j] {
					t.Errorf("view %d: %s\nwant %s (%v)", i, reply, want[i][j], err)
				}
			}
		})
	}
	group.Wait()
}
