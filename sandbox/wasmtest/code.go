package wasmtest

import "slices"

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
	MemorySize  = []byte{0x3f, 0}
	MemoryGrow  = []byte{0x40, 0}
	MemoryFill  = []byte{0xfc, 11, 0}
)

// I32Const pushes a constant.
func I32Const(v int32) []byte { return append([]byte{0x41}, signed(int64(v))...) }

// I64Const pushes a constant.
func I64Const(v int64) []byte { return append([]byte{0x42}, signed(v)...) }

// Call calls a function by index.
func Call(f uint32) []byte { return append([]byte{0x10}, U32(f)...) }

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
