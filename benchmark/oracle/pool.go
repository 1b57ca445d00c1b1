package oracle

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
)

// errNoTrade says that a pool does not take an input: it would revert, give
// nothing or take more gas than a plan has. It is an answer and no trouble.
var errNoTrade = errors.New("no trade")

// A pool is a venue with what never changes about it.
type pool struct {
	venue Venue
	token [2]common.Address
	start state // at the pinned block
	v3    *v3   // nil: a Uniswap V2 pair
}

// A state is what a trade changes of a pool.
type state struct {
	// Of a Uniswap V2 pair. What it holds may be more than its reserves.
	reserve, balance [2]uint256.Int

	// Of a Uniswap V3 pool.
	price     uint256.Int // square root, times 2^96
	liquidity uint256.Int
	tick      [2]int32 // the price's lies between these, both included; see v3.swap
}

// swap gives an input to a pool in a state, which it moves on. zeroForOne says
// that the input is token0. in is what arrives at the pool; the result is what
// leaves it. The error is errNoTrade or that of a read.
func (p *pool) swap(ctx context.Context, s *state, zeroForOne bool, in *uint256.Int) (uint256.Int, error) {
	if in.IsZero() || in.BitLen() > 128 {
		return uint256.Int{}, errNoTrade
	}
	if p.v3 != nil {
		return p.v3.swap(ctx, s, zeroForOne, in)
	}
	return s.swapV2(zeroForOne, in)
}

// openPool reads a venue.
func openPool(ctx context.Context, v *chain.View, r Routers, venue Venue) (*pool, error) {
	p := &pool{venue: venue}
	for i, signature := range []string{"token0()", "token1()"} {
		w, err := call(ctx, v, venue.Address, 1, signature)
		if err != nil {
			return nil, err
		}
		p.token[i] = w.address(0)
	}
	var known words
	var err error
	switch venue.Protocol {
	case UniswapV2:
		if err := p.openV2(ctx, v); err != nil {
			return nil, err
		}
		known, err = call(ctx, v, r.V2Factory, 1, "getPair(address,address)", addressWord(p.token[0]), addressWord(p.token[1]))
	case UniswapV3:
		if err := p.openV3(ctx, v); err != nil {
			return nil, err
		}
		known, err = call(ctx, v, r.V3Factory, 1, "getPool(address,address,uint24)",
			addressWord(p.token[0]), addressWord(p.token[1]), uint256.NewInt(p.v3.fee))
	default:
		return nil, fmt.Errorf("%s: protocol %q is none the oracle knows", venue.Address.Hex(), venue.Protocol)
	}
	if err != nil {
		return nil, err
	}
	if known.address(0) != venue.Address {
		return nil, fmt.Errorf("%s: the router's factory knows %s instead, so no plan can trade there",
			venue.Address.Hex(), known.address(0).Hex())
	}
	return p, nil
}
