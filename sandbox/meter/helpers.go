package meter

import "github.com/subnet112/assay/sandbox/wasm"

// Kinds of added functions.
const (
	helperCharge = iota // (n i32, each i64) -> n: pays n·each
	helperFill          // memory.fill in pieces
	helperCopy          // memory.copy in pieces
	helperKinds
)

// helper gives the index of an added function, in the rewritten module.
func (w *writer) helper(kind int) uint32 {
	if w.helpers[kind] == 0 {
		w.helpers[kind] = w.add([helperKinds]func() wasm.Code{w.chargeCode, w.fillCode, w.copyCode}[kind])
	}
	return w.helpers[kind]
}

// initHelper is memory.init of one data segment in pieces.
func (w *writer) initHelper(segment uint32) uint32 {
	index, ok := w.inits[segment]
	if !ok {
		if w.inits == nil {
			w.inits = map[uint32]uint32{}
		}
		index = w.add(func() wasm.Code { return w.initCode(segment) })
		w.work += workInit
		w.inits[segment] = index
	}
	return index
}

func (w *writer) add(code func() wasm.Code) uint32 {
	w.pending = append(w.pending, code)
	return w.functions + uint32(len(w.pending)) // the import comes first
}

// appendHelpers adds the functions that code asked for.
func (w *writer) appendHelpers() {
	bulk := w.typeIndex([]wasm.ValType{wasm.I32, wasm.I32, wasm.I32}, nil)
	charge := w.typeIndex([]wasm.ValType{wasm.I32, wasm.I64}, []wasm.ValType{wasm.I32})
	for i, code := range w.pending {
		t := bulk
		if w.functions+1+uint32(i) == w.helpers[helperCharge] {
			t = charge
		}
		w.out.Funcs = append(w.out.Funcs, t)
		w.out.Codes = append(w.out.Codes, code())
	}
}

// An assembler writes a function by hand. Its locals are numbered as the
// function's type and code say.
type assembler struct {
	b    []byte
	fuel uint32
	w    *writer
}

func (a *assembler) op(ops ...wasm.Op) *assembler {
	for _, op := range ops {
		in := wasm.Instr{Op: op}
		a.b = wasm.AppendInstr(a.b, &in)
	}
	return a
}

func (a *assembler) get(locals ...uint32) *assembler {
	for _, l := range locals {
		a.imm(wasm.OpLocalGet, uint64(l))
	}
	return a
}

func (a *assembler) imm(op wasm.Op, v uint64) *assembler {
	in := wasm.Instr{Op: op, Imm: v}
	a.b = wasm.AppendInstr(a.b, &in)
	return a
}

// pay takes an i64 from the stack, subtracts it from the fuel and tests; local t
// is an i64.
func (a *assembler) pay(t uint32) *assembler {
	a.imm(wasm.OpLocalSet, uint64(t)).imm(wasm.OpGlobalGet, uint64(a.fuel)).get(t).op(wasm.OpI64Sub)
	a.imm(wasm.OpLocalTee, uint64(t)).imm(wasm.OpGlobalSet, uint64(a.fuel))
	a.get(t).imm(wasm.OpI64Const, 0).op(wasm.OpI64LtS, wasm.OpIf)
	return a.imm(wasm.OpCall, uint64(a.w.imported)).op(wasm.OpEnd)
}

// past leaves whether local p plus the length is above an i64 that end pushes.
func (a *assembler) past(p uint32, end func()) *assembler {
	a.get(p).op(wasm.OpI64ExtendI32U).get(bulkN).op(wasm.OpI64ExtendI32U, wasm.OpI64Add)
	end()
	return a.op(wasm.OpI64GtU)
}

// memorySize pushes the memory's bytes as i64.
func (a *assembler) memorySize() {
	a.op(wasm.OpMemorySize, wasm.OpI64ExtendI32U).imm(wasm.OpI64Const, 16).op(wasm.OpI64Shl)
}

// chunk sets the piece's size to what is left of the length at most, and pays.
func (a *assembler) chunk() {
	a.get(bulkN).imm(wasm.OpI32Const, ChunkBytes)
	a.get(bulkN).imm(wasm.OpI32Const, ChunkBytes).op(wasm.OpI32LtU, wasm.OpSelect).imm(wasm.OpLocalTee, bulkC)
	a.imm(wasm.OpI32Const, 3).op(wasm.OpI32ShrU, wasm.OpI64ExtendI32U)
	a.imm(wasm.OpI64Const, chunkBase).op(wasm.OpI64Add)
	a.pay(bulkT)
}

// step adds the piece's size to, or subtracts it from, locals.
func (a *assembler) step(op wasm.Op, locals ...uint32) *assembler {
	for _, l := range locals {
		a.get(l, bulkC).op(op).imm(wasm.OpLocalSet, uint64(l))
	}
	return a
}

func (w *writer) assemble(locals []wasm.LocalGroup, write func(a *assembler)) wasm.Code {
	a := &assembler{fuel: w.fuel, w: w}
	write(a)
	a.op(wasm.OpEnd)
	return wasm.Code{Locals: locals, Body: a.b}
}

func (w *writer) chargeCode() wasm.Code {
	const n, each, t = 0, 1, 2
	return w.assemble([]wasm.LocalGroup{{Count: 1, Type: wasm.I64}}, func(a *assembler) {
		a.get(n).op(wasm.OpI64ExtendI32U).get(each).op(wasm.OpI64Mul)
		a.pay(t).get(n)
	})
}

// bulkLocals are a piece's size and a fuel value, behind three parameters.
var bulkLocals = []wasm.LocalGroup{{Count: 1, Type: wasm.I32}, {Count: 1, Type: wasm.I64}}

// Parameters and locals of the bulk functions: destination, source or value,
// length; the size of a piece; fuel.
const (
	bulkD = iota
	bulkS
	bulkN
	bulkC
	bulkT
)

// fillCode does memory.fill. What is out of bounds traps before anything is
// written, as the instruction itself does: so it is left to it.
func (w *writer) fillCode() wasm.Code {
	return w.assemble(bulkLocals, func(a *assembler) {
		a.past(bulkD, a.memorySize).op(wasm.OpIf)
		a.get(bulkD, bulkS, bulkN).op(wasm.OpMemoryFill, wasm.OpEnd, wasm.OpLoop)
		a.chunk()
		a.get(bulkD, bulkS, bulkC).op(wasm.OpMemoryFill)
		a.step(wasm.OpI32Add, bulkD).step(wasm.OpI32Sub, bulkN)
		a.get(bulkN).imm(wasm.OpBrIf, 0).op(wasm.OpEnd)
	})
}

// copyCode does memory.copy, from the end where the destination lies behind the
// source.
func (w *writer) copyCode() wasm.Code {
	return w.assemble(bulkLocals, func(a *assembler) {
		a.past(bulkD, a.memorySize).past(bulkS, a.memorySize).op(wasm.OpI32Or, wasm.OpIf)
		a.get(bulkD, bulkS, bulkN).op(wasm.OpMemoryCopy, wasm.OpEnd)
		a.get(bulkD, bulkS).op(wasm.OpI32LeU, wasm.OpIf, wasm.OpLoop)
		a.chunk()
		a.get(bulkD, bulkS, bulkC).op(wasm.OpMemoryCopy)
		a.step(wasm.OpI32Add, bulkD, bulkS).step(wasm.OpI32Sub, bulkN)
		a.get(bulkN).imm(wasm.OpBrIf, 0).op(wasm.OpEnd)
		a.op(wasm.OpElse, wasm.OpLoop)
		a.chunk()
		a.step(wasm.OpI32Sub, bulkN)
		a.get(bulkD, bulkN).op(wasm.OpI32Add).get(bulkS, bulkN).op(wasm.OpI32Add).get(bulkC).op(wasm.OpMemoryCopy)
		a.get(bulkN).imm(wasm.OpBrIf, 0).op(wasm.OpEnd, wasm.OpEnd)
	})
}

// initCode does memory.init of a segment. One that was dropped has no bytes: its
// first piece traps before anything is written.
func (w *writer) initCode(segment uint32) wasm.Code {
	size := uint64(len(w.in.Datas[segment].Bytes))
	return w.assemble(bulkLocals, func(a *assembler) {
		a.past(bulkD, a.memorySize)
		a.past(bulkS, func() { a.imm(wasm.OpI64Const, size) }).op(wasm.OpI32Or, wasm.OpIf)
		a.get(bulkD, bulkS, bulkN).imm(wasm.OpMemoryInit, uint64(segment)).op(wasm.OpEnd, wasm.OpLoop)
		a.chunk()
		a.get(bulkD, bulkS, bulkC).imm(wasm.OpMemoryInit, uint64(segment))
		a.step(wasm.OpI32Add, bulkD, bulkS).step(wasm.OpI32Sub, bulkN)
		a.get(bulkN).imm(wasm.OpBrIf, 0).op(wasm.OpEnd)
	})
}
