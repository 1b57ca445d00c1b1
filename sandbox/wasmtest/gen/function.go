package gen

import "github.com/subnet112/assay/sandbox/wasm"

// A function is one that is written.
type function struct {
	index   uint32
	locals  []wasm.ValType // parameters first
	code    []byte
	labels  []label // the innermost last
	counter uint32  // the next local that counts a loop's turns
}

// A label is what a branch to a block takes.
type label struct {
	types []wasm.ValType
	loop  bool
}

// counters is how many loops of a function end for certain.
const counters = 4

func (g *generator) function(index uint32) {
	t := g.m.Types[g.funcs[index]]
	f := &function{index: index}
	f.locals = append(append(f.locals, t.Params...), all...)
	f.locals = append(f.locals, g.valTypes(all)...)
	f.counter = uint32(len(f.locals))
	for range counters {
		f.locals = append(f.locals, wasm.I32)
	}
	f.labels = []label{{types: t.Results}}
	g.f = f
	for range 4 + g.below(20) {
		g.statement(4)
	}
	for _, r := range t.Results {
		g.value(r, 3)
	}
	g.emit(wasm.OpEnd)
	code := wasm.Code{Body: f.code}
	for _, l := range f.locals[len(t.Params):] {
		code.Locals = append(code.Locals, wasm.LocalGroup{Count: 1, Type: l})
	}
	g.m.Codes = append(g.m.Codes, code)
}

func (g *generator) emit(op wasm.Op, imm ...uint64) {
	in := wasm.Instr{Op: op}
	if len(imm) > 0 {
		in.Imm = imm[0]
	}
	if len(imm) > 1 {
		in.Imm2 = imm[1]
	}
	g.instr(in)
}

func (g *generator) instr(in wasm.Instr) { g.f.code = wasm.AppendInstr(g.f.code, &in) }

func (g *generator) i32(v int32) { g.emit(wasm.OpI32Const, uint64(int64(v))) }

// local finds a local of a type; those that count loops aren't touched.
func (g *generator) local(t wasm.ValType) uint64 {
	var fits []uint64
	for i, l := range g.f.locals[:len(g.f.locals)-counters] {
		if l == t {
			fits = append(fits, uint64(i))
		}
	}
	return pick(g, fits)
}

// global finds a global of a type.
func global(t wasm.ValType, mutable bool) uint64 {
	for i, u := range all {
		if u == t {
			if mutable {
				return uint64(i)
			}
			return uint64(len(all) + i)
		}
	}
	panic("no such type")
}

// sink takes a value from the stack and keeps it where it can be seen.
func (g *generator) sink(t wasm.ValType) {
	switch {
	case g.seldom(8):
		g.emit(wasm.OpDrop)
	case g.seldom(3) || t.IsReference():
		g.emit(wasm.OpLocalSet, g.local(t))
	case g.seldom(3):
		g.emit(wasm.OpGlobalSet, global(t, true))
	default:
		l := g.local(t)
		g.emit(wasm.OpLocalSet, l)
		g.address(0)
		g.emit(wasm.OpLocalGet, l)
		g.access(pick(g, stores[t]))
	}
}

// address leaves one in the first bytes of memory, or any.
func (g *generator) address(depth int) {
	g.value(wasm.I32, depth-1)
	if !g.seldom(40) {
		g.i32(memoryMask)
		g.emit(wasm.OpI32And)
	}
}

// length leaves a small number, or any.
func (g *generator) length(mask int32, depth int) {
	g.value(wasm.I32, depth-1)
	if !g.seldom(40) {
		g.i32(mask)
		g.emit(wasm.OpI32And)
	}
}

func (g *generator) access(a access) {
	offset := uint64(g.below(64))
	if g.seldom(40) {
		offset = 1 << (10 + g.below(22))
	}
	g.emit(a.op, offset, uint64(g.below(a.align+1)))
}

// block writes a block of a kind around a body, with values for its parameters
// in front; its results are left on the stack.
func (g *generator) block(op wasm.Op, t wasm.BlockType, depth int) {
	params, results := t.Type(&g.m)
	for _, p := range params {
		g.value(p, depth-1)
	}
	if op == wasm.OpIf {
		g.value(wasm.I32, depth-1)
	}
	g.instr(wasm.Instr{Op: op, Block: t})
	l := label{types: results}
	if op == wasm.OpLoop {
		l = label{params, true}
	}
	body := func() {
		for i := len(params) - 1; i >= 0; i-- {
			g.sink(params[i])
		}
		for range 1 + g.below(4) {
			g.statement(depth - 1)
		}
		if op == wasm.OpLoop {
			g.turn()
		}
		for _, r := range results {
			g.value(r, depth-1)
		}
	}
	g.f.labels = append(g.f.labels, l)
	body()
	if op == wasm.OpIf && (g.below(2) == 0 || len(results) > 0 || len(params) > 0) {
		g.emit(wasm.OpElse)
		body()
	}
	g.f.labels = g.f.labels[:len(g.f.labels)-1]
	g.emit(wasm.OpEnd)
}

// turn goes back to the loop that is the innermost block, a few times.
func (g *generator) turn() {
	f := g.f
	if f.counter == uint32(len(f.locals)) {
		return
	}
	c := uint64(f.counter)
	f.counter++
	types := f.labels[len(f.labels)-1].types
	for _, t := range types {
		g.value(t, 0)
	}
	g.emit(wasm.OpLocalGet, c)
	g.i32(1)
	g.emit(wasm.OpI32Add)
	g.emit(wasm.OpLocalTee, c)
	g.i32(int32(2 + g.below(60)))
	g.emit(wasm.OpI32LtU)
	g.emit(wasm.OpBrIf, 0)
	for i := len(types) - 1; i >= 0; i-- {
		g.sink(types[i])
	}
}

// target chooses a label; one of a loop, which may never end, seldom.
func (g *generator) target() (depth uint64, l label) {
	depth = uint64(g.below(len(g.f.labels)))
	l = g.f.labels[len(g.f.labels)-1-int(depth)]
	if l.loop && !g.seldom(10) {
		depth, l = uint64(len(g.f.labels)-1), g.f.labels[0]
	}
	return depth, l
}

// unreachable writes code behind a branch, where the stack has whatever is
// taken from it.
func (g *generator) unreachable() {
	switch g.below(4) {
	case 1:
		g.emit(wasm.OpI32Add)
		g.emit(wasm.OpDrop)
	case 2:
		g.emit(wasm.OpSelect)
		g.emit(wasm.OpDrop)
	case 3:
		g.emit(wasm.OpF64Sqrt)
		g.emit(wasm.OpI64TruncSatF64S)
		g.emit(wasm.OpI64Store, 0, 0)
	}
}
