package wasmtest

import (
	"encoding/binary"
	"slices"
)

// Value types, as WebAssembly encodes them.
const (
	I32 byte = 0x7f
	I64 byte = 0x7e
	F32 byte = 0x7d
	F64 byte = 0x7c
)

// Kinds of imports and exports, as WebAssembly encodes them.
const (
	KindFunc   byte = 0
	KindTable  byte = 1
	KindMemory byte = 2
	KindGlobal byte = 3
)

// A Module is a module under construction. The zero value is an empty one:
// no memory, no export. Functions are numbered in the order of declaration,
// imports first, so every [Module.Import] must come before the first
// [Module.Func].
type Module struct {
	types   [][]byte
	imports [][]byte
	funcs   [][]byte // type index of each own function
	codes   [][]byte
	tables  [][]byte
	mems    [][]byte
	globals [][]byte
	exports [][]byte
	elems   [][]byte
	datas   [][]byte
	passive bool // some of datas are
	customs [][]byte
	start   []byte

	importedFuncs uint32
	globalCount   uint32
}

// Type declares a function type, or finds the equal one, and returns its index.
func (m *Module) Type(params, results []byte) uint32 {
	t := slices.Concat([]byte{0x60}, vector(params), vector(results))
	for i, have := range m.types {
		if slices.Equal(have, t) {
			return uint32(i)
		}
	}
	m.types = append(m.types, t)
	return uint32(len(m.types) - 1)
}

// Import declares an imported function and returns its index.
func (m *Module) Import(module, name string, params, results []byte) uint32 {
	m.ImportRaw(module, name, KindFunc, U32(m.Type(params, results)))
	m.importedFuncs++
	return m.importedFuncs - 1
}

// ImportRaw declares an import of any kind; desc is its encoded type.
func (m *Module) ImportRaw(module, name string, kind byte, desc []byte) {
	m.imports = append(m.imports, slices.Concat(text(module), text(name), []byte{kind}, desc))
}

// Func declares a function and returns its index. Locals are the types of its
// local variables beyond the parameters; the body needs no final end. An empty
// export name exports nothing.
func (m *Module) Func(export string, params, results, locals []byte, body ...[]byte) uint32 {
	index := m.importedFuncs + uint32(len(m.funcs))
	m.funcs = append(m.funcs, U32(m.Type(params, results)))
	code := U32(uint32(len(locals)))
	for _, l := range locals {
		code = append(code, 1, l)
	}
	for _, part := range body {
		code = append(code, part...)
	}
	m.codes = append(m.codes, sized(append(code, opEnd)))
	if export != "" {
		m.Export(export, KindFunc, index)
	}
	return index
}

// Code declares a function from its raw code entry: local declarations, body
// and final end.
func (m *Module) Code(params, results []byte, entry []byte) uint32 {
	index := m.importedFuncs + uint32(len(m.funcs))
	m.funcs = append(m.funcs, U32(m.Type(params, results)))
	m.codes = append(m.codes, sized(entry))
	return index
}

// Memory declares a memory in pages of 64 KiB; max < 0 means no maximum.
func (m *Module) Memory(min uint32, max int64) { m.mems = append(m.mems, limits(min, max)) }

// Table declares a table of functions; max < 0 means no maximum.
func (m *Module) Table(min uint32, max int64) {
	m.tables = append(m.tables, append([]byte{0x70}, limits(min, max)...))
}

// Global declares a mutable i32 global and returns its index.
func (m *Module) Global(value int32) uint32 {
	m.globals = append(m.globals, slices.Concat([]byte{I32, 1}, I32Const(value), []byte{opEnd}))
	m.globalCount++
	return m.globalCount - 1
}

// Export exports the index of a kind under a name.
func (m *Module) Export(name string, kind byte, index uint32) {
	m.exports = append(m.exports, slices.Concat(text(name), []byte{kind}, U32(index)))
}

// Elem fills table 0 from an offset with functions.
func (m *Module) Elem(offset int32, funcs ...uint32) {
	e := slices.Concat([]byte{0}, I32Const(offset), []byte{opEnd}, U32(uint32(len(funcs))))
	for _, f := range funcs {
		e = append(e, U32(f)...)
	}
	m.elems = append(m.elems, e)
}

// Data puts bytes into memory at an offset when the module is instantiated.
func (m *Module) Data(offset int32, b []byte) {
	m.datas = append(m.datas, slices.Concat([]byte{0}, I32Const(offset), []byte{opEnd}, sized(b)))
}

// PassiveData declares bytes that memory.init copies, and a data count section.
func (m *Module) PassiveData(b []byte) {
	m.datas = append(m.datas, append([]byte{1}, sized(b)...))
	m.passive = true
}

// Start makes a function run when the module is instantiated.
func (m *Module) Start(index uint32) { m.start = U32(index) }

// Custom appends a custom section.
func (m *Module) Custom(name string, b []byte) {
	m.customs = append(m.customs, append(text(name), b...))
}

// FuncNames appends a name section that names functions by index.
func (m *Module) FuncNames(names map[uint32]string) {
	var indices []uint32
	for i := range names {
		indices = append(indices, i)
	}
	slices.Sort(indices)
	sub := U32(uint32(len(indices)))
	for _, i := range indices {
		sub = slices.Concat(sub, U32(i), text(names[i]))
	}
	m.Custom("name", append([]byte{1}, sized(sub)...))
}

// Bytes encodes the module.
func (m *Module) Bytes() []byte {
	out := Header()
	for _, s := range []struct {
		id    byte
		items [][]byte
	}{
		{1, m.types}, {2, m.imports}, {3, m.funcs}, {4, m.tables}, {5, m.mems}, {6, m.globals}, {7, m.exports},
	} {
		out = appendVector(out, s.id, s.items)
	}
	if m.start != nil {
		out = append(out, Section(8, m.start)...)
	}
	out = appendVector(out, 9, m.elems)
	if m.passive {
		out = append(out, Section(12, U32(uint32(len(m.datas))))...)
	}
	out = appendVector(out, 10, m.codes)
	out = appendVector(out, 11, m.datas)
	for _, c := range m.customs {
		out = append(out, Section(0, c)...)
	}
	return out
}

// Header is the magic number and version every module begins with.
func Header() []byte { return []byte{0, 'a', 's', 'm', 1, 0, 0, 0} }

// Section encodes one section: id, size, content.
func Section(id byte, content []byte) []byte { return append([]byte{id}, sized(content)...) }

func appendVector(out []byte, id byte, items [][]byte) []byte {
	if len(items) == 0 {
		return out
	}
	return append(out, Section(id, append(U32(uint32(len(items))), slices.Concat(items...)...))...)
}

// U32 encodes an unsigned LEB128 number.
func U32(v uint32) []byte { return binary.AppendUvarint(nil, uint64(v)) }

func sized(b []byte) []byte  { return append(U32(uint32(len(b))), b...) }
func vector(b []byte) []byte { return sized(b) }
func text(s string) []byte   { return sized([]byte(s)) }

func limits(min uint32, max int64) []byte {
	if max < 0 {
		return append([]byte{0}, U32(min)...)
	}
	return slices.Concat([]byte{1}, U32(min), U32(uint32(max)))
}
