package gen

import (
	"math/rand/v2"

	"github.com/subnet112/assay/sandbox/wasm"
)

// Seeded gives choices that are the same on every machine.
func Seeded(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	choices := make([]byte, 500+r.IntN(4000))
	for i := range choices {
		choices[i] = byte(r.Uint32())
	}
	return choices
}

// A generator turns choices into a module.
type generator struct {
	choices []byte
	m       wasm.Module
	f       *function // the one that is written
	funcs   []uint32  // type of each, imported ones first
	refs    []uint32  // functions that ref.func may name
}

// Sizes of what a module has. Indices are masked, so those are powers of two.
const (
	memoryPages = 1
	mostPages   = 4
	memoryMask  = 1<<12 - 1 // of addresses, most of the time
	tableSize   = 8
	mostTable   = 12
	dataBytes   = 64
)

// The imports, all of them of the sandbox.
const (
	importInput = iota
	importOutput
	importRandom
	importClock
)

var (
	numbers = []wasm.ValType{wasm.I32, wasm.I64, wasm.F32, wasm.F64}
	all     = append(numbers[:4:4], wasm.FuncRef, wasm.ExternRef)
)

// Module is the module of some choices. It imports from assay and WASI, exports
// its memory, and run (i32) -> i32.
func Module(choices []byte) []byte {
	g := &generator{choices: choices}
	g.types()
	g.imports()
	for range 2 + g.below(5) {
		t := uint32(g.below(len(g.m.Types)))
		g.m.Funcs = append(g.m.Funcs, t)
		g.funcs = append(g.funcs, t)
	}
	run := uint32(len(g.m.Imports)) // the first of its own calls the others
	g.m.Funcs[0], g.funcs[run] = 0, 0
	g.m.Memories = []wasm.Limits{{Min: memoryPages, Max: mostPages, HasMax: true}}
	g.m.Exports = []wasm.Export{{Name: "memory", Kind: wasm.KindMemory}, {Name: "run", Kind: wasm.KindFunc, Index: run}}
	g.globals()
	g.segments()
	for i := range g.m.Funcs {
		g.function(run + uint32(i))
	}
	for i, t := range g.m.Funcs {
		if len(g.m.Types[t].Params) > 0 || len(g.m.Types[t].Results) > 0 || i == 0 {
			continue
		}
		switch index := run + uint32(i); g.below(4) {
		case 1:
			g.m.Start = &index
		case 2:
			g.m.Exports = append(g.m.Exports, wasm.Export{Name: "_initialize", Kind: wasm.KindFunc, Index: index})
		}
		break
	}
	return g.m.Encode()
}

// below draws a number from 0 to n-1, n at most 256.
func (g *generator) below(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	b := g.choices[0]
	g.choices = g.choices[1:]
	return int(b) % n
}

// seldom is true once in n times, and not without choices.
func (g *generator) seldom(n int) bool { return g.below(n) == n-1 }

func pick[T any](g *generator, from []T) T { return from[g.below(len(from))] }

func (g *generator) valTypes(from []wasm.ValType) (types []wasm.ValType) {
	for range g.below(4) {
		types = append(types, pick(g, from))
	}
	return types
}

func (g *generator) types() {
	i32 := []wasm.ValType{wasm.I32}
	g.m.Types = []wasm.FuncType{{Params: i32, Results: i32}, {}}
	for range g.below(6) {
		g.m.Types = append(g.m.Types, wasm.FuncType{Params: g.valTypes(all), Results: g.valTypes(all)})
	}
}

func (g *generator) imports() {
	for _, f := range []struct {
		module, name    string
		params, results []wasm.ValType
	}{
		{"assay", "input", all[:1:1], all[:1]},
		{"assay", "output", all[:1:1], nil},
		{"wasi_snapshot_preview1", "random_get", all[:1:1], all[:1]},
		{"wasi_snapshot_preview1", "clock_time_get", []wasm.ValType{wasm.I32, wasm.I64}, all[:1]},
	} {
		t := uint32(len(g.m.Types))
		g.m.Types = append(g.m.Types, wasm.FuncType{Params: append(f.params, wasm.I32), Results: f.results})
		g.m.Imports = append(g.m.Imports, wasm.Import{Module: f.module, Name: f.name, Kind: wasm.KindFunc, Type: t})
		g.funcs = append(g.funcs, t)
	}
}

// globals declares two of every type: one to write to, one that stays.
func (g *generator) globals() {
	for _, mutable := range []bool{true, false} {
		for _, t := range all {
			g.f = &function{}
			g.constant(t)
			init := append(g.f.code, byte(wasm.OpEnd))
			g.m.Globals = append(g.m.Globals, wasm.Global{GlobalType: wasm.GlobalType{Type: t, Mutable: mutable}, Init: init})
		}
	}
}

// segments fills the table and the memory, and declares what table.init,
// memory.init and ref.func need.
func (g *generator) segments() {
	g.m.Tables = []wasm.Table{{Elem: wasm.FuncRef, Limits: wasm.Limits{Min: tableSize, Max: mostTable, HasMax: true}}}
	zero := wasm.Expr(wasm.AppendInstr(nil, &wasm.Instr{Op: wasm.OpI32Const}))
	zero = append(zero, byte(wasm.OpEnd))
	var fill []uint32
	for range tableSize {
		fill = append(fill, uint32(g.below(len(g.funcs))))
	}
	g.refs = fill
	null := wasm.Expr(append(wasm.AppendInstr(nil, &wasm.Instr{Op: wasm.OpRefNull, Imm: uint64(wasm.FuncRef)}), byte(wasm.OpEnd)))
	named := wasm.Expr(append(wasm.AppendInstr(nil, &wasm.Instr{Op: wasm.OpRefFunc, Imm: uint64(fill[0])}), byte(wasm.OpEnd)))
	g.m.Elems = []wasm.Elem{
		{Mode: wasm.ElemActive, Offset: zero, Type: wasm.FuncRef, Funcs: fill},
		{Mode: wasm.ElemPassive, Type: wasm.FuncRef, UsesExprs: true, Exprs: []wasm.Expr{null, named, null, named}},
		{Mode: wasm.ElemDeclarative, Type: wasm.FuncRef, Funcs: fill[:1]},
	}
	bytes := func() (b []byte) {
		for range dataBytes {
			b = append(b, byte(g.below(256)))
		}
		return b
	}
	g.m.Datas = []wasm.Data{{Offset: zero, Bytes: bytes()}, {Passive: true, Bytes: bytes()}}
	count := uint32(len(g.m.Datas))
	g.m.DataCount = &count
}
