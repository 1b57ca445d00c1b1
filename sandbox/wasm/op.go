package wasm

import "fmt"

// An Op is an instruction's opcode: one byte as it is, 0xfc00 and the number
// behind it for those with the prefix 0xfc.
type Op uint16

// Opcodes, named as in the specification. OpSelectT is the select that names its
// type.
const (
	OpUnreachable Op = iota
	OpNop
	OpBlock
	OpLoop
	OpIf
	OpElse
)

const (
	OpEnd Op = 0x0b + iota
	OpBr
	OpBrIf
	OpBrTable
	OpReturn
	OpCall
	OpCallIndirect
)

const (
	OpDrop Op = 0x1a + iota
	OpSelect
	OpSelectT
)

const (
	OpLocalGet Op = 0x20 + iota
	OpLocalSet
	OpLocalTee
	OpGlobalGet
	OpGlobalSet
	OpTableGet
	OpTableSet
)

const (
	OpI32Load Op = 0x28 + iota
	OpI64Load
	OpF32Load
	OpF64Load
	OpI32Load8S
	OpI32Load8U
	OpI32Load16S
	OpI32Load16U
	OpI64Load8S
	OpI64Load8U
	OpI64Load16S
	OpI64Load16U
	OpI64Load32S
	OpI64Load32U
	OpI32Store
	OpI64Store
	OpF32Store
	OpF64Store
	OpI32Store8
	OpI32Store16
	OpI64Store8
	OpI64Store16
	OpI64Store32
	OpMemorySize
	OpMemoryGrow
	OpI32Const
	OpI64Const
	OpF32Const
	OpF64Const
	OpI32Eqz
	OpI32Eq
	OpI32Ne
	OpI32LtS
	OpI32LtU
	OpI32GtS
	OpI32GtU
	OpI32LeS
	OpI32LeU
	OpI32GeS
	OpI32GeU
	OpI64Eqz
	OpI64Eq
	OpI64Ne
	OpI64LtS
	OpI64LtU
	OpI64GtS
	OpI64GtU
	OpI64LeS
	OpI64LeU
	OpI64GeS
	OpI64GeU
	OpF32Eq
	OpF32Ne
	OpF32Lt
	OpF32Gt
	OpF32Le
	OpF32Ge
	OpF64Eq
	OpF64Ne
	OpF64Lt
	OpF64Gt
	OpF64Le
	OpF64Ge
	OpI32Clz
	OpI32Ctz
	OpI32Popcnt
	OpI32Add
	OpI32Sub
	OpI32Mul
	OpI32DivS
	OpI32DivU
	OpI32RemS
	OpI32RemU
	OpI32And
	OpI32Or
	OpI32Xor
	OpI32Shl
	OpI32ShrS
	OpI32ShrU
	OpI32Rotl
	OpI32Rotr
	OpI64Clz
	OpI64Ctz
	OpI64Popcnt
	OpI64Add
	OpI64Sub
	OpI64Mul
	OpI64DivS
	OpI64DivU
	OpI64RemS
	OpI64RemU
	OpI64And
	OpI64Or
	OpI64Xor
	OpI64Shl
	OpI64ShrS
	OpI64ShrU
	OpI64Rotl
	OpI64Rotr
	OpF32Abs
	OpF32Neg
	OpF32Ceil
	OpF32Floor
	OpF32Trunc
	OpF32Nearest
	OpF32Sqrt
	OpF32Add
	OpF32Sub
	OpF32Mul
	OpF32Div
	OpF32Min
	OpF32Max
	OpF32Copysign
	OpF64Abs
	OpF64Neg
	OpF64Ceil
	OpF64Floor
	OpF64Trunc
	OpF64Nearest
	OpF64Sqrt
	OpF64Add
	OpF64Sub
	OpF64Mul
	OpF64Div
	OpF64Min
	OpF64Max
	OpF64Copysign
	OpI32WrapI64
	OpI32TruncF32S
	OpI32TruncF32U
	OpI32TruncF64S
	OpI32TruncF64U
	OpI64ExtendI32S
	OpI64ExtendI32U
	OpI64TruncF32S
	OpI64TruncF32U
	OpI64TruncF64S
	OpI64TruncF64U
	OpF32ConvertI32S
	OpF32ConvertI32U
	OpF32ConvertI64S
	OpF32ConvertI64U
	OpF32DemoteF64
	OpF64ConvertI32S
	OpF64ConvertI32U
	OpF64ConvertI64S
	OpF64ConvertI64U
	OpF64PromoteF32
	OpI32ReinterpretF32
	OpI64ReinterpretF64
	OpF32ReinterpretI32
	OpF64ReinterpretI64
	OpI32Extend8S
	OpI32Extend16S
	OpI64Extend8S
	OpI64Extend16S
	OpI64Extend32S
)

const (
	OpRefNull Op = 0xd0 + iota
	OpRefIsNull
	OpRefFunc
)

const (
	OpI32TruncSatF32S Op = 0xfc00 + iota
	OpI32TruncSatF32U
	OpI32TruncSatF64S
	OpI32TruncSatF64U
	OpI64TruncSatF32S
	OpI64TruncSatF32U
	OpI64TruncSatF64S
	OpI64TruncSatF64U
	OpMemoryInit
	OpDataDrop
	OpMemoryCopy
	OpMemoryFill
	OpTableInit
	OpElemDrop
	OpTableCopy
	OpTableGrow
	OpTableSize
	OpTableFill
)

// String is the instruction's name as in the text format, such as "i32.add". Both
// kinds of select have the same.
func (o Op) String() string {
	if info := o.info(); info != nil && info.name != "" {
		return info.name
	}
	if o > 0xff {
		return fmt.Sprintf("0x%02x %d", byte(o>>8), byte(o))
	}
	return fmt.Sprintf("0x%02x", uint16(o))
}

// Stack is how many operands an instruction takes from the stack and how many it
// leaves. It isn't ok where that depends on more than the opcode, and of
// opcodes that aren't admitted: unreachable, blocks, branches, return, calls.
func (o Op) Stack() (pops, pushes int, ok bool) {
	info := o.info()
	if info == nil || !info.fixed {
		return 0, 0, false
	}
	return int(info.pops), int(info.pushes), true
}

func (o Op) info() *opInfo {
	switch {
	case o < 0x100:
		return &ops[o]
	case o>>8 == prefix && int(o&0xff) < len(prefixedOps):
		return &prefixedOps[o&0xff]
	}
	return nil
}

// prefix is the first byte of two-part opcodes.
const prefix = 0xfc
