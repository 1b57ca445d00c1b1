package gen

import (
	"math"
	"slices"
	"strings"

	"github.com/subnet112/assay/sandbox/wasm"
)

// value writes instructions that leave a value of a type.
func (g *generator) value(t wasm.ValType, depth int) {
	if len(g.choices) == 0 || depth <= 0 {
		switch g.below(3) {
		case 0:
			g.constant(t)
		case 1:
			g.emit(wasm.OpLocalGet, g.local(t))
		default:
			g.emit(wasm.OpGlobalGet, global(t, g.below(2) == 1))
		}
		return
	}
	switch g.below(10) {
	case 0:
		g.constant(t)
	case 1:
		g.emit(wasm.OpLocalGet, g.local(t))
	case 2:
		g.value(t, depth-1)
		g.emit(wasm.OpLocalTee, g.local(t))
	case 3:
		g.block([]wasm.Op{wasm.OpBlock, wasm.OpLoop, wasm.OpIf}[g.below(3)], wasm.BlockType{Result: t}, depth)
	case 4:
		g.value(t, depth-1)
		g.value(t, depth-1)
		g.value(wasm.I32, depth-1)
		if t.IsReference() || g.below(2) == 0 {
			g.instr(wasm.Instr{Op: wasm.OpSelectT, Types: []wasm.ValType{t}})
		} else {
			g.emit(wasm.OpSelect)
		}
	default:
		switch {
		case t == wasm.FuncRef:
			g.length(tableSize-1, depth)
			g.emit(wasm.OpTableGet, 0)
		case t == wasm.ExternRef:
			g.constant(t)
		case g.seldom(5):
			g.address(depth)
			g.access(pick(g, loads[t]))
		case t == wasm.I32 && g.seldom(12):
			g.size(depth)
		default:
			g.operate(pick(g, operations[t]), depth)
		}
	}
}

// size leaves an i32 about what isn't numbers.
func (g *generator) size(depth int) {
	switch g.below(4) {
	case 0:
		g.emit(wasm.OpMemorySize)
	case 1:
		g.length(1, depth)
		g.emit(wasm.OpMemoryGrow)
	case 2:
		g.emit(wasm.OpTableSize, 0)
	default:
		g.value(pick(g, all[4:]), depth-1)
		g.emit(wasm.OpRefIsNull)
	}
}

// Bits of numbers at the edges: zeros, ones, ends of ranges, infinities, NaNs
// of every kind.
var (
	edges32 = []uint32{
		0, 1, 1 << 31, 1<<31 - 1, 0xffffffff, 0x3f800000, 0xbf000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
		0x7fa00001, 0xffc12345, 0x4f000000, 0xcf000001, 0x5f000000, 0x00000001, 0x7f7fffff,
	}
	edges64 = []uint64{
		0, 1, 1 << 63, 1<<63 - 1, 1<<64 - 1, 0x3ff0000000000000, 0xbfe0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
		0x7ff8000000000000, 0xfff8000000000000, 0x7ff4000000000001, 0xfff8123456789abc, 0x41e0000000000000, 0xc3e0000000000001,
		0x43f0000000000000, 0x7fefffffffffffff, 0x000fffffffffffff,
	}
)

func (g *generator) constant(t wasm.ValType) {
	bits := func(n int) (v uint64) {
		for range n {
			v = v<<8 | uint64(g.below(256))
		}
		return v
	}
	kind := g.below(3) // a small number, one at an edge, any
	small := g.below(128)
	switch t {
	case wasm.I32:
		g.i32(int32([]uint32{uint32(small), pick(g, edges32), uint32(bits(4))}[kind]))
	case wasm.F32:
		g.emit(wasm.OpF32Const, []uint64{uint64(math.Float32bits(float32(small))), uint64(pick(g, edges32)), bits(4)}[kind])
	case wasm.I64:
		g.emit(wasm.OpI64Const, []uint64{uint64(small), pick(g, edges64), bits(8)}[kind])
	case wasm.F64:
		g.emit(wasm.OpF64Const, []uint64{math.Float64bits(float64(small)), pick(g, edges64), bits(8)}[kind])
	case wasm.FuncRef:
		if len(g.refs) > 0 && kind > 0 {
			g.emit(wasm.OpRefFunc, uint64(pick(g, g.refs)))
			return
		}
		g.emit(wasm.OpRefNull, uint64(t))
	default:
		g.emit(wasm.OpRefNull, uint64(t))
	}
}

// operate computes a number from others. What may trap on most numbers gets
// ones that it doesn't trap on, most often.
func (g *generator) operate(o operation, depth int) {
	for i, p := range o.params {
		switch {
		case o.divides && i == 1 && !g.seldom(20):
			g.value(p, depth-1)
			if p == wasm.I32 {
				g.i32(1)
				g.emit(wasm.OpI32Or)
			} else {
				g.emit(wasm.OpI64Const, 1)
				g.emit(wasm.OpI64Or)
			}
		case o.truncates && !g.seldom(20):
			small := map[wasm.ValType]wasm.Op{wasm.F32: wasm.OpF32ConvertI32U, wasm.F64: wasm.OpF64ConvertI32U}
			g.length(1<<20-1, depth)
			g.emit(small[p])
		default:
			g.value(p, depth-1)
		}
	}
	g.emit(o.op)
}

// An operation computes one number from others.
type operation struct {
	op                 wasm.Op
	params             []wasm.ValType
	divides, truncates bool
}

// An access is a load or store with its natural alignment.
type access struct {
	op    wasm.Op
	align int
}

// All of them, by the type they leave, or take for stores.
var (
	operations    = map[wasm.ValType][]operation{}
	loads, stores = map[wasm.ValType][]access{}, map[wasm.ValType][]access{}
)

func init() {
	byName := map[string]wasm.ValType{"i32": wasm.I32, "i64": wasm.I64, "f32": wasm.F32, "f64": wasm.F64}
	for _, o := range Ops() {
		prefix, family, _ := strings.Cut(o.String(), ".")
		t, ok := byName[prefix]
		pops, pushes, fixed := o.Stack()
		if !ok || !fixed || family == "const" {
			continue
		}
		first, rest, _ := strings.Cut(family, "_")
		if strings.HasPrefix(family, "load") || strings.HasPrefix(family, "store") {
			align := map[wasm.ValType]int{wasm.I32: 2, wasm.F32: 2, wasm.I64: 3, wasm.F64: 3}[t]
			for bits, n := range map[string]int{"8": 0, "16": 1, "32": 2} {
				if strings.HasSuffix(first, bits) {
					align = n
				}
			}
			if into := loads; pushes == 1 {
				into[t] = append(into[t], access{o, align})
			} else {
				stores[t] = append(stores[t], access{o, align})
			}
			continue
		}
		result, param := t, t
		if pops == 2 || first == "eqz" {
			if slices.Contains([]string{"eqz", "eq", "ne", "lt", "gt", "le", "ge"}, first) {
				result = wasm.I32
			}
		}
		for _, part := range strings.Split(rest, "_") {
			if from, ok := byName[part]; ok {
				param = from
			}
		}
		operations[result] = append(operations[result], operation{
			o, slices.Repeat([]wasm.ValType{param}, pops),
			t != wasm.F32 && t != wasm.F64 && (first == "div" || first == "rem"),
			first == "trunc" && t != wasm.F32 && t != wasm.F64 && !strings.HasPrefix(rest, "sat"),
		})
	}
}

// Ops are the opcodes that are admitted.
func Ops() (ops []wasm.Op) {
	for _, base := range []wasm.Op{0, 0xfc00} {
		for o := base; o < base+0x100; o++ {
			if !strings.HasPrefix(o.String(), "0x") {
				ops = append(ops, o)
			}
		}
	}
	return ops
}
