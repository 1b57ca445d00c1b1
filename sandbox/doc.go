// Package sandbox runs untrusted WebAssembly: it admits a module, compiles it
// once, and calls its exports under limits.
//
// A caller describes its guests in a [Profile] and knows what they mean; this
// package knows no intents and no chains. What goes in and out is bytes.
//
// What a caller may rely on:
//
//   - A guest sees its input, its memory and what the caller's [ReadFunc]
//     answers. It sees no clock, file, network, argument or environment of the
//     host; time is [Env.Time] plus a virtual clock, randomness is [Call.Seed].
//   - What a guest does wrong is a [*Fault] with a cause from a closed set, what
//     it is refused for a [*Refusal]. Every other error is the host's own, and
//     never the guest's doing.
//   - After a fault the instance is dead: it is never called again.
//   - Equal modules, inputs, seeds, replies and limits give equal results on any
//     engine, processor and worker count, the point where a limit cuts in
//     included. A wall stop is the one exception.
//   - No guest holds up the host: it comes back to it at least every [Slice] of
//     fuel, or after 64 KiB of a bulk instruction.
//
// # Metering
//
// Every module is rewritten before it is compiled: see package meter. Fuel
// bounds what a guest computes, [Call].Fuel and [Allowance]; host calls pay 200
// and 1 for each byte moved, rpc 2,000, 10 a byte in, 1 a byte out and what its
// [Reply] says. Depth bounds nested calls. A wall limit stands beside fuel, for
// there is code that takes hundreds of times longer than its fuel suggests. When
// one ends a call, the host times a guest of its own: on a host that is fast enough
// the guest [CauseStalled], otherwise the stop is the host's own error, [ErrWall].
//
// A [Checkpoint] is where an instance was between two calls; instances resume
// from it any number of times. Modules that do what memory and globals don't
// show aren't checkpointable: see [Module.Checkpointable].
//
// # ABI
//
// A guest exports its memory and functions (input_len i32) -> status i32, and
// imports up to five functions of the module "assay":
//
//	input(ptr, cap i32) -> i32         the next bytes of the call's input; 0 = end
//	output(ptr, len i32)               appends to the call's output
//	rpc(chain i64, ptr, len i32) -> i32   length of the reply, or a negative [ReadStatus]
//	rpc_read(ptr, cap i32) -> i32      the next bytes of the reply; 0 = end
//	log(level, ptr, len i32)           one line to the log
//
// Profiles with WASI add the functions of wasi_snapshot_preview1 that need no
// host: see [Profile.WASI]. Pointers and lengths are unsigned. A range that
// isn't wholly inside the guest's memory is a fault, whatever would have been
// copied.
//
// # What bounds compilation
//
// A module is refused for its size and the counts that [Profile], the Max
// constants here and those of package meter limit: bytes of the module and of
// each function, functions, types, globals, tables, locals, nesting of blocks,
// targets of br_table, height of the operand stack. The checks run before
// anything is allocated by what the module announces. With [Config.Compiler]
// compilation then runs in a process of its own, within limits whose excess is
// the host's error and never a refusal. Identities are compiled once.
//
// # Units
//
// Fuel is in the units of the cost table of package meter, [CostVersion]. Memory
// is counted in pages of 65,536 bytes, virtual time in nanoseconds, wall limits in
// [time.Duration].
package sandbox
