// Package meter rewrites WebAssembly modules so that they stop at the same
// instruction on every machine.
//
// [Rewrite] adds to a decoded module:
//
//   - Fuel. Each straight-line segment subtracts its cost from an exported i64
//     global before it runs. At function entries, loop heads, after every
//     [SegmentFuel] of straight-line code and at instructions whose cost depends
//     on an operand the sign is tested; below zero the guest calls an import
//     that grants more or ends the call. Bulk memory instructions run in pieces
//     of [ChunkBytes], each tested. A running function keeps its fuel in a local;
//     after a trap the global has what was left at the last call or test.
//   - Depth. Each function that calls another subtracts its frame from an
//     exported i32 global. With less than none of [DepthSlots] left it leaves the
//     global below zero and calls the same import, which must not return. The host sets it before every call from outside.
//   - One NaN. Float instructions whose NaN depends on the processor or the
//     engine are followed by a choice of the canonical one.
//   - i32.popcnt as one of 64 bits: on arm64 wazero's counts too much.
//   - Exports of all mutable globals, for checkpoints, and a maximum for the table.
//
// Custom sections are dropped. A rewritten module does what the original does as
// long as neither fuel nor depth ends, but for the bits of NaNs. It is valid if
// and only if the original is; the static limits are checked on the way.
//
// # Units
//
// Fuel is in the units of the cost table, version [CostVersion]. Depth is in
// slots of 8 bytes: locals, parameters, results and operand stack.
package meter
