package oracle_test

import (
	"testing"

	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/benchmark/oracle"
)

// A table is what one path gives alone for each share of an amount.
func table(t *rapid.T, o *oracle.Oracle, p oracle.Path, amount *uint256.Int) []uint256.Int {
	list := make([]uint256.Int, oracle.Grid+1)
	for k := 1; k <= oracle.Grid; k++ {
		part := new(uint256.Int).Mul(amount, uint256.NewInt(uint64(k)))
		part.Div(part, uint256.NewInt(oracle.Grid))
		out, err := o.Run(t.Context(), p, part)
		if err != nil {
			t.Fatal(err)
		}
		if out != nil {
			list[k] = *out
		}
	}
	return list
}

// drawPaths draws two or three paths of one pair of tokens, and an amount that
// moves prices.
func drawPaths(t *rapid.T, o *oracle.Oracle) ([]oracle.Path, *uint256.Int, bool) {
	from := rapid.SampledFrom(ordinary).Draw(t, "from")
	to := rapid.SampledFrom(ordinary).Draw(t, "to")
	var all []oracle.Path
	for _, p := range o.Paths(from, to) {
		if o.Ordinary(p) && len(p.Pools) <= 3 {
			all = append(all, p)
		}
	}
	n := rapid.IntRange(2, 3).Draw(t, "paths")
	if len(all) < n {
		return nil, nil, false
	}
	var paths []oracle.Path
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(all)-1), n, n, rapid.ID[int]).Draw(t, "which") {
		paths = append(paths, all[i])
	}
	usd := rapid.Uint64Range(100, 3_000_000).Draw(t, "dollars")
	amount := units(usd, decimals[from])
	switch from {
	case weth:
		amount.Div(amount, uint256.NewInt(3_000))
	case wbtc:
		amount.Div(amount, uint256.NewInt(90_000))
	case crv:
		amount.Mul(amount, uint256.NewInt(2))
	}
	return paths, amount, true
}

// every calls f with every way to divide the grid over n paths.
func every(n int, f func(shares []int)) {
	shares := make([]int, n)
	var fill func(i, left int)
	fill = func(i, left int) {
		if i == n-1 {
			shares[i] = left
			f(shares)
			return
		}
		for k := range left + 1 {
			shares[i] = k
			fill(i+1, left-k)
		}
	}
	fill(0, oracle.Grid)
}

func sharePools(paths []oracle.Path) bool {
	for i, p := range paths {
		for _, q := range paths[:i] {
			if p.Share(q) {
				return true
			}
		}
	}
	return false
}

// Over paths that share no pool, the split is the best of all 101 or 5,151 there
// are, in whole numbers.
func TestSplitIsTheBestOfAll(t *testing.T) {
	o := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		paths, amount, ok := drawPaths(rt, o)
		if !ok || sharePools(paths) {
			rt.Skip("no such paths")
		}
		var tables [][]uint256.Int
		for _, p := range paths {
			tables = append(tables, table(rt, o, p, amount))
		}
		var want uint256.Int
		every(len(paths), func(shares []int) {
			var sum uint256.Int
			for i, k := range shares {
				if k > 0 && tables[i][k].IsZero() {
					return
				}
				sum.Add(&sum, &tables[i][k])
			}
			if sum.Gt(&want) {
				want = sum
			}
		})
		apart, _, err := o.SplitOver(t.Context(), paths, amount)
		if err != nil {
			rt.Fatal(err)
		}
		if want.IsZero() != (apart == nil) {
			rt.Fatalf("split %v, the best of all is %s", apart, want.Dec())
		}
		if apart == nil {
			return
		}
		var got uint256.Int
		sum := 0
		for i, k := range apart.Shares {
			got.Add(&got, &tables[i][k])
			sum += k
		}
		if sum != oracle.Grid || !got.Eq(&want) {
			rt.Errorf("split %v gives %s, the best of all %s", apart.Shares, got.Dec(), want.Dec())
		}
	})
}

// Over paths that share pools, climbing comes within a millionth of the best of
// all splits.
func TestClimbIsNearTheBestOfAll(t *testing.T) {
	o := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		paths, amount, ok := drawPaths(rt, o)
		if !ok {
			rt.Skip("no such paths")
		}
		paths = paths[:2+len(paths)/3*rapid.IntRange(0, 1).Draw(rt, "third")] // three are slow: half as often
		var want uint256.Int
		every(len(paths), func(shares []int) {
			sum, err := o.RunAll(t.Context(), paths, oracle.Amounts(amount, shares))
			if err != nil {
				rt.Fatal(err)
			}
			if sum != nil && sum.Gt(&want) {
				want = *sum
			}
		})
		apart, climbed, err := o.SplitOver(t.Context(), paths, amount)
		if err != nil {
			rt.Fatal(err)
		}
		var got uint256.Int
		for _, d := range []*oracle.Divided{apart, climbed} {
			if d != nil && d.Sum.Gt(&got) {
				got = *d.Sum
			}
		}
		least := new(uint256.Int).Div(&want, uint256.NewInt(1_000_000))
		least.Sub(&want, least)
		if got.Lt(least) || got.Gt(&want) {
			rt.Errorf("climbed to %s, the best of all is %s", got.Dec(), want.Dec())
		}
	})
}

// The parts of a split are the whole.
func TestPartsAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := uint256.NewInt(rapid.Uint64().Draw(t, "amount"))
		a := rapid.IntRange(0, oracle.Grid).Draw(t, "first")
		b := rapid.IntRange(0, oracle.Grid-a).Draw(t, "second")
		var sum uint256.Int
		for _, part := range oracle.Amounts(amount, []int{a, b, oracle.Grid - a - b}) {
			sum.Add(&sum, &part)
		}
		if !sum.Eq(amount) {
			t.Errorf("parts are %s of %s", sum.Dec(), amount.Dec())
		}
	})
}
