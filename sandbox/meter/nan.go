package meter

import "github.com/subnet112/assay/sandbox/wasm"

// nanOf is the type of an instruction's result if it may be a NaN whose bits
// depend on the machine; 0 otherwise. Moving a NaN, its sign and its bits around
// doesn't change it.
func nanOf(op wasm.Op) wasm.ValType {
	switch {
	case op >= wasm.OpF32Ceil && op <= wasm.OpF32Max || op == wasm.OpF32DemoteF64:
		return wasm.F32
	case op >= wasm.OpF64Ceil && op <= wasm.OpF64Max || op == wasm.OpF64PromoteF32:
		return wasm.F64
	}
	return 0
}

// absorbs reports whether an instruction takes a value of type t from the top
// of the stack and gives the same whichever NaN it is: what it gives is made
// canonical itself, or no float.
func absorbs(op wasm.Op, t wasm.ValType) bool {
	if op == wasm.OpDrop {
		return true
	}
	if t == wasm.F32 {
		switch op {
		case wasm.OpF64PromoteF32, wasm.OpI32TruncF32S, wasm.OpI32TruncF32U, wasm.OpI64TruncF32S, wasm.OpI64TruncF32U,
			wasm.OpI32TruncSatF32S, wasm.OpI32TruncSatF32U, wasm.OpI64TruncSatF32S, wasm.OpI64TruncSatF32U:
			return true
		}
		return op >= wasm.OpF32Ceil && op <= wasm.OpF32Max || op >= wasm.OpF32Eq && op <= wasm.OpF32Ge
	}
	switch op {
	case wasm.OpF32DemoteF64, wasm.OpI32TruncF64S, wasm.OpI32TruncF64U, wasm.OpI64TruncF64S, wasm.OpI64TruncF64U,
		wasm.OpI32TruncSatF64S, wasm.OpI32TruncSatF64U, wasm.OpI64TruncSatF64S, wasm.OpI64TruncSatF64U:
		return true
	}
	return op >= wasm.OpF64Ceil && op <= wasm.OpF64Max || op >= wasm.OpF64Eq && op <= wasm.OpF64Ge
}
