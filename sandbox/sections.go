package sandbox

import "encoding/binary"

// Kinds of imports and exports.
const (
	kindFunc   = 0
	kindTable  = 1
	kindMemory = 2
	kindGlobal = 3
)

// Sections by id, and their order in a module: the data count and tag sections
// stand where their ids don't.
var (
	sectionNames = [...]string{
		"custom", "type", "import", "function", "table", "memory", "global", "export", "start", "element", "code", "data", "data count", "tag",
	}
	sectionRank = [...]int{0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 11, 6}
)

const sectionTable = 4

// A module is what the sections of a module say. Strings and slices in it don't
// keep the module's bytes.
type module struct {
	types       []funcType
	imports     []imported // functions, which come first in the index space
	own         []uint32   // type of each function of its own
	bodies      int
	locals      int
	globals     int
	memories    int
	tables      int
	table       table // the one there may be
	memoryMin   uint32
	memoryMax   uint32
	exports     map[string]export
	exportNames []string
	start       *uint32
	customs     []string
	names       []byte   // payload of the name section, if it isn't too long
	kept        [][2]int // ranges of the sections that aren't custom
}

type imported struct {
	Import
	typ uint32
}

type export struct {
	kind  byte
	index uint32
}

// typeOf is the type of a function; the index must be one.
func (m *module) typeOf(index uint32) funcType {
	if int(index) < len(m.imports) {
		return m.types[m.imports[index].typ]
	}
	return m.types[m.own[int(index)-len(m.imports)]]
}

func (m *module) functions() int { return len(m.imports) + len(m.own) }

func (m *module) section(id byte, r *reader) {
	switch id {
	case 0:
		m.customSection(r)
	case 1:
		m.typeSection(r)
	case 2:
		m.importSection(r)
	case 3:
		m.functionSection(r)
	case 4:
		m.tableSection(r)
	case 5:
		m.memorySection(r)
	case 6:
		m.globalSection(r)
	case 7:
		m.exportSection(r)
	case 8:
		m.startSection(r)
	case 9:
		m.elementSection(r)
	case 10:
		m.codeSection(r)
	case 11:
		m.dataSection(r)
	case 12:
		r.u32()
	case 13:
		r.fail(ReasonFeature, "exceptions are not admitted")
	}
}

func (m *module) customSection(r *reader) {
	name := r.name()
	m.customs = append(m.customs, name)
	const limit = 4 << 20
	if name == "name" && m.names == nil && r.left() <= limit {
		m.names = append([]byte{}, r.b[r.i:]...)
	}
}

func (m *module) typeSection(r *reader) {
	for range r.limited(3, MaxTypes, "types") {
		if form := r.byte(); r.err == nil && form != 0x60 {
			r.fail(ReasonFeature, "type form 0x%02x is not admitted", form)
		}
		list := func(what string) string {
			n := r.limited(1, MaxParams, what)
			at := r.i
			for range n {
				r.valueType()
			}
			return string(r.b[at:r.i])
		}
		m.types = append(m.types, funcType{list("parameters"), list("results")})
		if r.err != nil {
			return
		}
	}
}

// typeIndex reads the index of a function type.
func (m *module) typeIndex(r *reader) uint32 {
	i := r.u32()
	if r.err == nil && int64(i) >= int64(len(m.types)) {
		r.fail(ReasonMalformed, "type %s of %s", thousands(i), thousands(len(m.types)))
	}
	return i
}

func (m *module) importSection(r *reader) {
	for range r.limited(4, MaxImports, "imports") {
		i := Import{r.name(), r.name()}
		kind := r.byte()
		if r.err != nil {
			return
		}
		if kind != kindFunc {
			what := map[byte]string{kindTable: "table", kindMemory: "memory", kindGlobal: "global"}[kind]
			if what == "" {
				r.fail(ReasonMalformed, "unknown kind %d of import", kind)
			}
			r.fail(ReasonImport, "%s %s.%s is imported, only functions may be", what, quoted(i.Module), quoted(i.Name))
			return
		}
		m.imports = append(m.imports, imported{i, m.typeIndex(r)})
	}
}

func (m *module) functionSection(r *reader) {
	for range r.limited(1, MaxFunctions, "functions") {
		m.own = append(m.own, m.typeIndex(r))
	}
}

func (m *module) tableSection(r *reader) {
	m.tables = r.limited(3, 1, "tables")
	for range m.tables {
		if m.table.kind = r.byte(); r.err == nil && m.table.kind != 0x70 && m.table.kind != 0x6f {
			r.fail(ReasonFeature, "table type 0x%02x is not admitted", m.table.kind)
		}
		lo, hi, declared := r.limits("table")
		if lo > MaxTableElements {
			r.fail(ReasonSize, "table of %s elements, limit %s", thousands(lo), thousands(MaxTableElements))
		}
		if !declared {
			hi = MaxTableElements
		}
		m.table.min, m.table.max = lo, min(hi, MaxTableElements)
	}
}

// A table is a table's type.
type table struct {
	kind     byte // of its elements
	min, max uint32
}

// section is a table section with this one table.
func (t table) section() []byte {
	body := []byte{1, t.kind, 1}
	body = binary.AppendUvarint(body, uint64(t.min)) // unsigned LEB128 is what varints are
	body = binary.AppendUvarint(body, uint64(t.max))
	return append([]byte{sectionTable, byte(len(body))}, body...)
}

func (m *module) memorySection(r *reader) {
	m.memories = r.limited(2, 1, "memories")
	for range m.memories {
		lo, hi, declared := r.limits("memory")
		if max(lo, hi) > maxPages {
			r.fail(ReasonMalformed, "memory of %s pages, limit %s", thousands(max(lo, hi)), thousands(maxPages))
		}
		m.memoryMin = lo
		if declared {
			m.memoryMax = hi
		}
	}
}

func (m *module) globalSection(r *reader) {
	for range r.limited(4, MaxGlobals, "globals") {
		r.valueType()
		if mut := r.byte(); mut > 1 {
			r.fail(ReasonMalformed, "mutability 0x%02x of global", mut)
		}
		r.constExpr()
		m.globals++
	}
}

func (m *module) exportSection(r *reader) {
	for range r.limited(3, MaxExports, "exports") {
		name := r.name()
		x := export{r.byte(), r.u32()}
		if r.err != nil {
			return
		}
		if _, ok := m.exports[name]; ok {
			r.fail(ReasonMalformed, "%s is exported twice", quoted(name))
			return
		}
		space := map[byte]int{kindFunc: m.functions(), kindTable: m.tables, kindMemory: m.memories, kindGlobal: m.globals}
		if n, ok := space[x.kind]; !ok || int64(x.index) >= int64(n) {
			r.fail(ReasonMalformed, "export %s names index %s of kind %d, which isn't there", quoted(name), thousands(x.index), x.kind)
			return
		}
		m.exports[name] = x
		m.exportNames = append(m.exportNames, name)
	}
}

func (m *module) startSection(r *reader) {
	i := m.functionIndex(r)
	if r.err == nil && m.typeOf(i) != initType {
		r.fail(ReasonMalformed, "start function has type %s", m.typeOf(i))
	}
	m.start = &i
}

func (m *module) functionIndex(r *reader) uint32 {
	i := r.u32()
	if r.err == nil && int64(i) >= int64(m.functions()) {
		r.fail(ReasonMalformed, "function %s of %s", thousands(i), thousands(m.functions()))
	}
	return i
}

// elementSection walks all forms of segments: the decoder behind it allocates
// what a count announces.
func (m *module) elementSection(r *reader) {
	total := 0
	for range r.limited(2, MaxTableElements, "element segments") {
		flags := r.u32()
		if flags > 7 {
			r.fail(ReasonMalformed, "element segment of form %s", thousands(flags))
		}
		active, explicit, exprs := flags&1 == 0, flags&2 != 0, flags&4 != 0
		if active {
			if explicit {
				r.u32() // table
			}
			r.constExpr()
		}
		if flags&3 != 0 {
			if kind := r.byte(); r.err == nil && !exprs && kind != 0 {
				r.fail(ReasonFeature, "element kind 0x%02x is not admitted", kind)
			}
		}
		n := r.limited(1, MaxTableElements, "elements")
		if total += n; total > MaxTableElements {
			r.fail(ReasonSize, "%s elements in all, limit %s", thousands(total), thousands(MaxTableElements))
		}
		for range n {
			if exprs {
				r.constExpr()
			} else {
				m.functionIndex(r)
			}
			if r.err != nil {
				return
			}
		}
	}
}

// codeSection walks function bodies up to their first instruction.
func (m *module) codeSection(r *reader) {
	for range r.limited(2, MaxFunctions, "function bodies") {
		index := len(m.imports) + m.bodies
		size := r.u32()
		if size > MaxBodyBytes {
			r.fail(ReasonSize, "function %s has %s bytes, limit %s", thousands(index), thousands(size), thousands(MaxBodyBytes))
		}
		base := r.base + r.i
		f := &reader{b: r.bytes(size), base: base, what: r.what, err: r.err}
		locals := uint64(0)
		for range f.count(2) {
			locals += uint64(f.u32())
			f.valueType()
		}
		if locals > MaxLocals {
			f.fail(ReasonSize, "function %s has %s locals, limit %s", thousands(index), thousands(locals), thousands(MaxLocals))
		}
		if m.locals += int(min(locals, MaxLocals)); m.locals > MaxLocalsTotal {
			f.fail(ReasonSize, "%s locals in all, limit %s", thousands(m.locals), thousands(MaxLocalsTotal))
		}
		if f.err == nil && (f.left() == 0 || f.b[len(f.b)-1] != 0x0b) {
			f.fail(ReasonMalformed, "function %s has no end", thousands(index))
		}
		if r.err = f.err; r.err != nil {
			return
		}
		m.bodies++
	}
}

func (m *module) dataSection(r *reader) {
	for range r.limited(2, MaxDataSegments, "data segments") {
		switch flags := r.u32(); flags {
		case 2:
			r.u32() // memory
			fallthrough
		case 0:
			r.constExpr()
		case 1:
		default:
			r.fail(ReasonMalformed, "data segment of form %s", thousands(flags))
		}
		r.bytes(r.u32())
	}
}
