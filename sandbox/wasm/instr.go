package wasm

import "encoding/binary"

// An Instr is one decoded instruction. Fields that its opcode doesn't have are
// zero.
type Instr struct {
	Op Op

	// Imm is the index or label; of br_table, the default label; the offset of a
	// memory access; the bits of a constant, those of an i32 sign-extended; the type
	// of ref.null. Of instructions with two indices it is the one written first: the
	// type of call_indirect, the segment of memory.init and table.init, the
	// destination of table.copy.
	Imm uint64

	// Imm2 is the binary logarithm of a memory access's alignment; the table of
	// call_indirect and table.init; the source of table.copy.
	Imm2 uint64

	Block   BlockType // of block, loop and if
	Targets []uint32  // of br_table, without the default; overwritten by the reader's next br_table
	Types   []ValType // of the select that names its type; not to be written to
	Raw     []byte    // as encoded; it shares the expression's bytes
	Offset  int       // of Raw in the expression
}

// A BlockType is the type of a block. The zero value takes and leaves nothing.
type BlockType struct {
	Index    uint32 // of a function type
	HasIndex bool
	Result   ValType // without an index: of its only result; 0 = it has none
}

// Type is what a block takes and leaves. An index that the module doesn't have,
// which [Decode] refuses, takes and leaves nothing.
func (b BlockType) Type(m *Module) (params, results []ValType) {
	switch {
	case b.HasIndex && uint64(b.Index) < uint64(len(m.Types)):
		t := &m.Types[b.Index]
		return t.Params, t.Results
	case !b.HasIndex && b.Result != 0:
		return nil, b.Result.alone()
	}
	return nil, nil
}

// blockEmpty encodes a block that takes and leaves nothing.
const blockEmpty = 0x40

// admitted reports whether t is one of the value types.
func (t ValType) admitted() bool { return t >= F64 && t <= I32 || t == FuncRef || t == ExternRef }

// alone is the list of one admitted type.
func (t ValType) alone() []ValType {
	for i := range valTypes {
		if valTypes[i] == t {
			return valTypes[i : i+1 : i+1]
		}
	}
	return nil
}

var valTypes = [...]ValType{I32, I64, F32, F64, FuncRef, ExternRef}

// AppendInstr appends an instruction, its numbers in their shortest form. Raw and
// Offset are ignored. It panics if the opcode isn't admitted.
func AppendInstr(b []byte, in *Instr) []byte {
	form := formUnknown
	if info := in.Op.info(); info != nil {
		form = info.form
	}
	if in.Op < 0x100 {
		b = append(b, byte(in.Op))
	} else {
		b = append(b, prefix, byte(in.Op))
	}
	switch form {
	case formNone, formElse, formEnd:
	case formIndex:
		b = AppendU32(b, uint32(in.Imm))
	case formAccess8, formAccess16, formAccess32, formAccess64:
		b = AppendU32(AppendU32(b, uint32(in.Imm2)), uint32(in.Imm))
	case formI32:
		b = AppendS64(b, int64(int32(in.Imm)))
	case formI64:
		b = AppendS64(b, int64(in.Imm))
	case formF32:
		b = binary.LittleEndian.AppendUint32(b, uint32(in.Imm))
	case formF64:
		b = binary.LittleEndian.AppendUint64(b, in.Imm)
	case formBlock:
		switch {
		case in.Block.HasIndex:
			b = AppendS64(b, int64(in.Block.Index))
		case in.Block.Result != 0:
			b = append(b, byte(in.Block.Result))
		default:
			b = append(b, blockEmpty)
		}
	case formBrTable:
		b = AppendU32(b, uint32(len(in.Targets)))
		for _, t := range in.Targets {
			b = AppendU32(b, t)
		}
		b = AppendU32(b, uint32(in.Imm))
	case formIndices:
		b = AppendU32(AppendU32(b, uint32(in.Imm)), uint32(in.Imm2))
	case formSelect:
		b = appendValTypes(b, in.Types)
	case formRefType:
		b = append(b, byte(in.Imm))
	case formMemory:
		b = append(b, 0)
	case formMemories:
		b = append(b, 0, 0)
	case formInit:
		b = append(AppendU32(b, uint32(in.Imm)), 0)
	default:
		panic("wasm: no opcode " + in.Op.String())
	}
	return b
}
