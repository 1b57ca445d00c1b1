package meter

import (
	"encoding/binary"

	"github.com/subnet112/assay/sandbox/wasm"
)

// appendU32 encodes an unsigned number.
func appendU32(b []byte, v uint32) []byte { return binary.AppendUvarint(b, uint64(v)) }

func lenU32(v uint32) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

const costBytes = 5

// putCost writes an i64.const and its operand, padded to four bytes so that it
// can be replaced. A segment's fuel is far below 2^27.
func putCost(b []byte, fuel int) {
	b[0] = byte(wasm.OpI64Const)
	b[1] = byte(fuel) | 0x80
	b[2] = byte(fuel>>7) | 0x80
	b[3] = byte(fuel>>14) | 0x80
	b[4] = byte(fuel>>21) & 0x7f
}

// appendCharge subtracts from the function's fuel, and tests its sign if asked to.
func (f *function) appendCharge(b []byte, fuel int, test bool) []byte {
	b = append(b, byte(wasm.OpLocalGet))
	b = appendU32(b, f.fuelLocal())
	return f.appendSubtract(b, fuel, test)
}

// appendSubtract subtracts from the i64 on the stack, which becomes the
// function's fuel.
func (f *function) appendSubtract(b []byte, fuel int, test bool) []byte {
	b = append(b, 0, 0, 0, 0, 0)
	putCost(b[len(b)-costBytes:], fuel)
	b = append(b, byte(wasm.OpI64Sub))
	if !test {
		b = append(b, byte(wasm.OpLocalSet))
		return appendU32(b, f.fuelLocal())
	}
	b = append(b, byte(wasm.OpLocalTee))
	b = appendU32(b, f.fuelLocal())
	b = append(b, byte(wasm.OpI64Const), 0, byte(wasm.OpI64LtS), byte(wasm.OpIf), blockEmpty)
	b = f.appendSave(b)
	b = append(b, byte(wasm.OpCall))
	b = appendU32(b, f.w.imported)
	b = f.appendLoad(b)
	return append(b, byte(wasm.OpEnd))
}

// appendSave puts the function's fuel where callers, callees and the host look
// for it.
func (f *function) appendSave(b []byte) []byte {
	b = append(b, byte(wasm.OpLocalGet))
	b = appendU32(b, f.fuelLocal())
	b = append(b, byte(wasm.OpGlobalSet))
	return appendU32(b, f.w.fuel)
}

// appendLoad takes it back.
func (f *function) appendLoad(b []byte) []byte {
	b = append(b, byte(wasm.OpGlobalGet))
	b = appendU32(b, f.w.fuel)
	b = append(b, byte(wasm.OpLocalSet))
	return appendU32(b, f.fuelLocal())
}

func (f *function) fuelLocal() uint32 { return f.local(&f.fuel, wasm.I64) }

const blockEmpty = 0x40

// local gives one of the rewrite's own locals.
func (f *function) local(index *uint32, t wasm.ValType) uint32 {
	if *index == noLocal {
		*index = f.locals + uint32(len(f.added))
		f.added = append(f.added, t)
	}
	return *index
}

// assemble puts together the rewritten function: depth, then fuel, then code.
func (f *function) assemble(locals []wasm.LocalGroup, frame int) wasm.Code {
	test := f.tests || f.total > leafFuel
	body := make([]byte, 0, len(f.code)+64)
	if f.nests || frame > MinFrame {
		d := f.local(&f.depth, wasm.I32)
		body = append(body, byte(wasm.OpGlobalGet))
		body = appendU32(body, f.w.depth)
		in := wasm.Instr{Op: wasm.OpI32Const, Imm: uint64(frame)}
		body = wasm.AppendInstr(body, &in)
		body = append(body, byte(wasm.OpI32Sub), byte(wasm.OpLocalTee))
		body = appendU32(body, d)
		body = append(body, byte(wasm.OpI32Const), 0, byte(wasm.OpI32LtS), byte(wasm.OpIf), blockEmpty)
		body = f.appendDepth(body)
		body = append(body, byte(wasm.OpCall))
		body = appendU32(body, f.w.imported)
		body = append(body, byte(wasm.OpUnreachable), byte(wasm.OpEnd))
	}
	if f.fuel != noLocal || f.entry > 0 {
		body = append(body, byte(wasm.OpGlobalGet))
		body = appendU32(body, f.w.fuel)
		body = f.appendSubtract(body, f.entry, test && f.entry > 0)
	}
	body = append(body, f.code...)
	groups := make([]wasm.LocalGroup, 0, len(locals)+len(f.added))
	groups = append(groups, locals...)
	for _, t := range f.added {
		groups = append(groups, wasm.LocalGroup{Count: 1, Type: t})
	}
	return wasm.Code{Locals: groups, Body: body}
}

// appendDepth sets the depth global to what this function leaves.
func (f *function) appendDepth(b []byte) []byte {
	b = append(b, byte(wasm.OpLocalGet))
	b = appendU32(b, f.local(&f.depth, wasm.I32))
	b = append(b, byte(wasm.OpGlobalSet))
	return appendU32(b, f.w.depth)
}

// The canonical NaNs, as little-endian bits.
var (
	nan32 = []byte{0, 0, 0xc0, 0x7f}
	nan64 = []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}
)

// canonical replaces a NaN on top of the stack by the canonical one.
func (f *function) canonical() {
	t := f.nan
	f.nan = 0
	local, constant, bits, eq := f.local(&f.f32, wasm.F32), wasm.OpF32Const, nan32, wasm.OpF32Eq
	if t == wasm.F64 {
		local, constant, bits, eq = f.local(&f.f64, wasm.F64), wasm.OpF64Const, nan64, wasm.OpF64Eq
	}
	b := append(f.code, byte(wasm.OpLocalTee))
	b = appendU32(b, local)
	b = append(b, byte(constant))
	b = append(b, bits...)
	b = append(b, byte(wasm.OpLocalGet))
	b = appendU32(b, local)
	b = append(b, byte(wasm.OpLocalGet))
	b = appendU32(b, local)
	f.code = append(b, byte(eq), byte(wasm.OpSelect))
	f.size.made(3)
}
