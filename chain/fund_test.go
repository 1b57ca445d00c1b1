package chain_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// ask sends one JSON-RPC request to a view and returns its result, a string. It
// may be called from any goroutine of a test.
func ask(t testing.TB, v *chain.View, method string, params ...any) string {
	t.Helper()
	req, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Error(err)
		return ""
	}
	reply, _, err := v.Serve(t.Context(), req, chain.Cost{Requests: 1, Gas: 30_000_000, Bytes: 1 << 20})
	if err != nil {
		t.Error(err)
		return ""
	}
	var r struct {
		Result string
		Error  any
	}
	if err := json.Unmarshal(reply, &r); err != nil || r.Error != nil {
		t.Errorf("%s%v: %s", method, params, reply)
	}
	return r.Result
}

func balanceOf(t testing.TB, v *chain.View, token, account common.Address) *big.Int {
	t.Helper()
	result := ""
	if token == chain.ETH {
		result = ask(t, v, "eth_getBalance", account.Hex(), "latest")
	} else {
		data := "0x70a08231" + common.BytesToHash(account[:]).Hex()[2:]
		result = ask(t, v, "eth_call", map[string]string{"to": token.Hex(), "data": data}, "latest")
	}
	n, ok := new(big.Int).SetString(result, 0)
	if !ok {
		t.Errorf("balance %q", result)
		return new(big.Int)
	}
	return n
}

// orderOf is owner's order to give amount of each token.
func orderOf(owner common.Address, amount uint64, tokens ...common.Address) chain.Order {
	fund := map[string]any{}
	for _, token := range tokens {
		fund[token.Hex()] = fmt.Sprint(amount)
	}
	o, err := chain.NewOrder(intent.Definition{AppID: "toy"}, intent.State{ChainID: 1, Owner: owner.Hex(), Control: map[string]any{"_fund": fund}})
	if err != nil {
		panic(err)
	}
	return o
}

func TestFundingTopsUp(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	for _, tt := range []struct {
		name  string
		token common.Address
		slot  common.Hash // of toyPoor's balance
		want  common.Hash // what it holds after a grant of 300
	}{
		{"a Solidity mapping", toyToken, mappingSlot(toyPoor, 7), word(300)},
		{"a Vyper mapping", toyVyper, vyperSlot(toyPoor, 3), word(300)},
		{"behind a proxy, in the proxy's storage", toyProxy, mappingSlot(toyPoor, 7), word(300)},
		{"a flag above the balance survives", toyFlag, mappingSlot(toyPoor, 9), common.Hash{0: 0x80, 30: 1, 31: 44}},
		{"a packed neighbour survives", toyPacked, mappingSlot(toyPoor, 1), common.Hash{0: 0xab, 30: 1, 31: 44}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := orderOf(toyPoor, 300, tt.token)
			v, err := w.FundedView(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := balanceOf(t, v, tt.token, toyPoor); got.Cmp(big.NewInt(300)) != 0 {
				t.Errorf("balance = %s, want 300", got)
			}
			if got := common.HexToHash(ask(t, v, "eth_getStorageAt", tt.token.Hex(), tt.slot.Hex(), "latest")); got != tt.want {
				t.Errorf("slot = %s, want %s", got, tt.want)
			}
			// The executor funds the same way: the whole grant can be sent.
			out, _ := execute(t, w, o, toyPlan(transfer(tt.token, toyReceiver, 300)))
			if out.Cause != intent.CauseNone || out.Delta(toyPoor, tt.token).Cmp(big.NewInt(-300)) != 0 {
				t.Errorf("cause %q (%s), delta %s", out.Cause, out.Detail, out.Delta(toyPoor, tt.token))
			}
		})
	}
}

func TestFundingETH(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	for _, tt := range []struct {
		name  string
		owner common.Address
		want  int64
	}{
		{"an owner with less", toyPoor, 300},
		{"an owner who does not exist", toyAbsent, 300},
		{"an owner with more keeps it", toyOwner, toySpare},
	} {
		v, err := w.FundedView(t.Context(), orderOf(tt.owner, 300, chain.ETH))
		if err != nil {
			t.Fatal(err)
		}
		if got := balanceOf(t, v, chain.ETH, tt.owner); got.Cmp(big.NewInt(tt.want)) != 0 {
			t.Errorf("%s: %s wei, want %d", tt.name, got, tt.want)
		}
	}
}

func TestFundingLeavesTheRichAlone(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	for _, token := range []common.Address{toyToken, toyOpen} {
		v, err := w.FundedView(t.Context(), orderOf(toyOwner, toyRich, token))
		if err != nil {
			t.Fatal(err)
		}
		if got := balanceOf(t, v, token, toyOwner); got.Cmp(big.NewInt(toyRich)) != 0 {
			t.Errorf("balance = %s, want the %d there were", got, toyRich)
		}
	}
}

func TestFundingFaults(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	huge := orderOf(toyPoor, 1, toyPacked)
	huge.Grant[0].Amount = new(uint256.Int).Lsh(uint256.NewInt(1), 96)
	for _, tt := range []struct {
		name  string
		order chain.Order
		app   bool
		hole  bool
	}{
		{"a token that computes its balances", orderOf(toyPoor, 300, toyShares), true, false},
		{"more than the token's balances hold", huge, true, false},
		{"a token that answers with 31 bytes", orderOf(toyPoor, 300, toyShort), true, false},
		{"a token that reverts", orderOf(toyPoor, 300, toyAngry), true, false},
		{"a token without code", orderOf(toyPoor, 300, toyAbsent), true, false},
		{"a token the snapshot does not know", orderOf(toyPoor, 300, toyUnknown), false, true},
		{"a balance the snapshot does not know", orderOf(toyPoor, 300, toyOpen), false, true},
		{"ETH of an owner the snapshot does not know", orderOf(toyUnknown, 300, chain.ETH), false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, err := w.FundedView(t.Context(), tt.order)
			if v != nil {
				t.Error("a view beside an error")
			}
			checkFault(t, err, tt.app, tt.hole)
			_, _, again := w.Execute(t.Context(), tt.order, toyPlan(callTo(toyReceiver, 0, nil)))
			if again == nil || err == nil || again.Error() != err.Error() {
				t.Errorf("planning says %v, executing says %v", err, again)
			}
		})
	}
}

// Funding to the larger of two amounts is funding twice: what an owner has
// suffices, or is the grant.
func TestFundingIsAMaximum(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	rapid.Check(t, func(rt *rapid.T) {
		token := rapid.SampledFrom([]common.Address{chain.ETH, toyToken, toyVyper, toyProxy, toyFlag, toyPacked}).Draw(rt, "token")
		owner := rapid.SampledFrom([]common.Address{toyOwner, toyPoor, toyAbsent}).Draw(rt, "owner")
		amount := rapid.Uint64Range(0, 2*toySpare).Draw(rt, "amount")
		had := balanceOf(t, w.View(), token, owner)
		v, err := w.FundedView(t.Context(), orderOf(owner, amount, token))
		if err != nil {
			rt.Fatal(err)
		}
		want := new(big.Int).SetUint64(amount)
		if want.Cmp(had) < 0 {
			want = had
		}
		if got := balanceOf(t, v, token, owner); got.Cmp(want) != 0 {
			rt.Errorf("had %s, granted %d, has %s", had, amount, got)
		}
	})
}

// Tokens move, they are neither made nor lost: what the owner loses is what the
// others gain, transfers say the same, and the plan is overspent exactly when the
// loss exceeds the grant.
func TestTransfersConserve(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	rapid.Check(t, func(rt *rapid.T) {
		grant := rapid.Uint64Range(0, toyRich).Draw(rt, "grant")
		o := toyOrder(toyToken, grant, toyVyper)
		var (
			calls []intent.Interaction
			gone  uint64
		)
		for _, amount := range rapid.SliceOfN(rapid.Uint64Range(0, toyRich/8), 1, 8).Draw(rt, "amounts") {
			to := rapid.SampledFrom([]common.Address{toyReceiver, toyOwner}).Draw(rt, "to")
			calls = append(calls, transfer(toyToken, to, amount))
			if to != toyOwner {
				gone += amount
			}
		}
		out, _, err := w.Execute(t.Context(), o, toyPlan(calls...))
		if err != nil {
			rt.Fatal(err)
		}
		if want := gone > grant; (out.Cause == intent.CauseOverspent) != want {
			rt.Fatalf("cause %q, lost %d of a grant of %d", out.Cause, gone, grant)
		}
		lost, got := out.Delta(toyOwner, toyToken), out.Delta(toyReceiver, toyToken)
		if sum := new(big.Int).Add(lost, got); sum.Sign() != 0 || got.Cmp(new(big.Int).SetUint64(gone)) != 0 {
			rt.Errorf("owner %s, receiver %s, sent %d", lost, got, gone)
		}
		if len(out.Transfers) != len(calls) {
			rt.Errorf("%d transfers of %d calls", len(out.Transfers), len(calls))
		}
	})
}

// A fault's text names the token, so that an operator knows which app to mend.
func TestFundingFaultNamesTheToken(t *testing.T) {
	t.Parallel()
	_, err := toyWorld(t).FundedView(t.Context(), orderOf(toyPoor, 300, toyShares))
	var app *intent.AppFault
	if !errors.As(err, &app) || app.AppID != "toy" {
		t.Fatalf("error = %v, want an app fault of toy", err)
	}
	want := "funding " + toyPoor.Hex() + ": token " + toyShares.Hex() + " has no slot that holds a balance of 300"
	if app.Err.Error() != want {
		t.Errorf("error\n got %s\nwant %s", app.Err, want)
	}
}
