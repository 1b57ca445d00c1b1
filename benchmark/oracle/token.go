package oracle

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// A token is what one watched transfer told about a token: how much arrived of
// what was sent. Both are equal for an ordinary one, and 0 for one that does not
// move at all.
type token struct {
	sent, arrived uint256.Int
}

func (t *token) moves() bool    { return !t.arrived.IsZero() }
func (t *token) ordinary() bool { return t.moves() && t.sent.Eq(&t.arrived) }

// after returns about how much of an amount arrives by one transfer, exactly all
// of it of an ordinary token.
func (t *token) after(amount *uint256.Int) uint256.Int {
	if t.ordinary() {
		return *amount
	}
	z, ok := mulDiv(amount, &t.arrived, &t.sent)
	if !ok {
		return uint256.Int{}
	}
	return z
}

// probeSink is an account nobody has, which probes send to.
var probeSink = common.BytesToAddress(crypto.Keccak256([]byte("assay oracle: probe")))

// probeGas is the gas of a probe.
const probeGas = 1_000_000

// probe watches holder send half of what it has of a token.
func probe(ctx context.Context, w *chain.World, address, holder common.Address) (token, error) {
	balance, err := call(ctx, w.View(), address, 1, "balanceOf(address)", addressWord(holder))
	if err != nil {
		return token{}, err
	}
	var t token
	if t.sent.Rsh(&balance[0], 1); t.sent.IsZero() {
		return t, nil
	}
	accounts, tokens := []common.Address{holder, probeSink}, []common.Address{chain.ETH, address}
	for _, list := range [][]common.Address{accounts, tokens} {
		slices.SortFunc(list, func(a, b common.Address) int { return bytes.Compare(a[:], b[:]) })
	}
	word := t.sent.Bytes32()
	data := slices.Concat(crypto.Keccak256([]byte("transfer(address,uint256)"))[:4], common.LeftPadBytes(probeSink[:], 32), word[:])
	outcome, _, err := w.Execute(ctx, chain.Order{
		App:     "oracle",
		Owner:   holder,
		ChainID: w.ChainID(),
		Grant:   []chain.Grant{{Token: address, Amount: &balance[0]}},
		Watch:   accounts,
		Tokens:  tokens,
		MaxGas:  probeGas,
	}, intent.Plan{Interactions: []intent.Interaction{{
		Target: address.Hex(), Value: "0", CallData: fmt.Sprintf("0x%x", data), ChainID: w.ChainID(),
	}}})
	if err != nil {
		return token{}, fmt.Errorf("watching a transfer of %s: %w", address.Hex(), err)
	}
	if outcome.Cause != intent.CauseNone {
		return token{}, nil
	}
	got := outcome.Delta(probeSink, address)
	lost := outcome.Delta(holder, address)
	if got.Sign() <= 0 || lost.Sign() >= 0 {
		return token{}, nil
	}
	t.arrived.SetFromBig(got)
	// One that takes more from the sender than was asked for is not ordinary.
	if n, _ := uint256.FromBig(lost.Neg(lost)); !n.Eq(&t.sent) {
		t.sent = *n
	}
	return t, nil
}
