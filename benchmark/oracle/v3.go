package oracle

import (
	"context"
	"fmt"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
)

// maxSteps bounds the ranges one swap walks through. Each costs the pool about
// 8,000 gas, so a swap beyond the bound has no place in a plan.
const maxSteps = 600

// v3 is what never changes about a Uniswap V3 pool. Its ticks are read when a
// swap first comes by.
type v3 struct {
	pool    *pool
	view    *chain.View
	fee     uint64 // in feeUnits
	spacing int32

	bitmap map[int32]uint256.Int // by word: which ticks are initialized
	net    map[int32]uint256.Int // by initialized tick: change of liquidity, two's complement
	ratio  map[int32]uint256.Int // by tick at the end of a range: its price
}

func (p *pool) openV3(ctx context.Context, v *chain.View) error {
	p.v3 = &v3{
		pool:   p,
		view:   v,
		bitmap: map[int32]uint256.Int{},
		net:    map[int32]uint256.Int{},
		ratio:  map[int32]uint256.Int{},
	}
	for _, read := range []struct {
		signature string
		keep      func(words)
	}{
		{"fee()", func(w words) { p.v3.fee = w[0].Uint64() }},
		{"tickSpacing()", func(w words) { p.v3.spacing = w.signed(0) }},
		{"liquidity()", func(w words) { p.start.liquidity = w[0] }},
		{"slot0()", func(w words) { p.start.price, p.start.tick = w[0], at(w.signed(min(1, len(w)-1))) }},
	} {
		w, err := call(ctx, v, p.venue.Address, 1, read.signature)
		if err != nil {
			return err
		}
		read.keep(w)
	}
	if p.v3.fee >= feeUnits || p.v3.spacing <= 0 {
		return fmt.Errorf("%s: fee %d and tick spacing %d are no pool's", p.venue.Address.Hex(), p.v3.fee, p.v3.spacing)
	}
	return nil
}

// at is a tick that is known.
func at(tick int32) [2]int32 { return [2]int32{tick, tick} }

// swap walks an exact input through the pool until it is used up or the price is
// at its bound, where the pool leaves the rest with the trader. Within which range
// the price ended is known then; which of its ticks it is costs much to say, and
// is left to the next swap, for most states have none.
func (v *v3) swap(ctx context.Context, s *state, zeroForOne bool, in *uint256.Int) (out uint256.Int, err error) {
	var bound uint256.Int
	if zeroForOne {
		bound.AddUint64(minSqrtRatio, 1)
	} else {
		bound.SubUint64(maxSqrtRatio, 1)
	}
	if s.price.IsZero() || s.price.Eq(&bound) {
		return out, errNoTrade
	}
	left, next := *in, *s
	tick := next.tick[0]
	if tick != next.tick[1] {
		tick = tickAtSqrtRatio(&next.price, tick, next.tick[1])
	}
	for n := 0; !left.IsZero() && !next.price.Eq(&bound); n++ {
		if n == maxSteps {
			return out, errNoTrade
		}
		edge, initialized, err := v.nextTick(ctx, tick, zeroForOne)
		if err != nil {
			return out, err
		}
		edge = min(max(edge, minTick), maxTick)
		end := v.ratioAt(edge)
		target := end
		if zeroForOne && end.Lt(&bound) || !zeroForOne && end.Gt(&bound) {
			target = bound
		}
		did, ok := swapStep(&next.price, &target, &next.liquidity, &left, v.fee, zeroForOne)
		if !ok {
			return out, errNoTrade
		}
		left.Sub(&left, did.in.Add(&did.in, &did.fee))
		out.Add(&out, &did.out)
		switch {
		case did.price.Eq(&end):
			if initialized {
				if err := v.cross(ctx, &next, edge, zeroForOne); err != nil {
					return out, err
				}
			}
			if tick = edge; zeroForOne {
				tick--
			}
			next.tick = at(tick)
		case did.price.Eq(&next.price):
			next.tick = at(tick)
		case zeroForOne:
			next.tick = [2]int32{edge, tick}
		default:
			next.tick = [2]int32{tick, edge}
		}
		next.price = did.price
	}
	if out.IsZero() {
		return out, errNoTrade
	}
	*s = next
	return out, nil
}

// cross changes the liquidity as the pool does when the price passes a tick.
func (v *v3) cross(ctx context.Context, s *state, tick int32, zeroForOne bool) error {
	net, ok := v.net[tick]
	if !ok {
		w, err := call(ctx, v.view, v.pool.venue.Address, 2, "ticks(int24)", signedWord(tick))
		if err != nil {
			return err
		}
		net = w[1]
		v.net[tick] = net
	}
	if zeroForOne {
		s.liquidity.Sub(&s.liquidity, &net)
	} else {
		s.liquidity.Add(&s.liquidity, &net)
	}
	return nil
}

// nextTick returns where the range that a swap is in ends: at the next
// initialized tick, or at the edge of the bitmap's word.
func (v *v3) nextTick(ctx context.Context, tick int32, down bool) (next int32, initialized bool, err error) {
	compressed := tick / v.spacing
	if tick < 0 && tick%v.spacing != 0 {
		compressed--
	}
	if !down {
		compressed++
	}
	word, err := v.wordAt(ctx, compressed>>8)
	if err != nil {
		return 0, false, err
	}
	bit := uint(compressed & 255)
	if down {
		word.Lsh(&word, 255-bit) // the tick's own bit is the highest now
		if word.IsZero() {
			return (compressed - int32(bit)) * v.spacing, false, nil
		}
		return (compressed - int32(256-word.BitLen())) * v.spacing, true, nil
	}
	word.Rsh(&word, bit)
	if word.IsZero() {
		return (compressed + int32(255-bit)) * v.spacing, false, nil
	}
	return (compressed + trailingZeros(&word)) * v.spacing, true, nil
}

// wordAt returns a word of the bitmap.
func (v *v3) wordAt(ctx context.Context, i int32) (uint256.Int, error) {
	if w, ok := v.bitmap[i]; ok {
		return w, nil
	}
	w, err := call(ctx, v.view, v.pool.venue.Address, 1, "tickBitmap(int16)", signedWord(i))
	if err != nil {
		return uint256.Int{}, err
	}
	v.bitmap[i] = w[0]
	return w[0], nil
}

func (v *v3) ratioAt(tick int32) uint256.Int {
	r, ok := v.ratio[tick]
	if !ok {
		r = sqrtRatioAtTick(tick)
		v.ratio[tick] = r
	}
	return r
}

// trailingZeros counts the zero bits below the lowest that is set.
func trailingZeros(w *uint256.Int) int32 {
	var lowest uint256.Int
	lowest.Neg(w)
	lowest.And(&lowest, w)
	return int32(lowest.BitLen() - 1)
}
