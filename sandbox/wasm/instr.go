package wasm

import (
	"encoding/binary"
	"fmt"
)

// An Instr is one instruction.
type Instr struct {
	Op      Op
	Imm     uint64    // index, label, offset of memory, default of br_table, bits of a constant (of i32 and i64 sign-extended), reference type
	Imm2    uint64    // alignment of memory, table of call_indirect, second index
	Block   BlockType // of block, loop and if
	Targets []uint32  // of br_table without the default; of other instructions whatever was there
	Types   []ValType // of select with types; the same
	Raw     []byte    // as it was read
	Offset  int       // of Raw in the module
}

// A BlockType is the type of a block: a type index, or none or one result.
type BlockType struct {
	Index    uint32
	HasIndex bool
	Result   ValType // 0 = none
}

// A Reader walks the instructions of an [Expr].
type Reader struct {
	b      []byte
	i      int
	offset int
	depth  int // blocks that are open, the expression itself included
	err    error
}

// NewReader reads an expression that stands at an offset of a module.
func NewReader(e Expr, offset int) *Reader { return &Reader{b: e, offset: offset, depth: 1} }

// Err is what ended the instructions; nil = they were all read.
func (r *Reader) Err() error { return r.err }

func (r *Reader) fail(at int, feature bool, format string, args ...any) bool {
	if r.err == nil {
		r.err = &Error{Offset: r.offset + at, What: "code", Detail: fmt.Sprintf(format, args...), Feature: feature}
	}
	return false
}

// Next reads the next instruction into in. It returns false at the end, which is
// the end instruction of the expression, or at an error.
func (r *Reader) Next(in *Instr) bool {
	if r.err != nil {
		return false
	}
	start := r.i
	if r.depth == 0 {
		if start < len(r.b) {
			return r.fail(start, false, "%s bytes after the end", thousands(len(r.b)-start))
		}
		return false
	}
	if start >= len(r.b) {
		return r.fail(start, false, "unexpected end")
	}
	op := Op(r.b[start])
	r.i++
	info := &ops[op]
	if info.imm == immUnknown {
		if info = r.prefixed(start, &op); info == nil {
			return false
		}
	}
	in.Op, in.Offset = op, r.offset+start
	switch info.imm {
	case immNone:
		switch op {
		case OpEnd:
			r.depth--
		}
	case immBlock:
		r.depth++
		r.blockType(in)
	case immIndex:
		in.Imm = r.u32()
	case immMem:
		in.Imm2 = r.u32()
		in.Imm = r.u32()
		if in.Imm2 >= 32 {
			r.fail(start, in.Imm2 < 128, "%s has alignment 2^%d", op, in.Imm2)
		}
	case immI32:
		in.Imm = uint64(r.signed(32))
	case immI64:
		in.Imm = uint64(r.signed(64))
	case immF32:
		if b := r.bytes(4); b != nil {
			in.Imm = uint64(binary.LittleEndian.Uint32(b))
		}
	case immF64:
		if b := r.bytes(8); b != nil {
			in.Imm = binary.LittleEndian.Uint64(b)
		}
	default:
		r.rare(info, in)
	}
	if r.err != nil {
		return false
	}
	in.Raw = r.b[start:r.i]
	return true
}

// rare reads the immediates of instructions that code has few of.
func (r *Reader) rare(info *opInfo, in *Instr) {
	switch info.imm {
	case immIndex2:
		in.Imm = r.u32()
		in.Imm2 = r.u32()
	case immIndexZero:
		in.Imm = r.u32()
		r.zero()
	case immZero:
		r.zero()
	case immZero2:
		r.zero()
		r.zero()
	case immTargets:
		n := r.count()
		in.Targets = in.Targets[:0]
		for range n {
			in.Targets = append(in.Targets, uint32(r.u32()))
		}
		in.Imm = r.u32()
	case immTypes:
		n := r.count()
		in.Types = in.Types[:0]
		for range n {
			in.Types = append(in.Types, r.valType())
		}
		if r.err == nil && n != 1 {
			r.fail(r.i, false, "select of %s types", thousands(n))
		}
	case immHeap:
		t := r.valType()
		if r.err == nil && !t.IsReference() {
			r.fail(r.i-1, false, "ref.null of type 0x%02x", byte(t))
		}
		in.Imm = uint64(t)
	}
}

// prefixed reads what follows a first byte that is no opcode of its own.
func (r *Reader) prefixed(start int, op *Op) *opInfo {
	prefix := byte(*op)
	switch prefix {
	case 0xfc:
		sub := r.u32()
		if r.err != nil {
			return nil
		}
		if sub < prefixedOps {
			*op = 0xfc00 | Op(sub)
			return &opsFC[sub]
		}
		r.fail(start, true, "instruction 0xfc %d is not admitted", sub)
	case 0xfd, 0xfe:
		sub := r.u32()
		if r.err == nil {
			r.fail(start, true, "%s instruction 0x%02x %d is not admitted", map[byte]string{0xfd: "SIMD", 0xfe: "thread"}[prefix], prefix, sub)
		}
	default:
		if name := refused[prefix]; name != "" {
			r.fail(start, true, "instruction %s is not admitted", name)
		} else {
			r.fail(start, true, "instruction 0x%02x is not admitted", prefix)
		}
	}
	return nil
}

// refused are opcodes of extensions that aren't admitted.
var refused = map[byte]string{
	0x06: "try", 0x07: "catch", 0x08: "throw", 0x09: "rethrow", 0x0a: "throw_ref", 0x12: "return_call",
	0x13: "return_call_indirect", 0x14: "call_ref", 0x15: "return_call_ref", 0x18: "delegate", 0x19: "catch_all",
	0x1f: "try_table", 0xd3: "ref.eq", 0xd4: "ref.as_non_null", 0xd5: "br_on_null", 0xd6: "br_on_non_null", 0xfb: "of garbage collection",
}

func (r *Reader) bytes(n int) []byte {
	if r.err != nil || n > len(r.b)-r.i {
		r.fail(r.i, false, "unexpected end")
		return nil
	}
	r.i += n
	return r.b[r.i-n : r.i]
}

func (r *Reader) u32() uint64 {
	if r.i < len(r.b) && r.b[r.i] < 0x80 && r.err == nil {
		r.i++
		return uint64(r.b[r.i-1])
	}
	v, n := readU32(r.b[r.i:])
	if n == 0 {
		r.badNumber()
		return 0
	}
	r.i += n
	return uint64(v)
}

func (r *Reader) signed(bits int) int64 {
	v, n := readSigned(r.b[r.i:], bits)
	if n == 0 {
		r.badNumber()
		return 0
	}
	r.i += n
	return v
}

func (r *Reader) badNumber() {
	r.fail(r.i, false, "number is cut off or too long")
}

// count reads a length; each element takes at least a byte.
func (r *Reader) count() int {
	n := r.u32()
	if n > uint64(len(r.b)-r.i) {
		r.fail(r.i, false, "%s elements announced, %s bytes left", thousands(n), thousands(len(r.b)-r.i))
		return 0
	}
	return int(n)
}

func (r *Reader) zero() {
	if b := r.bytes(1); b != nil && b[0] != 0 {
		r.fail(r.i-1, true, "memory 0x%02x: multiple memories are not admitted", b[0])
	}
}

func (r *Reader) valType() ValType {
	b := r.bytes(1)
	if b == nil {
		return 0
	}
	if t := ValType(b[0]); t.valid() {
		return t
	}
	r.fail(r.i-1, true, "value type 0x%02x is not admitted", b[0])
	return 0
}

func (r *Reader) blockType(in *Instr) {
	in.Block = BlockType{}
	at := r.i
	if at < len(r.b) {
		switch t := ValType(r.b[at]); {
		case t == 0x40:
			r.i++
			return
		case t.valid():
			r.i++
			in.Block.Result = t
			return
		}
	}
	v := r.signed(33)
	if r.err == nil && v < 0 {
		r.fail(at, true, "block type 0x%02x is not admitted", r.b[at])
		return
	}
	in.Block.Index, in.Block.HasIndex = uint32(v), true
}

func (t ValType) valid() bool {
	switch t {
	case I32, I64, F32, F64, FuncRef, ExternRef:
		return true
	}
	return false
}

// AppendInstr encodes an instruction, numbers in their shortest form. Raw is of
// no account.
func AppendInstr(b []byte, in *Instr) []byte {
	info := in.Op.info()
	if info == nil {
		panic("wasm: no such instruction: " + in.Op.String())
	}
	if in.Op < 256 {
		b = append(b, byte(in.Op))
	} else {
		b = append(b, byte(in.Op>>8), byte(in.Op))
	}
	switch info.imm {
	case immBlock:
		switch {
		case in.Block.HasIndex:
			b = AppendSigned(b, int64(in.Block.Index))
		case in.Block.Result != 0:
			b = append(b, byte(in.Block.Result))
		default:
			b = append(b, 0x40)
		}
	case immIndex:
		b = AppendU32(b, uint32(in.Imm))
	case immIndex2:
		b = AppendU32(AppendU32(b, uint32(in.Imm)), uint32(in.Imm2))
	case immIndexZero:
		b = append(AppendU32(b, uint32(in.Imm)), 0)
	case immZero:
		b = append(b, 0)
	case immZero2:
		b = append(b, 0, 0)
	case immTargets:
		b = AppendU32(b, uint32(len(in.Targets)))
		for _, t := range in.Targets {
			b = AppendU32(b, t)
		}
		b = AppendU32(b, uint32(in.Imm))
	case immTypes:
		b = appendTypes(b, in.Types)
	case immMem:
		b = AppendU32(AppendU32(b, uint32(in.Imm2)), uint32(in.Imm))
	case immI32:
		b = AppendSigned(b, int64(int32(in.Imm)))
	case immI64:
		b = AppendSigned(b, int64(in.Imm))
	case immF32:
		b = binary.LittleEndian.AppendUint32(b, uint32(in.Imm))
	case immF64:
		b = binary.LittleEndian.AppendUint64(b, in.Imm)
	case immHeap:
		b = append(b, byte(in.Imm))
	}
	return b
}
