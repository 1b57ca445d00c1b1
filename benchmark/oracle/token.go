package oracle

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// A token is what watched transfers told about a token: how much arrived of what
// was sent, together, and whether each arrived to the unit. Nothing arrived of one
// that does not move at all.
type token struct {
	sent, arrived uint256.Int
	exact         bool
}

func (t *token) moves() bool    { return !t.arrived.IsZero() }
func (t *token) ordinary() bool { return t.moves() && t.exact }

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

// probeGas is the gas of a probe.
const probeGas = 2_000_000

// sink is an account nobody has, which probe i sends to.
func sink(i int) common.Address {
	return common.BytesToAddress(crypto.Keccak256([]byte("assay oracle: probe"), []byte{byte(i)}))
}

// pieces are what a probe sends of a balance, one after the other: amounts of
// several magnitudes, for a token that counts in shares loses a unit on some and
// none on others.
func pieces(balance *uint256.Int) []uint256.Int {
	var half uint256.Int
	half.Rsh(balance, 1)
	list := []uint256.Int{half}
	for _, d := range []uint64{3, 7, 1_009, 1_000_003} {
		var z uint256.Int
		if z.Div(&half, uint256.NewInt(d)); !z.IsZero() {
			list = append(list, z)
		}
	}
	return list
}

// probe watches holder send pieces of what it has of a token.
func probe(ctx context.Context, w *chain.World, address, holder common.Address) (token, error) {
	balance, err := call(ctx, w.View(), address, 1, "balanceOf(address)", addressWord(holder))
	if err != nil {
		return token{}, err
	}
	var t token
	sent := pieces(&balance[0])
	if sent[0].IsZero() {
		return t, nil
	}
	order := chain.Order{
		App:     "oracle",
		Owner:   holder,
		ChainID: w.ChainID(),
		Grant:   []chain.Grant{{Token: address, Amount: &balance[0]}},
		Watch:   []common.Address{holder},
		Tokens:  []common.Address{chain.ETH, address},
		MaxGas:  probeGas,
	}
	var plan intent.Plan
	for i := range sent {
		order.Watch = append(order.Watch, sink(i))
		plan.Interactions = append(plan.Interactions, intent.Interaction{
			Target: address.Hex(), Value: "0", ChainID: w.ChainID(),
			CallData: fmt.Sprintf("0x%x", encode("transfer", sink(i), sent[i].ToBig())),
		})
	}
	for _, list := range [][]common.Address{order.Watch, order.Tokens} {
		slices.SortFunc(list, common.Address.Cmp)
	}
	outcome, _, err := w.Execute(ctx, order, plan)
	if err != nil {
		return token{}, fmt.Errorf("watching transfers of %s: %w", address.Hex(), err)
	}
	if outcome.Cause != intent.CauseNone {
		return token{}, nil
	}
	lost := outcome.Delta(holder, address)
	if lost.Sign() >= 0 {
		return t, nil
	}
	t.sent.SetFromBig(new(big.Int).Abs(lost))
	t.exact = true
	var asked uint256.Int
	for i := range sent {
		var got uint256.Int
		if delta := outcome.Delta(sink(i), address); delta.Sign() > 0 {
			got.SetFromBig(delta)
		}
		t.exact = t.exact && got.Eq(&sent[i])
		t.arrived.Add(&t.arrived, &got)
		asked.Add(&asked, &sent[i])
	}
	// One that takes more from the sender than was asked for is not ordinary.
	t.exact = t.exact && t.sent.Eq(&asked)
	return t, nil
}
