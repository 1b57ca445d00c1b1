// Package oracle finds the best that an intent can get from the venues of a
// market snapshot: what a solver's value is shown as a share of, and what its
// credit is capped by.
//
// It knows every simple path of at most [MaxHops] pools (no token twice) and
// splits of the input over paths in whole hundredths. Outputs are computed in
// the pools' own integers: Uniswap V2 with what the pair really holds, Uniswap V3
// step by step with its roundings. No answer is given that the EVM has not
// confirmed: the plan is executed as a solver's would be, and what it delivers
// must be what was computed, to the unit, wherever all tokens on the way are
// ordinary. A token that takes a fee on a transfer, or counts in shares, is found
// by watching transfers; there the maths chooses and the EVM's number counts.
//
// An intent of type rebalance trades between several tokens at once, within bands
// for their shares of the whole. Its best is climbed to and no proof.
//
// Not covered on purpose: cycles, and so arbitrage; pools of other protocols;
// orders of magnitude finer splits; tricks that are no trade, such as skimming a
// pair. See docs/rationale/0016.
//
// The package shares no code and no idea with the solvers it judges. It holds no
// clock, no randomness and no floats: equal worlds and intents give equal answers.
package oracle
