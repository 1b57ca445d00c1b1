// Swap is the reference solver for swaps: the best single pool of Uniswap V2
// and V3, found and priced on chain.
package main

import (
	"github.com/subnet112/assay/solvers/reference/swap/direct"
	"github.com/subnet112/assay/solvers/sdk"
)

func init() { sdk.Register(direct.New(sdk.RPC)) }

// main is never run: a solver is called into.
func main() {}
