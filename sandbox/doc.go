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
//   - Equal modules, inputs, seeds and replies give equal results on any engine,
//     processor and worker count. A wall stop is the one exception.
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
// A module is refused for its size and the counts that [Profile] and the Max
// constants limit: bytes of the module and of each function, functions, types,
// globals, tables, locals of each function and in all. The checks run before
// anything is allocated by what the module announces, and identities are compiled
// once.
//
// What lies within function bodies isn't looked at: neither the nesting of
// blocks, nor the targets of br_table, nor the height of the operand stack. The
// compiler's time and memory are therefore bounded by the sizes above only, it
// can't be interrupted, and it runs in the caller's process.
//
// # Units
//
// Memory is counted in pages of 65,536 bytes, virtual time in nanoseconds, wall
// limits in [time.Duration].
package sandbox
