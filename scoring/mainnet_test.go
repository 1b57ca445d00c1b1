package scoring_test

import (
	"bytes"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/chain/mainnettest"
	"github.com/subnet112/assay/fixtures"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// failedTrade failed in its block, so that the prestate lacks slots of the token
// it buys; what is recorded holds if they are zero. See [mainnettest.Trade].
const failedTrade = "0x44c3119a4638abab57089f8e05b03fb64f51ef9c89c54559ef048df639ce5ddf"

// mainnetWorld is the state before a block. The storage of the accounts named is
// taken to be complete.
func mainnetWorld(t testing.TB, b mainnettest.Block, complete ...common.Address) *chain.World {
	t.Helper()
	hashes := b.BlockHashes
	if hashes == nil {
		hashes = []byte("{}")
	}
	s, err := chain.ImportPrestate(bytes.NewReader(b.Prestate), bytes.NewReader(b.Block), bytes.NewReader(hashes), 1)
	if err != nil {
		t.Fatalf("block %d: %v", b.Number, err)
	}
	for _, a := range complete {
		for i := range s.Accounts {
			s.Accounts[i].Complete = s.Accounts[i].Complete || s.Accounts[i].Address == a
		}
	}
	w, err := chain.NewWorld(s)
	if err != nil {
		t.Fatalf("block %d: %v", b.Number, err)
	}
	return w
}

// mainnetApp is the swap app with the gas that the trades were recorded with.
func mainnetApp(t testing.TB) intent.Definition {
	t.Helper()
	d, err := intent.DecodeDefinition(fixtures.SwapApp())
	if err != nil {
		t.Fatal(err)
	}
	d.JSCode = string(fixtures.SwapScorer())
	d.Config.MaxGas = 30_000_000
	return d
}

// mainnetIntent is what the trader wanted: to give what the trade took and get at
// least minimum.
func mainnetIntent(x mainnettest.Trade, minimum string) intent.State {
	amount := x.AmountIn
	if common.HexToAddress(x.TokenIn) == chain.ETH {
		amount = x.Value // some of it comes back, which is not spent
	}
	return intent.State{
		ChainID: 1, Nonce: 1, Owner: x.From,
		RawParams: map[string]any{
			"input_token": x.TokenIn, "input_amount": amount,
			"output_token": x.TokenOut, "min_output_amount": minimum, "receiver": x.From,
		},
	}
}

// mainnetPlan is the one call that was mined, as a plan of the app.
func mainnetPlan(d intent.Definition, w *chain.World, x mainnettest.Trade) intent.Plan {
	return intent.Plan{
		IntentID:     d.AppID,
		Interactions: []intent.Interaction{{Target: x.To, Value: x.Value, CallData: x.CallData, ChainID: 1}},
		Deadline:     w.Context().Time + 1,
		Nonce:        1,
	}
}

// Whoever had made these trades for an intent would have been credited with what
// the network paid for them, to the last base unit: the receipt itself is enough
// of a minimum, one unit more is not.
func TestMainnetTradesAreWorthWhatTheyPaid(t *testing.T) {
	blocks := mainnettest.Blocks(t)
	d := mainnetApp(t)
	a := load(t, newScorer(t, compiled, patient()), d)
	for _, b := range blocks {
		before := mainnetWorld(t, b)
		for _, x := range b.Trades {
			w := before
			if x.Tx == failedTrade {
				w = mainnetWorld(t, b, common.HexToAddress(x.TokenOut))
			}
			t.Run(x.Tx, func(t *testing.T) {
				t.Parallel()
				out, s := tradeScore(t, a, d, w, x, x.AmountOut)
				want := scoring.Score{Value: x.AmountOut, Credited: x.AmountOut, Score: "1", Breakdown: s.Breakdown}
				if diff := cmp.Diff(want, s); diff != "" {
					t.Errorf("score (-want +got):\n%s", diff)
				}
				if got := out.Delta(common.HexToAddress(x.From), common.HexToAddress(x.TokenIn)); got.String() != "-"+x.AmountIn {
					t.Errorf("spent %s, want -%s", got, x.AmountIn)
				}
				if out.GasUsed != x.GasUsed || out.Logs != x.Logs {
					t.Errorf("%d gas and %d logs, want %d and %d", out.GasUsed, out.Logs, x.GasUsed, x.Logs)
				}

				more, err := intent.ParseAmount(x.AmountOut)
				if err != nil {
					t.Fatal(err)
				}
				out, s = tradeScore(t, a, d, w, x, more.AddUint64(more, 1).Dec())
				if out.Cause != intent.CauseNone {
					t.Errorf("the plan itself failed: %s: %s", out.Cause, out.Detail)
				}
				want = scoring.Score{Cause: intent.CauseMinOutput, Score: "0", Reason: s.Reason}
				if diff := cmp.Diff(want, s); diff != "" {
					t.Errorf("score with a minimum one unit higher (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// tradeScore puts a trade through what every solver's plan goes through.
func tradeScore(t testing.TB, a *scoring.App, d intent.Definition, w *chain.World, x mainnettest.Trade, minimum string) (*chain.Outcome, scoring.Score) {
	t.Helper()
	state, plan := mainnetIntent(x, minimum), mainnetPlan(d, w, x)
	key, err := intent.Key(d, state)
	if err != nil {
		t.Fatal(err)
	}
	rules := intent.PlanRules{AppID: d.AppID, IntentID: key, ChainID: 1, Nonce: state.Nonce, Time: w.Context().Time}
	if err := plan.Validate(rules); err != nil {
		t.Fatal(err)
	}
	order, err := chain.NewOrder(d, state)
	if err != nil {
		t.Fatal(err)
	}
	out, after, err := w.Execute(t.Context(), order, plan)
	if err != nil {
		t.Fatal(err)
	}
	return out, score(t, a, scoring.Input{Plan: plan, State: state, Outcome: out, After: after, Context: w.Context()})
}
