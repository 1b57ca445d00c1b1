package oracle

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// ErrUnconfirmed means that the EVM delivered another amount than the maths of
// ordinary tokens says: one of the two is wrong, and it is not the EVM.
var ErrUnconfirmed = errors.New("the EVM does not confirm the answer")

// An Oracle knows the venues of one world. Its methods may be called from any
// number of goroutines, which take turns.
type Oracle struct {
	world   *chain.World
	view    *chain.View
	routers Routers
	pools   []*pool
	tokens  map[common.Address]*token // of the pools
	turn    sync.Mutex
}

// An Answer is the best there is for an intent.
type Answer struct {
	// Value is what the best plan delivers, in base units, or the value of what
	// an app scores otherwise. It is nil where no plan reaches the minimum.
	Value *big.Int

	// Found is the best that any plan delivers, whatever the minimum; nil where
	// none delivers anything.
	Found *big.Int

	Plan   intent.Plan // that delivers Found
	Routes []Route     // of Plan
	Reason string      // why Value is nil, one safe line

	// Exact says that no split over paths without a shared pool gives more: the
	// search of those came to its end.
	Exact bool
}

// A Route is how one input is traded.
type Route struct {
	In, Out  common.Address // as pools have them: WETH for ETH
	Legs     []Leg
	Computed *uint256.Int // what the maths says arrives, together
}

// A Leg is a path of pools and what goes along it.
type Leg struct {
	Pools  []common.Address
	Share  int          // hundredths of the input; 0 in a portfolio's trades
	Amount *uint256.Int // base units of the input

	path path
}

// New reads venues and watches a transfer of each of their tokens. It fails where
// a venue is not what its protocol says, or is none that the router trades on.
func New(ctx context.Context, w *chain.World, venues []Venue, r Routers) (*Oracle, error) {
	o := &Oracle{world: w, view: w.View(), routers: r, tokens: map[common.Address]*token{}}
	for _, v := range venues {
		p, err := openPool(ctx, o.view, r, v)
		if err != nil {
			return nil, err
		}
		o.pools = append(o.pools, p)
	}
	for _, p := range o.pools {
		for _, address := range p.token {
			if known := o.tokens[address]; known != nil && known.moves() {
				continue
			}
			t, err := probe(ctx, w, address, p.venue.Address)
			if err != nil {
				return nil, err
			}
			o.tokens[address] = &t
		}
	}
	return o, nil
}

// market returns the pools as they are at the pinned block.
func (o *Oracle) market() market {
	m := make(market, len(o.pools))
	for i, p := range o.pools {
		m[i] = p.start
	}
	return m
}

// wrapped returns the token that pools have for one.
func (o *Oracle) wrapped(token common.Address) common.Address {
	if token == chain.ETH {
		return o.routers.WETH
	}
	return token
}

// routes are the routes of an amount that are worth the EVM's check, the most
// promising first, and whether the disjoint ones were searched to the end.
func (o *Oracle) routes(ctx context.Context, m market, from, to common.Address, amount *uint256.Int, legs int) ([]Route, bool, error) {
	s := &search{o: o, start: m, amount: *amount, legs: legs}
	all := o.paths(from, to)
	tables, err := o.tables(ctx, m, all, amount)
	if err != nil {
		return nil, false, err
	}
	for i, t := range tables {
		if slices.ContainsFunc(t[:], func(n uint256.Int) bool { return !n.IsZero() }) {
			s.paths, s.alone = append(s.paths, all[i]), append(s.alone, t)
		}
	}
	apart, exact := s.disjoint()
	splits := []split{apart}
	start, err := s.greedy(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, z := range []split{start, apart} {
		if len(z) == 0 {
			continue
		}
		if z, err = s.climb(ctx, z); err != nil {
			return nil, false, err
		}
		splits = append(splits, z)
	}
	splits = append(splits, s.single())
	var list []Route
	for _, z := range splits {
		if len(z) == 0 {
			continue
		}
		r, err := s.route(ctx, z)
		if err != nil {
			return nil, false, err
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b Route) int { return b.Computed.Cmp(a.Computed) })
	return slices.CompactFunc(list, func(a, b Route) bool { return slices.EqualFunc(a.Legs, b.Legs, Leg.equal) }), exact, nil
}

func (l Leg) equal(m Leg) bool { return l.Share == m.Share && slices.Equal(l.path, m.path) }

// route writes a split down.
func (s *search) route(ctx context.Context, z split) (Route, error) {
	sum, err := s.total(ctx, z)
	if err != nil {
		return Route{}, err
	}
	first := s.paths[z[0].path]
	r := Route{In: s.o.in(first[0]), Out: s.o.out(first[len(first)-1]), Computed: &sum}
	for i, amount := range z.amounts(&s.amount) {
		l := s.o.leg(s.paths[z[i].path], amount)
		l.Share = z[i].share
		r.Legs = append(r.Legs, l)
	}
	return r, nil
}

func (o *Oracle) leg(p path, amount uint256.Int) Leg {
	l := Leg{Amount: &amount, path: p}
	for _, h := range p {
		l.Pools = append(l.Pools, o.pools[h.pool].venue.Address)
	}
	return l
}

// ordinary reports whether a route meets ordinary tokens only.
func (o *Oracle) ordinary(r Route) bool {
	for _, l := range r.Legs {
		for _, h := range l.path {
			if !o.tokens[o.in(h)].ordinary() || !o.tokens[o.out(h)].ordinary() {
				return false
			}
		}
	}
	return true
}

// unconfirmed is the error for a computed amount that the EVM does not deliver.
func unconfirmed(computed *uint256.Int, delivered *big.Int) error {
	return fmt.Errorf("%w: computed %s, delivered %s", ErrUnconfirmed, computed.Dec(), delivered)
}
