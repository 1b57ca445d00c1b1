package oracle

import "github.com/holiman/uint256"

// disjointNodes bounds the sets of paths that the search for the best disjoint
// ones looks at. Each costs about 50 µs.
const disjointNodes = 1_500

// A filling is the best that some paths give together for each share of the
// input, and how: choice[i][k] is what path i of them gets of k hundredths.
type filling struct {
	sum    table
	paths  []int
	choice [][grid + 1]uint8
}

// add returns the filling with one more path.
func (f *filling) add(i int, alone *table) filling {
	z := filling{
		paths:  append(f.paths[:len(f.paths):len(f.paths)], i),
		choice: append(f.choice[:len(f.choice):len(f.choice)], [grid + 1]uint8{}),
	}
	choice := &z.choice[len(z.choice)-1]
	for k := range z.sum {
		best := f.sum[k]
		for j := 1; j <= k; j++ {
			// The shares of a filling sum to k exactly: paths without a share
			// of their own add nothing to sum[0] only.
			if k > j && f.sum[k-j].IsZero() {
				continue
			}
			var sum uint256.Int
			sum.Add(&f.sum[k-j], &alone[j])
			if !alone[j].IsZero() && sum.Gt(&best) {
				best, choice[k] = sum, uint8(j)
			}
		}
		z.sum[k] = best
	}
	return z
}

// split reads off how the whole input is divided.
func (f *filling) split() split {
	var z split
	k := grid
	for i := len(f.paths) - 1; i >= 0; i-- {
		if j := int(f.choice[i][k]); j > 0 {
			z = z.with(f.paths[i], j)
			k -= j
		}
	}
	if k != 0 {
		return nil
	}
	return z
}

// disjoint returns the best split over paths of which no two share a pool, by
// their tables alone, and whether it is proved to be: sets are searched depth
// first and cut where even paths that were allowed to share would not be better,
// within disjointNodes sets. It is nil where nothing takes the whole input.
func (s *search) disjoint() (best split, proved bool) {
	d := descent{s: s, bounds: make([]filling, len(s.paths)+1), left: disjointNodes}
	for i := len(s.paths) - 1; i >= 0; i-- {
		d.bounds[i] = d.bounds[i+1].add(i, &s.alone[i])
		d.bounds[i].paths, d.bounds[i].choice = nil, nil // only the sums bound
	}
	d.visit(0, filling{})
	return d.best, d.left > 0
}

// A descent is one search of disjoint.
type descent struct {
	s      *search
	bounds []filling // by path: of it and all after it, shared pools forgotten
	left   int       // sets
	top    uint256.Int
	best   split
}

// visit decides on path i and those after it.
func (d *descent) visit(i int, f filling) {
	if d.left == 0 {
		return
	}
	d.left--
	if f.sum[grid].Gt(&d.top) {
		if z := f.split(); len(z) > 0 && len(z) <= d.s.legs {
			d.top, d.best = f.sum[grid], z
		}
	}
	for ; i < len(d.s.paths); i++ {
		if !d.promising(&f, &d.bounds[i]) {
			return
		}
		if d.free(i, f.paths) {
			d.visit(i+1, f.add(i, &d.s.alone[i]))
		}
	}
}

// free reports whether a path shares no pool with the chosen ones.
func (d *descent) free(i int, chosen []int) bool {
	for _, j := range chosen {
		if d.s.paths[i].shares(d.s.paths[j]) {
			return false
		}
	}
	return true
}

// promising reports whether a filling could beat the best with the paths that a
// bound is of.
func (d *descent) promising(f, bound *filling) bool {
	for k := range grid + 1 {
		var sum uint256.Int
		if sum.Add(&f.sum[k], &bound.sum[grid-k]); sum.Gt(&d.top) {
			return true
		}
	}
	return false
}
