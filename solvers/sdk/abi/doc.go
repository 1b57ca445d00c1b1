// Package abi encodes calls to contracts and reads what they return, in the
// little of Solidity's ABI that swaps need. It is small enough for a guest and
// knows no hashing: selectors are constants of the caller's.
package abi
