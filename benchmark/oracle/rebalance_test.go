package oracle_test

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/benchmark/oracle"
	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// A holding is one token of a portfolio.
type holding struct {
	token  common.Address
	amount *uint256.Int // nil: none
	target int64        // basis points
	price  int64        // dollars, times 10^8
}

// places are the decimals of a token, STA's included.
func places(token common.Address) int {
	if token == sta {
		return 18
	}
	return decimals[token]
}

func portfolio(threshold int64, list ...holding) intent.State {
	var tokens, targets, prices, digits []any
	fund := map[string]any{}
	for _, h := range list {
		tokens = append(tokens, h.token.Hex())
		targets = append(targets, fmt.Sprint(h.target))
		prices = append(prices, fmt.Sprint(h.price))
		digits = append(digits, fmt.Sprint(places(h.token)))
		if h.amount != nil {
			fund[h.token.Hex()] = h.amount.Dec()
		}
	}
	return intent.State{
		ChainID: 1, Nonce: 9, Owner: owner.Hex(),
		RawParams: map[string]any{
			"tokens": tokens, "target_bps": targets, "prices": prices, "decimals": digits,
			"threshold_bps": fmt.Sprint(threshold),
		},
		Control: map[string]any{"_intent_function": "rebalance", "_fund": fund},
	}
}

// worth is what balances are worth by the prices of a portfolio, and whether every
// share is in its band: the rule of the app, written once more.
func worth(threshold int64, list []holding, balances []*big.Int) (*big.Int, bool) {
	sum := new(big.Int)
	var values []*big.Int
	for i, h := range list {
		v := new(big.Int).Mul(balances[i], big.NewInt(h.price))
		v.Quo(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places(h.token))), nil))
		values = append(values, v)
		sum.Add(sum, v)
	}
	for i, h := range list {
		share := new(big.Int).Mul(values[i], big.NewInt(10_000))
		off := share.Sub(share, new(big.Int).Mul(big.NewInt(h.target), sum))
		if off.Abs(off).Cmp(new(big.Int).Mul(big.NewInt(threshold), sum)) > 0 {
			return sum, false
		}
	}
	return sum, true
}

// after runs a plan and returns the owner's balances.
func after(t *testing.T, d intent.Definition, s intent.State, p intent.Plan, list []holding) []*big.Int {
	t.Helper()
	order, err := chain.NewOrder(d, s)
	if err != nil {
		t.Fatal(err)
	}
	outcome, _, err := world().Execute(t.Context(), order, p)
	if err != nil || outcome.Cause != intent.CauseNone {
		t.Fatalf("%+v, %v", outcome, err)
	}
	var balances []*big.Int
	for _, h := range list {
		had := new(big.Int)
		if h.amount != nil {
			had = h.amount.ToBig()
		}
		got := outcome.Delta(owner, h.token)
		if got == nil { // nothing of it was granted: only transfers tell
			got = new(big.Int)
			for _, x := range outcome.Transfers {
				if x.Token == h.token && x.To == owner {
					got.Add(got, x.Amount)
				}
			}
		}
		balances = append(balances, had.Add(had, got))
	}
	return balances
}

const (
	wethPrice = 3_000_35333866
	wbtcPrice = 89_961_09757780
	dollar    = 1_00000000
)

// The value is what the portfolio is worth after the plan, with every share in its
// band.
func TestPortfolios(t *testing.T) {
	o, d := open(t), app(t, "rebalance")
	for _, tt := range []struct {
		name      string
		threshold int64
		list      []holding
	}{
		{"half of one token into another", 200, []holding{{weth, units(10, 18), 5_000, wethPrice}, {usdc, nil, 5_000, dollar}}},
		{"thirds", 300, []holding{
			{weth, units(10, 18), 3_333, wethPrice}, {usdc, units(60_000, 6), 3_333, dollar}, {wbtc, nil, 3_334, wbtcPrice},
		}},
		{"quarters of what moves prices", 50, []holding{
			{weth, units(500, 18), 2_500, wethPrice}, {usdc, nil, 2_500, dollar},
			{wbtc, units(1, 8), 2_500, wbtcPrice}, {dai, nil, 2_500, dollar},
		}},
		{"all of a token away", 10, []holding{{crv, units(2_000, 18), 0, 49767079}, {dai, units(5_000, 18), 10_000, dollar}}},
		{"a token that burns a part of transfers", 100, []holding{{weth, units(1, 18), 9_900, wethPrice}, {sta, nil, 100, 5051099}}},
		{"nothing to do", 100, []holding{{weth, units(1, 18), 10_000, wethPrice}, {usdc, nil, 0, dollar}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := portfolio(tt.threshold, tt.list...)
			a, err := o.Best(t.Context(), d, s)
			if err != nil {
				t.Fatal(err)
			}
			if a.Value == nil {
				t.Fatalf("no value: %s", a.Reason)
			}
			got, ok := worth(tt.threshold, tt.list, after(t, d, s, a.Plan, tt.list))
			if !ok || got.Cmp(a.Value) != 0 {
				t.Errorf("worth %s after the plan, in the bands: %t; the answer is %s", got, ok, a.Value)
			}
		})
	}
}

// A portfolio of two tokens is worth no less than by any sale on a fine grid, each
// by the best split, whatever the prices say against the market's.
func TestPortfolioOfTwoIsTheBest(t *testing.T) {
	o, swapApp, d := open(t), app(t, "swap"), app(t, "rebalance")
	const steps = 40
	grant := units(100, 18)
	for _, price := range []int64{wethPrice, wethPrice / 100 * 95, wethPrice / 100 * 106} {
		list := []holding{{weth, grant, 5_000, price}, {usdc, nil, 5_000, dollar}}
		const threshold = 450
		most := new(big.Int)
		for k := uint64(1); k < steps; k++ {
			sold := new(uint256.Int).Mul(grant, uint256.NewInt(k))
			sold.Div(sold, uint256.NewInt(steps))
			a, err := o.Best(t.Context(), swapApp, swap(weth, usdc, sold))
			if err != nil || a.Value == nil {
				t.Fatal(a, err)
			}
			left := new(uint256.Int).Sub(grant, sold)
			if got, ok := worth(threshold, list, []*big.Int{left.ToBig(), a.Value}); ok && got.Cmp(most) > 0 {
				most = got
			}
		}
		if most.Sign() == 0 {
			t.Fatal("no sale on the grid ends in the bands")
		}
		a, err := o.Best(t.Context(), d, portfolio(threshold, list...))
		if err != nil || a.Value == nil {
			t.Fatal(a, err)
		}
		if a.Value.Cmp(most) < 0 {
			t.Errorf("at %d the answer is %s, a sale on the grid ends with %s", price, a.Value, most)
		}
	}
}

// A portfolio of three is worth no less than by any two sales on a grid along the
// paths that give most.
func TestPortfolioOfThreeIsTheBest(t *testing.T) {
	o, d := open(t), app(t, "rebalance")
	const steps, threshold = 50, 300
	grant := units(60, 18)
	list := []holding{{weth, grant, 4_000, wethPrice}, {usdc, nil, 3_000, dollar}, {wbtc, nil, 3_000, wbtcPrice}}
	part := func(k uint64) *uint256.Int {
		z := new(uint256.Int).Mul(grant, uint256.NewInt(k))
		return z.Div(z, uint256.NewInt(steps))
	}
	var paths []oracle.Path
	for _, to := range []common.Address{usdc, wbtc} {
		var best oracle.Path
		most := new(uint256.Int)
		for _, p := range o.Paths(weth, to) {
			if got, err := o.Run(t.Context(), p, part(steps/3)); err != nil {
				t.Fatal(err)
			} else if o.Ordinary(p) && got != nil && got.Gt(most) {
				best, most = p, got
			}
		}
		paths = append(paths, best)
	}
	most := new(big.Int)
	for x := uint64(1); x < steps; x++ {
		for y := uint64(1); x+y < steps; y++ {
			a, err := o.RunAll(t.Context(), paths[:1], []uint256.Int{*part(x)})
			if err != nil {
				t.Fatal(err)
			}
			b, err := o.RunAll(t.Context(), paths[1:], []uint256.Int{*part(y)})
			if err != nil {
				t.Fatal(err)
			}
			left := new(uint256.Int).Sub(grant, part(x))
			left.Sub(left, part(y))
			if got, ok := worth(threshold, list, []*big.Int{left.ToBig(), a.ToBig(), b.ToBig()}); ok && got.Cmp(most) > 0 {
				most = got
			}
		}
	}
	if most.Sign() == 0 || paths[0].Share(paths[1]) {
		t.Fatal("no sales on the grid to compare with")
	}
	a, err := o.Best(t.Context(), d, portfolio(threshold, list...))
	if err != nil || a.Value == nil {
		t.Fatal(a, err)
	}
	if a.Value.Cmp(most) < 0 {
		t.Errorf("the answer is %s, sales on the grid end with %s", a.Value, most)
	}
}

// Wider bands are worth no less, to a millionth: the search is no proof.
func TestWiderBandsAreWorthNoLess(t *testing.T) {
	o, d := open(t), app(t, "rebalance")
	last := new(big.Int)
	for _, threshold := range []int64{20, 200, 2_000} {
		a, err := o.Best(t.Context(), d, portfolio(threshold,
			holding{weth, units(300, 18), 2_000, wethPrice}, holding{usdc, units(10_000, 6), 5_000, dollar}, holding{dai, nil, 3_000, dollar}))
		if err != nil || a.Value == nil {
			t.Fatal(a, err)
		}
		slack := new(big.Int).Quo(last, big.NewInt(1_000_000))
		if least := last.Sub(last, slack); a.Value.Cmp(least) < 0 {
			t.Errorf("within %d basis points worth %s, more narrowly %s", threshold, a.Value, least)
		}
		last = new(big.Int).Set(a.Value)
	}
}

func TestPortfoliosThatCannotBe(t *testing.T) {
	o, d := open(t), app(t, "rebalance")
	two := []holding{{weth, units(1, 18), 5_000, wethPrice}, {usdc, nil, 5_000, dollar}}
	a, err := o.Best(t.Context(), d, portfolio(0, two...))
	if err != nil {
		t.Fatal(err)
	}
	if a.Value != nil || a.Reason == "" {
		t.Errorf("with bands of no width: value %s, reason %q", a.Value, a.Reason)
	}
	for _, tt := range []struct {
		name string
		edit func(*intent.State)
	}{
		{"no tokens", param("tokens", []any{})},
		{"tokens that are no list", param("tokens", weth.Hex())},
		{"nine tokens", param("tokens", []any{"1", "2", "3", "4", "5", "6", "7", "8", "9"})},
		{"a token twice", param("tokens", []any{weth.Hex(), weth.Hex()})},
		{"lists that differ in length", param("prices", []any{"1"})},
		{"a target that is no amount", param("target_bps", []any{"1", "-1"})},
		{"more decimals than a number has", param("decimals", []any{"78", "6"})},
		{"no threshold", param("threshold_bps", "")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := portfolio(100, two...)
			tt.edit(&s)
			if _, err := o.Best(t.Context(), d, s); !errors.Is(err, oracle.ErrIntent) {
				t.Errorf("Best() = %v, want %v", err, oracle.ErrIntent)
			}
		})
	}
}
