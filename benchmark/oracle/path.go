package oracle

import (
	"context"
	"errors"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
)

// MaxHops is how many pools a path goes through at most.
const MaxHops = 4

// A hop is a trade in one pool.
type hop struct {
	pool       int // index of the oracle's
	zeroForOne bool
}

// A path is a chain of hops, each giving what the next one takes.
type path []hop

// shares reports whether two paths go through one pool.
func (p path) shares(q path) bool {
	return slices.ContainsFunc(p, func(h hop) bool {
		return slices.ContainsFunc(q, func(g hop) bool { return g.pool == h.pool })
	})
}

// A market is the state of every pool of an oracle, by index.
type market []state

// in returns the token a hop takes, out the one it gives.
func (o *Oracle) in(h hop) common.Address {
	if h.zeroForOne {
		return o.pools[h.pool].token[0]
	}
	return o.pools[h.pool].token[1]
}

func (o *Oracle) out(h hop) common.Address {
	return o.in(hop{h.pool, !h.zeroForOne})
}

// paths lists the simple paths from one token to another, in the order of the
// venues. No token comes twice, and none that does not move.
func (o *Oracle) paths(from, to common.Address) []path {
	var found []path
	var walk func(at common.Address, seen []common.Address, so path)
	walk = func(at common.Address, seen []common.Address, so path) {
		for i, p := range o.pools {
			h := hop{pool: i, zeroForOne: p.token[0] == at}
			if p.token[0] != at && p.token[1] != at {
				continue
			}
			next := o.out(h)
			switch {
			case slices.Contains(seen, next) || !o.tokens[next].moves():
			case next == to:
				found = append(found, append(slices.Clone(so), h))
			case len(so)+1 < MaxHops:
				walk(next, append(seen, next), append(so, h))
			}
		}
	}
	if from != to && o.tokens[from] != nil && o.tokens[from].moves() {
		walk(from, []common.Address{from}, nil)
	}
	return found
}

// enter returns what of an amount arrives in a hop's pool, by so many transfers
// of its input token. A Uniswap V3 pool reverts unless all of it does.
func (o *Oracle) enter(h hop, amount *uint256.Int, transfers int) (uint256.Int, error) {
	t := o.tokens[o.in(h)]
	if !t.ordinary() && o.pools[h.pool].v3 != nil {
		return uint256.Int{}, errNoTrade
	}
	z := *amount
	for range transfers {
		z = t.after(&z)
	}
	return z, nil
}

// trade is hop i of a path with an amount that the hop before gave, or the owner.
func (o *Oracle) trade(ctx context.Context, m market, p path, i int, amount *uint256.Int) (uint256.Int, error) {
	h := p[i]
	// Pairs send to each other, all else goes through the router.
	transfers := 1
	if i > 0 && (o.pools[h.pool].v3 != nil || o.pools[p[i-1].pool].v3 != nil) {
		transfers = 2
	}
	in, err := o.enter(h, amount, transfers)
	if err != nil {
		return in, err
	}
	return o.pools[h.pool].swap(ctx, &m[h.pool], h.zeroForOne, &in)
}

// run sends an amount along a path and returns what arrives at its end. The
// market is moved on, as far as the path went.
func (o *Oracle) run(ctx context.Context, m market, p path, amount *uint256.Int) (uint256.Int, error) {
	at := *amount
	for i := range p {
		var err error
		if at, err = o.trade(ctx, m, p, i, &at); err != nil {
			return uint256.Int{}, err
		}
	}
	return o.tokens[o.out(p[len(p)-1])].after(&at), nil
}

// A table is what a path gives alone for each share of an amount, in hundredths;
// 0 where it gives nothing.
type table [grid + 1]uint256.Int

// tables makes the table of each path over a market. Paths that begin with the
// same hops are worked out together.
func (o *Oracle) tables(ctx context.Context, m market, paths []path, amount *uint256.Int) ([]table, error) {
	var list []table
	var behind []table // by hop, of the path before
	for n, p := range paths {
		common := 0
		if n > 0 {
			for common < min(len(p), len(paths[n-1])) && p[common] == paths[n-1][common] {
				common++
			}
		}
		behind = behind[:min(common, len(behind))]
		for i := len(behind); i < len(p); i++ {
			var t table
			for k := 1; k <= grid; k++ {
				at := share(amount, k)
				if i > 0 {
					at = behind[i-1][k]
				}
				if at.IsZero() {
					continue
				}
				// Each share meets the pool as it is.
				s := m[p[i].pool]
				out, err := o.trade(ctx, m, p, i, &at)
				m[p[i].pool] = s
				if err != nil && !errors.Is(err, errNoTrade) {
					return nil, err
				}
				if err == nil {
					t[k] = out
				}
			}
			behind = append(behind, t)
		}
		last := behind[len(p)-1]
		end := o.tokens[o.out(p[len(p)-1])]
		for k := range last {
			last[k] = end.after(&last[k])
		}
		list = append(list, last)
	}
	return list, nil
}
