// Package amm computes what pools of Uniswap V2 and V3 pay, in integers, without
// asking the chain. It is what the router searches with: a price costs it a thousandth
// of what a call of the quoter would.
//
// Swaps are those of the pools' own code but for one thing: a V3 pool that walks over
// ticks nobody uses stops at every 256th as well and rounds there, which is left out.
// That makes a few base units.
package amm
