package oracle

import (
	"context"
	"errors"
	"slices"

	"github.com/holiman/uint256"
)

// grid is how many shares there are of an input.
const grid = 100

// legLimits are how many paths one input is split over at most. A plan that fails
// with one, for it takes too much gas, is tried again with the next.
var legLimits = [...]int{16, 12, 9, 7, 5, 4, 3, 2, 1}

// share returns ⌊amount·k/grid⌋.
func share(amount *uint256.Int, k int) uint256.Int {
	z, _ := mulDiv(amount, uint256.NewInt(uint64(k)), uint256.NewInt(grid))
	return z
}

// A leg is a path and how much goes along it.
type leg struct {
	path  int // index
	share int // hundredths
}

// A split is an input divided over paths: legs by ascending path, each path once.
// Its shares sum to grid.
type split []leg

// amounts returns what each leg is given. What rounding down leaves over goes to
// the first of the largest.
func (s split) amounts(amount *uint256.Int) []uint256.Int {
	list := make([]uint256.Int, len(s))
	rest, largest := *amount, 0
	for i, l := range s {
		list[i] = share(amount, l.share)
		rest.Sub(&rest, &list[i])
		if l.share > s[largest].share {
			largest = i
		}
	}
	if len(list) > 0 {
		list[largest].Add(&list[largest], &rest)
	}
	return list
}

// of returns the share of a path.
func (s split) of(path int) int {
	for _, l := range s {
		if l.path == path {
			return l.share
		}
	}
	return 0
}

// with returns the split with a path's share changed by d hundredths.
func (s split) with(path, d int) split {
	i, found := slices.BinarySearchFunc(s, path, func(l leg, p int) int { return l.path - p })
	z := slices.Clone(s)
	if !found {
		z = slices.Insert(z, i, leg{path: path})
	}
	if z[i].share += d; z[i].share == 0 {
		z = slices.Delete(z, i, i+1)
	}
	return z
}

// A search looks for the best split of one amount over paths.
type search struct {
	o      *Oracle
	start  market // not changed
	paths  []path
	alone  []table
	amount uint256.Int
	legs   int // at most
}

// total runs the legs of a split one after the other over one market, so that
// paths through the same pool get what the ones before leave them. It is 0 where
// a leg cannot trade.
func (s *search) total(ctx context.Context, z split) (uint256.Int, error) {
	sum, _, err := s.play(ctx, z)
	return sum, err
}

// play is total and the market that is left behind.
func (s *search) play(ctx context.Context, z split) (sum uint256.Int, m market, err error) {
	m = slices.Clone(s.start)
	for i, in := range z.amounts(&s.amount) {
		out, err := s.o.run(ctx, m, s.paths[z[i].path], &in)
		if errors.Is(err, errNoTrade) {
			return uint256.Int{}, m, nil
		}
		if err != nil {
			return sum, m, err
		}
		sum.Add(&sum, &out)
	}
	return sum, m, nil
}

// single returns the best split of one leg, nil where no path takes all.
func (s *search) single() split {
	best := -1
	for i := range s.alone {
		if !s.alone[i][grid].IsZero() && (best < 0 || s.alone[i][grid].Gt(&s.alone[best][grid])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return split{{best, grid}}
}

// greedy fills up the paths hundredth by hundredth, each time the one that gives
// most for the next. For paths that share no pool that is the optimum of curves
// that only get flatter; where they share one it is where climb starts.
func (s *search) greedy(ctx context.Context) (split, error) {
	piece := share(&s.amount, 1)
	if piece.IsZero() {
		return nil, nil
	}
	m := slices.Clone(s.start)
	// What each path gave for a piece when last asked. It rarely gives more now.
	gives := make([]uint256.Int, len(s.paths))
	for i := range s.alone {
		gives[i] = s.alone[i][1]
	}
	var z split
	for range grid {
		best, err := s.steepest(ctx, m, gives, &piece, z)
		if err != nil {
			return nil, err
		}
		if best < 0 {
			return nil, nil
		}
		if _, err := s.o.run(ctx, m, s.paths[best], &piece); err != nil {
			return nil, err
		}
		z = z.with(best, 1)
	}
	return z, nil
}

// steepest returns the path that gives most for a piece, -1 if none gives
// anything. It brings gives up to date where it has to.
func (s *search) steepest(ctx context.Context, m market, gives []uint256.Int, piece *uint256.Int, z split) (int, error) {
	fresh := make([]bool, len(gives))
	for {
		best := -1
		for i := range gives {
			if len(z) >= s.legs && z.of(i) == 0 || gives[i].IsZero() {
				continue
			}
			if best < 0 || gives[i].Gt(&gives[best]) {
				best = i
			}
		}
		if best < 0 || fresh[best] {
			return best, nil
		}
		out, err := s.peek(ctx, m, s.paths[best], piece)
		if err != nil {
			return -1, err
		}
		gives[best], fresh[best] = out, true
	}
}

// peek is what a path would give for an amount now, 0 where it would not trade.
func (s *search) peek(ctx context.Context, m market, p path, amount *uint256.Int) (uint256.Int, error) {
	var before [MaxHops]state
	for i, h := range p {
		before[i] = m[h.pool]
	}
	out, err := s.o.run(ctx, m, p, amount)
	for i, h := range p {
		m[h.pool] = before[i]
	}
	if errors.Is(err, errNoTrade) {
		return uint256.Int{}, nil
	}
	return out, err
}

// neighbours is how many unused paths climb tries to move a share to.
const neighbours = 12

// climb moves shares from path to path as long as the whole gives more, large
// steps first.
func (s *search) climb(ctx context.Context, z split) (split, error) {
	best, err := s.total(ctx, z)
	if err != nil {
		return nil, err
	}
	for _, step := range []int{16, 4, 1} {
		for improved := true; improved; {
			improved = false
			targets, err := s.targets(ctx, z)
			if err != nil {
				return nil, err
			}
			top := z
			for _, from := range z {
				d := min(step, from.share)
				for _, to := range targets {
					next := z.with(from.path, -d).with(to, d)
					if to == from.path || len(next) > s.legs {
						continue
					}
					sum, err := s.total(ctx, next)
					if err != nil {
						return nil, err
					}
					if sum.Gt(&best) {
						best, top, improved = sum, next, true
					}
				}
			}
			z = top
		}
	}
	return z, nil
}

// targets are the paths that climb may move shares to: those in use and the ones
// that give most beside them.
func (s *search) targets(ctx context.Context, z split) ([]int, error) {
	_, m, err := s.play(ctx, z)
	if err != nil {
		return nil, err
	}
	piece := share(&s.amount, 1)
	type offer struct {
		path int
		out  uint256.Int
	}
	var used []int
	var offers []offer
	for i, p := range s.paths {
		if z.of(i) > 0 {
			used = append(used, i)
			continue
		}
		out, err := s.peek(ctx, m, p, &piece)
		if err != nil {
			return nil, err
		}
		if !out.IsZero() {
			offers = append(offers, offer{i, out})
		}
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return b.out.Cmp(&a.out) })
	for _, f := range offers[:min(neighbours, len(offers))] {
		used = append(used, f.path)
	}
	return used, nil
}
