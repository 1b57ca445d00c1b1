package route

import (
	"encoding/hex"
	"fmt"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

const (
	validity    = 300 // seconds a plan is good for
	slippageBPS = 50  // below what was computed, at which a swap reverts
	fullBPS     = 10_000
)

// routerItself stands, as a recipient, for SwapRouter02's own account.
var routerItself = abi.Address{19: 2}

// An order is what a plan has to do. The zero address is ETH.
type order struct {
	owner, receiver abi.Address
	in, out         abi.Address
	amount          uint256.Int
	minimum         uint256.Int // 0: any
}

// token is a token as pools know it.
func (b *book) token(a abi.Address) abi.Address {
	if a.IsZero() {
		return b.weth
	}
	return a
}

func (b *book) call(to abi.Address, value *uint256.Int, data []byte) intent.Interaction {
	return intent.Interaction{Target: to.String(), Value: value.Dec(), CallData: "0x" + hex.EncodeToString(data), ChainID: b.chain}
}

var nothing = new(uint256.Int)

// convert are the calls of an order between two forms of one token, ETH and WETH, or
// that moves a token; nil for any other.
func (b *book) convert(o order) []intent.Interaction {
	own := o.receiver == o.owner
	send := b.call(o.out, nothing, abi.Pack(selTransfer, abi.Addr(o.receiver), abi.Uint(&o.amount)))
	pay := b.call(o.receiver, &o.amount, nil)
	switch {
	case o.in == o.out && o.in.IsZero() && !own:
		return []intent.Interaction{pay}
	case o.in == o.out && !own:
		return []intent.Interaction{send}
	case o.in.IsZero() && o.out == b.weth && own:
		return []intent.Interaction{b.call(b.weth, &o.amount, abi.Pack(selDeposit))}
	case o.in.IsZero() && o.out == b.weth:
		return []intent.Interaction{b.call(b.weth, &o.amount, abi.Pack(selDeposit)), send}
	case o.in == b.weth && o.out.IsZero() && own:
		return []intent.Interaction{b.call(b.weth, nothing, abi.Pack(selWithdraw, abi.Uint(&o.amount)))}
	case o.in == b.weth && o.out.IsZero():
		// The router unwraps, so that the owner need not take ETH.
		return []intent.Interaction{
			b.call(b.weth, nothing, abi.Pack(selApprove, abi.Addr(b.router), abi.Uint(&o.amount))),
			b.call(b.router, nothing, abi.Pack(selMulticall, abi.Uint64(b.time+validity), abi.Array(
				abi.Bytes(abi.Pack(selPull, abi.Addr(b.weth), abi.Uint(&o.amount))),
				abi.Bytes(abi.Pack(selUnwrap, abi.Uint(&o.amount), abi.Addr(o.receiver)))))),
		}
	}
	return nil
}

// approvals are the calls after which the router may take an amount of a token: none
// for enough of an allowance, and two where there was one, for tokens like USDT.
func (b *book) approvals(c *sdk.Client, owner, token abi.Address, amount *uint256.Int) ([]intent.Interaction, error) {
	data, err := c.EthCall(token.String(), abi.Pack(selAllowance, abi.Addr(owner), abi.Addr(b.router)))
	if err != nil {
		return nil, fmt.Errorf("allowance: %w", err)
	}
	allowed, err := abi.ReadUint(data, 0)
	if err != nil {
		return nil, fmt.Errorf("allowance: %w", err)
	}
	if !allowed.Lt(amount) {
		return nil, nil
	}
	approve := func(n *uint256.Int) intent.Interaction {
		return b.call(token, nothing, abi.Pack(selApprove, abi.Addr(b.router), abi.Uint(n)))
	}
	if allowed.IsZero() {
		return []intent.Interaction{approve(amount)}, nil
	}
	return []intent.Interaction{approve(nothing), approve(amount)}, nil
}

// swap is the one call that executes a deal.
func (b *book) swap(o order, d deal) intent.Interaction {
	recipient := o.receiver
	if o.out.IsZero() {
		recipient = routerItself
	}
	var calls []abi.Value
	for _, s := range d.shares {
		for _, data := range b.legCalls(s, recipient, b.floor(&s.out)) {
			calls = append(calls, abi.Bytes(data))
		}
	}
	if o.out.IsZero() {
		floor := b.floor(&d.out)
		calls = append(calls, abi.Bytes(abi.Pack(selUnwrap, abi.Uint(floor), abi.Addr(o.receiver))))
	}
	value := nothing
	if o.in.IsZero() {
		value = &o.amount
	}
	return b.call(b.router, value, abi.Pack(selMulticall, abi.Uint64(b.time+validity), abi.Array(calls...)))
}

// floor is below which an amount that was computed is not taken.
func (b *book) floor(computed *uint256.Int) *uint256.Int {
	z, _ := new(uint256.Int).MulDivOverflow(computed, uint256.NewInt(fullBPS-slippageBPS), uint256.NewInt(fullBPS))
	return z
}

// legCalls are the router's calls for one path: one for each run of pools of a
// protocol. Behind the first the router trades what it holds.
func (b *book) legCalls(s share, recipient abi.Address, floor *uint256.Int) [][]byte {
	var out [][]byte
	amount := &s.in
	for i := 0; i < len(s.path); {
		j := i + 1
		for j < len(s.path) && b.pools[s.path[j].pool].V3 == b.pools[s.path[i].pool].V3 {
			j++
		}
		to, least := routerItself, nothing
		if j == len(s.path) {
			to, least = recipient, floor
		}
		if b.pools[s.path[i].pool].V3 {
			out = append(out, abi.Pack(selExactInput, abi.Tuple(abi.Bytes(b.packed(s.path[i:j])), abi.Addr(to), abi.Uint(amount), abi.Uint(least))))
		} else {
			out = append(out, abi.Pack(selTokensForTokens, abi.Uint(amount), abi.Uint(least), abi.Array(b.tokens(s.path[i:j])...), abi.Addr(to)))
		}
		amount = nothing // all the router holds
		i = j
	}
	return out
}

// packed is a path as V3 routers read it: token, fee, token, fee, token.
func (b *book) packed(p path) []byte {
	first := &b.pools[p[0].pool]
	out := append([]byte(nil), first.Token[p[0].side][:]...)
	for _, h := range p {
		pool := &b.pools[h.pool]
		out = append(out, byte(pool.Fee>>16), byte(pool.Fee>>8), byte(pool.Fee))
		out = append(out, pool.Token[1-h.side][:]...)
	}
	return out
}

func (b *book) tokens(p path) []abi.Value {
	out := []abi.Value{abi.Addr(b.pools[p[0].pool].Token[p[0].side])}
	for _, h := range p {
		out = append(out, abi.Addr(b.pools[h.pool].Token[1-h.side]))
	}
	return out
}
