package wasm_test

import (
	"slices"

	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// A body is a function's code under construction.
type body struct {
	*generator
	locals []byte   // parameters included
	labels [][]byte // what a branch takes, the innermost last
	left   int      // instructions that may still be nested
}

// function draws a code entry.
func (g *generator) function(s signature) []byte {
	b := &body{generator: g, locals: slices.Clone(s.params), labels: [][]byte{s.results}, left: g.below(40)}
	groups := g.times(3, func(int) []byte {
		n, t := g.below(3), pick(g, valTypes)
		b.locals = append(b.locals, slices.Repeat([]byte{t}, n)...)
		return append(g.u32(n), t)
	})
	return slices.Concat(g.vec(groups), b.statements(), b.values(s.results), wt.End)
}

func (b *body) statements() (out []byte) {
	for range b.below(4) {
		out = append(out, b.statement()...)
	}
	return out
}

func (b *body) values(types []byte) (out []byte) {
	for _, t := range types {
		out = append(out, b.value(t)...)
	}
	return out
}

// candidates are indices of what fits.
func candidates[T any](all []T, fits func(T) bool) (found []int) {
	for i, x := range all {
		if fits(x) {
			found = append(found, i)
		}
	}
	return found
}

// block draws a block with these results; with a type index if there is one.
func (b *body) block(results []byte) []byte {
	var params []byte
	kind := pick(b.generator, []byte{0x02, 0x03, 0x04})
	named := candidates(b.types, func(s signature) bool { return slices.Equal(s.results, results) })
	var typ []byte
	switch {
	case len(named) > 0 && (b.coin() || len(results) > 1):
		i := pick(b.generator, named)
		params, typ = b.types[i].params, b.s(int64(i), 33)
	case len(results) == 1:
		typ = results
	default:
		typ = []byte{0x40}
	}
	out := b.values(params)
	if kind == 0x04 {
		out = append(out, b.value(i32)...)
	}
	out = append(append(out, kind), typ...)
	label := results
	if kind == 0x03 {
		label = params
	}
	b.labels = append(b.labels, label)
	inside := func() {
		for range params {
			out = append(out, 0x1a) // drop
		}
		out = append(out, b.statements()...)
		switch b.below(6) {
		case 0:
			out = append(out, b.leave()...)
		default:
			out = append(out, b.values(results)...)
		}
	}
	inside()
	if kind == 0x04 && (!slices.Equal(params, results) || len(params) > 0 || b.coin()) {
		out = append(out, 0x05)
		inside()
	}
	b.labels = b.labels[:len(b.labels)-1]
	return append(out, 0x0b)
}

// leave draws code behind which nothing is reached.
func (b *body) leave() []byte {
	depth := b.below(len(b.labels))
	types := b.labels[len(b.labels)-1-depth]
	switch b.below(4) {
	case 0:
		return []byte{0x00}
	case 1:
		return append(b.values(b.labels[0]), 0x0f)
	case 2:
		same := candidates(b.labels, func(l []byte) bool { return slices.Equal(l, types) })
		targets := b.times(5, func(int) []byte { return b.u32(len(b.labels) - 1 - pick(b.generator, same)) })
		return slices.Concat(b.values(types), b.value(i32), []byte{0x0e}, b.vec(targets), b.u32(depth))
	}
	return slices.Concat(b.values(types), []byte{0x0c}, b.u32(depth))
}

// call draws a call of something with these results; none if there is nothing.
func (b *body) call(fits func(signature) bool) ([]byte, signature) {
	direct := candidates(b.funcs, func(t int) bool { return fits(b.types[t]) })
	if len(direct) > 0 && b.coin() {
		f := pick(b.generator, direct)
		s := b.types[b.funcs[f]]
		return slices.Concat(b.values(s.params), []byte{0x10}, b.u32(f)), s
	}
	types := candidates(b.types, fits)
	tables := candidates(b.tables, func(t byte) bool { return t == funcRef })
	if len(types) == 0 || len(tables) == 0 {
		return nil, signature{}
	}
	t := pick(b.generator, types)
	s := b.types[t]
	return slices.Concat(b.values(s.params), b.value(i32), []byte{0x11}, b.u32(t), b.u32(pick(b.generator, tables))), s
}

// value draws code that leaves one value.
func (b *body) value(t byte) []byte {
	if b.left--; b.left < 0 {
		return b.literal(t)
	}
	reference := t == funcRef || t == externRef
	switch choice := b.below(12); choice {
	case 0, 1:
		if of := candidates(b.locals, func(l byte) bool { return l == t }); len(of) > 0 {
			if choice == 0 {
				return append([]byte{0x20}, b.u32(pick(b.generator, of))...)
			}
			return slices.Concat(b.value(t), []byte{0x22}, b.u32(pick(b.generator, of)))
		}
	case 2:
		if of := candidates(b.globals, func(x global) bool { return x.typ == t }); len(of) > 0 {
			return append([]byte{0x23}, b.u32(pick(b.generator, of))...)
		}
	case 3:
		if b.memory && !reference {
			loads := candidates(make([]int, wasm.OpI64Load32U-wasm.OpI32Load+1), func(int) bool { return true })
			o := wasm.OpI32Load + wasm.Op(pick(b.generator, loads))
			if typeNamed(o) == t {
				return append(b.value(i32), b.access(o)...)
			}
		}
	case 4:
		if reference {
			return slices.Concat(b.value(t), b.value(t), b.value(i32), []byte{0x1c}, b.u32(1), []byte{t})
		}
		return slices.Concat(b.value(t), b.value(t), b.value(i32), []byte{0x1b})
	case 5:
		return b.block([]byte{t})
	case 6:
		if code, _ := b.call(func(s signature) bool { return slices.Equal(s.results, []byte{t}) }); code != nil {
			return code
		}
	case 7:
		depth := b.below(len(b.labels))
		if slices.Equal(b.labels[len(b.labels)-1-depth], []byte{t}) {
			return slices.Concat(b.value(t), b.value(i32), []byte{0x0d}, b.u32(depth))
		}
	case 8:
		if code := b.special(t); code != nil {
			return code
		}
	default:
		if !reference {
			o := pick(b.generator, operations[t])
			return append(b.values(o.params), b.opcode(o.op)...)
		}
	}
	return b.literal(t)
}

// special draws values that only some instructions leave.
func (b *body) special(t byte) []byte {
	tables := candidates(b.tables, func(e byte) bool { return e == t })
	switch {
	case t == i32:
		switch {
		case b.memory && b.coin():
			return []byte{0x3f, 0}
		case b.memory && b.coin():
			return append(b.value(i32), 0x40, 0)
		case len(b.tables) > 0 && b.coin():
			return append(b.opcode(wasm.OpTableSize), b.u32(b.below(len(b.tables)))...)
		case len(b.tables) > 0 && b.coin():
			i := b.below(len(b.tables))
			return slices.Concat(b.value(b.tables[i]), b.value(i32), b.opcode(wasm.OpTableGrow), b.u32(i))
		}
		return append(b.value(pick(b.generator, []byte{funcRef, externRef})), 0xd1)
	case t == funcRef && len(b.referred) > 0 && b.coin():
		return append([]byte{0xd2}, b.u32(int(pick(b.generator, b.referred)))...)
	case len(tables) > 0:
		return slices.Concat(b.value(i32), []byte{0x25}, b.u32(pick(b.generator, tables)))
	}
	return nil
}

// statement draws code that leaves nothing.
func (b *body) statement() []byte {
	if b.left--; b.left < 0 {
		return []byte{0x01}
	}
	switch b.below(10) {
	case 0:
		return []byte{0x01}
	case 1:
		if len(b.locals) > 0 {
			i := b.below(len(b.locals))
			return slices.Concat(b.value(b.locals[i]), []byte{0x21}, b.u32(i))
		}
	case 2:
		if of := candidates(b.globals, func(x global) bool { return x.mutable }); len(of) > 0 {
			i := pick(b.generator, of)
			return slices.Concat(b.value(b.globals[i].typ), []byte{0x24}, b.u32(i))
		}
	case 3:
		if b.memory {
			o := wasm.OpI32Store + wasm.Op(b.below(int(wasm.OpI64Store32-wasm.OpI32Store)+1))
			return slices.Concat(b.value(i32), b.value(typeNamed(o)), b.access(o))
		}
	case 4, 5:
		return b.block(nil)
	case 6:
		depth := b.below(len(b.labels))
		if len(b.labels[len(b.labels)-1-depth]) == 0 {
			return slices.Concat(b.value(i32), []byte{0x0d}, b.u32(depth))
		}
	case 7:
		if code, s := b.call(func(signature) bool { return true }); code != nil {
			return append(code, slices.Repeat([]byte{0x1a}, len(s.results))...)
		}
	case 8:
		if code := b.bulk(); code != nil {
			return code
		}
	}
	return append(b.value(pick(b.generator, valTypes)), 0x1a)
}

// bulk draws instructions on memory, tables and segments.
func (b *body) bulk() []byte {
	three := func() []byte { return b.values([]byte{i32, i32, i32}) }
	switch b.below(9) {
	case 0:
		if b.memory {
			return slices.Concat(three(), b.opcode(wasm.OpMemoryCopy), []byte{0, 0})
		}
	case 1:
		if b.memory {
			return slices.Concat(three(), b.opcode(wasm.OpMemoryFill), []byte{0})
		}
	case 2:
		if b.memory && b.counted && b.datas > 0 {
			return slices.Concat(three(), b.opcode(wasm.OpMemoryInit), b.u32(b.below(b.datas)), []byte{0})
		}
	case 3:
		if b.counted && b.datas > 0 {
			return append(b.opcode(wasm.OpDataDrop), b.u32(b.below(b.datas))...)
		}
	case 4:
		if len(b.elems) > 0 {
			return append(b.opcode(wasm.OpElemDrop), b.u32(b.below(len(b.elems)))...)
		}
	}
	if len(b.tables) == 0 {
		return nil
	}
	i := b.below(len(b.tables))
	t := b.tables[i]
	same := func(e byte) bool { return e == t }
	switch b.below(4) {
	case 0:
		if segments := candidates(b.elems, same); len(segments) > 0 {
			return slices.Concat(three(), b.opcode(wasm.OpTableInit), b.u32(pick(b.generator, segments)), b.u32(i))
		}
	case 1:
		return slices.Concat(three(), b.opcode(wasm.OpTableCopy), b.u32(i), b.u32(pick(b.generator, candidates(b.tables, same))))
	case 2:
		return slices.Concat(b.value(i32), b.value(t), b.value(i32), b.opcode(wasm.OpTableFill), b.u32(i))
	}
	return slices.Concat(b.value(i32), b.value(t), []byte{0x26}, b.u32(i))
}
