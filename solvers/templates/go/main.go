// The smallest solver that earns: it trades tokens on Uniswap V2, by the direct
// pair, whatever that gives.
package main

import (
	"encoding/hex"
	"errors"
	"time"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

var (
	router  = abi.MustAddress("0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D")
	approve = abi.Selector{0x09, 0x5e, 0xa7, 0xb3} // approve(address,uint256)
	swap    = abi.Selector{0x38, 0xed, 0x17, 0x39} // swapExactTokensForTokens(uint256,uint256,address[],address,uint256)
)

type solver struct{}

func (solver) Initialize(intent.InitConfig) error { return nil }

func (solver) Metadata() intent.Metadata {
	return intent.Metadata{Name: "v2-direct", Version: "0.1.0", Author: "me"}
}

func (solver) GeneratePlan(r intent.Request) (intent.Plan, error) {
	param := func(name string) string { s, _ := r.State.RawParams[name].(string); return s }
	in, err1 := abi.ParseAddress(param("input_token"))
	out, err2 := abi.ParseAddress(param("output_token"))
	to, err3 := abi.ParseAddress(param("receiver"))
	amount, err4 := intent.ParseAmount(param("input_amount"))
	least, err5 := intent.ParseAmount(param("min_output_amount"))
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return intent.Plan{}, err
	}
	deadline := uint64(time.Now().Unix()) + 300 // a solver's clock stands at the pinned block
	call := func(target abi.Address, s abi.Selector, args ...abi.Value) intent.Interaction {
		data := "0x" + hex.EncodeToString(abi.Pack(s, args...))
		return intent.Interaction{Target: target.String(), Value: "0", CallData: data, ChainID: r.State.ChainID}
	}
	return intent.Plan{IntentID: r.IntentID, Nonce: r.State.Nonce, Deadline: deadline, Interactions: []intent.Interaction{
		call(in, approve, abi.Addr(router), abi.Uint(amount)),
		call(router, swap, abi.Uint(amount), abi.Uint(least), abi.Array(abi.Addr(in), abi.Addr(out)), abi.Addr(to), abi.Uint64(deadline)),
	}}, nil
}

func init() { sdk.Register(solver{}) }
func main() {}
