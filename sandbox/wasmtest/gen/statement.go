package gen

import (
	"slices"

	"github.com/subnet112/assay/sandbox/wasm"
)

// statement writes instructions that leave the stack as it was.
func (g *generator) statement(depth int) {
	if len(g.choices) == 0 {
		return
	}
	if depth <= 0 {
		t := pick(g, all)
		g.value(t, 0)
		g.sink(t)
		return
	}
	switch g.below(20) {
	case 0, 1, 2, 3:
		t := pick(g, all)
		g.value(t, depth)
		g.sink(t)
	case 4, 5:
		t := pick(g, numbers)
		g.address(depth)
		g.value(t, depth-1)
		g.access(pick(g, stores[t]))
	case 6, 7, 8:
		t := g.blockType()
		g.block([]wasm.Op{wasm.OpBlock, wasm.OpLoop, wasm.OpIf}[g.below(3)], t, depth)
		g.sinkAll(second(t.Type(&g.m)))
	case 9:
		to, l := g.target()
		for _, t := range l.types {
			g.value(t, depth-1)
		}
		g.value(wasm.I32, depth-1)
		g.emit(wasm.OpBrIf, to)
		g.sinkAll(l.types)
	case 10:
		g.branchTable(depth)
	case 11:
		g.leave(depth)
	case 12, 13:
		g.call(depth)
	case 14:
		g.callIndirect(depth)
	case 15, 16:
		g.bulk(depth)
	case 17:
		g.tables(depth)
	case 18:
		g.host(depth)
	default:
		g.emit(wasm.OpNop)
	}
}

func second[A, B any](_ A, b B) B { return b }

func (g *generator) sinkAll(types []wasm.ValType) {
	for _, t := range slices.Backward(types) {
		g.sink(t)
	}
}

func (g *generator) blockType() wasm.BlockType {
	switch g.below(3) {
	case 0:
		return wasm.BlockType{}
	case 1:
		return wasm.BlockType{Result: pick(g, all)}
	}
	return wasm.BlockType{HasIndex: true, Index: uint32(g.below(len(g.m.Types)))}
}

// branchTable branches to labels that take the same.
func (g *generator) branchTable(depth int) {
	to, l := g.target()
	in := wasm.Instr{Op: wasm.OpBrTable, Imm: to}
	for d := range g.f.labels {
		other := g.f.labels[len(g.f.labels)-1-d]
		if slices.Equal(other.types, l.types) && !other.loop && g.below(2) == 0 {
			in.Targets = append(in.Targets, uint32(d))
		}
	}
	// Around it goes a block, so that the code behind it is reached.
	g.instr(wasm.Instr{Op: wasm.OpBlock})
	g.f.labels = append(g.f.labels, label{})
	for i := range in.Targets {
		in.Targets[i]++
	}
	in.Imm++
	if len(l.types) == 0 {
		in.Targets = append(in.Targets, 0, 0)
	}
	for _, t := range l.types {
		g.value(t, depth-1)
	}
	g.length(7, depth)
	g.instr(in)
	g.f.labels = g.f.labels[:len(g.f.labels)-1]
	g.emit(wasm.OpEnd)
}

// leave goes out of blocks, of the function, or ends everything, most often
// under a condition.
func (g *generator) leave(depth int) {
	certain := g.seldom(12)
	if !certain {
		g.value(wasm.I32, depth-1)
		g.instr(wasm.Instr{Op: wasm.OpIf})
		g.f.labels = append(g.f.labels, label{})
	}
	switch {
	case g.seldom(20):
		g.emit(wasm.OpUnreachable)
	case g.below(2) == 0:
		for _, t := range g.f.labels[0].types {
			g.value(t, depth-1)
		}
		g.emit(wasm.OpReturn)
	default:
		to, l := g.target()
		for _, t := range l.types {
			g.value(t, depth-1)
		}
		g.emit(wasm.OpBr, to)
	}
	g.unreachable()
	if !certain {
		g.f.labels = g.f.labels[:len(g.f.labels)-1]
		g.emit(wasm.OpEnd)
	}
}

// callee chooses a function: one behind this, or seldom any of the module's own,
// which may never end.
func (g *generator) callee() (uint32, bool) {
	first := g.f.index + 1
	if g.seldom(16) {
		first = uint32(len(g.m.Imports))
	}
	if int(first) == len(g.funcs) {
		return 0, false
	}
	return first + uint32(g.below(len(g.funcs)-int(first))), true
}

func (g *generator) call(depth int) {
	f, ok := g.callee()
	if !ok {
		return
	}
	t := g.m.Types[g.funcs[f]]
	for _, p := range t.Params {
		g.value(p, depth-1)
	}
	g.emit(wasm.OpCall, uint64(f))
	g.sinkAll(t.Results)
}

// callIndirect calls an element of the table, of its type most often.
func (g *generator) callIndirect(depth int) {
	i := g.below(tableSize)
	f := g.refs[i]
	if int(f) < len(g.m.Imports) || f <= g.f.index && !g.seldom(16) {
		return
	}
	index := g.funcs[f]
	if g.seldom(20) {
		index = uint32(g.below(len(g.m.Types)))
	}
	t := g.m.Types[index]
	for _, p := range t.Params {
		g.value(p, depth-1)
	}
	if g.seldom(20) {
		g.length(tableSize-1, depth)
	} else {
		g.i32(int32(i))
	}
	g.emit(wasm.OpCallIndirect, uint64(index), 0)
	g.sinkAll(t.Results)
}

// bulk moves memory.
func (g *generator) bulk(depth int) {
	const length = 1<<9 - 1
	switch g.below(5) {
	case 0:
		g.address(depth)
		g.value(wasm.I32, depth-1)
		g.length(length, depth)
		g.emit(wasm.OpMemoryFill)
	case 1:
		g.address(depth)
		g.address(depth)
		g.length(length, depth)
		g.emit(wasm.OpMemoryCopy)
	case 2:
		// Many pieces.
		g.i32(int32(g.below(256)))
		g.value(wasm.I32, depth-1)
		g.i32(mostPages * 16383)
		g.value(wasm.I32, depth-1)
		g.emit(wasm.OpI32And)
		g.emit(wasm.OpMemoryFill)
	case 3:
		g.address(depth)
		g.length(dataBytes/2-1, depth)
		g.length(dataBytes/2-1, depth)
		g.emit(wasm.OpMemoryInit, 1)
	default:
		if g.seldom(4) {
			g.emit(wasm.OpDataDrop, 1)
		}
	}
}

// tables moves elements of the table.
func (g *generator) tables(depth int) {
	const mask = 3
	switch g.below(6) {
	case 0:
		g.length(tableSize-1, depth)
		g.value(wasm.FuncRef, depth-1)
		g.emit(wasm.OpTableSet, 0)
	case 1:
		g.length(mask, depth)
		g.value(wasm.FuncRef, depth-1)
		g.length(mask, depth)
		g.emit(wasm.OpTableFill, 0)
	case 2:
		g.length(mask, depth)
		g.length(mask, depth)
		g.length(mask, depth)
		g.emit(wasm.OpTableCopy, 0, 0)
	case 3:
		g.length(mask, depth)
		g.i32(0)
		g.length(mask, depth)
		g.emit(wasm.OpTableInit, 1, 0)
	case 4:
		g.value(wasm.FuncRef, depth-1)
		g.length(1, depth)
		g.emit(wasm.OpTableGrow, 0)
		g.sink(wasm.I32)
	default:
		if g.seldom(4) {
			g.emit(wasm.OpElemDrop, 1)
		}
	}
}

// host calls an import.
func (g *generator) host(depth int) {
	switch f := g.below(4); f {
	case importClock:
		g.length(1, depth)
		g.value(wasm.I64, depth-1)
		g.address(depth)
		g.emit(wasm.OpCall, importClock)
		g.sink(wasm.I32)
	default:
		g.address(depth)
		g.length(127, depth)
		g.emit(wasm.OpCall, uint64(f))
		if f != importOutput {
			g.sink(wasm.I32)
		}
	}
}
