// Package chain executes plans on pinned chains, in process, and measures what
// they did.
//
// A [Snapshot] is a part of a chain's state at the end of block N together with
// the context of block N+1. A [World] is a snapshot made ready to run: it is
// immutable, and any number of goroutines execute plans and reads on it at once.
// A [View] answers read-only JSON-RPC over a world.
//
// # What is not known is not zero
//
// A snapshot holds the state that somebody captured, rarely all of a chain. A
// read outside it ends with a [Hole] that names what was read, never as a zero.
// Only these are known zeros: the storage of an absent account, of one with an
// empty storage root, of one without code in an imported prestate, unlisted slots
// of an account marked complete, and everything unlisted in a closed snapshot.
//
// # Determinism
//
// Results depend on the snapshot and the arguments alone: no clock, no network,
// no map order. A caller's context only stops work early, with an error, and
// never changes a result.
//
// # Units
//
// Amounts are base units of a token, wei for ETH. Times are unix seconds. Gas is
// gas.
package chain
