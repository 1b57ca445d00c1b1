package scoring

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/subnet112/assay/intent"
)

// Constants of the adoption rule, in basis points where nothing else is said. They
// are part of a pack's rules by its adoption version.
const (
	TieBand         = 10    // of the better value: closer ones are equal
	Floor           = 100   // below the best known value: a cut of more vetoes
	WinMargin       = 1     // orders won beyond those lost
	ValueCap        = 10500 // a win counts as at most this share of the champion's value
	GasMargin       = 200   // what the gas of a pack must fall by
	GasOrderSlack   = 200   // what it may rise by on one order
	GasOutputGuard  = 2     // what value may fall by on an order where gas decides
	GasCollapse     = 2     // gas that falls to less than one part in this is not believed
	CopyShare       = 9000  // function bodies shared with the champion, from which a solver is a copy
	CopyWins        = 2     // orders that a copy has to win
	CopyValue       = 10    // what a copy has to add to the value of an order on the mean
	MaxBars         = 2     // dethroned champions that run beside an epoch
	BarLifetime     = 24 * time.Hour
	basisPoints     = 10_000
	maxServedOrders = 1 << 20
)

// Errors of [Adopt].
var (
	ErrTwice = errors.New("stands twice")
	ErrMany  = fmt.Errorf("more than %d orders", maxServedOrders)
)

// An Order is what a solver delivered on one intent.
type Order struct {
	IntentID string
	Value    string // base units, credited; what is no positive decimal integer is no value
	Gas      uint64 // of the plan, refunds subtracted
	Measured bool   // Gas is known; that of no plan is 0
}

// A Bar is what a dethroned champion delivers on the same pack.
type Bar struct {
	Orders []Order
	Age    time.Duration // 0 = it ran in this epoch; one older than [BarLifetime] is none
}

// A Match is one solver against the champion on one pack. Both have been scored by
// the same function at the same pins.
type Match struct {
	Vacant     bool // there is no champion yet; Champion is not looked at
	Champion   []Order
	Challenger []Order
	Bars       []Bar
	Share      uint // basis points of the challenger's function bodies that stand in the champion
}

// A Class is how a challenger's order compares with the champion's.
type Class string

// Classes.
const (
	ClassWin        Class = "win"        // better by more than the tie band
	ClassMatched    Class = "matched"    // within the tie band
	ClassRegression Class = "regression" // worse by more than the tie band
	ClassCover      Class = "cover"      // the champion has no value; counts as a win
	ClassRepeat     Class = "repeat"     // the same, but a dethroned champion had as much; counts for nothing
	ClassDropped    Class = "dropped"    // only the champion has a value
	ClassNone       Class = "none"       // neither has
)

// A Comparison is one order of an [Adoption]. Values are decimals, "" = none.
type Comparison struct {
	IntentID      string `json:"intent_id"`
	Class         Class  `json:"class"`
	Catastrophic  bool   `json:"catastrophic"` // more than the floor below what was there before
	Champion      string `json:"champion"`
	Challenger    string `json:"challenger"`
	Bar           string `json:"bar"` // the best of the dethroned champions
	BPS           string `json:"bps"` // (challenger − champion) / champion in basis points, rounded down; "" unless both have a value
	ChampionGas   uint64 `json:"champion_gas"`
	ChallengerGas uint64 `json:"challenger_gas"`
	Measured      bool   `json:"gas_measured"` // both are known
}

// Ways to become champion.
const (
	ViaPerformance = "performance"
	ViaGas         = "gas"
	ViaVacancy     = "vacancy" // there was no champion
)

// An Adoption says whether a challenger replaces the champion, and why. Its reason is
// rendered once, here.
type Adoption struct {
	Adopt        bool         `json:"adopt"`
	Via          string       `json:"via"` // a Via constant, "" if not adopted
	Reason       string       `json:"reason"`
	Compared     int          `json:"compared"` // orders that one side has a value on
	Wins         int          `json:"wins"`
	Covers       int          `json:"covers"`
	Matched      int          `json:"matched"`
	Regressions  int          `json:"regressions"`
	Repeats      int          `json:"repeats"`
	Dropped      int          `json:"dropped"`
	Catastrophic int          `json:"catastrophic"`
	Net          int          `json:"net"`       // wins and covers less regressions
	ValueBPS     int64        `json:"value_bps"` // what is gained on the mean of the orders that both serve, rounded down
	Share        uint         `json:"share_bps"` // of function bodies
	Orders       []Comparison `json:"orders"`    // by intent id

	kept big.Rat // Σ min(X/C, 1.05) over the orders that both serve
}

// Adopt compares a challenger with the champion, order by order, in integers. The
// order of the lists is of no account. The error is [ErrTwice] or [ErrMany].
func Adopt(m Match) (Adoption, error) {
	if m.Vacant {
		m.Champion = nil
	}
	champion, err := serves("champion", m.Champion)
	if err != nil {
		return Adoption{}, err
	}
	challenger, err := serves("challenger", m.Challenger)
	if err != nil {
		return Adoption{}, err
	}
	bars := map[string]*big.Int{}
	for _, b := range m.Bars {
		orders, err := serves("bar", b.Orders)
		if err != nil {
			return Adoption{}, err
		}
		if b.Age > BarLifetime {
			continue
		}
		for id, o := range orders {
			if o.value != nil && (bars[id] == nil || o.value.Cmp(bars[id]) > 0) {
				bars[id] = o.value
			}
		}
	}
	v := Adoption{Share: m.Share, Orders: []Comparison{}}
	for id := range union(champion, challenger) {
		v.compare(id, champion[id], challenger[id], bars[id])
	}
	slices.SortFunc(v.Orders, func(a, b Comparison) int { return cmp.Compare(a.IntentID, b.IntentID) })
	v.Net = v.Wins + v.Covers - v.Regressions
	v.ValueBPS = v.gain()
	v.decide(m.Vacant)
	return v, nil
}

// A served order is one with its value read; nil = none.
type served struct {
	value    *big.Int
	gas      uint64
	measured bool
}

func serves(side string, orders []Order) (map[string]served, error) {
	if len(orders) > maxServedOrders {
		return nil, fmt.Errorf("%s: %w", side, ErrMany)
	}
	out := make(map[string]served, len(orders))
	for _, o := range orders {
		if _, ok := out[o.IntentID]; ok {
			return nil, fmt.Errorf("%s: intent %s %w", side, intent.Quoted(o.IntentID, 80), ErrTwice)
		}
		s := served{gas: o.Gas, measured: o.Measured}
		if amount, err := intent.ParseAmount(o.Value); err == nil && !amount.IsZero() {
			s.value = amount.ToBig()
		}
		out[o.IntentID] = s
	}
	return out, nil
}

func union(a, b map[string]served) map[string]struct{} {
	out := make(map[string]struct{}, len(a))
	for id := range a {
		out[id] = struct{}{}
	}
	for id := range b {
		out[id] = struct{}{}
	}
	return out
}

// below reports whether a is more than bps below b.
func below(a, b *big.Int, bps int64) bool {
	return new(big.Int).Mul(a, big.NewInt(basisPoints)).Cmp(new(big.Int).Mul(b, big.NewInt(basisPoints-bps))) < 0
}

// compare classes one order and counts it.
func (v *Adoption) compare(id string, c, x served, bar *big.Int) {
	o := Comparison{
		IntentID: id, Champion: decimal(c.value), Challenger: decimal(x.value), Bar: decimal(bar),
		ChampionGas: c.gas, ChallengerGas: x.gas, Measured: c.measured && x.measured,
	}
	switch {
	case c.value == nil && x.value == nil:
		o.Class = ClassNone
	case x.value == nil:
		o.Class = ClassDropped
		v.Dropped++
	case c.value == nil && bar != nil && !below(bar, x.value, TieBand):
		o.Class = ClassRepeat
		v.Repeats++
	case c.value == nil:
		o.Class = ClassCover
		v.Covers++
	case below(x.value, c.value, TieBand):
		o.Class = ClassRegression
		v.Regressions++
	case below(c.value, x.value, TieBand):
		o.Class = ClassWin
		v.Wins++
	default:
		o.Class = ClassMatched
		v.Matched++
	}
	if o.Class != ClassNone {
		v.Compared++
	}
	if c.value != nil && x.value != nil {
		floor := c.value
		if bar != nil && bar.Cmp(floor) > 0 {
			floor = bar
		}
		if x.value.Cmp(c.value) < 0 && below(x.value, floor, Floor) {
			o.Catastrophic = true
			v.Catastrophic++
		}
		share := new(big.Rat).SetFrac(x.value, c.value)
		if limit := big.NewRat(ValueCap, basisPoints); share.Cmp(limit) > 0 {
			share = limit
		}
		v.kept.Add(&v.kept, share)
		gain := new(big.Int).Sub(x.value, c.value)
		o.BPS = gain.Mul(gain, big.NewInt(basisPoints)).Div(gain, c.value).String()
	}
	v.Orders = append(v.Orders, o)
}

func decimal(n *big.Int) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// both is how many orders both sides serve.
func (v *Adoption) both() int { return v.Wins + v.Matched + v.Regressions }

// gain is the mean of what is kept of the champion's values, less 1, in basis
// points, rounded down; 0 where no order is served by both.
func (v *Adoption) gain() int64 {
	n := int64(v.both())
	if n == 0 {
		return 0
	}
	gain := new(big.Rat).Sub(&v.kept, new(big.Rat).SetInt64(n))
	gain.Mul(gain, big.NewRat(basisPoints, n))
	// Div is Euclidean: what is left over is not negative.
	return new(big.Int).Div(gain.Num(), gain.Denom()).Int64()
}

// falls reports whether value is lost over the orders that both serve.
func (v *Adoption) falls() bool {
	return v.kept.Cmp(new(big.Rat).SetInt64(int64(v.both()))) < 0
}
