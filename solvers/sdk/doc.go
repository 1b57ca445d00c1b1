// Package sdk turns a Go type into a solver that validators run: a WebAssembly
// module that speaks the solver ABI.
//
// A miner implements [Solver], and of the optional interfaces those it has use
// for, and registers a value in init:
//
//	func init() { sdk.Register(&solver{}) }
//	func main() {}
//
// main must exist and is never run: a solver is a reactor, which a validator
// calls into. The module is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o solver.wasm .
//
// # Several apps
//
// A [RoutingSolver] is a solver of strategies: each [Strategy] plans for one app, and
// intents that nobody plans for get a valid plan that earns nothing.
//
// # What a solver may rely on
//
// One instance lives through a session: Initialize, Metadata, RestoreState,
// SetMarket, OnBenchmarkStart, then per intent CheckTrigger, GeneratePlan and
// Quote, at last OnBenchmarkEnd and SerializeState. Calls never overlap. There
// is no network, no file, no argument; [RPC] reads the pinned chains, time.Now
// is the pinned time and randomness is seeded, so that a second run of the same
// intents answers the same bytes.
//
// # What a module may import
//
// Validators admit modules that import a clock, randomness, writing to the log
// and reading standard input, which is always at its end; modules that ask for
// more are refused. Go links what is reachable: a program that opens files, even
// in a branch it never takes, imports path_open and does not pass.
//
// # How a call ends
//
// A returned error fails one call with its text, [ErrNotImplemented] says that
// the solver has no such function. A panic is recovered and counts as an error,
// with its stack in the log: the instance and everything it has learned live
// on, and a solver whose own data a panic may have left half written must
// repair it. What Go itself cannot recover from (out of memory, a deadlock, a
// stack overflow, os.Exit) ends the instance, and validators start only a few
// fresh ones.
package sdk
