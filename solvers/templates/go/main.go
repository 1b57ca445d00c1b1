// The smallest real solver: it wraps ETH when the intent wants WETH for ETH and
// declines everything else.
package main

import (
	"errors"
	"strings"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
)

const (
	eth  = "0x0000000000000000000000000000000000000000"
	weth = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
)

type wrapper struct{}

func (wrapper) Initialize(intent.InitConfig) error { return nil }

func (wrapper) Metadata() intent.Metadata {
	return intent.Metadata{Name: "wrapper", Version: "0.1.0", Author: "me"}
}

func (wrapper) GeneratePlan(r intent.Request) (intent.Plan, error) {
	in, _ := r.State.RawParams["input_token"].(string)
	out, _ := r.State.RawParams["output_token"].(string)
	amount, _ := r.State.RawParams["input_amount"].(string)
	if in != eth || !strings.EqualFold(out, weth) || r.Snapshot == nil {
		return intent.Plan{}, errors.New("not an intent for me")
	}
	deposit := intent.Interaction{Target: weth, Value: amount, CallData: "0xd0e30db0", ChainID: r.State.ChainID}
	return intent.Plan{
		IntentID:     r.IntentID,
		Interactions: []intent.Interaction{deposit},
		Deadline:     r.Snapshot.Timestamp + 300,
		Nonce:        r.State.Nonce,
	}, nil
}

func init() { sdk.Register(wrapper{}) }
func main() {}
