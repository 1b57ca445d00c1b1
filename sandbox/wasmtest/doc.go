// Package wasmtest assembles small WebAssembly modules in Go, for tests that
// need a guest of a certain kind: one that traps, loops, floods its log, claims
// memory that isn't there, or simply answers.
//
// A [Module] is a plain builder: it encodes what it is told and checks nothing,
// so that it can also make what a validator must refuse. [Solver] puts a whole
// guest of the solver ABI together.
//
// It is test support: nothing outside of _test files imports it.
package wasmtest
