package oracle_test

import (
	"context"
	"encoding/binary"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/benchmark/oracle"
	"github.com/subnet112/assay/intent"
)

func decimal(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic(text)
	}
	return n
}

// The prices of ticks as Uniswap's own tests of TickMath have them.
func TestPricesOfTicks(t *testing.T) {
	for _, tt := range []struct {
		tick  int32
		price string
	}{
		{-887272, "4295128739"},
		{-887271, "4295343490"},
		{-500000, "1101692437043807371"},
		{-250000, "295440463448801648376846"},
		{-150000, "43836292794701720435367485"},
		{-3000, "68192822843687888778582228483"},
		{-500, "77272108795590369356373805297"},
		{-50, "79030349367926598376800521322"},
		{0, "79228162514264337593543950336"},
		{50, "79426470787362580746886972461"},
		{100, "79625275426524748796330556128"},
		{1000, "83290069058676223003182343270"},
		{150000, "143194173941309278083010301478497"},
		{250000, "21246587762933397357449903968194344"},
		{500000, "5697689776495288729098254600827762987878"},
		{887271, "1461373636630004318706518188784493106690254656249"},
		{887272, "1461446703485210103287273052203988822378723970342"},
	} {
		if got := oracle.SqrtRatioAtTick(tt.tick); got.String() != tt.price {
			t.Errorf("the price of tick %d is %s, want %s", tt.tick, got, tt.price)
		}
	}
}

// A tick's price belongs to it, and so does every price below that of the next.
func TestTickOfPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tick := rapid.Int32Range(-887272, 887271).Draw(t, "tick")
		lo, next := oracle.SqrtRatioAtTick(tick), oracle.SqrtRatioAtTick(tick+1)
		if lo.Cmp(next) >= 0 {
			t.Fatalf("the price of tick %d is not below that of the next", tick)
		}
		for _, price := range []*big.Int{lo, new(big.Int).Sub(next, big.NewInt(1))} {
			if got := oracle.TickAtSqrtRatio(price); got != tick {
				t.Errorf("the tick of %s is %d, want %d", price, got, tick)
			}
		}
	})
}

// root is √(a/b)·2^96, rounded down, as Uniswap's tests write prices.
func root(a, b int64) *big.Int {
	z := new(big.Int).Lsh(big.NewInt(a), 192)
	return z.Sqrt(z.Quo(z, big.NewInt(b)))
}

// Steps as Uniswap's own tests of SwapMath have them.
func TestSwapSteps(t *testing.T) {
	for _, tt := range []struct {
		name              string
		price, target     *big.Int
		liquidity, amount string
		fee               uint64
		in, out, kept     string
		reached           bool
	}{
		{"an input that reaches the target", root(1, 1), root(101, 100), "2000000000000000000", "1000000000000000000", 600,
			"9975124224178055", "9925619580021728", "5988667735148", true},
		{"an input that is spent before", root(1, 1), root(1000, 100), "2000000000000000000", "1000000000000000000", 600,
			"999400000000000000", "666399946655997866", "600000000000000", false},
		{"all of an input is fee", decimal("2413"), decimal("79887613182836312"), "1985041575832132834610021537970", "10", 1872,
			"0", "0", "10", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			after, in, out, kept, ok := oracle.SwapStep(tt.price, tt.target, decimal(tt.liquidity), decimal(tt.amount), tt.fee)
			if !ok || in.String() != tt.in || out.String() != tt.out || kept.String() != tt.kept {
				t.Errorf("step takes %s, gives %s, keeps %s, %t; want %s, %s, %s", in, out, kept, ok, tt.in, tt.out, tt.kept)
			}
			if reached := after.Cmp(tt.target) == 0; reached != tt.reached {
				t.Errorf("the target is reached: %t, want %t", reached, tt.reached)
			}
		})
	}
}

// drawAmount draws from a base unit to a billion whole tokens, each magnitude as
// likely as the next.
func drawAmount(t *rapid.T, token common.Address) *uint256.Int {
	digits := rapid.IntRange(0, decimals[token]+8).Draw(t, "digits")
	scale := new(uint256.Int).Exp(uint256.NewInt(10), uint256.NewInt(uint64(digits)))
	z := uint256.NewInt(rapid.Uint64Range(1_000_000, 9_999_999).Draw(t, "mantissa"))
	z.Mul(z, scale)
	if z.Div(z, uint256.NewInt(1_000_000)); z.IsZero() {
		z.SetOne()
	}
	return z
}

// drawPath draws a path between ordinary tokens over ordinary tokens.
func drawPath(t *rapid.T, o *oracle.Oracle, keep func(oracle.Path) bool) (oracle.Path, bool) {
	from := rapid.SampledFrom(ordinary).Draw(t, "from")
	to := rapid.SampledFrom(ordinary).Draw(t, "to")
	var list []oracle.Path
	for _, p := range o.Paths(from, to) {
		if o.Ordinary(p) && keep(p) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return oracle.Path{}, false
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(t, "path")], true
}

func all(fee func(uint64) bool) func(oracle.Path) bool {
	return func(p oracle.Path) bool {
		for _, f := range p.Fees {
			if !fee(f) {
				return false
			}
		}
		return true
	}
}

// Along Uniswap V3 the maths is that of QuoterV2, which makes the pools swap.
func TestV3IsWhatTheQuoterSays(t *testing.T) {
	o := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		p, ok := drawPath(rt, o, all(func(fee uint64) bool { return fee != 0 }))
		if !ok {
			rt.Skip("no path")
		}
		amount := drawAmount(rt, p.Tokens[0])
		packed := append([]byte{}, p.Tokens[0][:]...)
		for i, fee := range p.Fees {
			b := binary.BigEndian.AppendUint32(nil, uint32(fee))
			packed = append(append(packed, b[1:]...), p.Tokens[i+1][:]...)
		}
		words, err := view(t.Context(), quoter, calldata("quoteExactInput(bytes,uint256)", 0x40, amount.ToBig(), len(packed), packed))
		if err != nil {
			rt.Fatal(err)
		}
		if len(words) > 3 && words[3].Cmp(big.NewInt(4_000_000)) > 0 {
			rt.Skip("more gas than a plan has")
		}
		compare(t.Context(), rt, o, p, amount, words, 0)
	})
}

// Along Uniswap V2 the maths is that of the router's library.
func TestV2IsWhatTheRouterSays(t *testing.T) {
	o := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		p, ok := drawPath(rt, o, all(func(fee uint64) bool { return fee == 0 }))
		if !ok {
			rt.Skip("no path")
		}
		amount := drawAmount(rt, p.Tokens[0])
		words := []any{amount.ToBig(), 0x40, len(p.Tokens)}
		for _, token := range p.Tokens {
			words = append(words, token)
		}
		got, err := view(t.Context(), v2Router, calldata("getAmountsOut(uint256,address[])", words...))
		if err != nil {
			rt.Fatal(err)
		}
		compare(t.Context(), rt, o, p, amount, got, 2+len(p.Fees))
	})
}

// compare wants a path to give word i of an answer, and nothing where there is no
// such word or it is 0.
func compare(ctx context.Context, t *rapid.T, o *oracle.Oracle, p oracle.Path, amount *uint256.Int, words []*big.Int, i int) {
	t.Helper()
	got, err := o.Run(ctx, p, amount)
	if err != nil {
		t.Fatal(err)
	}
	want := new(big.Int)
	if len(words) > i {
		want = words[i]
	}
	if got == nil {
		got = new(uint256.Int)
	}
	if got.ToBig().Cmp(want) != 0 {
		t.Errorf("%s along %v, fees %v: %s, want %s", amount.Dec(), p.Tokens, p.Fees, got.Dec(), want)
	}
}

// What the maths says of any paths, whatever they share, is what the EVM delivers
// for the plan; where it says that a path gives nothing, the plan fails or does not
// either.
func TestPlansDeliverWhatIsComputed(t *testing.T) {
	o, d := open(t), app(t, "swap")
	rapid.Check(t, func(rt *rapid.T) {
		first, ok := drawPath(rt, o, func(oracle.Path) bool { return true })
		if !ok {
			rt.Skip("no path")
		}
		from, to := first.Tokens[0], first.Tokens[len(first.Tokens)-1]
		paths := []oracle.Path{first}
		others := o.Paths(from, to)
		for range rapid.IntRange(0, 3).Draw(rt, "more") {
			if p := others[rapid.IntRange(0, len(others)-1).Draw(rt, "other")]; o.Ordinary(p) {
				paths = append(paths, p)
			}
		}
		var sum uint256.Int
		amounts := make([]uint256.Int, len(paths))
		for i := range amounts {
			amounts[i] = *drawAmount(rt, from)
			sum.Add(&sum, &amounts[i])
		}
		want, err := o.RunAll(t.Context(), paths, amounts)
		if err != nil {
			rt.Fatal(err)
		}
		in, out := from, to
		if from == weth && rapid.Bool().Draw(rt, "native") {
			in = eth
		}
		if to == weth && rapid.Bool().Draw(rt, "native") {
			out = eth
		}
		s := swap(in, out, &sum, param("receiver", receiver.Hex()))
		plan, err := o.PlanAlong(t.Context(), d, s, paths, amounts)
		if err != nil {
			rt.Fatal(err)
		}
		outcome, err := execute(t.Context(), d, s, plan)
		if err != nil {
			rt.Fatal(err)
		}
		failed := outcome.Cause != intent.CauseNone
		got := outcome.Delta(receiver, out)
		switch {
		case want == nil && len(paths) == 1 && !failed && got.Sign() != 0:
			rt.Errorf("computed to give nothing, delivered %s", got)
		case want == nil || failed && outcome.GasMetered > d.Config.MaxGas/2: // an inner call may have had too little
		case failed:
			rt.Errorf("computed to deliver %s: %s: %s", want.Dec(), outcome.Cause, outcome.Detail)
		case got.Cmp(want.ToBig()) != 0:
			rt.Errorf("computed %s, delivered %s", want.Dec(), got)
		}
	})
}
