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
// # Before and after
//
// [Draw] makes a pack by a seed that nobody chooses. [Decide] says who is champion
// after an epoch. What the best of an intent is, package oracle finds out.
//
// # Isolation
//
// In batch isolation one instance of a solver lives through its session and may
// learn from intent to intent. In intent isolation every intent starts where
// on_benchmark_start ended, on a copy of the memory or, for modules that cannot be
// copied, after the same calls again. A row then depends on its intent alone. So the
// fuel of the session is not shared either: every intent may spend what its calls may and
// what the session had left when it started, as if there were no other. What a session
// can spend in all is therefore bounded by the intents, and only its wall time is
// one. on_benchmark_end and serialize_state start from the same place, and learn from
// the results alone.
//
// # Faults
//
// A solver's fault costs it one row. A call that a wall limit stops on a healthy
// host costs it the rest of the session, which then decides nothing: another host
// may not repeat it. A fault of the validator's re-runs that
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
