package direct

import (
	"encoding/hex"
	"fmt"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

// routerItself stands, as a recipient, for SwapRouter02's own account.
var routerItself = abi.Address{19: 2}

// A route is a decided swap: an order, where it goes and what it must bring.
type route struct {
	order
	deployment
	venue    venue
	floor    *uint256.Int // output below which the swap reverts
	deadline uint64
	keepsFee bool
}

func (o order) call(to abi.Address, value *uint256.Int, data []byte) intent.Interaction {
	return intent.Interaction{
		Target:   to.String(),
		Value:    value.Dec(),
		CallData: "0x" + hex.EncodeToString(data),
		ChainID:  o.chain,
	}
}

var nothing = new(uint256.Int)

// wrap returns the calls of an order between ETH and its wrapped token, which
// needs no pool.
func (o order) wrap(d deployment) []intent.Interaction {
	if o.in.IsZero() {
		calls := []intent.Interaction{o.call(d.wrapped, o.amount, abi.Pack(selDeposit))}
		if o.receiver != o.owner {
			calls = append(calls, o.call(d.wrapped, nothing, abi.Pack(selTransfer, abi.Addr(o.receiver), abi.Uint(o.amount))))
		}
		return calls
	}
	calls := []intent.Interaction{o.call(d.wrapped, nothing, abi.Pack(selWithdraw, abi.Uint(o.amount)))}
	if o.receiver != o.owner {
		calls = append(calls, o.call(o.receiver, o.amount, nil))
	}
	return calls
}

// router returns who takes the input.
func (r route) router() abi.Address {
	if r.venue == v2 {
		return r.v2Router
	}
	return r.v3Router
}

// swap returns the one call that swaps. The router must be allowed to take a
// token that is the input.
func (r route) swap() intent.Interaction {
	value := nothing
	if r.in.IsZero() {
		value = r.amount
	}
	if r.venue == v2 {
		return r.call(r.v2Router, value, r.swapV2())
	}
	return r.call(r.v3Router, value, r.swapV3())
}

func (r route) swapV3() []byte {
	in, out := r.path(r.deployment)
	recipient := r.receiver
	if r.out.IsZero() {
		recipient = routerItself
	}
	swap := abi.Pack(selExactInputSingle, abi.Tuple(
		abi.Addr(in), abi.Addr(out), abi.Uint64(uint64(r.venue)), abi.Addr(recipient),
		abi.Uint(r.amount), abi.Uint(r.floor), abi.Uint64(0)))
	if !r.out.IsZero() {
		return swap
	}
	unwrap := abi.Pack(selUnwrap, abi.Uint(r.floor), abi.Addr(r.receiver))
	return abi.Pack(selMulticall, abi.Uint64(r.deadline), abi.Array(abi.Bytes(swap), abi.Bytes(unwrap)))
}

func (r route) swapV2() []byte {
	in, out := r.path(r.deployment)
	tail := []abi.Value{
		abi.Uint(r.floor), abi.Array(abi.Addr(in), abi.Addr(out)), abi.Addr(r.receiver), abi.Uint64(r.deadline),
	}
	pick := func(plain, fee abi.Selector) abi.Selector {
		if r.keepsFee {
			return fee
		}
		return plain
	}
	withAmount := append([]abi.Value{abi.Uint(r.amount)}, tail...)
	switch {
	case r.in.IsZero():
		return abi.Pack(pick(selETHForTokens, selETHForTokensFee), tail...)
	case r.out.IsZero():
		return abi.Pack(pick(selTokensForETH, selTokensForETHFee), withAmount...)
	default:
		return abi.Pack(pick(selTokensForTokens, selTokensForTokensFee), withAmount...)
	}
}

// approvals returns the calls after which the router may take the input:
// none for ETH or a sufficient allowance, one as a rule, and two for a token
// that refuses to change an allowance that is not zero.
func (r route) approvals(c *sdk.Client) ([]intent.Interaction, error) {
	if r.in.IsZero() {
		return nil, nil
	}
	data, err := c.EthCall(r.in.String(), abi.Pack(selAllowance, abi.Addr(r.owner), abi.Addr(r.router())))
	if err != nil {
		return nil, fmt.Errorf("allowance: %w", err)
	}
	allowance, err := abi.ReadUint(data, 0)
	if err != nil {
		return nil, fmt.Errorf("allowance: %w", err)
	}
	if !allowance.Lt(r.amount) {
		return nil, nil
	}
	approve := func(amount *uint256.Int) []byte {
		return abi.Pack(selApprove, abi.Addr(r.router()), abi.Uint(amount))
	}
	grant := r.call(r.in, nothing, approve(r.amount))
	if allowance.IsZero() {
		return []intent.Interaction{grant}, nil
	}
	// Tokens like USDT revert here, and a few others revert on an approval of
	// nothing: only trying tells which.
	trial, err := c.EthCalls([]sdk.Call{{From: r.owner.String(), To: r.in.String(), Data: approve(r.amount)}})
	if err != nil {
		return nil, fmt.Errorf("try approval: %w", err)
	}
	if trial[0].Err == nil {
		return []intent.Interaction{grant}, nil
	}
	return []intent.Interaction{r.call(r.in, nothing, approve(nothing)), grant}, nil
}
