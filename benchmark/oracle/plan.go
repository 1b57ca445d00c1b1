package oracle

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// planSeconds is how long after the pinned time a plan of the oracle's is good.
const planSeconds = 300

// A draft is a plan in the making.
type draft struct {
	plan intent.Plan
}

func (o *Oracle) newDraft(d intent.Definition, s intent.State) *draft {
	return &draft{intent.Plan{
		IntentID: d.AppID,
		Deadline: o.world.Context().Time + planSeconds,
		Nonce:    s.Nonce,
		Metadata: map[string]any{},
	}}
}

// call adds an interaction. A nil value is none.
func (f *draft) call(chainID uint64, to common.Address, value *uint256.Int, data []byte) {
	wei := "0"
	if value != nil {
		wei = value.Dec()
	}
	f.plan.Interactions = append(f.plan.Interactions, intent.Interaction{
		Target: to.Hex(), Value: wei, CallData: fmt.Sprintf("0x%x", data), ChainID: chainID,
	})
}

// allow adds an allowance of exactly amount for the router. One that is not 0 is
// set to 0 first, for some tokens refuse to change it in one step.
func (o *Oracle) allow(ctx context.Context, f *draft, v *chain.View, token, owner common.Address, amount *uint256.Int) error {
	had, err := call(ctx, v, token, 1, "allowance(address,address)", addressWord(owner), addressWord(o.routers.SwapRouter02))
	if err != nil {
		return err
	}
	if !had[0].IsZero() {
		f.call(o.world.ChainID(), token, nil, encode("approve", o.routers.SwapRouter02, new(big.Int)))
	}
	f.call(o.world.ChainID(), token, nil, encode("approve", o.routers.SwapRouter02, amount.ToBig()))
	return nil
}

// A trade is what an intent asks for: an exact input, as much output as there is.
type trade struct {
	order    chain.Order
	in, out  common.Address // zero: ETH
	amount   uint256.Int
	receiver common.Address
	minimum  uint256.Int // at least 1
}

// addSwaps adds one interaction for each path of a route.
func (o *Oracle) addSwaps(f *draft, t trade, r Route) {
	for _, l := range r.Legs {
		recipient := t.receiver
		if t.out == chain.ETH {
			recipient = toRouter
		}
		calls := o.routerCalls(l.path, l.Amount, recipient)
		if t.out == chain.ETH {
			calls = append(calls, encode("unwrapWETH9", new(big.Int), t.receiver))
		}
		data := calls[0]
		if len(calls) > 1 {
			data = encode("multicall", calls)
		}
		var value *uint256.Int
		if t.in == chain.ETH {
			value = l.Amount
		}
		f.call(o.world.ChainID(), o.routers.SwapRouter02, value, data)
	}
}

// moves are the plans that give the receiver the input itself, where the output
// is the same token or the other form of ETH.
func (o *Oracle) moves(ctx context.Context, d intent.Definition, s intent.State, t trade, v *chain.View) ([]intent.Plan, error) {
	id, weth, amount := o.world.ChainID(), o.routers.WETH, t.amount.ToBig()
	own := t.receiver == t.order.Owner
	f := o.newDraft(d, s)
	switch {
	case t.in == t.out && own:
		return nil, nil // there and back is nothing
	case t.in == t.out && t.in == chain.ETH:
		f.call(id, t.receiver, &t.amount, nil)
	case t.in == t.out:
		f.call(id, t.in, nil, encode("transfer", t.receiver, amount))
	case t.in == chain.ETH:
		f.call(id, weth, &t.amount, encode("deposit"))
		if !own {
			f.call(id, weth, nil, encode("transfer", t.receiver, amount))
		}
	default:
		f.call(id, weth, nil, encode("withdraw", amount))
		if !own {
			f.call(id, t.receiver, &t.amount, nil)
		}
		// An owner that takes no ETH can have the router unwrap it.
		g := o.newDraft(d, s)
		if err := o.allow(ctx, g, v, weth, t.order.Owner, &t.amount); err != nil {
			return nil, err
		}
		g.call(id, o.routers.SwapRouter02, nil, encode("multicall", [][]byte{
			encode("pull", weth, amount),
			encode("unwrapWETH9", amount, t.receiver),
		}))
		return []intent.Plan{f.plan, g.plan}, nil
	}
	return []intent.Plan{f.plan}, nil
}
