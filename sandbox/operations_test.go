package sandbox_test

import "github.com/subnet112/assay/sandbox/wasm"

// An operand is a way to come by a number, and its type.
type operand struct {
	of   wasm.ValType
	code []byte
}

// code writes instructions.
func code(list ...wasm.Instr) (b []byte) {
	for i := range list {
		b = wasm.AppendInstr(b, &list[i])
	}
	return b
}

// operands are numbers with bits in the upper half of a register, or with none
// where one might expect them: loads with and without a sign, wrapped and
// computed ones.
func operands() (all []operand) {
	at := func(op wasm.Op, offset uint64) []byte {
		return code(wasm.Instr{Op: wasm.OpLocalGet}, wasm.Instr{Op: op, Imm: offset})
	}
	for offset := range uint64(3) {
		for _, op := range []wasm.Op{wasm.OpI32Load8S, wasm.OpI32Load16S, wasm.OpI32Load16U, wasm.OpI32Load} {
			all = append(all, operand{wasm.I32, at(op, 4*offset)})
		}
		all = append(all, operand{wasm.I32, append(at(wasm.OpI64Load, 4*offset), byte(wasm.OpI32WrapI64))})
		all = append(all, operand{wasm.I32, append(at(wasm.OpI64Load32S, 4*offset), byte(wasm.OpI32WrapI64))})
		all = append(all, operand{wasm.I32, append(append(at(wasm.OpI32Load8S, 4*offset), at(wasm.OpI32Load16S, 8)...), byte(wasm.OpI32Mul))})
		for _, op := range []wasm.Op{wasm.OpI64Load8S, wasm.OpI64Load32S, wasm.OpI64Load} {
			all = append(all, operand{wasm.I64, at(op, 4*offset)})
		}
		all = append(all, operand{wasm.I64, append(at(wasm.OpI32Load8S, 4*offset), byte(wasm.OpI64ExtendI32U))})
	}
	return all
}

// An operation takes numbers of one type and makes one.
type operation struct {
	op           wasm.Op
	takes, makes wasm.ValType
	count        int
}

// operations are those on integers that don't trap for want of a divisor.
func operations() (all []operation) {
	add := func(count int, takes, makes wasm.ValType, first, last wasm.Op) {
		for op := first; op <= last; op++ {
			all = append(all, operation{op, takes, makes, count})
		}
	}
	add(1, wasm.I32, wasm.I32, wasm.OpI32Eqz, wasm.OpI32Eqz)
	add(2, wasm.I32, wasm.I32, wasm.OpI32Eq, wasm.OpI32GeU)
	add(1, wasm.I64, wasm.I32, wasm.OpI64Eqz, wasm.OpI64Eqz)
	add(2, wasm.I64, wasm.I32, wasm.OpI64Eq, wasm.OpI64GeU)
	add(1, wasm.I32, wasm.I32, wasm.OpI32Clz, wasm.OpI32Popcnt)
	add(2, wasm.I32, wasm.I32, wasm.OpI32Add, wasm.OpI32Mul)
	add(2, wasm.I32, wasm.I32, wasm.OpI32And, wasm.OpI32Rotr)
	add(1, wasm.I64, wasm.I64, wasm.OpI64Clz, wasm.OpI64Popcnt)
	add(2, wasm.I64, wasm.I64, wasm.OpI64Add, wasm.OpI64Mul)
	add(2, wasm.I64, wasm.I64, wasm.OpI64And, wasm.OpI64Rotr)
	add(1, wasm.I64, wasm.I32, wasm.OpI32WrapI64, wasm.OpI32WrapI64)
	add(1, wasm.I32, wasm.I64, wasm.OpI64ExtendI32S, wasm.OpI64ExtendI32U)
	add(1, wasm.I32, wasm.F32, wasm.OpF32ConvertI32S, wasm.OpF32ConvertI32U)
	add(1, wasm.I64, wasm.F32, wasm.OpF32ConvertI64S, wasm.OpF32ConvertI64U)
	add(1, wasm.I32, wasm.F64, wasm.OpF64ConvertI32S, wasm.OpF64ConvertI32U)
	add(1, wasm.I64, wasm.F64, wasm.OpF64ConvertI64S, wasm.OpF64ConvertI64U)
	add(1, wasm.I32, wasm.F32, wasm.OpF32ReinterpretI32, wasm.OpF32ReinterpretI32)
	add(1, wasm.I64, wasm.F64, wasm.OpF64ReinterpretI64, wasm.OpF64ReinterpretI64)
	add(1, wasm.I32, wasm.I32, wasm.OpI32Extend8S, wasm.OpI32Extend16S)
	add(1, wasm.I64, wasm.I64, wasm.OpI64Extend8S, wasm.OpI64Extend32S)
	for _, op := range []wasm.Op{wasm.OpI32DivS, wasm.OpI32DivU, wasm.OpI32RemS, wasm.OpI32RemU} {
		add(2, wasm.I32, wasm.I32, op, op)
	}
	for _, op := range []wasm.Op{wasm.OpI64DivS, wasm.OpI64DivU, wasm.OpI64RemS, wasm.OpI64RemU} {
		add(2, wasm.I64, wasm.I64, op, op)
	}
	return all
}

var stores = map[wasm.ValType]wasm.Op{
	wasm.I32: wasm.OpI32Store, wasm.I64: wasm.OpI64Store, wasm.F32: wasm.OpF32Store, wasm.F64: wasm.OpF64Store,
}

// operating is a session of every operation on every operand, a function for each
// operation. They leave what they made in memory.
func operating() *session {
	m := &wasm.Module{
		Types:    []wasm.FuncType{{Params: []wasm.ValType{wasm.I32}, Results: []wasm.ValType{wasm.I32}}, {Params: []wasm.ValType{wasm.I32}}},
		Memories: []wasm.Limits{{Min: 4}},
		Exports:  []wasm.Export{{Name: "memory", Kind: wasm.KindMemory}, {Name: "run", Kind: wasm.KindFunc}},
		Datas:    []wasm.Data{{Offset: code(wasm.Instr{Op: wasm.OpI32Const}, wasm.Instr{Op: wasm.OpEnd}), Bytes: []byte("\x80\xff\xff\x80\x81\x80\x00\xf7\x7f\x90\x01\x80\xfe\xff\xff\xff\xff\xff\xff\x01")}},
	}
	run := code()
	slot := uint64(64)
	for _, o := range operations() {
		body := code()
		store := func(parts ...[]byte) {
			body = append(body, code(wasm.Instr{Op: wasm.OpI32Const})...)
			for _, p := range parts {
				body = append(body, p...)
			}
			body = append(body, code(wasm.Instr{Op: o.op}, wasm.Instr{Op: stores[o.makes], Imm: slot})...)
			slot += 8
		}
		for _, x := range operands() {
			switch {
			case x.of != o.takes:
			case o.count == 1:
				store(x.code)
			default:
				for _, y := range operands() {
					if y.of == x.of {
						store(x.code, y.code)
					}
				}
			}
		}
		m.Funcs = append(m.Funcs, 1)
		m.Codes = append(m.Codes, wasm.Code{Body: append(body, byte(wasm.OpEnd))})
		run = append(run, code(wasm.Instr{Op: wasm.OpLocalGet}, wasm.Instr{Op: wasm.OpCall, Imm: uint64(len(m.Funcs))})...)
	}
	m.Funcs = append([]uint32{0}, m.Funcs...)
	m.Codes = append([]wasm.Code{{Body: append(run, code(wasm.Instr{Op: wasm.OpI32Const}, wasm.Instr{Op: wasm.OpEnd})...)}}, m.Codes...)
	return &session{Name: "operations", Module: m.Encode(), Profile: probeProfile, Fuel: 10_000_000, Steps: []step{{Export: "run"}}}
}
