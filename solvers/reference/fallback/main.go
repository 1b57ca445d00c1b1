// Fallback is the solver that a better one must beat: whatever the intent, it
// wraps a little ETH of the owner's. The plan is well formed and earns nothing.
package main

import (
	"errors"
	"fmt"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
)

const (
	amount   = "1000000000000000" // wei, 0.001 ETH
	deposit  = "0xd0e30db0"       // deposit() of a wrapped native token
	validity = 300                // seconds after the pinned time
)

// wrapped is the wrapped native token by chain.
var wrapped = map[uint64]string{
	1: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
}

type solver struct{}

func init() { sdk.Register(solver{}) }

// main is never run: a solver is called into.
func main() {}

func (solver) Initialize(intent.InitConfig) error { return nil }

func (solver) Metadata() intent.Metadata {
	return intent.Metadata{
		Name:                 "fallback",
		Version:              "1.0.0",
		Author:               "assay",
		Description:          "Wraps 0.001 ETH whatever the intent: the plan of a solver without a strategy",
		SupportedChains:      []uint64{1},
		SupportedIntentTypes: []string{"swap"},
	}
}

func (solver) GeneratePlan(r intent.Request) (intent.Plan, error) {
	token, ok := wrapped[r.State.ChainID]
	if !ok {
		return intent.Plan{}, fmt.Errorf("no wrapped native token known on chain %d", r.State.ChainID)
	}
	if r.Snapshot == nil {
		return intent.Plan{}, errors.New("no market, so no time to set a deadline from")
	}
	return intent.Plan{
		IntentID: r.Intent.AppID,
		Interactions: []intent.Interaction{{
			Target:   token,
			Value:    amount,
			CallData: deposit,
			ChainID:  r.State.ChainID,
		}},
		Deadline: r.Snapshot.Timestamp + validity,
		Nonce:    r.State.Nonce,
		Metadata: map[string]any{"plan_type": "fallback", "reason": "no_matching_strategy"},
	}, nil
}
