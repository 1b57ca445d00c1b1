// Package gen makes valid modules at random that do something: they compute with
// every instruction that is admitted, in loops, nested blocks and calls of each
// other, and leave what they computed in their memory. A run of one answers,
// traps, or goes on until its fuel ends.
//
// A module is a function of a string of choices. What follows from no more
// choices is the simplest, so a fuzzer can shorten it.
//
// It is test support: nothing outside of _test files imports it.
package gen
