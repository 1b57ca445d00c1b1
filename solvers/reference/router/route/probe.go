package route

import (
	"slices"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/solvers/reference/router/amm"
	"github.com/subnet112/assay/solvers/sdk"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

const whole = 1_000_000 // millionths

// probe finds what tokens keep of a transfer, by having Multicall3 buy a little of
// each from its pair with WETH and look what came. A token without such a pair is
// taken to keep nothing.
func (d *Desk) probe(c *sdk.Client, b *book) {
	for _, pair := range b.pools {
		side := pair.Side(b.weth)
		if pair.V3 || side < 0 {
			continue
		}
		token := pair.Token[1-side]
		note, known := d.memory.Tokens[token.String()]
		if !known || !fresh(note.Block, b.block) {
			note = tokenNote{Block: b.block, Arrive: b.arrives(c, pair, side)}
			if known || len(d.memory.Tokens) < maxLearned {
				d.memory.Tokens[token.String()] = note
			}
		}
		if note.Arrive < whole {
			b.arrive[token] = note.Arrive
		}
	}
}

// arrives buys from a pair and returns the millionths that came of what it sent, all
// where that cannot be told.
func (b *book) arrives(c *sdk.Client, pair amm.Pool, side int) uint64 {
	spend := new(uint256.Int).Div(&pair.Reserve[side], uint256.NewInt(10_000))
	trial := pair
	out, ok := trial.Swap(side, spend)
	if !ok {
		return whole
	}
	amounts := []abi.Value{abi.Uint(&out), abi.Uint64(0)}
	if side == 0 {
		slices.Reverse(amounts)
	}
	replies, err := play(c, b.multicall, b.weth, spend, []query{
		{b.weth, abi.Pack(selDeposit)},
		{b.weth, abi.Pack(selTransfer, abi.Addr(pair.Address), abi.Uint(spend))},
		{pair.Address, abi.Pack(selPairSwap, append(amounts, abi.Addr(b.multicall), abi.Bytes(nil))...)},
		{pair.Token[1-side], abi.Pack(selBalanceOf, abi.Addr(b.multicall))},
	})
	if err != nil || replies[2] == nil || len(replies[3]) < 32 {
		return whole // the pair does not trade, or there is no Multicall3
	}
	came, err := abi.ReadUint(replies[3], 0)
	if err != nil || came.IsZero() {
		return whole
	}
	// Tokens that count in shares are off by a unit or two.
	if short := new(uint256.Int).Sub(&out, came); !came.Lt(&out) || short.LtUint64(3) {
		return whole
	}
	rate, _ := new(uint256.Int).MulDivOverflow(came, uint256.NewInt(whole), &out)
	return rate.Uint64()
}
