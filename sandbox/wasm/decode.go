package wasm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Sections by id, and their rank in a module: the data count and tag sections
// stand where their ids don't.
var (
	sectionNames = [...]string{
		"custom", "type", "import", "function", "table", "memory", "global", "export", "start", "element", "code", "data", "data count", "tag",
	}
	sectionRank = [...]int{0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 11, 6}
)

// MaxPages is the most pages a memory has.
const MaxPages = 65536

// Decode reads a module. The error is an [*Error].
func Decode(b []byte, bounds Bounds) (*Module, error) {
	d := &decoder{bounds: bounds, m: &Module{}, b: b, what: "header"}
	d.module()
	if d.err != nil {
		return nil, d.err
	}
	return d.m, nil
}

// A decoder walks a module. The first problem sticks: later reads give zeros, and
// loops are bounded since a count is never more than the bytes left.
type decoder struct {
	bounds Bounds
	m      *Module
	b      []byte // what is left of the section
	at     int    // its offset in the module
	what   string
	err    *Error

	elements int // of all segments
	locals   int // of all functions
}

func (d *decoder) fail(format string, args ...any) { d.failAt(d.at, format, args...) }

func (d *decoder) failAt(at int, format string, args ...any) {
	if d.err == nil {
		d.err = &Error{Offset: at, What: d.what, Detail: fmt.Sprintf(format, args...)}
	}
}

func (d *decoder) feature(format string, args ...any) {
	if d.err == nil {
		d.fail(format, args...)
		d.err.Feature = true
	}
}

func (d *decoder) module() {
	switch {
	case !bytes.HasPrefix(d.b, []byte("\x00asm")):
		d.fail("it doesn't begin with \\0asm")
		return
	case len(d.b) < 8:
		d.fail("module ends after %d bytes", len(d.b))
		return
	}
	switch version := binary.LittleEndian.Uint32(d.b[4:]); {
	case version>>16 == 1:
		d.feature("a component, not a core module")
		return
	case version != 1:
		d.feature("version %s, want 1", thousands(version))
		return
	}
	rest, at, last := d.b[8:], 8, 0
	for len(rest) > 0 && d.err == nil {
		d.b, d.at, d.what = rest, at, "section header"
		id := d.byte()
		if d.err == nil && int(id) >= len(sectionNames) {
			d.failAt(at, "unknown section %d", id)
		}
		size := d.u32()
		if d.err == nil && uint64(size) > uint64(len(d.b)) {
			d.fail("%s section announces %s bytes, %s left", sectionNames[id], thousands(size), thousands(len(d.b)))
		}
		if d.err != nil {
			return
		}
		if rank := sectionRank[id]; id != 0 && rank <= last {
			d.failAt(at, "%s section is repeated or out of order", sectionNames[id])
			return
		} else if id != 0 {
			last = rank
		}
		rest, at = d.b[size:], d.at+int(size)
		d.b, d.what = d.b[:size:size], sectionNames[id]+" section"
		d.section(id)
		if d.err == nil && len(d.b) > 0 {
			d.fail("%s bytes too many", thousands(len(d.b)))
		}
	}
	d.what, d.at = "module", at
	d.counts()
}

// counts compares what sections say of each other.
func (d *decoder) counts() {
	m := d.m
	switch {
	case len(m.Codes) != len(m.Funcs):
		d.fail("%s functions are declared, %s have code", thousands(len(m.Funcs)), thousands(len(m.Codes)))
	case m.DataCount != nil && int(*m.DataCount) != len(m.Datas):
		d.fail("%s data segments are announced, there are %s", thousands(*m.DataCount), thousands(len(m.Datas)))
	}
}

func (d *decoder) section(id byte) {
	switch id {
	case 0:
		d.m.Customs = append(d.m.Customs, Custom{d.name(), d.b})
		d.b = nil
	case 1:
		d.types()
	case 2:
		d.imports()
	case 3:
		n := d.vector(1, d.bounds.Functions, "functions")
		d.m.Funcs = make([]uint32, n)
		for i := range d.m.Funcs {
			d.m.Funcs[i] = d.typeIndex()
		}
	case 4:
		for range d.vector(3, d.bounds.Tables, "tables") {
			d.m.Tables = append(d.m.Tables, d.table())
		}
	case 5:
		for range d.vector(2, d.bounds.Memories, "memories") {
			d.m.Memories = append(d.m.Memories, d.memory())
		}
	case 6:
		d.m.Globals = make([]Global, d.vector(4, d.bounds.Globals, "globals"))
		for i := range d.m.Globals {
			d.m.Globals[i] = Global{d.globalType(), d.constant()}
		}
	case 7:
		d.exports()
	case 8:
		i := d.funcIndex()
		d.m.Start = &i
	case 9:
		d.elems()
	case 10:
		d.codes()
	case 11:
		d.datas()
	case 12:
		n := d.u32()
		d.m.DataCount = &n
	case 13:
		d.feature("exceptions are not admitted")
	}
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) bytes(n uint32) []byte {
	if d.err != nil {
		return nil
	}
	if uint64(n) > uint64(len(d.b)) {
		if len(d.b) == 0 || n == 1 {
			d.fail("unexpected end")
		} else {
			d.fail("%s bytes announced, %s left", thousands(n), thousands(len(d.b)))
		}
		return nil
	}
	out := d.b[:n:n]
	d.b, d.at = d.b[n:], d.at+int(n)
	return out
}

func (d *decoder) u32() uint32 {
	if d.err != nil {
		return 0
	}
	v, n := readU32(d.b)
	if n == 0 {
		d.fail("number is cut off or longer than 32 bits")
		return 0
	}
	d.b, d.at = d.b[n:], d.at+n
	return v
}

// vector reads the length of a vector whose elements take at least size bytes.
func (d *decoder) vector(size, limit int, what string) int {
	n := d.u32()
	switch {
	case limit > 0 && uint64(n) > uint64(limit):
		if d.err == nil {
			d.fail("%s %s, limit %s", thousands(n), what, thousands(limit))
			d.err.Size = true
		}
		return 0
	case uint64(n)*uint64(size) > uint64(len(d.b)):
		d.fail("%s %s announced, %s bytes left", thousands(n), what, thousands(len(d.b)))
		return 0
	}
	return int(n)
}

func (d *decoder) name() string {
	b := d.bytes(d.u32())
	if !utf8.Valid(b) {
		d.fail("name is not UTF-8")
		return ""
	}
	return string(b)
}

func (d *decoder) valType() ValType {
	t := ValType(d.byte())
	if d.err == nil && !t.valid() {
		d.at--
		if t == 0x7b {
			d.feature("v128 needs SIMD, which is not admitted")
		} else {
			d.feature("value type 0x%02x is not admitted", byte(t))
		}
	}
	return t
}

func (d *decoder) valTypes(limit int, what string) []ValType {
	out := make([]ValType, d.vector(1, limit, what))
	for i := range out {
		out[i] = d.valType()
	}
	return out
}

func (d *decoder) types() {
	n := d.vector(3, d.bounds.Types, "types")
	d.m.Types = make([]FuncType, n)
	for i := range d.m.Types {
		if form := d.byte(); d.err == nil && form != 0x60 {
			d.at--
			d.feature("type form 0x%02x is not admitted", form)
		}
		d.m.Types[i] = FuncType{d.valTypes(d.bounds.Params, "parameters"), d.valTypes(d.bounds.Results, "results")}
		if d.err != nil {
			return
		}
	}
}

func (d *decoder) typeIndex() uint32 {
	i := d.u32()
	if d.err == nil && uint64(i) >= uint64(len(d.m.Types)) {
		d.fail("type %s of %s", thousands(i), thousands(len(d.m.Types)))
	}
	return i
}

// limits reads a minimum and maybe a maximum, both at most most.
func (d *decoder) limits(what string, most uint64) (l Limits) {
	switch flags := d.byte(); flags {
	case 0:
		l.Min = d.u32()
	case 1:
		l.Min, l.Max, l.HasMax = d.u32(), d.u32(), true
		if d.err == nil && l.Min > l.Max {
			d.fail("%s minimum %s is above its maximum %s", what, thousands(l.Min), thousands(l.Max))
		}
	default:
		if d.err == nil {
			d.at--
		}
		d.feature("%s limits 0x%02x (shared or 64-bit) are not admitted", what, flags)
	}
	if highest := uint64(max(l.Min, l.Max)); highest > most {
		d.fail("%s of %s, limit %s", what, thousands(highest), thousands(most))
	}
	return l
}

func (d *decoder) table() Table {
	t := d.valType()
	if d.err == nil && !t.IsReference() {
		d.fail("table of type 0x%02x", byte(t))
	}
	return Table{t, d.limits("table", 1<<32-1)}
}

func (d *decoder) memory() Limits { return d.limits("memory", MaxPages) }

func (d *decoder) globalType() GlobalType {
	t, mutable := d.valType(), d.byte()
	if mutable > 1 {
		d.fail("mutability 0x%02x of global", mutable)
	}
	return GlobalType{t, mutable == 1}
}

func (d *decoder) imports() {
	for range d.vector(4, d.bounds.Imports, "imports") {
		i := Import{Module: d.name(), Name: d.name(), Kind: Kind(d.byte())}
		switch i.Kind {
		case KindFunc:
			i.Type = d.typeIndex()
		case KindTable:
			i.Table = d.table()
		case KindMemory:
			i.Memory = d.memory()
		case KindGlobal:
			i.Global = d.globalType()
		case 4:
			d.feature("exceptions are not admitted")
		default:
			d.fail("unknown kind %d of import", i.Kind)
		}
		if d.err != nil {
			return
		}
		d.m.Imports = append(d.m.Imports, i)
	}
}

// space is how many things of a kind there are, imported ones included.
func (m *Module) space(k Kind) int {
	n := map[Kind]int{KindFunc: len(m.Funcs), KindTable: len(m.Tables), KindMemory: len(m.Memories), KindGlobal: len(m.Globals)}[k]
	for i := range m.Imports {
		if m.Imports[i].Kind == k {
			n++
		}
	}
	return n
}

func (d *decoder) exports() {
	n := d.vector(3, d.bounds.Exports, "exports")
	seen := make(map[string]bool, n)
	space := [4]int{d.m.space(KindFunc), d.m.space(KindTable), d.m.space(KindMemory), d.m.space(KindGlobal)}
	for range n {
		x := Export{Name: d.name(), Kind: Kind(d.byte()), Index: d.u32()}
		switch {
		case d.err != nil:
			return
		case seen[x.Name]:
			d.fail("%s is exported twice", quoted(x.Name))
			return
		case x.Kind > KindGlobal || uint64(x.Index) >= uint64(space[x.Kind]):
			d.fail("export %s names index %s of kind %d, which isn't there", quoted(x.Name), thousands(x.Index), x.Kind)
			return
		}
		seen[x.Name] = true
		d.m.Exports = append(d.m.Exports, x)
	}
}

// quoted makes a name printable, cut to 200 bytes.
func quoted(s string) string {
	if len(s) <= 200 {
		return strconv.QuoteToASCII(s)
	}
	return strconv.QuoteToASCII(s[:200]) + "…"
}

func (d *decoder) funcIndex() uint32 {
	i := d.u32()
	if n := len(d.m.Funcs) + len(d.m.Imports); d.err == nil && uint64(i) >= uint64(n) {
		d.fail("function %s of %s", thousands(i), thousands(n))
	}
	return i
}

// constant reads a constant expression.
func (d *decoder) constant() Expr {
	if d.err != nil {
		return nil
	}
	r := NewReader(d.b, d.at)
	var in Instr
	for r.depth > 0 && r.Next(&in) {
		switch in.Op {
		case OpEnd, OpI32Const, OpI64Const, OpF32Const, OpF64Const, OpGlobalGet, OpRefNull, OpRefFunc:
		default:
			r.fail(in.Offset-d.at, true, "instruction %s is not admitted in a constant expression", in.Op)
		}
	}
	if r.err != nil {
		e := *r.err.(*Error)
		e.What = d.what
		d.err = &e
		return nil
	}
	return Expr(d.bytes(uint32(r.i)))
}

func (d *decoder) elems() {
	for range d.vector(2, d.bounds.ElemSegments, "element segments") {
		form := d.u32()
		if form > 7 {
			d.fail("element segment of form %s", thousands(form))
		}
		e := Elem{Type: FuncRef, UsesExprs: form&4 != 0}
		switch form & 3 {
		case 1:
			e.Mode = ElemPassive
		case 3:
			e.Mode = ElemDeclarative
		default:
			if e.Explicit = form&2 != 0; e.Explicit {
				e.Table = d.u32()
			}
			e.Offset = d.constant()
		}
		if form&3 != 0 {
			if e.UsesExprs {
				if e.Type = d.valType(); d.err == nil && !e.Type.IsReference() {
					d.fail("elements of type 0x%02x", byte(e.Type))
				}
			} else if kind := d.byte(); kind != 0 {
				d.feature("element kind 0x%02x is not admitted", kind)
			}
		}
		d.elemItems(&e)
		if d.err != nil {
			return
		}
		d.m.Elems = append(d.m.Elems, e)
	}
}

func (d *decoder) elemItems(e *Elem) {
	limit := d.bounds.TableElements
	n := d.vector(1, limit, "elements")
	if d.elements += n; limit > 0 && d.elements > limit {
		d.fail("%s elements in all, limit %s", thousands(d.elements), thousands(limit))
		if d.err != nil {
			d.err.Size = true
		}
		return
	}
	if !e.UsesExprs {
		e.Funcs = make([]uint32, n)
		for i := range e.Funcs {
			e.Funcs[i] = d.funcIndex()
		}
		return
	}
	for range n {
		if d.err != nil {
			return
		}
		e.Exprs = append(e.Exprs, d.constant())
	}
}

func (d *decoder) datas() {
	d.m.Datas = make([]Data, d.vector(2, d.bounds.DataSegments, "data segments"))
	for i := range d.m.Datas {
		s := &d.m.Datas[i]
		switch form := d.u32(); form {
		case 1:
			s.Passive = true
		case 2:
			s.Explicit = true
			if s.Memory = d.u32(); s.Memory != 0 {
				d.feature("memory %s: multiple memories are not admitted", thousands(s.Memory))
			}
			fallthrough
		case 0:
			s.Offset = d.constant()
		default:
			d.fail("data segment of form %s", thousands(form))
		}
		s.Bytes = d.bytes(d.u32())
		if d.err != nil {
			return
		}
	}
}

// imported is how many functions are imported.
func (m *Module) imported() int {
	n := 0
	for i := range m.Imports {
		if m.Imports[i].Kind == KindFunc {
			n++
		}
	}
	return n
}

func (d *decoder) codes() {
	n := d.vector(2, d.bounds.Functions, "function bodies")
	d.m.Codes = make([]Code, 0, n)
	imported := d.m.imported()
	for i := range n {
		index := imported + i
		size := d.u32()
		if limit := d.bounds.BodyBytes; limit > 0 && uint64(size) > uint64(limit) {
			d.tooBig("function %s has %s bytes, limit %s", thousands(index), thousands(size), thousands(limit))
		}
		body := d.bytes(size)
		if d.err != nil {
			return
		}
		rest, at := d.b, d.at
		d.b, d.at = body, at-int(size)
		c := d.code(index)
		if d.err != nil {
			return
		}
		d.m.Codes = append(d.m.Codes, c)
		d.b, d.at = rest, at
	}
}

func (d *decoder) tooBig(format string, args ...any) {
	if d.err == nil {
		d.fail(format, args...)
		d.err.Size = true
	}
}

func (d *decoder) code(index int) Code {
	var c Code
	locals := uint64(0)
	groups := d.vector(2, 0, "groups of locals")
	if groups > 0 {
		c.Locals = make([]LocalGroup, 0, min(groups, 1000))
	}
	for range groups {
		g := LocalGroup{d.u32(), d.valType()}
		locals += uint64(g.Count)
		if d.err != nil {
			return c
		}
		c.Locals = append(c.Locals, g)
	}
	if limit := d.bounds.Locals; limit > 0 && locals > uint64(limit) {
		d.tooBig("function %s has %s locals, limit %s", thousands(index), thousands(locals), thousands(limit))
	}
	if locals > 1<<32-1 {
		d.fail("function %s has %s locals", thousands(index), thousands(locals))
	}
	if d.locals += int(locals); d.bounds.LocalsTotal > 0 && d.locals > d.bounds.LocalsTotal {
		d.tooBig("%s locals in all, limit %s", thousands(d.locals), thousands(d.bounds.LocalsTotal))
	}
	c.Body, c.Offset = Expr(d.b), d.at
	return c
}
