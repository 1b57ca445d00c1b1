// Package harness leads one solver through its lifecycle.
//
// A [Solver] is one module in one session: opened, asked once per [Task], and
// finished. Every task yields exactly one [Answer], whatever the module does;
// an error from this package is never a verdict about a solver, except the
// *intent.MinerFault by which [Open] says that the solver never started.
//
// # Order
//
// The calls follow the seed's lifecycle:
//
//	initialize, metadata, restore_state, set_market (per chain, ascending),
//	on_benchmark_start,
//	per task: check_trigger (auto-triggered only), generate_plan, quote,
//	on_benchmark_end, serialize_state
//
// An export that is absent and one that answers status 2 (not implemented) are
// the same thing everywhere: a toolchain that exports all ten names behaves as
// one that exports three.
//
// # Deaths
//
// A trap, a stop, a bad pointer, an exit or too much output kills the instance
// and costs the row that was being asked. Before the next task a fresh instance
// goes through initialize, restore_state with the state the session came with,
// set_market and on_benchmark_start. Each fresh instance is one restart; when
// [Limits].Restarts are spent, the remaining rows are session_restarts. A
// restart that dies itself costs the row it was made for.
//
// If restore_state dies, the session goes on in a fresh instance without state
// and never offers it again; if it answers status 1, the same instance goes on.
// Either way [Solver.StateRefused] tells why and nothing is saved at the end.
//
// # Time
//
// Every call has a wall limit, and so have all calls of a session together; what
// the host does between two calls, such as executing and scoring a plan, is not
// in it. Both are wall time nonetheless, what a busy host takes away included:
// without fuel there is no deterministic account of a guest's time. A wall stop
// is therefore the one thing here that another host may not repeat. So that at
// least its row repeats, a call that was stopped by a wall leaves no numbers: its
// usage, its reads and its log are dropped. On the interpreter a wall stop says
// nothing about a guest and is the host's fault, the session's as well as a
// call's.
//
// # Reads
//
// Reads are served by the caller. The harness counts them against the limits of
// a call, answers "over budget" from the first read that would exceed one until
// the call ends, and keeps a digest of every request and reply of a row.
package harness
