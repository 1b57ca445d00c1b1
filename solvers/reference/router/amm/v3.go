package amm

import "github.com/holiman/uint256"

// swapV3 walks from tick to tick until the input is used up.
func (p *Pool) swapV3(side int, in *uint256.Int) (out uint256.Int, ok bool) {
	left := *in
	for !left.IsZero() {
		target, tick := p.next(side)
		if p.Sqrt.Eq(target) && tick == nil {
			return out, false // at the end of what is known
		}
		used, paid := p.step(side, target, &left)
		out.Add(&out, &paid)
		left.Sub(&left, &used)
		if !p.Sqrt.Eq(target) {
			if !left.IsZero() {
				return out, false // without liquidity nothing moves
			}
			return out, true
		}
		if tick == nil {
			return out, left.IsZero()
		}
		if side == 0 {
			p.Liquidity.Sub(&p.Liquidity, &tick.Net)
			p.Below--
		} else {
			p.Liquidity.Add(&p.Liquidity, &tick.Net)
			p.Below++
		}
	}
	return out, true
}

// next is the price at which liquidity changes next, and the tick there; nil where
// only the end of what is known is.
func (p *Pool) next(side int) (*uint256.Int, *Tick) {
	if side == 0 {
		if p.Below > 0 {
			t := &p.Ticks[p.Below-1]
			return &t.Sqrt, t
		}
		return &p.Low, nil
	}
	if p.Below < len(p.Ticks) {
		t := &p.Ticks[p.Below]
		return &t.Sqrt, t
	}
	return &p.High, nil
}

// step moves the price towards target, at most as far as the input reaches. It returns
// what of the input that took, the fee with it, and what it paid.
func (p *Pool) step(side int, target, left *uint256.Int) (used, paid uint256.Int) {
	var kept, need, next uint256.Int
	kept.MulDivOverflow(left, uint256.NewInt(uint64(million-p.Fee)), uint256.NewInt(million))
	if side == 0 {
		need = amount0(target, &p.Sqrt, &p.Liquidity, true)
	} else {
		need = amount1(&p.Sqrt, target, &p.Liquidity, true)
	}
	reached := !kept.Lt(&need)
	if reached {
		next = *target
	} else {
		next = p.after(side, &kept)
		reached = next.Eq(target)
		if !reached {
			if side == 0 {
				need = amount0(&next, &p.Sqrt, &p.Liquidity, true)
			} else {
				need = amount1(&p.Sqrt, &next, &p.Liquidity, true)
			}
		}
	}
	if side == 0 {
		paid = amount1(&next, &p.Sqrt, &p.Liquidity, false)
	} else {
		paid = amount0(&p.Sqrt, &next, &p.Liquidity, false)
	}
	p.Sqrt = next
	if !reached {
		return *left, paid // what is over is fee
	}
	fee := mulDivUp(&need, uint256.NewInt(uint64(p.Fee)), uint256.NewInt(uint64(million-p.Fee)))
	used.Add(&need, &fee)
	if used.Gt(left) {
		used = *left
	}
	return used, paid
}

// after is the price after an input that does not reach the next tick.
func (p *Pool) after(side int, in *uint256.Int) uint256.Int {
	var z uint256.Int
	if p.Liquidity.IsZero() {
		return p.Sqrt
	}
	if side == 1 {
		z.MulDivOverflow(in, q96, &p.Liquidity)
		z.Add(&z, &p.Sqrt)
		return z
	}
	var whole, product uint256.Int
	whole.Lsh(&p.Liquidity, 96)
	if _, over := product.MulOverflow(in, &p.Sqrt); !over {
		if _, over := product.AddOverflow(&product, &whole); !over {
			return mulDivUp(&whole, &p.Sqrt, &product)
		}
	}
	product.Div(&whole, &p.Sqrt)
	product.Add(&product, in)
	return divUp(&whole, &product)
}

var q96 = new(uint256.Int).Lsh(uint256.NewInt(1), 96)

// amount0 is the amount of token0 between two prices, a ≤ b.
func amount0(a, b, liquidity *uint256.Int, up bool) uint256.Int {
	var whole, width, z uint256.Int
	whole.Lsh(liquidity, 96)
	width.Sub(b, a)
	if up {
		z = mulDivUp(&whole, &width, b)
		return divUp(&z, a)
	}
	z.MulDivOverflow(&whole, &width, b)
	z.Div(&z, a)
	return z
}

// amount1 is the amount of token1 between two prices, a ≤ b.
func amount1(a, b, liquidity *uint256.Int, up bool) uint256.Int {
	var width, z uint256.Int
	width.Sub(b, a)
	if up {
		return mulDivUp(liquidity, &width, q96)
	}
	z.MulDivOverflow(liquidity, &width, q96)
	return z
}

// mulDivUp is ⌈a·b/c⌉, which must fit.
func mulDivUp(a, b, c *uint256.Int) uint256.Int {
	var z, rest uint256.Int
	z.MulDivOverflow(a, b, c)
	if rest.MulMod(a, b, c); !rest.IsZero() {
		z.AddUint64(&z, 1)
	}
	return z
}

func divUp(a, b *uint256.Int) uint256.Int {
	var z, rest uint256.Int
	z.DivMod(a, b, &rest)
	if !rest.IsZero() {
		z.AddUint64(&z, 1)
	}
	return z
}
