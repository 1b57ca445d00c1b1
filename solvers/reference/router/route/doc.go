// Package route is a solver that competes: swaps, limit orders, chunks of a TWAP and
// portfolios over any path of at most four pools of Uniswap V2 and V3, split over
// several where that is worth its gas.
//
// A [Desk] knows the market of a chain. It takes the pools from the market snapshot,
// reads what that leaves out (the ticks of V3 pools, what tokens keep of a transfer)
// in one or two calls of Multicall3 for all intents of a session, and computes every
// price itself. Strategies turn intents of one app each into trades of the desk.
//
// # What it learns
//
// Where the ticks of a pool are and what tokens keep changes seldom. Both are kept
// from epoch to epoch, so that the next one reads ticks and the words that list them
// in one call, and probes no token.
//
// Nothing here reads a clock: the time is the market's.
package route
