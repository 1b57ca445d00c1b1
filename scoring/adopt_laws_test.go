package scoring_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/scoring"
)

// near draws a value near 10,000 of some unit, so that bands and floors are met, or
// none.
func near(t *rapid.T, unit int64) string {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return ""
	case 1:
		return fmt.Sprint(rapid.Int64Range(1, 100_000).Draw(t, "value"))
	default:
		return new(big.Int).Mul(big.NewInt(rapid.Int64Range(9_880, 10_120).Draw(t, "value")), big.NewInt(unit)).String()
	}
}

func drawMatch(t *rapid.T) scoring.Match {
	n := rapid.IntRange(1, 12).Draw(t, "orders")
	unit := rapid.SampledFrom([]int64{1, 1_000_000, 1_000_000_000_000_000}).Draw(t, "unit")
	side := func() []scoring.Order {
		values := make([]string, n)
		for i := range values {
			values[i] = near(t, unit)
		}
		out := pack(values...)
		for i := range out {
			out[i].Gas, out[i].Measured = rapid.Uint64Range(0, 5).Draw(t, "gas")*50_000, rapid.Bool().Draw(t, "measured")
		}
		return out
	}
	m := scoring.Match{Champion: side(), Challenger: side()}
	for range rapid.IntRange(0, 2).Draw(t, "bars") {
		m.Bars = append(m.Bars, scoring.Bar{Orders: side()})
	}
	return m
}

// Swapped roles see the same orders from the other side.
func TestAdoptIsSymmetric(t *testing.T) {
	t.Parallel()
	mirror := map[scoring.Class]scoring.Class{
		scoring.ClassWin: scoring.ClassRegression, scoring.ClassRegression: scoring.ClassWin, scoring.ClassMatched: scoring.ClassMatched,
		scoring.ClassCover: scoring.ClassDropped, scoring.ClassRepeat: scoring.ClassDropped, scoring.ClassNone: scoring.ClassNone,
	}
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatch(t)
		swapped := m
		swapped.Champion, swapped.Challenger = m.Challenger, m.Champion
		here, there := adoptRapid(t, m), adoptRapid(t, swapped)
		for i, o := range here.Orders {
			want := mirror[o.Class]
			got := there.Orders[i].Class
			if o.Class == scoring.ClassDropped {
				if got != scoring.ClassCover && got != scoring.ClassRepeat {
					t.Fatalf("%s: dropped, from the other side %s", o.IntentID, got)
				}
				continue
			}
			if got != want {
				t.Fatalf("%s: %s, from the other side %s, want %s", o.IntentID, o.Class, got, want)
			}
		}
	})
}

func adoptRapid(t *rapid.T, m scoring.Match) scoring.Adoption {
	a, err := scoring.Adopt(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The order of rows and of bars is of no account.
func TestAdoptTakesRowsInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatch(t)
		other := scoring.Match{
			Champion:   rapid.Permutation(m.Champion).Draw(t, "champion"),
			Challenger: rapid.Permutation(m.Challenger).Draw(t, "challenger"),
			Bars:       slices.Clone(m.Bars),
		}
		slices.Reverse(other.Bars)
		if diff := cmp.Diff(adoptRapid(t, m), adoptRapid(t, other), cmpopts.IgnoreUnexported(scoring.Adoption{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The counts are those of the classes, and what is adopted keeps the rule's
// promises, computed here another way: by the tie band as an interval of rationals.
func TestAdoptKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatch(t)
		m.Share = rapid.SampledFrom([]uint{0, 8_999, 9_000, 10_000}).Draw(t, "share")
		a := adoptRapid(t, m)
		count := map[scoring.Class]int{}
		for _, o := range a.Orders {
			count[o.Class]++
		}
		if a.Wins != count[scoring.ClassWin] || a.Covers != count[scoring.ClassCover] || a.Matched != count[scoring.ClassMatched] ||
			a.Regressions != count[scoring.ClassRegression] || a.Repeats != count[scoring.ClassRepeat] || a.Dropped != count[scoring.ClassDropped] ||
			a.Compared != len(a.Orders)-count[scoring.ClassNone] || a.Net != a.Wins+a.Covers-a.Regressions {
			t.Fatalf("counts %+v of classes %v", a, count)
		}
		if !a.Adopt {
			return
		}
		if a.Dropped+a.Catastrophic > 0 {
			t.Fatalf("adopted with %d dropped and %d cut orders", a.Dropped, a.Catastrophic)
		}
		if m.Share >= 9_000 && (a.Wins+a.Covers < 2 || a.ValueBPS < 10) {
			t.Fatalf("a copy is adopted: %s", a.Reason)
		}
		keepsFloor(t, a)
	})
}

// keepsFloor checks of every order that both serve: X ≥ C, or X ≥ 99 % of the best of
// C and the dethroned.
func keepsFloor(t rapid.TB, a scoring.Adoption) {
	for _, o := range a.Orders {
		c, x, bar := rational(o.Champion), rational(o.Challenger), rational(o.Bar)
		if c == nil || x == nil || x.Cmp(c) >= 0 {
			continue
		}
		if bar != nil && bar.Cmp(c) > 0 {
			c = bar
		}
		if x.Cmp(new(big.Rat).Mul(c, big.NewRat(99, 100))) < 0 {
			t.Fatalf("%s: %s is adopted after %s and %s", o.IntentID, o.Challenger, o.Champion, o.Bar)
		}
	}
}

func rational(s string) *big.Rat {
	if s == "" {
		return nil
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// An order that only gets better never turns a yes into a no, as long as it stays in
// the classes that count.
func TestAdoptIsMonotonic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatch(t)
		before := adoptRapid(t, m)
		if !before.Adopt || before.Via != scoring.ViaPerformance {
			return
		}
		i := rapid.IntRange(0, len(m.Challenger)-1).Draw(t, "better")
		if m.Challenger[i].Value == "" {
			return
		}
		value, _ := new(big.Int).SetString(m.Challenger[i].Value, 10)
		m.Challenger = slices.Clone(m.Challenger)
		m.Challenger[i].Value = value.Add(value, big.NewInt(rapid.Int64Range(1, 1_000_000).Draw(t, "by"))).String()
		if after := adoptRapid(t, m); !after.Adopt {
			t.Fatalf("%s became %s", before.Reason, after.Reason)
		}
	})
}

// A solver of these reigns delivers a share of what each order is worth in an epoch,
// in parts of 100,000 of it at first; 0 = nothing.
type ruler []int64

func (r ruler) serve(worth []int64) []scoring.Order {
	values := make([]string, len(r))
	for i, share := range r {
		if share > 0 {
			values[i] = fmt.Sprint(worth[i] * share)
		}
	}
	return pack(values...)
}

// A thousand reigns over random challengers: at each adoption no order that both
// serve fell by more than the floor below the best of the last three rulers, no order
// served was lost, who has just been dethroned is not adopted again unchanged, and
// neither is the champion itself.
func TestAdoptReigns(t *testing.T) {
	t.Parallel()
	const orders, reigns = 20, 1000
	random := rand.New(rand.NewPCG(112, 2026))
	throne := ruler(slices.Repeat([]int64{100_000}, orders))
	var dethroned []ruler // the last two, newest first
	adopted, refused := 0, 0
	for epoch := range 100 * reigns {
		if adopted == reigns {
			break
		}
		// Amounts and blocks differ each epoch.
		worth := make([]int64, orders)
		for i := range worth {
			worth[i] = 1_000_000 + random.Int64N(1_000_000_000)
		}
		challenger := variant(random, throne)
		match := func(x ruler) scoring.Match {
			m := scoring.Match{Champion: throne.serve(worth), Challenger: x.serve(worth)}
			for _, b := range dethroned {
				m.Bars = append(m.Bars, scoring.Bar{Orders: b.serve(worth)})
			}
			return m
		}
		if a := adopt(t, match(throne)); a.Adopt {
			t.Fatalf("epoch %d: the champion dethrones itself: %s", epoch, a.Reason)
		}
		if len(dethroned) > 0 {
			if a := adopt(t, match(dethroned[0])); a.Adopt {
				t.Fatalf("epoch %d: who was just dethroned comes back: %s", epoch, a.Reason)
			}
		}
		a := adopt(t, match(challenger))
		if !a.Adopt {
			refused++
			continue
		}
		adopted++
		keepsFloor(rapid.TB(t), a)
		for i := range throne {
			if throne[i] > 0 && challenger[i] == 0 {
				t.Fatalf("epoch %d: order %d is lost", epoch, i)
			}
		}
		dethroned = append([]ruler{throne}, dethroned...)[:min(2, len(dethroned)+1)]
		throne = challenger
	}
	if adopted != reigns || refused == 0 {
		t.Fatalf("%d reigns, %d challengers refused", adopted, refused)
	}
}

// variant changes some orders of a solver, seldom for the better by much.
func variant(random *rand.Rand, of ruler) ruler {
	out := slices.Clone(of)
	for range 1 + random.IntN(4) {
		i := random.IntN(len(out))
		switch random.IntN(20) {
		case 0:
			out[i] = 0
		case 1:
			out[i] = 100_000 + random.Int64N(10_000)
		default:
			// From 1.5 % less to 2.5 % more.
			out[i] = max(1, out[i]*(9_850+random.Int64N(401))/10_000)
		}
	}
	return out
}
