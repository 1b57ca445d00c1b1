package wasm

import "slices"

func (d *decoder) customSection() {
	if d.m.Customs == nil {
		n := d.customs()
		if limit := d.bounds.Customs; limit > 0 && n > limit {
			d.tooBig("%s custom sections, limit %s", Thousands(n), Thousands(limit))
			return
		}
		d.m.Customs = make([]Custom, 0, n)
	}
	name := d.name()
	d.m.Customs = append(d.m.Customs, Custom{Name: name, Bytes: d.bytes(uint32(d.left()))})
}

// customs is how many custom sections there are from this one on.
func (d *decoder) customs() int {
	n := 1
	for i := len(d.b); i < len(d.all); {
		if d.all[i] == sectionCustom {
			n++
		}
		size, next := uleb32(d.all, i+1)
		if next < 0 || uint64(size) > uint64(len(d.all)-next) {
			break
		}
		i = next + int(size)
	}
	return n
}

func (d *decoder) typeSection() {
	n := d.limited(3, d.bounds.Types, "types")
	if d.err != nil {
		return
	}
	all := make([]ValType, 0, d.left()) // the lists of all types
	list := func(limit int, what string) []ValType {
		at := len(all)
		for range d.limited(1, limit, what) {
			all = append(all, d.valType())
		}
		return slices.Clip(all[at:])
	}
	d.m.Types = make([]FuncType, 0, n)
	for range n {
		if form := d.byte(); d.err == nil && form != typeForm {
			d.feature("type form 0x%02x is not admitted", form)
		}
		t := FuncType{Params: list(d.bounds.Params, "parameters")}
		t.Results = list(d.bounds.Results, "results")
		if d.err != nil {
			return
		}
		d.m.Types = append(d.m.Types, t)
	}
}

// typeForm begins a function type.
const typeForm = 0x60

// indexOf reads an index of things of which there are so many.
func (d *decoder) indexOf(n int, what string) uint32 {
	i := d.u32()
	if d.err == nil && uint64(i) >= uint64(n) {
		d.fail("%s %s of %s", what, Thousands(i), Thousands(n))
	}
	return i
}

func (d *decoder) typeIndex() uint32 { return d.indexOf(len(d.m.Types), "type") }

func (d *decoder) functionIndex() uint32 { return d.indexOf(d.declared(KindFunc), "function") }

// declared is how many of a kind there are so far, imported ones included.
func (d *decoder) declared(k Kind) int {
	own := [...]int{KindFunc: len(d.m.Funcs), KindTable: len(d.m.Tables), KindMemory: len(d.m.Memories), KindGlobal: len(d.m.Globals)}
	return d.imported[k] + own[k]
}

// kindTag is the kind of exceptions.
const kindTag Kind = 4

func (d *decoder) importSection() {
	n := d.limited(4, d.bounds.Imports, "imports")
	d.m.Imports = make([]Import, 0, n)
	for range n {
		i := Import{Module: d.name(), Name: d.name()}
		i.Kind = Kind(d.byte())
		switch i.Kind {
		case KindFunc:
			i.Type = d.typeIndex()
		case KindTable:
			d.room(KindTable, 1)
			i.Table = d.table()
		case KindMemory:
			d.room(KindMemory, 1)
			i.Memory = d.memory()
		case KindGlobal:
			i.Global = d.globalType()
		case kindTag:
			d.feature("exceptions are not admitted")
		default:
			d.fail("unknown kind %d of import", i.Kind)
		}
		if d.err != nil {
			return
		}
		d.m.Imports = append(d.m.Imports, i)
		d.imported[i.Kind]++
	}
}

// room checks whether there may be so many more tables or memories.
func (d *decoder) room(k Kind, more int) {
	n := d.declared(k) + more
	limit, what := d.bounds.Tables, "tables"
	if k == KindMemory {
		limit, what = d.bounds.Memories, "memories"
	}
	switch {
	case limit > 0 && n > limit:
		d.tooBig("%s %s, limit %s", Thousands(n), what, Thousands(limit))
	case k == KindMemory && n > 1:
		d.feature("%s memories: more than one is not admitted", Thousands(n))
	}
}

func (d *decoder) functionSection() {
	n := d.limited(1, d.bounds.Functions, "functions")
	d.m.Funcs = make([]uint32, n)
	for i := range d.m.Funcs {
		d.m.Funcs[i] = d.typeIndex()
	}
}

func (d *decoder) tableSection() {
	n := d.count(3)
	d.room(KindTable, n)
	for range n {
		t := d.table()
		if d.err != nil {
			return
		}
		d.m.Tables = append(d.m.Tables, t)
	}
}

func (d *decoder) table() Table {
	t := Table{Elem: d.refType("table")}
	t.Limits = d.limits("table")
	if limit := d.bounds.TableElements; limit > 0 && uint64(t.Min) > uint64(limit) {
		d.tooBig("table of %s elements, limit %s", Thousands(t.Min), Thousands(limit))
	}
	return t
}

func (d *decoder) memorySection() {
	n := d.count(2)
	d.room(KindMemory, n)
	for range n {
		l := d.memory()
		if d.err != nil {
			return
		}
		d.m.Memories = append(d.m.Memories, l)
	}
}

func (d *decoder) globalSection() {
	n := d.limited(5, d.bounds.Globals, "globals")
	d.m.Globals = make([]Global, 0, n)
	for range n {
		g := Global{GlobalType: d.globalType()}
		g.Init = d.constant()
		if d.err != nil {
			return
		}
		d.m.Globals = append(d.m.Globals, g)
	}
}

func (d *decoder) exportSection() {
	n := d.limited(3, d.bounds.Exports, "exports")
	d.m.Exports = make([]Export, 0, n)
	names := make(map[string]bool)
	for range n {
		x := Export{Name: d.name()}
		x.Kind = Kind(d.byte())
		x.Index = d.u32()
		switch {
		case d.err != nil:
		case names[x.Name]:
			d.fail("%s is exported twice", Quoted(x.Name))
		case x.Kind == kindTag:
			d.feature("export %s: exceptions are not admitted", Quoted(x.Name))
		case x.Kind > kindTag || uint64(x.Index) >= uint64(d.declared(x.Kind)):
			d.fail("export %s names index %s of kind %d, which isn't there", Quoted(x.Name), Thousands(x.Index), x.Kind)
		}
		if d.err != nil {
			return
		}
		names[x.Name] = true
		d.m.Exports = append(d.m.Exports, x)
	}
}

// constant reads a constant expression: one instruction and its end.
func (d *decoder) constant() Expr {
	if d.err != nil {
		return nil
	}
	start := d.i
	r := &d.code
	r.reset(d.b[start:], start)
	r.within = true
	var in Instr
	for n := 0; r.Next(&in); n++ {
		d.i = start + r.i
		limit, what := 0, ""
		switch in.Op {
		case OpEnd:
			if n != 1 {
				d.fail("constant expression of %s instructions, want 1", Thousands(n))
			}
			return slices.Clip(Expr(d.b[start:d.i]))
		case OpI32Const, OpI64Const, OpF32Const, OpF64Const, OpRefNull:
			continue
		case OpGlobalGet:
			limit, what = d.declared(KindGlobal), "global"
		case OpRefFunc:
			limit, what = d.declared(KindFunc), "function"
		default:
			d.feature("instruction 0x%02x is not admitted in a constant expression", in.Raw[0])
			return nil
		}
		if in.Imm >= uint64(limit) {
			d.fail("%s %s of %s", what, Thousands(in.Imm), Thousands(limit))
			return nil
		}
	}
	r.err.What, r.err.Detail = d.what, "constant expression: "+r.err.Detail
	d.err = r.err
	return nil
}
