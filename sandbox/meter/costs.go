package meter

import "github.com/subnet112/assay/sandbox/wasm"

// CostVersion names the table in this file, and whatever else of the rewrite
// decides how much fuel a guest has spent when, and how much depth. It is raised
// by hand.
const CostVersion = 2

// Costs of what isn't one instruction.
const (
	GrowPage     = 8192 // memory.grow, a page asked for
	TableElement = 4    // table.grow, fill, copy, init: an element
	chunkBase    = 1    // a piece of a bulk memory instruction, besides an eighth of its bytes
)

// cost is the fuel of one instruction by its opcode. What isn't named costs 1;
// instructions that only structure the code cost nothing.
var cost = func() (c [256]uint16) {
	for i := range c {
		c[i] = 1
	}
	set := func(n uint16, ops ...wasm.Op) {
		for _, op := range ops {
			c[op] = n
		}
	}
	between := func(n uint16, first, last wasm.Op) {
		for op := first; op <= last; op++ {
			c[op] = n
		}
	}
	set(0, wasm.OpNop, wasm.OpBlock, wasm.OpLoop, wasm.OpElse, wasm.OpEnd)
	set(2, wasm.OpBrTable)
	set(4, wasm.OpCall)
	set(6, wasm.OpCallIndirect)
	set(3, wasm.OpTableGet, wasm.OpTableSet)
	between(2, wasm.OpI32Load, wasm.OpI64Store32)
	set(50, wasm.OpMemoryGrow)
	set(8, wasm.OpI32DivS, wasm.OpI32DivU, wasm.OpI32RemS, wasm.OpI32RemU)
	set(12, wasm.OpI64DivS, wasm.OpI64DivU, wasm.OpI64RemS, wasm.OpI64RemU)
	set(2, wasm.OpI32Mul, wasm.OpI64Mul)
	// Arithmetic on floats, the choice of the NaN included.
	between(3, wasm.OpF32Ceil, wasm.OpF32Max)
	between(3, wasm.OpF64Ceil, wasm.OpF64Max)
	set(10, wasm.OpF32Div, wasm.OpF32Sqrt)
	set(14, wasm.OpF64Div, wasm.OpF64Sqrt)
	set(3, wasm.OpF32DemoteF64, wasm.OpF64PromoteF32)
	between(3, wasm.OpI32TruncF32S, wasm.OpI32TruncF64U)
	between(3, wasm.OpI64TruncF32S, wasm.OpI64TruncF64U)
	between(3, wasm.OpF32ConvertI32S, wasm.OpF32ConvertI64U)
	between(3, wasm.OpF64ConvertI32S, wasm.OpF64ConvertI64U)
	return c
}()

// costPrefixed is cost for opcodes behind the prefix 0xfc: saturating
// conversions cost 4, bulk instructions 20 besides what their operands cost.
func costPrefixed(op wasm.Op) uint16 {
	if op <= wasm.OpI64TruncSatF64U {
		return 4
	}
	return 20
}

func costOf(op wasm.Op) uint16 {
	if op < 256 {
		return cost[op]
	}
	return costPrefixed(op)
}
