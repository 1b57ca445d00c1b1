package oracle

import "github.com/holiman/uint256"

// feeUnits is 100 % in the unit of a Uniswap V3 fee.
const feeUnits = 1_000_000

var feeWhole = uint256.NewInt(feeUnits)

// mulDiv returns ⌊a·b/d⌋ with a product of 512 bits. The result is below 2^256
// wherever the pools' own arithmetic does not revert; ok is false where it does.
func mulDiv(a, b, d *uint256.Int) (z uint256.Int, ok bool) {
	_, overflow := z.MulDivOverflow(a, b, d)
	return z, !overflow && !d.IsZero()
}

// mulDivUp returns ⌈a·b/d⌉.
func mulDivUp(a, b, d *uint256.Int) (uint256.Int, bool) {
	z, ok := mulDiv(a, b, d)
	var rest uint256.Int
	if ok && !rest.MulMod(a, b, d).IsZero() {
		_, overflow := z.AddOverflow(&z, one)
		ok = !overflow
	}
	return z, ok
}

// divUp returns ⌈a/d⌉. The divisor is not 0.
func divUp(a, d *uint256.Int) uint256.Int {
	var z, rest uint256.Int
	z.DivMod(a, d, &rest)
	if !rest.IsZero() {
		z.AddUint64(&z, 1)
	}
	return z
}

// amount0Delta returns how much of token0 lies between two prices, lo ≤ hi.
func amount0Delta(lo, hi, liquidity *uint256.Int, up bool) (uint256.Int, bool) {
	var shifted, width uint256.Int
	shifted.Lsh(liquidity, 96)
	width.Sub(hi, lo)
	if up {
		z, ok := mulDivUp(&shifted, &width, hi)
		return divUp(&z, lo), ok
	}
	z, ok := mulDiv(&shifted, &width, hi)
	z.Div(&z, lo)
	return z, ok
}

// amount1Delta returns how much of token1 lies between two prices, lo ≤ hi.
func amount1Delta(lo, hi, liquidity *uint256.Int, up bool) (uint256.Int, bool) {
	var width uint256.Int
	width.Sub(hi, lo)
	if up {
		return mulDivUp(liquidity, &width, q96)
	}
	return mulDiv(liquidity, &width, q96)
}

// priceAfterInput returns where an input without its fee moves the price to,
// rounded against the trader.
func priceAfterInput(price, liquidity, in *uint256.Int, zeroForOne bool) (z uint256.Int, ok bool) {
	if liquidity.IsZero() {
		return z, false
	}
	if in.IsZero() {
		return *price, true
	}
	if !zeroForOne {
		step, ok := mulDiv(in, q96, liquidity)
		z.Add(price, &step)
		return z, ok && !z.Gt(maxUint160)
	}
	var shifted, product, denominator uint256.Int
	shifted.Lsh(liquidity, 96)
	if _, overflow := product.MulOverflow(in, price); !overflow {
		if _, overflow := denominator.AddOverflow(&shifted, &product); !overflow {
			return mulDivUp(&shifted, price, &denominator)
		}
	}
	z.Div(&shifted, price)
	if _, overflow := z.AddOverflow(&z, in); overflow {
		return z, false
	}
	return divUp(&shifted, &z), true
}

// A step is what a swap does within one range of constant liquidity.
type step struct {
	price        uint256.Int // afterwards
	in, out, fee uint256.Int
}

// swapStep swaps at most remaining towards target. fee is in feeUnits.
func swapStep(price, target, liquidity, remaining *uint256.Int, fee uint64, zeroForOne bool) (s step, ok bool) {
	rate := uint256.NewInt(feeUnits - fee)
	lessFee, ok := mulDiv(remaining, rate, feeWhole)
	if !ok {
		return s, false
	}
	inTo := func(end *uint256.Int) (uint256.Int, bool) {
		if zeroForOne {
			return amount0Delta(end, price, liquidity, true)
		}
		return amount1Delta(price, end, liquidity, true)
	}
	if s.in, ok = inTo(target); !ok {
		return s, false
	}
	if !lessFee.Lt(&s.in) {
		s.price = *target
	} else if s.price, ok = priceAfterInput(price, liquidity, &lessFee, zeroForOne); !ok {
		return s, false
	}
	reached := s.price.Eq(target)
	if !reached {
		if s.in, ok = inTo(&s.price); !ok {
			return s, false
		}
	}
	if zeroForOne {
		s.out, ok = amount1Delta(&s.price, price, liquidity, false)
	} else {
		s.out, ok = amount0Delta(price, &s.price, liquidity, false)
	}
	if !ok {
		return s, false
	}
	if !reached {
		s.fee.Sub(remaining, &s.in)
		return s, true
	}
	s.fee, ok = mulDivUp(&s.in, uint256.NewInt(fee), rate)
	return s, ok
}
