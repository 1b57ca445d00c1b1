package oracle_test

import (
	"context"
	"os"
	"testing"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/scoring"
)

// What the oracle says is what the app's own scorer and the core make of its plan,
// at that best: full credit, nothing above the oracle.
func TestAnswersAreWhatScorersSay(t *testing.T) {
	engine, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	scorer, err := scoring.New(t.Context(), engine)
	if err != nil {
		t.Fatal(err)
	}
	o := open(t)
	for _, tt := range []struct {
		name, app string
		state     intent.State
	}{
		{"a swap", "swap", swap(usdc, wbtc, units(300_000, 6), param("receiver", receiver.Hex()))},
		{"a limit order", "limit", swap(eth, usdc, units(3, 18))},
		{"a portfolio", "rebalance", portfolio(150,
			holding{weth, units(10, 18), 3_000, wethPrice}, holding{usdc, units(60_000, 6), 3_000, dollar}, holding{wbtc, nil, 4_000, wbtcPrice})},
		{"a portfolio with nothing to do", "rebalance", portfolio(150, holding{weth, units(10, 18), 10_000, wethPrice})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := app(t, tt.app)
			source, err := os.ReadFile("../../fixtures/apps/" + tt.app + ".js")
			if err != nil {
				t.Fatal(err)
			}
			d.JSCode = string(source)
			loaded, err := scorer.Load(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			a, err := o.Best(t.Context(), d, tt.state)
			if err != nil || a.Value == nil {
				t.Fatal(a, err)
			}
			order, err := chain.NewOrder(d, tt.state)
			if err != nil {
				t.Fatal(err)
			}
			outcome, after, err := world().Execute(t.Context(), order, a.Plan)
			if err != nil {
				t.Fatal(err)
			}
			score, err := loaded.Score(t.Context(), scoring.Input{
				Plan: a.Plan, State: tt.state, Outcome: outcome, After: after, Context: world().Context(), Best: a.Value.String(),
			})
			if err != nil {
				t.Fatal(err)
			}
			if score.Cause != intent.CauseNone || score.Value != a.Value.String() || score.Credited != score.Value || score.AboveOracle {
				t.Errorf("cause %q (%s), value %s, credited %s, above the oracle: %t; the answer is %s",
					score.Cause, score.Reason, score.Value, score.Credited, score.AboveOracle, a.Value)
			}
		})
	}
}
