package wasmtest

import (
	"encoding/binary"
	"slices"
)

const opEnd = 0x0b

// Instructions without immediates, by their WebAssembly names.
var (
	Unreachable = []byte{0x00}
	Nop         = []byte{0x01}
	End         = []byte{opEnd}
	Return      = []byte{0x0f}
	Drop        = []byte{0x1a}
	I32Eqz      = []byte{0x45}
	I32Eq       = []byte{0x46}
	I32LtS      = []byte{0x48}
	I32LtU      = []byte{0x49}
	I32Add      = []byte{0x6a}
	I32Sub      = []byte{0x6b}
	I32Mul      = []byte{0x6c}
	I32DivS     = []byte{0x6d}
	I32DivU     = []byte{0x6e}
	I32RemS     = []byte{0x6f}
	I32And      = []byte{0x71}
	I32Or       = []byte{0x72}
	I32Shl      = []byte{0x74}
	I64Eqz      = []byte{0x50}
	I64Add      = []byte{0x7c}
	I64Sub      = []byte{0x7d}
	I64Mul      = []byte{0x7e}
	I64DivS     = []byte{0x7f}
	I64RemU     = []byte{0x82}
	F32Sqrt     = []byte{0x91}
	F32Div      = []byte{0x95}
	F64Sqrt     = []byte{0x9f}
	F64Div      = []byte{0xa3}
	MemorySize  = []byte{0x3f, 0}
	MemoryGrow  = []byte{0x40, 0}
	MemoryCopy  = []byte{0xfc, 10, 0, 0}
	MemoryFill  = []byte{0xfc, 11, 0}
	RefNull     = []byte{0xd0, 0x70} // of a function
	TableGrow   = []byte{0xfc, 15, 0}
	TableFill   = []byte{0xfc, 17, 0}
)

// I32Const pushes a constant.
func I32Const(v int32) []byte { return append([]byte{0x41}, signed(int64(v))...) }

// I64Const pushes a constant.
func I64Const(v int64) []byte { return append([]byte{0x42}, signed(v)...) }

// Call calls a function by index.
func Call(f uint32) []byte { return append([]byte{0x10}, U32(f)...) }

// CallIndirect calls the function at the popped index of table 0, of a type.
func CallIndirect(t uint32) []byte { return append(append([]byte{0x11}, U32(t)...), 0) }

// F32Bits pushes a float constant by its bits.
func F32Bits(bits uint32) []byte { return binary.LittleEndian.AppendUint32([]byte{0x43}, bits) }

// F64Bits pushes a float constant by its bits.
func F64Bits(bits uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{0x44}, bits) }

// RefFunc pushes a reference to a function.
func RefFunc(f uint32) []byte { return append([]byte{0xd2}, U32(f)...) }

// MemoryInit copies from a passive data segment.
func MemoryInit(segment uint32) []byte { return append(append([]byte{0xfc, 8}, U32(segment)...), 0) }

// LocalGet pushes a local variable or parameter.
func LocalGet(i uint32) []byte { return append([]byte{0x20}, U32(i)...) }

// LocalSet pops into a local variable.
func LocalSet(i uint32) []byte { return append([]byte{0x21}, U32(i)...) }

// LocalTee stores the top of the stack in a local variable and leaves it there.
func LocalTee(i uint32) []byte { return append([]byte{0x22}, U32(i)...) }

// GlobalGet pushes a global.
func GlobalGet(i uint32) []byte { return append([]byte{0x23}, U32(i)...) }

// GlobalSet pops into a global.
func GlobalSet(i uint32) []byte { return append([]byte{0x24}, U32(i)...) }

// I32Load loads from the popped address plus an offset.
func I32Load(offset uint32) []byte { return append([]byte{0x28, 2}, U32(offset)...) }

// I32Store stores the popped value at the popped address plus an offset.
func I32Store(offset uint32) []byte { return append([]byte{0x36, 2}, U32(offset)...) }

// I64Load loads from the popped address plus an offset.
func I64Load(offset uint32) []byte { return append([]byte{0x29, 3}, U32(offset)...) }

// I64Store stores the popped value at the popped address plus an offset.
func I64Store(offset uint32) []byte { return append([]byte{0x37, 3}, U32(offset)...) }

// Br branches to the label that many levels out.
func Br(depth uint32) []byte { return append([]byte{0x0c}, U32(depth)...) }

// BrIf branches if the popped value isn't zero.
func BrIf(depth uint32) []byte { return append([]byte{0x0d}, U32(depth)...) }

// BrTable branches to the label that many levels out that the popped index
// selects, the last for every index beyond.
func BrTable(depth ...uint32) []byte {
	b := append([]byte{0x0e}, U32(uint32(len(depth)-1))...)
	for _, d := range depth {
		b = append(b, U32(d)...)
	}
	return b
}

// Block, Loop and If wrap instructions; a branch to a loop's label repeats it.
// Their blocks take and leave nothing.
func Block(body ...[]byte) []byte { return wrap(0x02, body) }

// Loop is described at [Block].
func Loop(body ...[]byte) []byte { return wrap(0x03, body) }

// If is described at [Block]; it pops its condition.
func If(body ...[]byte) []byte { return wrap(0x04, body) }

// Seq joins instructions.
func Seq(parts ...[]byte) []byte { return slices.Concat(parts...) }

func wrap(op byte, body [][]byte) []byte {
	return slices.Concat([]byte{op, 0x40}, slices.Concat(body...), End)
}

func signed(v int64) []byte {
	var out []byte
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}
