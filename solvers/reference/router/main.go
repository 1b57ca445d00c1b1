// Router is the reference solver that competes: any path over Uniswap V2 and V3, split
// where that pays, for swaps, limit orders, TWAP chunks and portfolios.
package main

import (
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/reference/router/route"
	"github.com/subnet112/assay/solvers/sdk"
)

func init() {
	desk := route.NewDesk(sdk.RPC)
	r := &sdk.RoutingSolver{About: intent.Metadata{
		Name: "router", Version: "1.0.0", Author: "assay",
		Description:          "Paths of up to four pools of Uniswap V2 and V3, split where that pays",
		SupportedIntentTypes: []string{"swap", "limit_order", "twap", "rebalance"},
	}}
	for _, s := range []sdk.Strategy{route.NewSwap(desk), route.NewLimit(desk), route.NewChunk(desk), route.NewRebalance(desk)} {
		if err := r.RegisterStrategy(s); err != nil {
			panic(err)
		}
	}
	sdk.Register(r)
}

// main is never run: a solver is called into.
func main() {}
