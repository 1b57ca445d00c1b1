package oracle

import (
	"context"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
)

// Uniswap V2 keeps 3 of 1,000 of each input.
var (
	v2Whole = uint256.NewInt(1000)
	v2Rate  = uint256.NewInt(997)
	v2Fee   = uint256.NewInt(3)
)

// v2ReserveBits bounds what a pair may hold.
const v2ReserveBits = 112

func (p *pool) openV2(ctx context.Context, v *chain.View) error {
	reserves, err := call(ctx, v, p.venue.Address, 2, "getReserves()")
	if err != nil {
		return err
	}
	for i, token := range p.token {
		balance, err := call(ctx, v, token, 1, "balanceOf(address)", addressWord(p.venue.Address))
		if err != nil {
			return err
		}
		p.start.reserve[i], p.start.balance[i] = reserves[i], balance[0]
	}
	return nil
}

// swapV2 trades as SwapRouter02 does: the pair is sent the input and asked for
// what its balance beyond the reserve is worth, donations included.
func (s *state) swapV2(zeroForOne bool, in *uint256.Int) (out uint256.Int, err error) {
	i, o := 0, 1
	if !zeroForOne {
		i, o = 1, 0
	}
	next := *s
	next.balance[i].Add(&s.balance[i], in)
	if !next.balance[i].Gt(&s.reserve[i]) || s.reserve[i].IsZero() || s.reserve[o].IsZero() {
		return out, errNoTrade
	}
	var given, denominator uint256.Int
	given.Sub(&next.balance[i], &s.reserve[i])
	given.Mul(&given, v2Rate)
	out.Mul(&given, &s.reserve[o])
	denominator.Mul(&s.reserve[i], v2Whole)
	denominator.Add(&denominator, &given)
	out.Div(&out, &denominator)
	if out.IsZero() || !out.Lt(&s.reserve[o]) || !out.Lt(&s.balance[o]) {
		return out, errNoTrade
	}
	next.balance[o].Sub(&s.balance[o], &out)
	if !next.keepsProduct(s, i, o, &out) {
		return out, errNoTrade
	}
	next.reserve = next.balance
	*s = next
	return out, nil
}

// keepsProduct is the pair's own check after a trade, with what it counts as
// inputs: whatever it holds beyond the reserves less the output.
func (s *state) keepsProduct(before *state, i, o int, out *uint256.Int) bool {
	var left uint256.Int
	left.Sub(&before.reserve[o], out)
	less := func(balance, had *uint256.Int) (z uint256.Int) {
		z.Mul(balance, v2Whole)
		if balance.Gt(had) {
			var given uint256.Int
			given.Sub(balance, had)
			z.Sub(&z, given.Mul(&given, v2Fee))
		}
		return z
	}
	a, b := less(&s.balance[i], &before.reserve[i]), less(&s.balance[o], &left)
	var had, have uint256.Int
	have.Mul(&a, &b)
	had.Mul(&before.reserve[i], &before.reserve[o])
	had.Mul(&had, v2Whole)
	had.Mul(&had, v2Whole)
	return !have.Lt(&had) && s.balance[i].BitLen() <= v2ReserveBits && s.balance[o].BitLen() <= v2ReserveBits
}
