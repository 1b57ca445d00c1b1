package meter

import "github.com/subnet112/assay/sandbox/wasm"

// instruction rewrites one instruction: it follows the height of the operand
// stack and the blocks, charges, and writes the instruction with shifted indices.
func (f *function) instruction(in *wasm.Instr) error {
	if len(f.frames) == 0 {
		return f.invalid("code after its end")
	}
	if f.nan != 0 {
		if !absorbs(in.Op, f.nan) {
			f.canonical()
		}
		f.nan = 0
	}
	if in.Op >= 256 {
		f.work += workPrefixed
		return f.plain(in)
	}
	f.work += int(work[in.Op])
	switch o := &simple[in.Op]; o.kind {
	case kindControl:
		return f.control(in)
	case kindSpecial:
		return f.plain(in)
	default:
		if o.kind == kindLocal && in.Imm >= uint64(f.locals) {
			return f.invalid("local %s of %s", thousands(in.Imm), thousands(f.locals))
		}
		if err := f.operands(int(o.pops), int(o.pushes)); err != nil {
			return err
		}
		f.charge(int(o.cost))
		f.code = append(f.code, in.Raw...)
		if o.kind != kindLocal {
			f.size.made(int(o.pushes))
		} else if in.Op != wasm.OpLocalGet {
			f.size.sets++
		}
		if o.kind == kindFloat && !f.w.options.KeepNaNs && !f.dead {
			f.nan = nanOf(in.Op)
		}
	}
	return nil
}

// Kinds of instructions of one byte.
const (
	kindSimple  = iota // nothing but operands and a cost
	kindLocal          // and the index of a local
	kindFloat          // and a NaN that may not be canonical
	kindSpecial        // see plain
	kindControl        // see control
)

// simple is what most code consists of, in one table: one look for each
// instruction.
var simple = func() (t [256]struct {
	kind, pops, pushes uint8
	cost               uint16
}) {
	for op := range wasm.Op(256) {
		pops, pushes, ok := op.Stack()
		t[op].pops, t[op].pushes, t[op].cost = uint8(pops), uint8(pushes), costOf(op)
		switch {
		case !ok:
			t[op].kind = kindControl
		case nanOf(op) != 0:
			t[op].kind = kindFloat
		}
	}
	for _, op := range []wasm.Op{wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee} {
		t[op].kind = kindLocal
	}
	for _, op := range []wasm.Op{wasm.OpGlobalGet, wasm.OpGlobalSet, wasm.OpRefFunc, wasm.OpMemoryGrow, wasm.OpTableSet, wasm.OpSelectT, wasm.OpI32Popcnt} {
		t[op].kind = kindSpecial
	}
	return t
}()

// operands takes and gives operands.
func (f *function) operands(pops, pushes int) error {
	if err := f.pop(pops); err != nil {
		return err
	}
	return f.push(pushes)
}

// plain rewrites the other instructions that take and give a fixed number of
// operands.
func (f *function) plain(in *wasm.Instr) error {
	pops, pushes, _ := in.Op.Stack()
	if err := f.operands(pops, pushes); err != nil {
		return err
	}
	f.charge(int(costOf(in.Op)))
	f.size.made(pushes)
	switch in.Op {
	case wasm.OpGlobalGet, wasm.OpGlobalSet:
		if in.Imm >= uint64(f.w.fuel) {
			return f.invalid("global %s of %s", thousands(in.Imm), thousands(f.w.fuel))
		}
	case wasm.OpRefFunc:
		index, err := f.w.shift(uint32(in.Imm))
		if err != nil {
			return f.invalid("%v", err)
		}
		in.Imm = uint64(index)
		f.code = wasm.AppendInstr(f.code, in)
		return nil
	case wasm.OpI32Popcnt:
		// wazero's compiler for arm64 counts the upper half of the register too,
		// which a load with a sign leaves set.
		f.size.made(2)
		f.code = append(f.code, byte(wasm.OpI64ExtendI32U), byte(wasm.OpI64Popcnt), byte(wasm.OpI32WrapI64))
		return nil
	case wasm.OpMemoryGrow:
		f.scaled(GrowPage)
	case wasm.OpTableGrow, wasm.OpTableFill, wasm.OpTableCopy, wasm.OpTableInit:
		f.w.unsound(f.why(in.Op))
		f.scaled(TableElement)
	case wasm.OpTableSet, wasm.OpElemDrop, wasm.OpDataDrop:
		f.w.unsound(f.why(in.Op))
	case wasm.OpMemoryFill:
		return f.helper(f.w.helper(helperFill))
	case wasm.OpMemoryCopy:
		return f.helper(f.w.helper(helperCopy))
	case wasm.OpMemoryInit:
		f.w.unsound(f.why(in.Op))
		if in.Imm >= uint64(len(f.w.in.Datas)) {
			return f.invalid("data segment %s of %s", thousands(in.Imm), thousands(len(f.w.in.Datas)))
		}
		return f.helper(f.w.initHelper(uint32(in.Imm)))
	}
	// In their shortest form: wazero takes some numbers for single bytes.
	f.code = wasm.AppendInstr(f.code, in)
	return nil
}

func (f *function) why(op wasm.Op) string {
	return "function " + thousands(f.index) + " uses " + op.String()
}

// scaled charges for the number on top of the stack and leaves it there.
func (f *function) scaled(each uint64) {
	f.tests = true
	in := wasm.Instr{Op: wasm.OpI64Const, Imm: each}
	f.code = wasm.AppendInstr(f.code, &in)
	_ = f.helper(f.w.helper(helperCharge))
}

// helper calls one of the added functions.
func (f *function) helper(index uint32) error {
	f.tests = true
	f.size.called(3, 1)
	f.save()
	f.code = append(f.code, byte(wasm.OpCall))
	f.code = appendU32(f.code, index)
	f.load()
	return nil
}

// save and load stand around calls: the fuel is a local of each function while it
// runs, and in the global for everyone else. After a trap the global has what was
// there at the last call or test.
func (f *function) save() {
	if !f.dead {
		f.code = f.appendSave(f.code)
	}
}

func (f *function) load() {
	if !f.dead {
		f.code = f.appendLoad(f.code)
	}
}

// control rewrites blocks, branches and calls.
func (f *function) control(in *wasm.Instr) error {
	f.branches += branching(in.Op)
	switch in.Op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
		return f.open(in)
	case wasm.OpElse:
		return f.otherwise(in)
	case wasm.OpEnd:
		return f.close(in)
	case wasm.OpBr, wasm.OpBrIf, wasm.OpBrTable:
		return f.branch(in)
	case wasm.OpReturn, wasm.OpUnreachable:
		f.charge(int(costOf(in.Op)))
		f.save()
		f.code = append(f.code, in.Raw...)
		f.stop()
		return nil
	case wasm.OpCall:
		t, err := f.w.typeOf(uint32(in.Imm))
		if err != nil {
			return f.invalid("%v", err)
		}
		return f.call(in, t, uint32(in.Imm) < f.w.imported)
	case wasm.OpCallIndirect:
		t, err := f.w.funcType(uint32(in.Imm))
		if err != nil {
			return f.invalid("%v", err)
		}
		if err := f.pop(1); err != nil {
			return err
		}
		return f.call(in, t, false)
	}
	return f.invalid("instruction %s is not admitted", in.Op)
}

// stop marks what follows as never reached.
func (f *function) stop() {
	f.begin(false)
	f.height = f.frames[len(f.frames)-1].base
	f.dead = true
}

func (f *function) open(in *wasm.Instr) error {
	f.charge(int(costOf(in.Op)))
	params, results, err := f.w.blockType(in.Block)
	if err != nil {
		return f.invalid("%v", err)
	}
	if in.Op == wasm.OpIf {
		if err := f.pop(1); err != nil {
			return err
		}
	}
	if err := f.pop(params); err != nil {
		return err
	}
	f.frames = append(f.frames, frame{
		op: in.Op, base: f.height, params: params, results: results, dead: f.dead, sets: f.size.sets,
	})
	f.nested = max(f.nested, len(f.frames)-1)
	f.code = append(f.code, in.Raw...)
	switch in.Op {
	case wasm.OpLoop:
		f.tests = true
		f.begin(true)
	case wasm.OpIf:
		f.begin(false)
		f.frames[len(f.frames)-1].untested = f.untested // on the way around it
	}
	return f.push(params)
}

func (w *writer) blockType(b wasm.BlockType) (params, results int, err error) {
	if b.HasIndex {
		t, err := w.funcType(b.Index)
		return len(t.Params), len(t.Results), err
	}
	if b.Result != 0 {
		return 0, 1, nil
	}
	return 0, 0, nil
}

func (f *function) otherwise(in *wasm.Instr) error {
	top := &f.frames[len(f.frames)-1]
	if top.op != wasm.OpIf {
		return f.invalid("else without if")
	}
	top.op = wasm.OpElse
	f.begin(false)
	f.untested, top.untested = top.untested, f.reaching(top.untested)
	f.code = append(f.code, in.Raw...)
	f.dead, f.height = top.dead, top.base
	return f.push(top.params)
}

func (f *function) close(in *wasm.Instr) error {
	top := f.frames[len(f.frames)-1]
	f.frames = f.frames[:len(f.frames)-1]
	// Where control meets that of elsewhere, a segment ends. A loop is left at its
	// end only, and so is a block that nothing branches out of.
	if top.op != wasm.OpLoop {
		f.untested = f.reaching(top.untested)
	}
	if top.targeted || top.op == wasm.OpIf || top.op == wasm.OpElse {
		f.size.merged(top.sets, int(f.locals), top.params+top.results)
	}
	joins := f.dead || top.targeted && top.op != wasm.OpLoop || top.op == wasm.OpIf || top.op == wasm.OpElse
	if joins || len(f.frames) == 0 {
		f.begin(false)
	}
	if len(f.frames) == 0 && f.fuelled() {
		f.save()
	}
	f.code = append(f.code, in.Raw...)
	f.dead, f.height = top.dead, top.base
	if len(f.frames) == 0 {
		return nil
	}
	return f.push(top.results)
}

// reaching is the most fuel since a test where the way from here, if there is one,
// meets others.
func (f *function) reaching(others int) int {
	if f.dead {
		return others
	}
	return max(others, f.untested)
}

// label marks the block that many levels out as the target of a branch.
func (f *function) label(depth uint64) error {
	if depth >= uint64(len(f.frames)) {
		return f.invalid("branch to level %s of %s", thousands(depth), thousands(len(f.frames)))
	}
	target := &f.frames[len(f.frames)-1-int(depth)]
	target.targeted = true
	target.untested = max(target.untested, f.untested)
	return nil
}

func (f *function) branch(in *wasm.Instr) error {
	f.charge(int(costOf(in.Op)))
	function := uint64(len(f.frames) - 1)
	leaves := in.Imm == function
	if in.Op == wasm.OpBrTable {
		for _, t := range in.Targets {
			leaves = leaves || uint64(t) == function
		}
	}
	if leaves {
		f.save()
	}
	if in.Op != wasm.OpBr {
		if err := f.pop(1); err != nil {
			return err
		}
	}
	if in.Op == wasm.OpBrTable {
		if err := f.brTable(in.Targets); err != nil {
			return err
		}
	}
	if err := f.label(in.Imm); err != nil {
		return err
	}
	f.code = append(f.code, in.Raw...)
	if in.Op == wasm.OpBrIf {
		f.begin(false)
		return nil
	}
	f.stop()
	return nil
}

func (f *function) brTable(targets []uint32) error {
	if n := len(targets); n > MaxBrTable {
		return tooBig("function %s has a br_table of %s targets, limit %s", thousands(f.index), thousands(n), thousands(MaxBrTable))
	}
	f.work += workTarget * len(targets)
	if f.w.targets += len(targets); f.w.targets > MaxBrTables {
		return tooBig("the br_tables up to function %s have %s targets in all, limit %s",
			thousands(f.index), thousands(f.w.targets), thousands(MaxBrTables))
	}
	for _, t := range targets {
		if err := f.label(uint64(t)); err != nil {
			return err
		}
	}
	return nil
}

func (f *function) call(in *wasm.Instr, t wasm.FuncType, imported bool) error {
	f.charge(int(costOf(in.Op)))
	f.tests = true
	if err := f.pop(len(t.Params)); err != nil {
		return err
	}
	f.save()
	if !imported && !f.dead {
		f.nests = true
		f.code = f.appendDepth(f.code)
	}
	if in.Op == wasm.OpCall {
		index, err := f.w.shift(uint32(in.Imm))
		if err != nil {
			return f.invalid("%v", err)
		}
		f.code = append(f.code, byte(wasm.OpCall))
		f.code = appendU32(f.code, index)
	} else {
		f.code = append(f.code, in.Raw...)
	}
	f.load()
	f.untested += leafFuel // the callee's, which may have no test
	f.work += (len(t.Params) + len(t.Results)) * workOperand / 4
	f.size.called(len(t.Params), len(t.Results))
	return f.push(len(t.Results))
}
