package scoring

import (
	"cmp"
	"fmt"
	"math/big"
)

// decide applies the rule to what was counted. What vetoes comes first.
func (v *Adoption) decide(vacant bool) {
	better := v.Wins + v.Covers
	switch {
	case vacant && v.Compared > 0:
		v.adopt(ViaVacancy, "adopt: no champion, value on %d order(s)", v.Compared)
	case v.Catastrophic > 0:
		v.reject("reject: %d order(s) cut >1%% (hard floor)", v.Catastrophic)
	case v.Dropped > 0:
		v.reject("reject: dropped %d order(s) the champion serves", v.Dropped)
	case better == 0 && v.Regressions == 0:
		v.cheaper()
	case better < v.Regressions+WinMargin:
		v.reject("reject: net better %d <= regressions %d + margin %d", better, v.Regressions, WinMargin)
	case v.falls():
		v.reject("reject: value falls (value_bps %d)", v.ValueBPS)
	case v.copied() && (better < CopyWins || v.ValueBPS < CopyValue):
		v.rejectCopy(better)
	default:
		v.adopt(ViaPerformance, "dethrone: %d better, %d minor regression(s) within 1%% floor (net +%d)", better, v.Regressions, v.Net)
	}
}

func (v *Adoption) adopt(via, format string, args ...any) {
	v.Adopt, v.Via, v.Reason = true, via, fmt.Sprintf(format, args...)
}

func (v *Adoption) reject(format string, args ...any) {
	v.Adopt, v.Via, v.Reason = false, "", fmt.Sprintf(format, args...)
}

// copied reports whether the challenger is the champion with little changed.
func (v *Adoption) copied() bool { return v.Share >= CopyShare }

func (v *Adoption) rejectCopy(better int) {
	v.reject("reject: %d.%02d%% of its functions are the champion's: %d better, value_bps %d, a copy needs %d and %d",
		v.Share/100, v.Share%100, better, v.ValueBPS, CopyWins, CopyValue)
}

// cheaper decides a full tie by gas.
func (v *Adoption) cheaper() {
	c, x := new(big.Int), new(big.Int)
	fair := v.Matched > 0
	for _, o := range v.Orders {
		if o.Class != ClassMatched {
			continue
		}
		champion, challenger := new(big.Int).SetUint64(o.ChampionGas), new(big.Int).SetUint64(o.ChallengerGas)
		c.Add(c, champion)
		x.Add(x, challenger)
		value, _ := new(big.Int).SetString(o.Challenger, 10)
		before, _ := new(big.Int).SetString(o.Champion, 10)
		if !o.Measured || above(challenger, champion, GasOrderSlack) || below(value, before, GasOutputGuard) {
			fair = false
		}
	}
	switch {
	case !fair || !below(x, c, GasMargin) || new(big.Int).Mul(x, big.NewInt(GasCollapse)).Cmp(c) < 0:
		v.reject("matched: no order better or worse")
	case v.copied():
		v.rejectCopy(0)
	default:
		saved := new(big.Int).Sub(c, x)
		saved.Mul(saved, big.NewInt(basisPoints)).Quo(saved, c)
		v.adopt(ViaGas, "dethrone: matched on all %d order(s), materially cheaper (gas %s vs %s, -%s bps >= margin %d)",
			v.Matched, x, c, saved, GasMargin)
	}
}

// above reports whether a is more than bps above b.
func above(a, b *big.Int, bps int64) bool {
	return new(big.Int).Mul(a, big.NewInt(basisPoints)).Cmp(new(big.Int).Mul(b, big.NewInt(basisPoints+bps))) > 0
}

// A Contender is a challenger that has been judged, with what breaks ties.
type Contender struct {
	Adoption Adoption
	Fuel     uint64
	Module   string // identity, lower-case hex
}

// Winner returns the index of the challenger to adopt of those whose adoptions say
// so, -1 if none does: the largest net of orders, then the most value kept, then the
// least fuel, then the lower module hash.
func Winner(contenders []Contender) int {
	best := -1
	for i, c := range contenders {
		if c.Adoption.Adopt && (best < 0 || beats(&c, &contenders[best])) {
			best = i
		}
	}
	return best
}

func beats(a, b *Contender) bool {
	return cmp.Or(
		cmp.Compare(a.Adoption.Net, b.Adoption.Net),
		a.Adoption.kept.Cmp(&b.Adoption.kept),
		cmp.Compare(b.Fuel, a.Fuel),
		cmp.Compare(b.Module, a.Module),
	) > 0
}
