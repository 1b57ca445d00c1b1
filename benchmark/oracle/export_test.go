package oracle

import (
	"context"
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
)

// Grid is how many shares an input is divided into.
const Grid = grid

// SqrtRatioAtTick is the price of a tick.
func SqrtRatioAtTick(tick int32) *big.Int {
	z := sqrtRatioAtTick(tick)
	return z.ToBig()
}

// TickAtSqrtRatio searches all ticks.
func TickAtSqrtRatio(price *big.Int) int32 {
	return tickAtSqrtRatio(uint256.MustFromBig(price), minTick, maxTick)
}

// SwapStep is one step of a swap: the price afterwards, what it takes, gives and
// keeps as a fee.
func SwapStep(price, target, liquidity, remaining *big.Int, fee uint64) (after, in, out, kept *big.Int, ok bool) {
	s, ok := swapStep(uint256.MustFromBig(price), uint256.MustFromBig(target), uint256.MustFromBig(liquidity),
		uint256.MustFromBig(remaining), fee, price.Cmp(target) >= 0)
	return s.price.ToBig(), s.in.ToBig(), s.out.ToBig(), s.fee.ToBig(), ok
}

// A Path is a path for tests.
type Path struct {
	Tokens []common.Address
	Pools  []common.Address
	Fees   []uint64 // 0: a V2 pair

	path path
}

// Paths lists the simple paths between two tokens.
func (o *Oracle) Paths(from, to common.Address) []Path {
	var list []Path
	for _, p := range o.paths(from, to) {
		z := Path{Tokens: o.v2Path(p), Pools: o.leg(p, uint256.Int{}).Pools, path: p}
		for _, h := range p {
			var fee uint64
			if v3 := o.pools[h.pool].v3; v3 != nil {
				fee = v3.fee
			}
			z.Fees = append(z.Fees, fee)
		}
		list = append(list, z)
	}
	return list
}

// Ordinary reports whether all tokens of a path are ordinary.
func (o *Oracle) Ordinary(p Path) bool { return o.ordinary(Route{Legs: []Leg{{path: p.path}}}) }

// Share reports whether two paths go through one pool.
func (p Path) Share(q Path) bool { return p.path.shares(q.path) }

// Run is what arrives at the end of a path, nil where it would not trade.
func (o *Oracle) Run(ctx context.Context, p Path, amount *uint256.Int) (*uint256.Int, error) {
	o.turn.Lock()
	defer o.turn.Unlock()
	out, err := o.run(ctx, o.market(), p.path, amount)
	if errors.Is(err, errNoTrade) {
		return nil, nil
	}
	return &out, err
}

// RunAll sends amounts along paths, one after the other over one market, nil where
// one would not trade.
func (o *Oracle) RunAll(ctx context.Context, paths []Path, amounts []uint256.Int) (*uint256.Int, error) {
	o.turn.Lock()
	defer o.turn.Unlock()
	m := o.market()
	var sum uint256.Int
	for i, p := range paths {
		if amounts[i].IsZero() {
			continue
		}
		out, err := o.run(ctx, m, p.path, &amounts[i])
		if errors.Is(err, errNoTrade) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		sum.Add(&sum, &out)
	}
	return &sum, nil
}

// PlanAlong is the plan that sends an amount along paths, amounts[i] along path i.
func (o *Oracle) PlanAlong(ctx context.Context, d intent.Definition, s intent.State, paths []Path, amounts []uint256.Int) (intent.Plan, error) {
	q, t, err := o.open(ctx, d, s)
	if err != nil {
		return intent.Plan{}, err
	}
	var r Route
	for i, p := range paths {
		r.Legs = append(r.Legs, o.leg(p.path, amounts[i]))
	}
	return q.swapPlan(ctx, t, r)
}

func (o *Oracle) open(ctx context.Context, d intent.Definition, s intent.State) (*quest, trade, error) {
	q, err := o.newQuest(ctx, d, s)
	if err != nil {
		return nil, trade{}, err
	}
	t, err := newTrade(q.order, d, s)
	return q, t, err
}

// A Divided is a split that a search found.
type Divided struct {
	Shares []int // by path, hundredths
	Sum    *uint256.Int
}

// SplitOver searches the split of an amount over the given paths only: by what
// divides paths without shared pools, and by greedy and climb.
func (o *Oracle) SplitOver(ctx context.Context, paths []Path, amount *uint256.Int) (apart, climbed *Divided, err error) {
	o.turn.Lock()
	defer o.turn.Unlock()
	s := &search{o: o, start: o.market(), amount: *amount, legs: legLimits[0]}
	for _, p := range paths {
		s.paths = append(s.paths, p.path)
	}
	if s.alone, err = o.tables(ctx, o.market(), s.paths, amount); err != nil {
		return nil, nil, err
	}
	divided := func(z split) (*Divided, error) {
		if len(z) == 0 {
			return nil, nil
		}
		d := &Divided{Shares: make([]int, len(paths))}
		for _, l := range z {
			d.Shares[l.path] = l.share
		}
		sum, err := s.total(ctx, z)
		d.Sum = &sum
		return d, err
	}
	z, _ := s.disjoint()
	if apart, err = divided(z); err != nil {
		return nil, nil, err
	}
	if z, err = s.greedy(ctx); err != nil {
		return nil, nil, err
	}
	if len(z) > 0 {
		if z, err = s.climb(ctx, z); err != nil {
			return nil, nil, err
		}
	}
	climbed, err = divided(z)
	return apart, climbed, err
}

// Amounts divides an amount by shares, as plans do.
func Amounts(amount *uint256.Int, shares []int) []uint256.Int {
	var z split
	for i, k := range shares {
		if k > 0 {
			z = append(z, leg{i, k})
		}
	}
	list := make([]uint256.Int, len(shares))
	for i, n := range z.amounts(amount) {
		list[z[i].path] = n
	}
	return list
}
