// Package benchmark runs solvers over a [Pack] of intents and keeps what came
// of it.
//
// A pack is everything that can change a result: the intents, the apps with
// their scorer code, the hashes of the chains' snapshots, the limits and the
// rules. A session is one solver over one pack; it yields exactly one [Row] for
// every intent, whatever the solver does. An epoch is a set of sessions over the
// same pack.
//
// # Invariant
//
// The rows of an epoch, and so its rows digest, are a function of the pack, the
// modules, the states they started from and their roles. They do not depend on
// the number of workers, the order of the solvers, the processor count or the
// time.
//
// # Faults
//
// A solver's fault costs it one row. A fault of the validator's re-runs that
// session once, alone; if it fails again the rows that are left are void and
// nothing is decided about that solver. An app that fails its own known-good
// plan takes its intents out of the pack. A usage fault stops the epoch before
// anything is written.
//
// # Units
//
// Amounts are base units as decimal strings, scores decimals in [0,1], digests
// lower-case hex of SHA-256, times unix seconds.
package benchmark
