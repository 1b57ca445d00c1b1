package wasm

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A Reader walks the instructions of an expression.
type Reader struct {
	b       []byte
	i       int
	base    int      // offset of b in the module
	depth   int      // blocks that are open, the expression itself included
	ifs     uint64   // a bit for each of the innermost blocks: it is an if that may have an else
	outer   []uint64 // the bits of the blocks around those
	targets []uint32
	within  bool // the expression is followed by other bytes, and its end is not to be read past
	err     *Error
}

// NewReader returns a reader of an expression that begins at an offset in a
// module, for messages.
func NewReader(e Expr, offset int) *Reader { return &Reader{b: e, base: offset, depth: 1} }

// reset makes r read another expression, and keeps what it has allocated.
func (r *Reader) reset(e Expr, base int) {
	*r = Reader{b: e, base: base, depth: 1, outer: r.outer[:0], targets: r.targets}
}

// Err is the [*Error] that ended the walk; nil if the expression is well-formed.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil // not a nil *Error
	}
	return r.err
}

// Next reads the next instruction, the final end included. It is false behind
// that, and at the first error: an instruction that isn't admitted or is cut off,
// an else without if, blocks that aren't ended, bytes behind the final end.
func (r *Reader) Next(in *Instr) bool {
	b, start := r.b, r.i
	if start >= len(b) {
		if r.depth > 0 && r.err == nil {
			r.unended()
		}
		return false
	}
	c := b[start]
	i := start + 1
	in.Op = Op(c)
	in.Imm, in.Imm2, in.Offset, in.Block = 0, 0, start, BlockType{}
	if in.Targets != nil {
		in.Targets = nil
	}
	if in.Types != nil {
		in.Types = nil
	}
	form := forms[c]
	switch form {
	case formNone:
	case formIndex:
		if i < len(b) && b[i] < 0x80 {
			in.Imm = uint64(b[i])
			i++
		} else {
			i = r.index(in, i)
		}
	case formI32:
		if i < len(b) && b[i] < 0x80 {
			in.Imm = uint64(int64(int8(b[i]<<1) >> 1))
			i++
		} else {
			i = r.signed(in, i, 32)
		}
	case formI64:
		if i < len(b) && b[i] < 0x80 {
			in.Imm = uint64(int64(int8(b[i]<<1) >> 1))
			i++
		} else {
			i = r.signed(in, i, 64)
		}
	case formAccess8, formAccess16, formAccess32, formAccess64:
		if i+1 < len(b) && b[i] <= byte(form-formAccess8) && b[i+1] < 0x80 {
			in.Imm2, in.Imm = uint64(b[i]), uint64(b[i+1])
			i += 2
		} else {
			i = r.access(in, i, uint32(form-formAccess8))
		}
	case formBlock:
		if i = r.block(in, i); i >= 0 {
			r.open(in.Op == OpIf)
		}
	case formEnd:
		r.close()
		if r.depth == 0 && i < len(b) && !r.within {
			return r.fail(i, false, "%s bytes behind its end", Thousands(len(b)-i))
		}
	case formElse:
		if r.ifs&1 == 0 {
			return r.fail(start, false, "else without if")
		}
		r.ifs &^= 1
	default:
		i = r.rare(in, i)
	}
	if i < 0 {
		return r.bad(in, start, i)
	}
	in.Raw = b[start:i:i]
	r.i = i
	return true
}

// open and close keep track of blocks.
func (r *Reader) open(isIf bool) {
	if r.depth%64 == 0 {
		r.outer = append(r.outer, r.ifs)
	}
	r.ifs <<= 1
	if isIf {
		r.ifs |= 1
	}
	r.depth++
}

func (r *Reader) close() {
	r.depth--
	r.ifs >>= 1
	if r.depth > 0 && r.depth%64 == 0 {
		r.ifs = r.outer[len(r.outer)-1]
		r.outer = r.outer[:len(r.outer)-1]
	}
}

// What reads immediates gives the index behind them; or, if it is negative, why
// there is none: cutOff, tooLong, or failed after an error of its own.
const failed = -3

func (r *Reader) index(in *Instr, i int) int {
	v, i := uleb32(r.b, i)
	in.Imm = uint64(v)
	return i
}

func (r *Reader) indices(in *Instr, i int) int {
	if i = r.index(in, i); i < 0 {
		return i
	}
	v, i := uleb32(r.b, i)
	in.Imm2 = uint64(v)
	return i
}

func (r *Reader) signed(in *Instr, i, bits int) int {
	v, i := sleb(r.b, i, bits)
	in.Imm = uint64(v)
	return i
}

// access reads alignment and offset of a memory access that is 2^width bytes wide.
func (r *Reader) access(in *Instr, i int, width uint32) int {
	align, i := uleb32(r.b, i)
	switch {
	case i < 0:
		return i
	case align&^0x3f == 0x40:
		return r.refuse(in, true, "more than one memory is not admitted")
	case align > width:
		return r.refuse(in, false, "alignment 2^%d of %d bytes", align, 1<<width)
	}
	in.Imm2 = uint64(align)
	return r.index(in, i)
}

func (r *Reader) block(in *Instr, i int) int {
	if i >= len(r.b) {
		return cutOff
	}
	c := r.b[i]
	switch t := ValType(c); {
	case c == blockEmpty:
		return i + 1
	case t.admitted():
		in.Block.Result = t
		return i + 1
	}
	if c&0xc0 == 0x40 {
		return r.badType(in, c)
	}
	v, next := sleb(r.b, i, 33)
	if next > 0 && v < 0 {
		return r.refuse(in, false, "block type %d", v)
	}
	in.Block = BlockType{Index: uint32(v), HasIndex: true}
	return next
}

// rare reads what code has little of.
func (r *Reader) rare(in *Instr, i int) int {
	form := forms[byte(in.Op)]
	if form == formPrefixed {
		sub, next := uleb32(r.b, i)
		if next < 0 {
			return next
		}
		if sub >= uint32(len(prefixedOps)) {
			return r.unknown(in, i)
		}
		in.Op = prefix<<8 | Op(sub)
		form, i = prefixedForms[sub], next
	}
	switch form {
	case formNone:
		return i
	case formIndex:
		return r.index(in, i)
	case formIndices:
		return r.indices(in, i)
	case formMemory:
		return r.memory(in, i)
	case formMemories:
		return r.memory(in, r.memory(in, i))
	case formInit:
		return r.memory(in, r.index(in, i))
	case formF32:
		if len(r.b)-i < 4 {
			return cutOff
		}
		in.Imm = uint64(binary.LittleEndian.Uint32(r.b[i:]))
		return i + 4
	case formF64:
		if len(r.b)-i < 8 {
			return cutOff
		}
		in.Imm = binary.LittleEndian.Uint64(r.b[i:])
		return i + 8
	case formBrTable:
		return r.brTable(in, i)
	case formSelect:
		return r.selectType(in, i)
	case formRefType:
		if i >= len(r.b) {
			return cutOff
		}
		if t := ValType(r.b[i]); !t.IsReference() {
			return r.badType(in, r.b[i])
		}
		in.Imm = uint64(r.b[i])
		return i + 1
	}
	return r.unknown(in, i)
}

// memory reads the index of the only memory, which is a zero byte.
func (r *Reader) memory(in *Instr, i int) int {
	switch {
	case i < 0:
		return i
	case i >= len(r.b):
		return cutOff
	case r.b[i] != 0:
		return r.refuse(in, true, "more than one memory is not admitted")
	}
	return i + 1
}

func (r *Reader) brTable(in *Instr, i int) int {
	n, i := uleb32(r.b, i)
	if i < 0 {
		return i
	}
	if left := len(r.b) - i; uint64(n) > uint64(left) {
		return r.refuse(in, false, "%s labels announced, %s bytes left", Thousands(n), Thousands(left))
	}
	r.targets = slices.Grow(r.targets[:0], int(n))
	for range n {
		v, next := uleb32(r.b, i)
		if next < 0 {
			return next
		}
		r.targets = append(r.targets, v)
		i = next
	}
	in.Targets = r.targets
	return r.index(in, i)
}

func (r *Reader) selectType(in *Instr, i int) int {
	n, i := uleb32(r.b, i)
	switch {
	case i < 0:
		return i
	case n != 1:
		return r.refuse(in, false, "%s types, want 1", Thousands(n))
	case i >= len(r.b):
		return cutOff
	}
	if in.Types = ValType(r.b[i]).alone(); in.Types == nil {
		return r.badType(in, r.b[i])
	}
	return i + 1
}

// fail keeps an error and ends the walk.
func (r *Reader) fail(at int, feature bool, format string, args ...any) bool {
	r.err = &Error{Offset: r.base + at, What: "code", Detail: fmt.Sprintf(format, args...), Feature: feature}
	r.i = len(r.b)
	return false
}

func (r *Reader) unended() {
	if r.depth == 1 {
		r.fail(r.i, false, "it has no end")
	} else {
		r.fail(r.i, false, "%s blocks have no end", Thousands(r.depth-1))
	}
}

// refuse fails at an instruction.
func (r *Reader) refuse(in *Instr, feature bool, format string, args ...any) int {
	r.fail(in.Offset, feature, "%s: %s", in.Op, fmt.Sprintf(format, args...))
	return failed
}

// bad explains an instruction that can't be read.
func (r *Reader) bad(in *Instr, start, why int) bool {
	switch {
	case why == failed:
		return false
	case in.Op == prefix:
		r.fail(start, false, "instruction 0x%02x: %s", prefix, numberError(why))
	default:
		r.fail(start, false, "%s: %s", in.Op, numberError(why))
	}
	return false
}

func numberError(why int) string {
	if why == cutOff {
		return "unexpected end"
	}
	return "number is too long"
}

func (r *Reader) badType(in *Instr, t byte) int { return r.refuse(in, true, "%s", typeError(t)) }

// typeError explains a type that isn't admitted.
func typeError(t byte) string {
	if t == 0x7b {
		return "v128 needs SIMD, which is not admitted"
	}
	return fmt.Sprintf("value type 0x%02x is not admitted", t)
}

// extensions are opcodes of WebAssembly that aren't admitted.
var extensions = map[Op]string{
	0x06: "exception instruction try", 0x07: "exception instruction catch", 0x08: "exception instruction throw",
	0x09: "exception instruction rethrow", 0x0a: "exception instruction throw_ref", 0x18: "exception instruction delegate",
	0x19: "exception instruction catch_all", 0x1f: "exception instruction try_table",
	0x12: "tail call return_call", 0x13: "tail call return_call_indirect", 0x15: "tail call return_call_ref",
	0x14: "typed reference instruction call_ref", 0xd4: "typed reference instruction ref.as_non_null",
	0xd5: "typed reference instruction br_on_null", 0xd6: "typed reference instruction br_on_non_null",
	0xd3: "GC instruction ref.eq", 0xfb: "GC instruction", 0xfd: "SIMD instruction", 0xfe: "thread instruction",
	prefix: "instruction",
}

// unknown refuses an opcode; i is behind its first byte.
func (r *Reader) unknown(in *Instr, i int) int {
	what, ok := extensions[in.Op]
	opcode := fmt.Sprintf("0x%02x", byte(in.Op))
	switch in.Op {
	case prefix, 0xfb, 0xfd, 0xfe:
		if sub, next := uleb32(r.b, i); next > 0 {
			opcode += " " + fmt.Sprint(sub)
		}
	}
	if ok {
		r.fail(in.Offset, true, "%s %s is not admitted", what, opcode)
	} else {
		r.fail(in.Offset, false, "unknown instruction %s", opcode)
	}
	return failed
}
