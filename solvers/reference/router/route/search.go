package route

import (
	"slices"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/solvers/reference/router/amm"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

const (
	maxHops = 4
	beam    = 6  // partial paths kept for each token and length
	pieces  = 50 // an amount is split into
)

// A hop goes through a pool, in at a side.
type hop struct{ pool, side int }

// A path is hops from token to token, no token twice.
type path []hop

// market is the state of all pools of a book: a search changes its own.
type market []amm.Pool

func (b *book) market() market { return slices.Clone(b.pools) }

// pays is what arrives of an amount that a token is sent as.
func (b *book) pays(token abi.Address, sent *uint256.Int) uint256.Int {
	rate, ok := b.arrive[token]
	if !ok {
		return *sent
	}
	var z uint256.Int
	z.MulDivOverflow(sent, uint256.NewInt(rate), uint256.NewInt(whole))
	return z
}

// cross sends an amount through one hop and returns what arrives behind it.
func (b *book) cross(m market, h hop, in *uint256.Int) (uint256.Int, bool) {
	p := &m[h.pool]
	given := b.pays(p.Token[h.side], in)
	out, ok := p.Swap(h.side, &given)
	if !ok {
		return out, false
	}
	out = b.pays(p.Token[1-h.side], &out)
	return out, !out.IsZero()
}

// run sends an amount along a path and leaves the market as it is afterwards.
func (b *book) run(m market, p path, in *uint256.Int) (out uint256.Int, ok bool) {
	out = *in
	for _, h := range p {
		if out, ok = b.cross(m, h, &out); !ok {
			return out, false
		}
	}
	return out, true
}

// peek is run that puts the market back.
func (b *book) peek(m market, p path, in *uint256.Int) (uint256.Int, bool) {
	var before [maxHops]amm.Pool
	for i, h := range p {
		before[i] = m[h.pool]
	}
	out, ok := b.run(m, p, in)
	for i, h := range p {
		m[h.pool] = before[i]
	}
	return out, ok
}

// A reached token is where a partial path leads and with how much.
type reached struct {
	path   path
	token  abi.Address
	amount uint256.Int
}

// paths are the best paths for an amount, best first: of each length a beam of partial
// paths to each token is kept.
func (b *book) paths(m market, from, to abi.Address, in *uint256.Int) []reached {
	front := []reached{{token: from, amount: *in}}
	var done []reached
	for range maxHops {
		var next []reached
		for _, r := range front {
			for i := range m {
				side := m[i].Side(r.token)
				if side < 0 || b.visits(m, r, m[i].Token[1-side], from) {
					continue
				}
				saved := m[i]
				out, ok := b.cross(m, hop{i, side}, &r.amount)
				m[i] = saved
				if !ok {
					continue
				}
				longer := reached{append(slices.Clone(r.path), hop{i, side}), m[i].Token[1-side], out}
				if longer.token == to {
					done = append(done, longer)
				} else if !b.keeps(longer) {
					next = append(next, longer)
				}
			}
		}
		front = prune(next)
	}
	slices.SortStableFunc(done, func(x, y reached) int { return y.amount.Cmp(&x.amount) })
	return done
}

// visits reports whether a path has been at a token.
func (b *book) visits(m market, r reached, token, from abi.Address) bool {
	return token == from || slices.ContainsFunc(r.path, func(h hop) bool { return m[h.pool].Token[1-h.side] == token })
}

// keeps reports whether a path would carry a token on that keeps a fee: V3 pools
// refuse it, and it only costs.
func (b *book) keeps(r reached) bool {
	_, fee := b.arrive[r.token]
	return fee
}

// prune keeps the best partial paths of each token.
func prune(all []reached) []reached {
	slices.SortStableFunc(all, func(x, y reached) int { return y.amount.Cmp(&x.amount) })
	count := map[abi.Address]int{}
	return slices.DeleteFunc(all, func(r reached) bool {
		count[r.token]++
		return count[r.token] > beam
	})
}

// A leg is a path and how many pieces of the amount go along it.
type leg struct {
	path   path
	pieces int
}

// candidates are the paths that a split is searched over: the best of the whole
// amount, of a fifth and of a piece.
func (b *book) candidates(m market, from, to abi.Address, in *uint256.Int) []path {
	var out []path
	for _, part := range []uint64{1, 5, pieces} {
		size := new(uint256.Int).Div(in, uint256.NewInt(part))
		if size.IsZero() {
			continue
		}
		all := b.paths(m, from, to, size)
		for _, r := range all[:min(len(all), 8)] {
			if !slices.ContainsFunc(out, func(p path) bool { return slices.Equal(p, r.path) }) {
				out = append(out, r.path)
			}
		}
	}
	return out
}

// split fills up paths piece by piece, each time the one that pays most for the next,
// and no more of them than a limit.
func (b *book) split(m market, paths []path, in *uint256.Int, limit int) []leg {
	piece := new(uint256.Int).Div(in, uint256.NewInt(pieces))
	if piece.IsZero() {
		return nil
	}
	m = slices.Clone(m)
	// What each path gave when last asked; it seldom gives more now.
	gives := make([]uint256.Int, len(paths))
	for i, p := range paths {
		if out, ok := b.peek(m, p, piece); ok {
			gives[i] = out
		}
	}
	var legs []leg
	of := make([]int, len(paths)) // leg of a path, +1
	for range pieces {
		best := b.steepest(m, paths, gives, piece, of, len(legs) == limit)
		if best < 0 {
			return nil
		}
		if _, ok := b.run(m, paths[best], piece); !ok {
			return nil
		}
		if of[best] == 0 {
			legs = append(legs, leg{path: paths[best]})
			of[best] = len(legs)
		}
		legs[of[best]-1].pieces++
	}
	return legs
}

// steepest is the path that pays most for a piece now, -1 if none pays.
func (b *book) steepest(m market, paths []path, gives []uint256.Int, piece *uint256.Int, of []int, full bool) int {
	asked := make([]bool, len(paths))
	for {
		best := -1
		for i := range gives {
			if gives[i].IsZero() || full && of[i] == 0 {
				continue
			}
			if best < 0 || gives[i].Gt(&gives[best]) {
				best = i
			}
		}
		if best < 0 || asked[best] {
			return best
		}
		asked[best] = true
		out, ok := b.peek(m, paths[best], piece)
		if !ok {
			out.Clear()
		}
		gives[best] = out
	}
}
