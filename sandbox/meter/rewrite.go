package meter

import (
	"slices"
	"strconv"
	"strings"

	"github.com/subnet112/assay/sandbox/wasm"
)

// Names of what the rewrite adds. A module that imports the function or exports
// anything with the prefix isn't admitted.
const (
	ImportModule = "assay"
	ImportName   = "refill" // () -> (); called when the fuel or the depth global is below zero

	Prefix      = "assay:"
	FuelGlobal  = Prefix + "fuel"  // i64, 0 at first
	DepthGlobal = Prefix + "depth" // i32, DepthSlots at first
)

// MutableGlobal names the export of a mutable global by its index.
func MutableGlobal(index uint32) string {
	return Prefix + "global:" + strconv.FormatUint(uint64(index), 10)
}

// Options choose what the rewrite adds.
type Options struct {
	// KeepNaNs leaves floats as they are: for measuring what the choice costs. The
	// results of such a module depend on the machine.
	KeepNaNs bool

	// KnownFrames: the module is the host's own, and the compiler's frames are known
	// to be small. Otherwise a frame costs depth for every value that the compiler
	// might keep in it.
	KnownFrames bool
}

// A Module is a rewritten module.
type Module struct {
	Bytes   []byte
	Mutable []Global // every mutable global of the original, exported by MutableGlobal

	// Unsound says why an instance can't be put back to where it was by its memory
	// and globals alone; empty: it can.
	Unsound string

	refill  uint32 // index of the import
	helpers uint32 // index of the first added function
}

// A Global is a mutable global.
type Global struct {
	Index uint32
	Type  wasm.ValType
}

// Original gives the index in the original module of a function of the rewritten
// one; false for those that were added.
func (m *Module) Original(index uint32) (uint32, bool) {
	switch {
	case index < m.refill:
		return index, true
	case index == m.refill || index >= m.helpers:
		return 0, false
	}
	return index - 1, true
}

// Rewrite meters a module whose imports are functions only. The error is an
// [*Error], or a [*wasm.Error] of an instruction that isn't admitted. m isn't
// changed; the result may share its bytes. Rewriting is a function of m and o
// alone.
func Rewrite(m *wasm.Module, o Options) (*Module, error) {
	w := &writer{in: m, options: o}
	if err := w.checkNames(); err != nil {
		return nil, err
	}
	w.imported = uint32(len(m.Imports))
	w.functions = w.imported + uint32(len(m.Funcs))
	w.fuel = uint32(len(m.Globals))
	w.depth = w.fuel + 1
	w.result = &Module{refill: w.imported, helpers: w.functions + 1}
	w.out = wasm.Module{
		Types:     slices.Clone(m.Types),
		Memories:  m.Memories,
		DataCount: m.DataCount,
		Datas:     m.Datas,
	}
	w.out.Imports = append(slices.Clone(m.Imports), wasm.Import{
		Module: ImportModule, Name: ImportName, Kind: wasm.KindFunc, Type: w.typeIndex(nil, nil),
	})
	w.out.Funcs = slices.Clone(m.Funcs)
	w.out.Codes = make([]wasm.Code, len(m.Codes), len(m.Codes)+4)
	for i := range m.Codes {
		if err := w.function(i); err != nil {
			return nil, err
		}
	}
	w.appendHelpers()
	for _, part := range []func() error{w.globals, w.exports, w.elements, w.start} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	for _, t := range m.Tables {
		if !t.HasMax || t.Max > MaxTable {
			t.Max, t.HasMax = max(MaxTable, t.Min), true
		}
		w.out.Tables = append(w.out.Tables, t)
	}
	w.result.Bytes = w.out.EncodeVerbatim()
	return w.result, nil
}

// A writer builds the rewritten module.
type writer struct {
	in      *wasm.Module
	options Options
	out     wasm.Module
	result  *Module

	imported  uint32 // functions that are imported, and the index of refill
	functions uint32 // functions of the original
	fuel      uint32 // index of the fuel global
	depth     uint32 // index of the depth global

	helpers [helperKinds]uint32 // index of each added function, 0 = not needed so far
	inits   map[uint32]uint32   // the same for memory.init, by data segment
	pending []func() wasm.Code  // their code, in the order of their indices
	body    function            // reused
	squares int                 // sum of nesting squared
	targets int                 // of all br_tables
	work    int                 // for the compiler
}

func (w *writer) checkNames() error {
	for _, i := range w.in.Imports {
		if i.Kind != wasm.KindFunc {
			return invalid("import %s.%s is no function", wasm.Quoted(i.Module), wasm.Quoted(i.Name))
		}
		if i.Module == ImportModule && i.Name == ImportName {
			return invalid("import %s.%s is the sandbox's own", i.Module, i.Name)
		}
	}
	for _, x := range w.in.Exports {
		if strings.HasPrefix(x.Name, Prefix) {
			return invalid("export %s: names that begin with %q are the sandbox's own", wasm.Quoted(x.Name), Prefix)
		}
	}
	return nil
}

// unsound records the first reason against checkpoints.
func (w *writer) unsound(why string) {
	if w.result.Unsound == "" {
		w.result.Unsound = why
	}
}

// typeIndex finds a type, or adds it.
func (w *writer) typeIndex(params, results []wasm.ValType) uint32 {
	for i, t := range w.out.Types {
		if slices.Equal(t.Params, params) && slices.Equal(t.Results, results) {
			return uint32(i)
		}
	}
	w.out.Types = append(w.out.Types, wasm.FuncType{Params: params, Results: results})
	return uint32(len(w.out.Types) - 1)
}

// shift maps a function index of the original to the rewritten module.
func (w *writer) shift(index uint32) (uint32, error) {
	if index >= w.functions {
		return 0, invalid("function %s of %s", thousands(index), thousands(w.functions))
	}
	if index < w.imported {
		return index, nil
	}
	return index + 1, nil
}

// typeOf is the type of a function of the original.
func (w *writer) typeOf(index uint32) (wasm.FuncType, error) {
	if index >= w.functions {
		return wasm.FuncType{}, invalid("function %s of %s", thousands(index), thousands(w.functions))
	}
	t := uint32(0)
	if index < w.imported {
		t = w.in.Imports[index].Type
	} else {
		t = w.in.Funcs[index-w.imported]
	}
	return w.funcType(t)
}

func (w *writer) funcType(index uint32) (wasm.FuncType, error) {
	if uint64(index) >= uint64(len(w.in.Types)) {
		return wasm.FuncType{}, invalid("type %s of %s", thousands(index), thousands(len(w.in.Types)))
	}
	return w.in.Types[index], nil
}

// expr rewrites a constant expression: function indices shift, and globals of
// the module's own aren't constant.
func (w *writer) expr(e wasm.Expr) (wasm.Expr, error) {
	var out wasm.Expr
	r := wasm.NewReader(e, 0)
	var in wasm.Instr
	for r.Next(&in) {
		switch in.Op {
		case wasm.OpGlobalGet:
			return nil, invalid("global %s in a constant expression is not imported", thousands(in.Imm))
		case wasm.OpRefFunc:
			index, err := w.shift(uint32(in.Imm))
			if err != nil {
				return nil, err
			}
			in.Imm = uint64(index)
			out = wasm.AppendInstr(out, &in)
		default:
			out = append(out, in.Raw...)
		}
	}
	return out, r.Err()
}

func (w *writer) globals() error {
	w.out.Globals = make([]wasm.Global, 0, len(w.in.Globals)+2)
	for i, g := range w.in.Globals {
		init, err := w.expr(g.Init)
		if err != nil {
			return err
		}
		w.out.Globals = append(w.out.Globals, wasm.Global{GlobalType: g.GlobalType, Init: init})
		if !g.Mutable {
			continue
		}
		if g.Type.IsReference() {
			w.unsound("global " + thousands(i) + " is a mutable reference")
			continue
		}
		w.result.Mutable = append(w.result.Mutable, Global{uint32(i), g.Type})
	}
	constant := func(op wasm.Op, v int64) wasm.Expr {
		in := wasm.Instr{Op: op, Imm: uint64(v)}
		return append(wasm.AppendInstr(nil, &in), byte(wasm.OpEnd))
	}
	w.out.Globals = append(w.out.Globals,
		wasm.Global{GlobalType: wasm.GlobalType{Type: wasm.I64, Mutable: true}, Init: constant(wasm.OpI64Const, 0)},
		wasm.Global{GlobalType: wasm.GlobalType{Type: wasm.I32, Mutable: true}, Init: constant(wasm.OpI32Const, DepthSlots)})
	return nil
}

func (w *writer) exports() error {
	w.out.Exports = make([]wasm.Export, 0, len(w.in.Exports)+len(w.result.Mutable)+2)
	for _, x := range w.in.Exports {
		if x.Kind == wasm.KindFunc {
			index, err := w.shift(x.Index)
			if err != nil {
				return err
			}
			x.Index = index
		}
		if x.Kind == wasm.KindGlobal && x.Index >= w.fuel {
			return invalid("global %s of %s", thousands(x.Index), thousands(w.fuel))
		}
		w.out.Exports = append(w.out.Exports, x)
	}
	global := func(name string, index uint32) {
		w.out.Exports = append(w.out.Exports, wasm.Export{Name: name, Kind: wasm.KindGlobal, Index: index})
	}
	global(FuelGlobal, w.fuel)
	global(DepthGlobal, w.depth)
	for _, g := range w.result.Mutable {
		global(MutableGlobal(g.Index), g.Index)
	}
	return nil
}

func (w *writer) elements() (err error) {
	w.out.Elems = slices.Clone(w.in.Elems)
	for i := range w.out.Elems {
		e := &w.out.Elems[i]
		if e.Mode == wasm.ElemActive {
			if e.Offset, err = w.expr(e.Offset); err != nil {
				return err
			}
		}
		e.Funcs = slices.Clone(e.Funcs)
		for j := range e.Funcs {
			if e.Funcs[j], err = w.shift(e.Funcs[j]); err != nil {
				return err
			}
		}
		e.Exprs = slices.Clone(e.Exprs)
		for j := range e.Exprs {
			if e.Exprs[j], err = w.expr(e.Exprs[j]); err != nil {
				return err
			}
		}
	}
	for _, d := range w.in.Datas {
		if d.Passive {
			continue
		}
		if _, err := w.expr(d.Offset); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) start() error {
	if w.in.Start == nil {
		return nil
	}
	w.unsound("it has a start section")
	index, err := w.shift(*w.in.Start)
	w.out.Start = &index
	return err
}
