package amm

import (
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/solvers/sdk/abi"
)

// A Pool is one pool at a moment. Copies are independent of each other: only Ticks are
// shared, which nothing changes.
type Pool struct {
	Address abi.Address
	Token   [2]abi.Address
	Fee     uint32 // hundredths of a basis point
	V3      bool

	Reserve [2]uint256.Int // of V2

	Sqrt      uint256.Int // of V3: √(token1/token0) · 2^96
	Liquidity uint256.Int
	Ticks     []Tick      // ascending
	Below     int         // ticks at or below the price
	Low, High uint256.Int // square roots between which Ticks is complete
}

// A Tick is a price at which liquidity changes.
type Tick struct {
	Index int32
	Sqrt  uint256.Int
	Net   uint256.Int // added when the price rises through it; negative in two's complement
}

// Side returns which of a pool's tokens one is, -1 for neither.
func (p *Pool) Side(token abi.Address) int {
	switch token {
	case p.Token[0]:
		return 0
	case p.Token[1]:
		return 1
	}
	return -1
}

// million is the whole of a fee.
const million = 1_000_000

// Swap gives the pool an amount of the token on a side and returns what it pays of the
// other. It is false, and the pool is left in any state, where it pays nothing or the
// price would leave what is known of it.
func (p *Pool) Swap(side int, in *uint256.Int) (out uint256.Int, ok bool) {
	if in.IsZero() {
		return out, false
	}
	if p.V3 {
		out, ok = p.swapV3(side, in)
	} else {
		out, ok = p.swapV2(side, in)
	}
	return out, ok && !out.IsZero()
}

func (p *Pool) swapV2(side int, in *uint256.Int) (out uint256.Int, ok bool) {
	rin, rout := &p.Reserve[side], &p.Reserve[1-side]
	if rin.IsZero() || rout.IsZero() {
		return out, false
	}
	var kept, whole uint256.Int
	if _, over := kept.MulOverflow(in, uint256.NewInt(997)); over {
		return out, false
	}
	if _, over := whole.MulOverflow(rin, uint256.NewInt(1000)); over {
		return out, false
	}
	if _, over := whole.AddOverflow(&whole, &kept); over {
		return out, false
	}
	if _, over := out.MulDivOverflow(&kept, rout, &whole); over {
		return out, false
	}
	rin.Add(rin, in)
	rout.Sub(rout, &out)
	return out, true
}
