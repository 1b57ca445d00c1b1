package chain_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/chain/mainnettest"
	"github.com/subnet112/assay/intent"
)

var mainnetWETH = common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")

// failedTrade is a trade that failed when it was mined, so that its block never
// came to the slots of the bought token that it needs, and the prestate does not
// hold them. Whoever executed it alone took what was not there for zero. Here
// nothing unknown is zero, so the test has to say it.
const failedTrade = "0x44c3119a4638abab57089f8e05b03fb64f51ef9c89c54559ef048df639ce5ddf"

// tradeWorld is the world in which failedTrade was executed alone.
func tradeWorld(t testing.TB, b mainnettest.Block, x mainnettest.Trade) *chain.World {
	t.Helper()
	s := importBlock(t, b)
	for i := range s.Accounts {
		if s.Accounts[i].Address == common.HexToAddress(x.TokenOut) {
			s.Accounts[i].Complete = true
		}
	}
	return worldOf(t, s)
}

// tradeOrder is the intent of somebody who gave what the trade took.
func tradeOrder(t testing.TB, x mainnettest.Trade) chain.Order {
	t.Helper()
	amount := x.AmountIn
	if common.HexToAddress(x.TokenIn) == chain.ETH {
		amount = x.Value // what comes back is not spent
	}
	d := intent.Definition{AppID: "trade", Config: intent.Config{MaxGas: 30_000_000}}
	o, err := chain.NewOrder(d, intent.State{ChainID: 1, Owner: x.From, RawParams: map[string]any{
		"input_token": x.TokenIn, "input_amount": amount, "output_token": x.TokenOut,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// tradePlan is the historical plan: one call, as it was mined.
func tradePlan(x mainnettest.Trade, more ...intent.Interaction) intent.Plan {
	first := intent.Interaction{Target: x.To, Value: x.Value, CallData: x.CallData, ChainID: 1}
	return intent.Plan{IntentID: "trade", Interactions: append([]intent.Interaction{first}, more...)}
}

// mainnetTrades calls f for every trade with the world it was executed in.
func mainnetTrades(t *testing.T, f func(w *chain.World, x mainnettest.Trade)) (blocks, trades int) {
	t.Helper()
	for _, b := range mainnettest.Blocks(t) {
		blocks++
		w := worldOf(t, importBlock(t, b))
		for _, x := range b.Trades {
			trades++
			if x.Tx == failedTrade {
				f(tradeWorld(t, b, x), x)
				continue
			}
			f(w, x)
		}
	}
	return blocks, trades
}

func TestMainnetTrades(t *testing.T) {
	blocks, trades := mainnetTrades(t, func(w *chain.World, x mainnettest.Trade) {
		out, _, err := w.Execute(t.Context(), tradeOrder(t, x), tradePlan(x))
		if err != nil || out.Cause != intent.CauseNone {
			t.Errorf("%s: outcome %+v, error %v", x.Tx, out, err)
			return
		}
		owner := common.HexToAddress(x.From)
		if got := out.Delta(owner, common.HexToAddress(x.TokenOut)).String(); got != x.AmountOut {
			t.Errorf("%s: value %s, want %s", x.Tx, got, x.AmountOut)
		}
		if got := out.Delta(owner, common.HexToAddress(x.TokenIn)).String(); got != "-"+x.AmountIn {
			t.Errorf("%s: spent %s, want -%s", x.Tx, got, x.AmountIn)
		}
		if out.GasUsed != x.GasUsed || out.Logs != x.Logs {
			t.Errorf("%s: %d gas and %d logs, want %d and %d", x.Tx, out.GasUsed, out.Logs, x.GasUsed, x.Logs)
		}
		if out.GasMetered < out.GasUsed {
			t.Errorf("%s: %d gas before refunds, %d after", x.Tx, out.GasMetered, out.GasUsed)
		}
	})
	if !t.Failed() {
		fmt.Printf("mainnet: %d blocks, %d trades\n", blocks, trades)
	}
}

// As imported, the one trade that failed in its block is not served: what its
// owner had of the bought token is unknown, and no plan is blamed for that.
func TestMainnetFailedTradeIsNotGuessed(t *testing.T) {
	for _, b := range mainnettest.Blocks(t) {
		for _, x := range b.Trades {
			if x.Tx != failedTrade {
				continue
			}
			_, _, err := worldOf(t, importBlock(t, b)).Execute(t.Context(), tradeOrder(t, x), tradePlan(x))
			checkFault(t, err, false, true)
			return
		}
	}
	t.Error("the trade is not there")
}

// spare returns what a trader's account holds beside what the trade gave.
func spare(t testing.TB, w *chain.World, x mainnettest.Trade) *big.Int {
	t.Helper()
	given, ok := new(big.Int).SetString(x.Value, 10)
	if !ok {
		t.Fatalf("value %q", x.Value)
	}
	return given.Sub(balanceOf(t, w.View(), chain.ETH, common.HexToAddress(x.From)), given)
}

// The trade works, and the plan helps itself to the rest of the owner's ETH. A
// trade that pays out ETH pays for some of it, so that only the net counts: a
// value that much smaller, or a loss.
func TestMainnetSendingSpareETHIsOverspent(t *testing.T) {
	checked := 0
	mainnetTrades(t, func(w *chain.World, x mainnettest.Trade) {
		rest := spare(t, w, x)
		if rest.Sign() <= 0 {
			return
		}
		bribe := intent.Interaction{Target: w.Context().Coinbase.Hex(), Value: rest.String(), CallData: "0x", ChainID: 1}
		out, _, err := w.Execute(t.Context(), tradeOrder(t, x), tradePlan(x, bribe))
		if err != nil {
			t.Errorf("%s: %v", x.Tx, err)
			return
		}
		net := new(big.Int).Neg(rest)
		if common.HexToAddress(x.TokenOut) == chain.ETH {
			got, _ := new(big.Int).SetString(x.AmountOut, 10)
			net.Add(net, got)
		}
		switch {
		case net.Sign() < 0 && out.Cause != intent.CauseOverspent:
			t.Errorf("%s: cause %q (%s), want overspent", x.Tx, out.Cause, out.Detail)
		case net.Sign() >= 0 && (out.Cause != intent.CauseNone || out.Delta(common.HexToAddress(x.From), chain.ETH).Cmp(net) != 0):
			t.Errorf("%s: outcome %+v, want a value of %s", x.Tx, out, net)
		case net.Sign() < 0:
			checked++
		}
	})
	if checked < 40 {
		t.Errorf("%d trades overspent, want most of 51", checked)
	}
}

// Wrapping it reads the owner's WETH balance, which a prestate without that slot
// does not know: not zero, and not the owner's loss either.
func TestMainnetWrappingSpareETHIsMissingState(t *testing.T) {
	checked := 0
	mainnetTrades(t, func(w *chain.World, x mainnettest.Trade) {
		rest := spare(t, w, x)
		if rest.Sign() <= 0 || common.HexToAddress(x.TokenIn) == mainnetWETH || common.HexToAddress(x.TokenOut) == mainnetWETH {
			return
		}
		wrap := intent.Interaction{Target: mainnetWETH.Hex(), Value: rest.String(), CallData: "0xd0e30db0", ChainID: 1}
		out, _, err := w.Execute(t.Context(), tradeOrder(t, x), tradePlan(x, wrap))
		if err != nil {
			t.Errorf("%s: %v", x.Tx, err)
			return
		}
		slot := mappingSlot(common.HexToAddress(x.From), 3)
		if out.Cause != intent.CauseStateMissing || out.Missing == nil || out.Missing.Address != mainnetWETH ||
			out.Missing.Slot == nil || *out.Missing.Slot != slot {
			t.Errorf("%s: outcome %+v, want state_missing naming slot %s of WETH", x.Tx, out, slot)
		}
		checked++
	})
	if checked < 40 {
		t.Errorf("%d trades wrapped, want most of 51", checked)
	}
}
