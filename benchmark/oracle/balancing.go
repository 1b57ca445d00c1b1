package oracle

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
)

// A lane is a path from one token of a portfolio to another.
type lane struct {
	from, to int // index of the portfolio's tokens
	path     path
}

// A flow is how much goes along a lane.
type flow struct {
	lane   int
	amount uint256.Int
}

// A position is what flows, one after the other, make of a portfolio.
type position struct {
	flows    []flow // by ascending lane, each lane once
	out      []uint256.Int
	market   market // afterwards
	held     []uint256.Int
	sum, off *big.Int
	rank     *big.Int
}

// A balancing is the search for the flows that leave a portfolio worth most with
// every share in its band. Flows start at nothing; each round takes the one change
// that ranks highest, until none ranks higher, with smaller and smaller changes.
type balancing struct {
	o     *Oracle
	p     *portfolio
	start market
	lanes []lane
	flows int // at most
}

// rounds bounds the changes of one size.
const rounds = 256

// lanesKept is how many paths of a pair of tokens the search knows for each of two
// amounts, all that has to move and a part of it: a path that gives most for a little
// may give nearly nothing for more. The rest give less when they are empty, and hardly
// more later.
const lanesKept = 8

// newBalancing lists the lanes that are worth it.
func (o *Oracle) newBalancing(ctx context.Context, p *portfolio, flows int) (*balancing, error) {
	b := &balancing{o: o, p: p, start: o.market(), flows: flows}
	amounts := [][]uint256.Int{p.quanta(1), p.quanta(sizes[0])}
	for i, from := range p.tokens {
		if p.spend[i].IsZero() {
			continue
		}
		for j, to := range p.tokens {
			var kept []path
			for _, amount := range amounts {
				best, err := b.widest(ctx, from, to, &amount[i])
				if err != nil {
					return nil, err
				}
				for _, way := range best {
					if !slices.ContainsFunc(kept, func(k path) bool { return slices.Equal(k, way) }) {
						kept = append(kept, way)
					}
				}
			}
			for _, way := range kept {
				b.lanes = append(b.lanes, lane{i, j, way})
			}
		}
	}
	return b, nil
}

// widest are the paths between two tokens that give most for an amount, best first.
func (b *balancing) widest(ctx context.Context, from, to common.Address, amount *uint256.Int) ([]path, error) {
	type offer struct {
		path path
		out  uint256.Int
	}
	var offers []offer
	for _, way := range b.o.paths(from, to) {
		out, err := b.peek(ctx, b.start, way, amount)
		if err != nil {
			return nil, err
		}
		if !out.IsZero() {
			offers = append(offers, offer{way, out})
		}
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return b.out.Cmp(&a.out) })
	var best []path
	for _, f := range offers[:min(lanesKept, len(offers))] {
		best = append(best, f.path)
	}
	return best, nil
}

func (b *balancing) peek(ctx context.Context, m market, p path, amount *uint256.Int) (uint256.Int, error) {
	s := search{o: b.o}
	return s.peek(ctx, m, p, amount)
}

// play makes the position of flows. It is nil where a flow cannot be.
func (b *balancing) play(ctx context.Context, flows []flow) (*position, error) {
	z := &position{flows: flows, market: slices.Clone(b.start), held: slices.Clone(b.p.held)}
	left := slices.Clone(b.p.spend)
	for _, f := range flows {
		l := b.lanes[f.lane]
		if f.amount.Gt(&left[l.from]) {
			return nil, nil
		}
		left[l.from].Sub(&left[l.from], &f.amount)
		out, err := b.o.run(ctx, z.market, l.path, &f.amount)
		if errors.Is(err, errNoTrade) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		z.out = append(z.out, out)
		z.held[l.from].Sub(&z.held[l.from], &f.amount)
		z.held[l.to].Add(&z.held[l.to], &out)
	}
	z.sum, z.off = b.p.tally(z.held)
	z.rank = rank(z.sum, z.off)
	return z, nil
}

// A change moves amounts onto lanes or, where less is set, off them.
type change []struct {
	flow
	less bool
}

// apply returns changed flows; ok is false where one would be below 0 or they are
// too many.
func (b *balancing) apply(flows []flow, c change) (z []flow, ok bool) {
	z = slices.Clone(flows)
	for _, d := range c {
		i, found := slices.BinarySearchFunc(z, d.lane, func(f flow, lane int) int { return cmp.Compare(f.lane, lane) })
		switch {
		case !found && d.less:
			return nil, false
		case !found:
			z = slices.Insert(z, i, d.flow)
		case !d.less:
			z[i].amount.Add(&z[i].amount, &d.amount)
		case d.amount.Gt(&z[i].amount):
			return nil, false
		default:
			if z[i].amount.Sub(&z[i].amount, &d.amount); z[i].amount.IsZero() {
				z = slices.Delete(z, i, i+1)
			}
		}
	}
	return z, len(z) <= b.flows
}

// sizes are the parts of what has to move that changes move, one after the other.
var sizes = [...]int64{16, 128, 1024, 16_384, 1 << 20}

// passes is how often all sizes are gone through: what the small changes find lets
// large ones go on that stood at the edge of a band.
const passes = 3

// best runs the search.
func (b *balancing) best(ctx context.Context) (*position, error) {
	at, err := b.play(ctx, nil)
	if err != nil {
		return nil, err
	}
	for range passes {
		before := at.rank
		for _, parts := range sizes {
			if at, err = b.climb(ctx, at, b.p.quanta(parts)); err != nil {
				return nil, err
			}
		}
		if at.rank.Cmp(before) == 0 {
			break
		}
	}
	return at, nil
}

// climb takes changes of one size until none ranks higher.
func (b *balancing) climb(ctx context.Context, at *position, quanta []uint256.Int) (*position, error) {
	for range rounds {
		next, err := b.improve(ctx, at, quanta)
		if err != nil {
			return nil, err
		}
		if next == nil {
			break
		}
		at = next
	}
	return at, nil
}

// improve returns the best position one change away, nil if none ranks higher.
func (b *balancing) improve(ctx context.Context, at *position, quanta []uint256.Int) (*position, error) {
	tops, adds, err := b.offers(ctx, at, quanta)
	if err != nil {
		return nil, err
	}
	// Most rounds only pile up. The rest is looked at when nothing is left to add.
	best, err := b.pick(ctx, at, adds)
	if best != nil || err != nil {
		return best, err
	}
	return b.pick(ctx, at, b.changes(at, tops, quanta))
}

// pick returns the best position that one of the changes leads to, nil if none
// ranks higher.
func (b *balancing) pick(ctx context.Context, at *position, list []change) (*position, error) {
	var best *position
	for _, c := range list {
		flows, ok := b.apply(at.flows, c)
		if !ok {
			continue
		}
		z, err := b.play(ctx, flows)
		if err != nil {
			return nil, err
		}
		if z != nil && z.rank.Cmp(at.rank) > 0 && (best == nil || z.rank.Cmp(best.rank) > 0) {
			best = z
		}
	}
	return best, nil
}

// addsTried is how many of the flows that could grow are played in full.
const addsTried = 4

// offers looks at every lane after a position: tops[i][j] are the lanes that give
// most for a quantum more of token i, adds the changes that seem to rank highest.
func (b *balancing) offers(ctx context.Context, at *position, quanta []uint256.Int) (tops [][]int, adds []change, err error) {
	n := len(b.p.tokens)
	tops = make([][]int, n*n)
	most := make([]uint256.Int, n*n)
	type grown struct {
		lane int
		rank *big.Int
	}
	var list []grown
	for i, l := range b.lanes {
		out, err := b.peek(ctx, at.market, l.path, &quanta[l.from])
		if err != nil {
			return nil, nil, err
		}
		if out.IsZero() || quanta[l.from].Gt(&at.held[l.from]) {
			continue
		}
		pair := l.from*n + l.to
		if out.Gt(&most[pair]) {
			most[pair], tops[pair] = out, []int{i}
		}
		held := slices.Clone(at.held)
		held[l.from].Sub(&held[l.from], &quanta[l.from])
		held[l.to].Add(&held[l.to], &out)
		if r := rank(b.p.tally(held)); r.Cmp(at.rank) > 0 {
			list = append(list, grown{i, r})
		}
	}
	slices.SortStableFunc(list, func(x, y grown) int { return y.rank.Cmp(x.rank) })
	for _, g := range list[:min(addsTried, len(list))] {
		adds = append(adds, change{{flow{g.lane, quanta[b.lanes[g.lane].from]}, false}})
	}
	return tops, adds, nil
}

// changes are those that take something off a flow, or all: to nowhere, to another
// lane of its source or its end, or two flows that change ends.
func (b *balancing) changes(at *position, tops [][]int, quanta []uint256.Int) []change {
	n := len(b.p.tokens)
	var list []change
	for x, f := range at.flows {
		a := b.lanes[f.lane]
		d := quanta[a.from]
		if d.Gt(&f.amount) {
			d = f.amount
		}
		less := change{{flow{f.lane, d}, true}}
		list = append(list, less, change{{f, true}})
		more := func(lane int) {
			to := b.lanes[lane]
			if lane == f.lane || to.from != a.from && to.to != a.to {
				return
			}
			amount := quanta[to.from]
			if to.from == a.from {
				amount = d
			}
			list = append(list, append(slices.Clone(less), change{{flow{lane, amount}, false}}...))
		}
		for _, top := range tops {
			for _, lane := range top {
				more(lane)
			}
		}
		for _, g := range at.flows {
			more(g.lane)
		}
		for _, g := range at.flows[x+1:] {
			c := b.lanes[g.lane]
			if a.from == c.from || a.to == c.to || quanta[a.from].Gt(&f.amount) || quanta[c.from].Gt(&g.amount) {
				continue
			}
			for _, one := range tops[a.from*n+c.to] {
				for _, two := range tops[c.from*n+a.to] {
					list = append(list, change{
						{flow{f.lane, quanta[a.from]}, true}, {flow{g.lane, quanta[c.from]}, true},
						{flow{one, quanta[a.from]}, false}, {flow{two, quanta[c.from]}, false},
					})
				}
			}
		}
	}
	return list
}
