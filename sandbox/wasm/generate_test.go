package wasm_test

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

const (
	i32, i64, f32, f64 = byte(wasm.I32), byte(wasm.I64), byte(wasm.F32), byte(wasm.F64)
	funcRef, externRef = byte(wasm.FuncRef), byte(wasm.ExternRef)
)

var valTypes = []byte{i32, i64, f32, f64, funcRef, externRef}

// A generator draws valid modules and encodes them without the package's
// encoder: numbers are padded at random, custom sections stand anywhere, sections
// may be empty.
type generator struct {
	t *rapid.T

	types    []signature
	funcs    []int // type of each, imported ones first, as everywhere here
	imported int   // functions
	globals  []global
	outer    int // globals that are imported
	tables   []byte
	memory   bool
	elems    []byte   // type of each segment
	referred []uint32 // functions that ref.func may name in code
	datas    int
	counted  bool // there is a data count section
}

type signature struct{ params, results []byte }

type global struct {
	typ     byte
	mutable bool
}

// generated draws a module.
func generated(t *rapid.T) []byte { return (&generator{t: t}).module() }

// below draws a number from 0 to n-1.
func (g *generator) below(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "n") }

func (g *generator) coin() bool { return rapid.Bool().Draw(g.t, "coin") }

func pick[T any](g *generator, from []T) T { return from[g.below(len(from))] }

// u32 encodes a number, longer than it need be once in a while.
func (g *generator) u32(v int) []byte {
	b := wt.U32(uint32(v))
	if g.below(8) > 0 {
		return b
	}
	for range g.below(6 - len(b)) {
		b[len(b)-1] |= 0x80
		b = append(b, 0)
	}
	return b
}

// s encodes a signed number of so many bits likewise.
func (g *generator) s(v int64, width int) []byte {
	b := wt.I64Const(v)[1:]
	if g.below(8) > 0 {
		return b
	}
	for range g.below((width+6)/7 + 1 - len(b)) {
		b[len(b)-1] |= 0x80
		b = append(b, byte(v>>63)&0x7f)
	}
	return b
}

func (g *generator) sized(b []byte) []byte { return append(g.u32(len(b)), b...) }

func (g *generator) vec(items [][]byte) []byte {
	return append(g.u32(len(items)), slices.Concat(items...)...)
}

func (g *generator) name() []byte {
	return g.sized([]byte(rapid.StringN(0, 8, -1).Draw(g.t, "name")))
}

func (g *generator) valTypes(most int) []byte {
	return rapid.SliceOfN(rapid.SampledFrom(valTypes), 0, most).Draw(g.t, "types")
}

func (g *generator) limits(most int) []byte {
	lo := g.below(most)
	if g.coin() {
		return append([]byte{0}, g.u32(lo)...)
	}
	return slices.Concat([]byte{1}, g.u32(lo), g.u32(lo+g.below(most-lo)))
}

// times draws up to most elements.
func (g *generator) times(most int, item func(i int) []byte) (items [][]byte) {
	for i := range g.below(most + 1) {
		items = append(items, item(i))
	}
	return items
}

func (g *generator) module() []byte {
	out := wt.Header()
	section := func(id byte, items [][]byte) {
		for g.below(6) == 0 {
			out = slices.Concat(out, []byte{0}, g.sized(append(g.name(), rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(g.t, "custom")...)))
		}
		if len(items) > 0 || g.below(4) == 0 {
			out = slices.Concat(out, []byte{id}, g.sized(g.vec(items)))
		}
	}
	types := [][]byte{{0x60, 0, 0}}
	g.types = []signature{{}}
	types = append(types, g.times(4, func(int) []byte {
		s := signature{g.valTypes(3), g.valTypes(2)}
		g.types = append(g.types, s)
		return slices.Concat([]byte{0x60}, g.sized(s.params), g.sized(s.results))
	})...)
	section(1, types)
	section(2, g.times(6, func(int) []byte { return slices.Concat(g.name(), g.name(), g.importDesc()) }))
	own := g.times(4, func(int) []byte {
		t := g.below(len(g.types))
		g.funcs = append(g.funcs, t)
		return g.u32(t)
	})
	section(3, own)
	section(4, g.times(2, func(int) []byte { return g.table() }))
	var memories [][]byte
	if !g.memory && g.coin() {
		g.memory = true
		memories = [][]byte{g.limits(100)}
	}
	section(5, memories)
	section(6, g.times(3, func(int) []byte {
		t := g.global()
		init := g.constant(g.globals[len(g.globals)-1].typ)
		return append(t, init...)
	}))
	section(7, g.times(5, g.export))
	if i := slices.Index(g.funcs, 0); i >= 0 && g.coin() {
		out = slices.Concat(out, []byte{8}, g.sized(g.u32(i)))
	}
	section(9, g.times(5, func(int) []byte { return g.elem() }))
	data := g.times(4, func(int) []byte { return g.data() })
	if g.datas = len(data); g.coin() {
		g.counted = true
		out = slices.Concat(out, []byte{12}, g.sized(g.u32(len(data))))
	}
	var codes [][]byte
	for i := range own {
		codes = append(codes, g.sized(g.function(g.types[g.funcs[g.imported+i]])))
	}
	section(10, codes)
	section(11, data)
	section(0, nil)
	return out
}

func (g *generator) importDesc() []byte {
	switch g.below(4) {
	case 0:
		return append([]byte{wt.KindTable}, g.table()...)
	case 1:
		if !g.memory {
			g.memory = true
			return append([]byte{wt.KindMemory}, g.limits(100)...)
		}
	case 2:
		t := g.global()
		g.outer++
		return append([]byte{wt.KindGlobal}, t...)
	}
	t := g.below(len(g.types))
	g.funcs = append(g.funcs, t)
	g.imported++
	return append([]byte{wt.KindFunc}, g.u32(t)...)
}

func (g *generator) table() []byte {
	t := pick(g, []byte{funcRef, externRef})
	g.tables = append(g.tables, t)
	return append([]byte{t}, g.limits(1000)...)
}

func (g *generator) global() []byte {
	n := global{pick(g, valTypes), g.coin()}
	g.globals = append(g.globals, n)
	if n.mutable {
		return []byte{n.typ, 1}
	}
	return []byte{n.typ, 0}
}

func (g *generator) export(i int) []byte {
	name := g.sized(fmt.Appendf(nil, "%d %s", i, rapid.StringN(0, 5, -1).Draw(g.t, "export")))
	memories := 0
	if g.memory {
		memories = 1
	}
	for {
		kind := g.below(5)
		if kind == 4 { // there may be nothing to export
			return slices.Concat(name, []byte{wt.KindFunc}, g.u32(g.anyFunction()))
		}
		if n := []int{len(g.funcs), len(g.tables), memories, len(g.globals)}[kind]; n > 0 {
			return slices.Concat(name, []byte{byte(kind)}, g.u32(g.below(n)))
		}
	}
}

// anyFunction is a function; if there is none, the draw is void.
func (g *generator) anyFunction() int {
	if len(g.funcs) == 0 {
		g.t.Skip("no functions")
	}
	return g.below(len(g.funcs))
}

// constant is a constant expression.
func (g *generator) constant(t byte) []byte {
	var from []int
	for i, n := range g.globals[:g.outer] {
		if n.typ == t && !n.mutable {
			from = append(from, i)
		}
	}
	if len(from) > 0 && g.coin() {
		return slices.Concat([]byte{0x23}, g.u32(pick(g, from)), wt.End)
	}
	return g.element(t)
}

// element is a constant expression without globals: wabt reads no others in
// element segments.
func (g *generator) element(t byte) []byte {
	if t == funcRef && len(g.funcs) > 0 && g.coin() {
		return slices.Concat([]byte{0xd2}, g.u32(g.below(len(g.funcs))), wt.End)
	}
	return append(g.literal(t), 0x0b)
}

func (g *generator) literal(t byte) []byte {
	random := func(n int) []byte { return rapid.SliceOfN(rapid.Byte(), n, n).Draw(g.t, "bits") }
	switch t {
	case i32:
		return append([]byte{0x41}, g.s(int64(rapid.Int32().Draw(g.t, "i32")), 32)...)
	case i64:
		return append([]byte{0x42}, g.s(rapid.Int64().Draw(g.t, "i64"), 64)...)
	case f32:
		return append([]byte{0x43}, random(4)...)
	case f64:
		return append([]byte{0x44}, random(8)...)
	}
	return []byte{0xd0, t}
}

// elem draws a segment in any of the eight forms that its table allows.
func (g *generator) elem() []byte {
	form := g.below(8)
	t := funcRef
	var table int
	var fits []int
	exprs, active := form&4 != 0, form&1 == 0
	if exprs && form&3 != 0 {
		t = pick(g, []byte{funcRef, externRef})
	}
	for i, e := range g.tables {
		if e == t && (form&2 != 0 || i == 0) {
			fits = append(fits, i)
		}
	}
	if active && len(fits) == 0 {
		form, active = form|1, false // passive or declarative
	}
	out := g.u32(form)
	if active {
		if table = pick(g, fits); form&2 != 0 {
			out = append(out, g.u32(table)...)
		}
		out = append(out, g.constant(i32)...)
	}
	switch {
	case form&3 == 0:
	case exprs:
		out = append(out, t)
	default:
		out = append(out, 0)
	}
	if exprs && form&3 == 0 {
		t = funcRef
	}
	g.elems = append(g.elems, t)
	return append(out, g.vec(g.times(4, func(int) []byte {
		if exprs {
			return g.element(t)
		}
		f := g.anyFunction()
		g.referred = append(g.referred, uint32(f))
		return g.u32(f)
	}))...)
}

func (g *generator) data() []byte {
	b := g.sized(rapid.SliceOfN(rapid.Byte(), 0, 10).Draw(g.t, "data"))
	form := g.below(3)
	switch {
	case !g.memory || form == 1:
		return append([]byte{1}, b...)
	case form == 0:
		return slices.Concat([]byte{0}, g.constant(i32), b)
	}
	return slices.Concat([]byte{2}, g.u32(0), g.constant(i32), b)
}

// operations are the instructions that compute one value from others, by the
// type of their result; what they take is in their names.
var operations = func() map[byte][]operation {
	byName := map[string]byte{"i32": i32, "i64": i64, "f32": f32, "f64": f64}
	out := map[byte][]operation{}
	for _, o := range allOps() {
		prefix, family, _ := strings.Cut(o.String(), ".")
		t, ok := byName[prefix]
		pops, pushes, fixed := o.Stack()
		if !ok || !fixed || pushes != 1 || family == "const" || strings.HasPrefix(family, "load") {
			continue
		}
		result, param := t, t
		if pops == 2 || family == "eqz" {
			switch first, _, _ := strings.Cut(family, "_"); first {
			case "eqz", "eq", "ne", "lt", "gt", "le", "ge":
				result = i32
			}
		}
		for _, part := range strings.Split(family, "_")[1:] {
			if from, ok := byName[part]; ok {
				param = from
			}
		}
		out[result] = append(out[result], operation{o, slices.Repeat([]byte{param}, pops)})
	}
	return out
}()

type operation struct {
	op     wasm.Op
	params []byte
}

// opcode encodes an opcode; what follows a prefix is a number.
func (g *generator) opcode(o wasm.Op) []byte {
	if o < 0x100 {
		return []byte{byte(o)}
	}
	return append([]byte{byte(o >> 8)}, g.u32(int(o&0xff))...)
}

// access encodes an access to memory that may be aligned up to its width.
func (g *generator) access(o wasm.Op) []byte {
	width := map[byte]int{i32: 4, f32: 4, i64: 8, f64: 8}[typeNamed(o)]
	for i, name := range []string{"8", "16", "32"} {
		if _, family, _ := strings.Cut(o.String(), "."); strings.HasSuffix(strings.TrimRight(family, "_su"), name) {
			width = 1 << i
		}
	}
	return slices.Concat([]byte{byte(o)}, g.u32(g.below(bits.Len(uint(width)))), g.u32(g.below(1<<g.below(20))))
}

// typeNamed is the type that begins an instruction's name.
func typeNamed(o wasm.Op) byte {
	return map[string]byte{"i32": i32, "i64": i64, "f32": f32, "f64": f64}[o.String()[:3]]
}
