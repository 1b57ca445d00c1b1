// Package direct solves swaps by the best direct route: one pool of Uniswap V2
// or V3, or the wrapping of ETH.
//
// It asks the factories which pools a pair has, asks the routers' own quoting
// contracts what each would pay for exactly this amount, and takes the best.
// A pair without a pool, or whose best price is below the intent's minimum, is
// an error: a plan that cannot work costs more than none.
//
// # What it learns
//
// Which pools a pair has changes seldom, so that is kept from epoch to epoch
// and asked again after [relearnBlocks]. A pair whose plan earned nothing is
// taken to hold a token that keeps a fee on transfers, for which V2 has swaps
// of its own; if those earn nothing either, that is taken back.
//
// Nothing here reads a clock: the time is the market's, or the pinned block's.
package direct
