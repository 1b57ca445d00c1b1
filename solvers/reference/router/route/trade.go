package route

import (
	"errors"
	"fmt"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/solvers/sdk/abi"
)

// errNoRoute is returned where no path pays anything.
var errNoRoute = errors.New("no route")

// A share is what goes along one path, and what comes.
type share struct {
	path    path
	in, out uint256.Int
}

// A deal is an amount sold in shares, in the order in which they are executed.
type deal struct {
	shares []share
	out    uint256.Int
}

// legGas is what a path of a split costs at most besides the first: its swaps and the
// call.
const legGas = 130_000

// best finds the deal that leaves most of an amount, less what its paths cost in gas.
// m is the market before, and stays so.
func (b *book) best(m market, from, to abi.Address, in *uint256.Int) (deal, error) {
	paths := b.candidates(m, from, to, in)
	if len(paths) == 0 {
		return deal{}, errNoRoute
	}
	var best deal
	var most uint256.Int
	for i, p := range paths {
		if d, ok := b.deal(m, []leg{{p, pieces}}, in); ok && (i == 0 || d.out.Gt(&best.out)) {
			best = d
		}
	}
	most = best.out
	extra := b.gasIn(m, to)
	for _, limit := range []int{8, 4, 2} {
		legs := b.split(m, paths, in, limit)
		if len(legs) < 2 {
			continue
		}
		d, ok := b.deal(m, legs, in)
		if !ok {
			continue
		}
		cost := new(uint256.Int).Mul(&extra, uint256.NewInt(uint64(len(legs)-1)))
		if net := new(uint256.Int).Sub(&d.out, cost); !d.out.Lt(cost) && net.Gt(&most) {
			best, most = d, *net
		}
	}
	if best.out.IsZero() {
		return deal{}, errNoRoute
	}
	return best, nil
}

// deal computes what legs bring, one after the other. What the pieces leave over goes
// to the first.
func (b *book) deal(m market, legs []leg, in *uint256.Int) (deal, bool) {
	m = append(market(nil), m...)
	piece := new(uint256.Int).Div(in, uint256.NewInt(pieces))
	rest := *in
	var d deal
	for _, l := range legs {
		s := share{path: l.path}
		s.in.Mul(piece, uint256.NewInt(uint64(l.pieces)))
		rest.Sub(&rest, &s.in)
		d.shares = append(d.shares, s)
	}
	d.shares[0].in.Add(&d.shares[0].in, &rest)
	for i := range d.shares {
		s := &d.shares[i]
		var ok bool
		if s.out, ok = b.run(m, s.path, &s.in); !ok {
			return deal{}, false
		}
		d.out.Add(&d.out, &s.out)
	}
	return d, true
}

// gasIn is what a leg's gas is worth in a token, 0 where that cannot be told.
func (b *book) gasIn(m market, token abi.Address) uint256.Int {
	wei := new(uint256.Int).Mul(&b.gasPrice, uint256.NewInt(legGas))
	if token == b.weth {
		return *wei
	}
	if wei.IsZero() {
		return *wei
	}
	all := b.paths(m, b.weth, token, wei)
	if len(all) == 0 {
		return uint256.Int{}
	}
	return all[0].amount
}

// sell changes the market by a deal.
func (b *book) sell(m market, d deal) error {
	for _, s := range d.shares {
		in := s.in
		if _, ok := b.run(m, s.path, &in); !ok {
			return fmt.Errorf("a path that paid %s pays nothing", s.out.Dec())
		}
	}
	return nil
}
