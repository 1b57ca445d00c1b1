package oracle_test

import (
	"context"
	"errors"
	"math/big"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/benchmark/oracle"
	"github.com/subnet112/assay/intent"
)

var compareAnswers = []cmp.Option{
	cmp.Comparer(func(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
	cmp.Comparer(func(a, b *uint256.Int) bool { return a == b || a != nil && b != nil && a.Eq(b) }),
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".path" }, cmp.Ignore()),
}

// Every servable intent of the pack gets a plan that the harness accepts and that
// delivers what the answer says, at least the minimum.
func TestEveryIntentOfThePack(t *testing.T) {
	o := open(t)
	for _, c := range pack().Cases {
		d := ofPack(t, c.App)
		a, err := o.Best(t.Context(), d, c.State)
		if err != nil {
			t.Errorf("intent %d: %v", c.State.Nonce, err)
			continue
		}
		if a.Value == nil {
			if a.Reason == "" {
				t.Errorf("intent %d: no value and no reason", c.State.Nonce)
			}
			continue
		}
		rules := intent.PlanRules{AppID: d.AppID, ChainID: 1, Nonce: c.State.Nonce, Time: world().Context().Time}
		if err := a.Plan.Validate(rules); err != nil {
			t.Errorf("intent %d: %v", c.State.Nonce, err)
		}
		outcome, err := execute(t.Context(), d, c.State, a.Plan)
		if err != nil || outcome.Cause != intent.CauseNone {
			t.Errorf("intent %d: %v, %v", c.State.Nonce, outcome, err)
			continue
		}
		if d.Manifest.Value == nil {
			continue
		}
		token, _ := c.State.RawParams[d.Manifest.Value.Token].(string)
		account, _ := c.State.RawParams[d.Manifest.Value.Account].(string)
		minimum, _ := c.State.RawParams[d.Manifest.Value.Minimum].(string)
		got := outcome.Delta(common.HexToAddress(account), common.HexToAddress(token))
		if got == nil || got.Cmp(a.Value) != 0 || got.Cmp(decimal(minimum)) < 0 {
			t.Errorf("intent %d: the plan delivers %s, the answer is %s, the minimum %s", c.State.Nonce, got, a.Value, minimum)
		}
	}
}

// A path alone never gives more than the answer.
func TestNoPathGivesMore(t *testing.T) {
	o, d := open(t), app(t, "swap")
	for _, tt := range []struct {
		in, out common.Address
		amount  *uint256.Int
	}{
		{usdc, weth, units(1_000, 6)},
		{usdc, wbtc, units(2_000_000, 6)},
		{dai, wbtc, units(30_000, 18)},
		{weth, dai, units(400, 18)},
		{crv, usdt, units(90_000, 18)},
	} {
		a, err := o.Best(t.Context(), d, swap(tt.in, tt.out, tt.amount))
		if err != nil {
			t.Fatal(err)
		}
		paths := o.Paths(tt.in, tt.out)
		if len(paths) == 0 || a.Value == nil {
			t.Fatalf("%d paths, answer %v", len(paths), a)
		}
		for _, p := range paths {
			if !o.Ordinary(p) {
				continue
			}
			got, err := o.Run(t.Context(), p, tt.amount)
			if err != nil {
				t.Fatal(err)
			}
			if got != nil && got.ToBig().Cmp(a.Value) > 0 {
				t.Errorf("%s along %v gives %s, the answer is %s", tt.amount.Dec(), p.Tokens, got.Dec(), a.Value)
			}
		}
	}
}

func TestAnswers(t *testing.T) {
	o, d := open(t), app(t, "swap")
	amount := units(3, 18)
	for _, tt := range []struct {
		name  string
		state intent.State
		value string // "": not servable, "any": more than nothing
	}{
		{"ETH wrapped is as much WETH", swap(eth, weth, amount), amount.Dec()},
		{"WETH unwrapped is as much ETH", swap(weth, eth, amount), amount.Dec()},
		{"ETH wrapped for another", swap(eth, weth, amount, param("receiver", receiver.Hex())), amount.Dec()},
		{"WETH unwrapped for another", swap(weth, eth, amount, param("receiver", receiver.Hex())), amount.Dec()},
		{"a token handed on", swap(usdc, usdc, amount, param("receiver", receiver.Hex())), amount.Dec()},
		{"ETH handed on", swap(eth, eth, amount, param("receiver", receiver.Hex())), amount.Dec()},
		{"a token for itself", swap(usdc, usdc, amount), ""},
		{"ETH for a token", swap(eth, usdc, amount), "any"},
		{"a token for ETH", swap(dai, eth, amount), "any"},
		{"one base unit of USDC for DAI", swap(usdc, dai, uint256.NewInt(1)), "any"},
		{"a token that burns a part of transfers, sold", swap(sta, usdc, units(5_000, 18)), "any"},
		{"a token that burns a part of transfers, bought", swap(dai, sta, units(500, 18)), "any"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := o.Best(t.Context(), d, tt.state)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.value == "" && (a.Value != nil || a.Reason == ""):
				t.Errorf("value %s, reason %q; want none for a reason", a.Value, a.Reason)
			case tt.value != "" && a.Value == nil:
				t.Errorf("no value: %s", a.Reason)
			case tt.value == "any" && a.Value.Sign() <= 0:
				t.Errorf("value %s", a.Value)
			case tt.value != "" && tt.value != "any" && a.Value.String() != tt.value:
				t.Errorf("value %s, want %s", a.Value, tt.value)
			}
		})
	}
}

// Where no pools lead, there is no value, and no error.
func TestNoWay(t *testing.T) {
	venues, routers, err := oracle.Venues(pack().Chains[0].Market)
	if err != nil {
		t.Fatal(err)
	}
	o, err := oracle.New(t.Context(), world(), venues[:1], routers)
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, in := range ordinary {
		for _, out := range ordinary {
			a, err := o.Best(t.Context(), app(t, "swap"), swap(in, out, units(1, decimals[in])))
			if err != nil {
				t.Fatal(err)
			}
			if a.Value != nil {
				met++
			} else if a.Reason == "" {
				t.Errorf("%s to %s: no value and no reason", in, out)
			}
		}
	}
	if met != 2 { // there and back
		t.Errorf("one pool trades %d ways, want 2", met)
	}
}

// The minimum decides whether there is a value, and nothing else.
func TestMinimum(t *testing.T) {
	o, d := open(t), app(t, "swap")
	amount := units(2_500, 6)
	free, err := o.Best(t.Context(), d, swap(usdc, weth, amount))
	if err != nil || free.Value == nil {
		t.Fatal(free, err)
	}
	just, err := o.Best(t.Context(), d, swap(usdc, weth, amount, param("min_output_amount", free.Value.String())))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(free, just, compareAnswers...); diff != "" {
		t.Errorf("at a minimum that is just reached (-without +with):\n%s", diff)
	}
	beyond := new(big.Int).Add(free.Value, big.NewInt(1))
	not, err := o.Best(t.Context(), d, swap(usdc, weth, amount, param("min_output_amount", beyond.String())))
	if err != nil {
		t.Fatal(err)
	}
	if not.Value != nil || not.Found == nil || not.Found.Cmp(free.Value) != 0 || not.Reason == "" {
		t.Errorf("beyond what there is: value %s, found %s, reason %q", not.Value, not.Found, not.Reason)
	}
}

// An answer depends on the world and the intent: not on what an oracle was asked
// before, on the order of venues or on who else asks.
func TestAnswersRepeat(t *testing.T) {
	swaps, portfolios := app(t, "swap"), app(t, "rebalance")
	asks := []struct {
		app   intent.Definition
		state intent.State
	}{
		{swaps, swap(usdc, weth, units(4_000_000, 6))},
		{swaps, swap(dai, wbtc, units(30_000, 18))},
		{swaps, swap(sta, eth, units(700, 18))},
		{portfolios, portfolio(100, holding{weth, units(9, 18), 7_000, wethPrice}, holding{usdc, nil, 3_000, dollar})},
	}
	var want []oracle.Answer
	first := open(t)
	for _, ask := range asks {
		a, err := first.Best(t.Context(), ask.app, ask.state)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, a)
	}
	second := open(t)
	var wg sync.WaitGroup
	for range 2 {
		for i := len(asks) - 1; i >= 0; i-- {
			wg.Go(func() {
				a, err := second.Best(t.Context(), asks[i].app, asks[i].state)
				if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(want[i], a, compareAnswers...); diff != "" {
					t.Errorf("ask %d (-first +second):\n%s", i, diff)
				}
			})
		}
	}
	wg.Wait()
}

func TestNotAnIntentOfTheOracle(t *testing.T) {
	o, d := open(t), app(t, "swap")
	unvalued := d
	manifest := *d.Manifest
	manifest.Value = nil
	unvalued.Manifest = &manifest
	for _, tt := range []struct {
		name string
		app  intent.Definition
		edit func(*intent.State)
		err  error
	}{
		{"an app without a value rule that is no portfolio", unvalued, func(*intent.State) {}, oracle.ErrIntent},
		{"an intent without an input, but a grant", d, func(s *intent.State) {
			delete(s.RawParams, "input_token")
			s.Control["_fund"] = map[string]any{usdc.Hex(): "5"}
		}, oracle.ErrIntent},
		{"another chain", d, func(s *intent.State) { s.ChainID = 10 }, nil},
		{"a minimum that is no amount", d, param("min_output_amount", "-1"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := o.Best(t.Context(), tt.app, swap(usdc, weth, units(1, 6), tt.edit))
			if err == nil || tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("Best() = %v, want %v", err, tt.err)
			}
		})
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t).Best(ctx, app(t, "swap"), swap(usdc, weth, units(1, 6))); !errors.Is(err, context.Canceled) {
		t.Errorf("Best() = %v, want %v", err, context.Canceled)
	}
}

// A limit order is a swap with a minimum; a chunk of a TWAP trades what it is
// funded with, not the total.
func TestOrdersThatTriggersStart(t *testing.T) {
	o, swapApp := open(t), app(t, "swap")
	chunk := units(20_000, 6)
	want, err := o.Best(t.Context(), swapApp, swap(usdc, weth, chunk))
	if err != nil || want.Value == nil {
		t.Fatal(want, err)
	}
	for _, tt := range []struct {
		app   string
		state intent.State
	}{
		{"limit", swap(usdc, weth, chunk)},
		{"twap", swap(usdc, weth, units(80_000, 6), func(s *intent.State) {
			delete(s.RawParams, "input_amount")
			delete(s.RawParams, "min_output_amount")
			s.RawParams["total_amount"], s.RawParams["num_chunks"] = units(80_000, 6).Dec(), "4"
			s.RawParams["min_output_per_chunk"] = want.Value.String()
			s.Control = map[string]any{"_fund": map[string]any{usdc.Hex(): chunk.Dec()}}
		})},
	} {
		got, err := o.Best(t.Context(), app(t, tt.app), tt.state)
		if err != nil {
			t.Fatal(err)
		}
		if got.Value == nil || got.Value.Cmp(want.Value) != 0 {
			t.Errorf("%s: value %s, %s; as a swap it is %s", tt.app, got.Value, got.Reason, want.Value)
		}
	}
}

func BenchmarkBest(b *testing.B) {
	for _, tt := range []struct {
		name  string
		app   string
		state intent.State
	}{
		{"one pool", "swap", swap(usdc, weth, units(1_000, 6))},
		{"large and split", "swap", swap(usdc, weth, units(4_000_000, 6))},
		{"no direct pool", "swap", swap(usdc, wbtc, units(300_000, 6))},
		{"portfolio of two", "rebalance", portfolio(200,
			holding{weth, units(10, 18), 5_000, wethPrice}, holding{usdc, nil, 5_000, dollar})},
		{"portfolio of four", "rebalance", portfolio(50,
			holding{weth, units(500, 18), 2_500, wethPrice}, holding{usdc, nil, 2_500, dollar},
			holding{wbtc, units(1, 8), 2_500, wbtcPrice}, holding{dai, nil, 2_500, dollar})},
		{"portfolio of six", "rebalance", portfolio(50,
			holding{weth, units(200, 18), 2_500, wethPrice}, holding{usdc, nil, 2_500, dollar}, holding{usdt, nil, 1_000, dollar},
			holding{crv, nil, 500, 49767079}, holding{wbtc, units(1, 8), 1_000, wbtcPrice}, holding{dai, nil, 2_500, dollar})},
	} {
		b.Run(tt.name, func(b *testing.B) {
			o, d := open(b), app(b, tt.app)
			for b.Loop() {
				if a, err := o.Best(b.Context(), d, tt.state); err != nil || a.Value == nil {
					b.Fatal(a, err)
				}
			}
		})
	}
}
