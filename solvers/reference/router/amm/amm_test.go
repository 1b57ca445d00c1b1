package amm_test

import (
	"testing"

	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/solvers/reference/router/amm"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

// Constants of Uniswap's TickMath and of its tests.
func TestSqrtAt(t *testing.T) {
	t.Parallel()
	for tick, want := range map[int32]string{
		0:            "79228162514264337593543950336", // 2^96
		-amm.MaxTick: "4295128739",
		amm.MaxTick:  "1461446703485210103287273052203988822378723970342",
		-887271:      "4295343490",
		887271:       "1461373636630004318706518188784493106690254656249",
		50:           "79426470787362580746886972461",
		-50:          "79030349367926598376800521322",
		250_000:      "21246587762933397357449903968194344",
		-500_000:     "1101692437043807371",
	} {
		if got := amm.SqrtAt(tick); got.Dec() != want {
			t.Errorf("tick %d: %s, want %s", tick, got.Dec(), want)
		}
	}
}

func TestSqrtAtRises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tick := rapid.Int32Range(-amm.MaxTick, amm.MaxTick-1).Draw(t, "tick")
		a, b := amm.SqrtAt(tick), amm.SqrtAt(tick+1)
		if !a.Lt(&b) {
			t.Fatalf("tick %d: %s, the next %s", tick, a.Dec(), b.Dec())
		}
	})
}

// pair and pool are of like depth.
func pair() amm.Pool {
	p := amm.Pool{Token: [2]abi.Address{{1}, {2}}, Fee: 3000}
	p.Reserve[0].SetUint64(1_000_000_000_000)
	p.Reserve[1].SetUint64(2_000_000_000_000)
	return p
}

func pool() amm.Pool {
	p := amm.Pool{Token: [2]abi.Address{{1}, {2}}, Fee: 3000, V3: true}
	p.Sqrt, p.Low, p.High = amm.SqrtAt(6932), amm.SqrtAt(-60_000), amm.SqrtAt(60_000)
	p.Liquidity.SetUint64(1_400_000_000_000)
	for _, index := range []int32{-6000, 6000, 7800, 18_000} {
		tick := amm.Tick{Index: index, Sqrt: amm.SqrtAt(index)}
		tick.Net.SetUint64(100_000_000_000)
		if index > 6932 {
			tick.Net.Neg(&tick.Net)
		} else {
			p.Below++
		}
		p.Ticks = append(p.Ticks, tick)
	}
	return p
}

// More in is more out, each unit for less than the one before, but for rounding; there and back loses;
// a pool that refuses says so; and a copy is not changed.
func TestSwapLaws(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func() amm.Pool{"V2": pair, "V3": pool} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				side := rapid.IntRange(0, 1).Draw(t, "side")
				in := uint256.NewInt(rapid.Uint64Range(1, 400_000_000_000).Draw(t, "in"))
				start := make()
				one, both := start, start
				out, ok := one.Swap(side, in)
				if !ok {
					return // a few units give nothing
				}
				double, ok := both.Swap(side, new(uint256.Int).Add(in, in))
				if ok && (!out.Lt(&double) || double.Gt(new(uint256.Int).AddUint64(new(uint256.Int).Add(&out, &out), 8))) {
					t.Fatalf("%s for %s, %s for twice that", out.Dec(), in.Dec(), double.Dec())
				}
				if back, ok := one.Swap(1-side, &out); ok && back.Gt(in) {
					t.Fatalf("%s became %s there and back", in.Dec(), back.Dec())
				}
				if again := make(); again.Sqrt != start.Sqrt || again.Reserve != start.Reserve {
					t.Fatal("a copy was changed")
				}
			})
		})
	}
}

func TestSwapRefuses(t *testing.T) {
	t.Parallel()
	huge := new(uint256.Int).SetAllOne()
	for name, p := range map[string]amm.Pool{"V2": pair(), "V3": pool(), "an empty V2": {}, "an empty V3": {V3: true}} {
		for side := range 2 {
			q := p
			if out, ok := q.Swap(side, new(uint256.Int)); ok {
				t.Errorf("%s gives %s for nothing", name, out.Dec())
			}
			q = p
			if out, ok := q.Swap(side, huge); ok && (p.V3 || p.Reserve[0].IsZero()) {
				t.Errorf("%s gives %s for all there is", name, out.Dec())
			}
		}
	}
}

// The same price and depth give the same amount by either maths, as long as no tick is
// crossed: x·y = k is what both do there.
func TestV2AndV3Agree(t *testing.T) {
	t.Parallel()
	v2, v3 := pair(), pool()
	v3.Ticks, v3.Below = nil, 0
	// L = √(x·y), √p = y/L.
	k := new(uint256.Int).Mul(&v2.Reserve[0], &v2.Reserve[1])
	v3.Liquidity.Sqrt(k)
	v3.Sqrt.MulDivOverflow(&v2.Reserve[1], new(uint256.Int).Lsh(uint256.NewInt(1), 96), &v3.Liquidity)
	in := uint256.NewInt(10_000_000_000)
	for side := range 2 {
		a, b := v2, v3
		x, ok1 := a.Swap(side, in)
		y, ok2 := b.Swap(side, in)
		diff := new(uint256.Int).Sub(&x, &y)
		if x.Lt(&y) {
			diff.Neg(diff)
		}
		if !ok1 || !ok2 || diff.GtUint64(100) {
			t.Errorf("side %d: %s and %s", side, x.Dec(), y.Dec())
		}
	}
}
