// Package wasm reads and writes the binary format of WebAssembly modules, as far
// as assay admits it: the MVP, sign extension, saturating conversions,
// multi-value, bulk memory, reference types, mutable globals. Everything else is
// an [*Error] that names what it found and where.
//
// [Decode] checks the format, not the types: that operands fit is for a
// validator. It reads every instruction once; a [Reader] reads them again for who
// wants to see them, and finds no error. Decoding never panics, and allocates at
// most 40 bytes a byte of its input. [Module.Encode] writes numbers in their shortest form, so encoding what
// was decoded from it gives the same bytes again.
//
// Indices are those of the binary format: imports come first in each space.
package wasm
