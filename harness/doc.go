// Package harness leads one solver through its lifecycle.
//
// A [Solver] is one [Program] in one session: opened, asked once per [Task], and
// finished. A program is a module, or a script and the engine that runs it. Every
// task yields exactly one [Answer], whatever the program does;
// an error from this package is never a verdict about a solver, except the
// *intent.MinerFault by which [Open] says that the solver never started.
//
// # Order
//
// The calls follow the seed's lifecycle, after js_load of a script:
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
// A trap, spent fuel, a bad pointer, an exit or too much output kills the instance
// and costs the row that was being asked. The next task gets an instance that goes
// on from where the opening ended: from a checkpoint of it, or, if the module can't
// be checkpointed, after the calls of the opening again, with the state the session
// came with. Either is one restart and draws on the session's fuel; when
// [Limits].Restarts are spent, the remaining rows are session_restarts. A restart
// that dies itself costs the row it was made for.
//
// If restore_state dies, the session goes on in a fresh instance without state
// and never offers it again; if it answers status 1, the same instance goes on.
// Either way [Solver.StateRefused] tells why and nothing is saved at the end.
//
// # Isolation
//
// With [IsolationIntent] every task goes on from where the opening ended, as if
// there were no other, so an answer depends on its task alone and [Solver.Fork]
// lets several goroutines ask. Hence tasks share no fuel: each may spend what its
// calls may and what the session had left when the opening ended. Only the wall time
// of the session is one. on_benchmark_end and serialize_state go on from there too.
//
// # Fuel and time
//
// Every call has a limit of fuel, and so has the session, for all its calls,
// instances and copies of memory together: [Limits]. Fuel counts the same on every
// host. A call that spends its own is dead like one that traps. When the session's
// is spent, that row and all further ones are session_fuel.
//
// Beside fuel stand wall limits, of a call and of all calls of a session together;
// what the host does between two calls, such as executing and scoring a plan, is
// not in them. Ordinary guests end by fuel long before. When a wall stops a guest
// the sandbox measures its host. Too slow: the fault is the host's, and so it
// always is on the interpreter. Fast enough: the row is stalled, the session is
// over, the rows that are left are session_ended, and [Solver.Stalled] says which
// call it was. It is the one cause that another host may not repeat. So that at
// least its row repeats, a call that was stopped by a wall leaves no numbers: its
// usage, its reads and its log are dropped.
//
// # Reads
//
// Reads are served by the caller. The harness counts them against the limits of
// a call, answers "over budget" from the first read that would exceed one until
// the call ends, charges [intent.FuelPerGas] for the EVM gas they spend, and keeps a digest
// of every request and reply of a row.
package harness
