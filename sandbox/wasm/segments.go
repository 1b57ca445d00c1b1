package wasm

// Bits of an element segment's form. Passive and declarative segments have no
// table; what is explicit in an active one makes a declarative one of a passive.
const (
	elemNotActive = 1 << iota
	elemExplicit
	elemExprs
)

func (d *decoder) elementSection() {
	n := d.limited(3, d.bounds.ElemSegments, "element segments")
	d.m.Elems = make([]Elem, 0, n)
	for range n {
		e := d.elem()
		if d.err != nil {
			return
		}
		d.m.Elems = append(d.m.Elems, e)
	}
}

func (d *decoder) elem() Elem {
	form := d.u32()
	if form > elemNotActive|elemExplicit|elemExprs {
		d.fail("element segment of form %s", Thousands(form))
	}
	e := Elem{Type: FuncRef, UsesExprs: form&elemExprs != 0}
	switch form & (elemNotActive | elemExplicit) {
	case elemNotActive:
		e.Mode = ElemPassive
	case elemNotActive | elemExplicit:
		e.Mode = ElemDeclarative
	default:
		e.Explicit = form&elemExplicit != 0
		e.Table = d.segmentTable(e.Explicit)
		e.Offset = d.constant()
	}
	switch {
	case form&(elemNotActive|elemExplicit) == 0: // functions
	case e.UsesExprs:
		e.Type = d.refType("element")
	default:
		if kind := d.byte(); kind != 0 {
			d.feature("element kind 0x%02x is not admitted", kind)
		}
	}
	if e.UsesExprs {
		n := d.entries(3)
		e.Exprs = make([]Expr, 0, n)
		for range n {
			e.Exprs = append(e.Exprs, d.constant())
			if d.err != nil {
				break
			}
		}
		return e
	}
	e.Funcs = make([]uint32, d.entries(1))
	for i := range e.Funcs {
		e.Funcs[i] = d.functionIndex()
	}
	return e
}

// segmentTable reads the table of an active segment, which is the first one if it
// isn't explicit.
func (d *decoder) segmentTable(explicit bool) uint32 {
	n := d.declared(KindTable)
	if explicit {
		return d.indexOf(n, "table")
	}
	if n == 0 {
		d.fail("table 0 of 0")
	}
	return 0
}

// entries reads how many elements of at least size bytes a segment has.
func (d *decoder) entries(size int) int {
	limit := d.bounds.TableElements
	n := d.limited(size, limit, "elements")
	if d.elements += n; limit > 0 && d.elements > limit {
		d.tooBig("%s elements in all, limit %s", Thousands(d.elements), Thousands(limit))
		return 0
	}
	return n
}

// Forms of data segments.
const (
	dataActive = iota
	dataPassive
	dataExplicit
)

func (d *decoder) dataSection() {
	n := d.limited(2, d.bounds.DataSegments, "data segments")
	d.m.Datas = make([]Data, 0, n)
	for range n {
		var s Data
		switch form := d.u32(); form {
		case dataPassive:
			s.Passive = true
		case dataActive, dataExplicit:
			s.Explicit = form == dataExplicit
			d.segmentMemory(s.Explicit)
			s.Offset = d.constant()
		default:
			d.fail("data segment of form %s", Thousands(form))
		}
		s.Bytes = d.bytes(d.u32())
		if d.err != nil {
			return
		}
		d.m.Datas = append(d.m.Datas, s)
	}
}

func (d *decoder) segmentMemory(explicit bool) {
	i := uint32(0)
	if explicit {
		i = d.u32()
	}
	switch n := d.declared(KindMemory); {
	case d.err != nil:
	case i > 0:
		d.feature("memory %s: more than one memory is not admitted", Thousands(i))
	case n == 0:
		d.fail("memory 0 of 0")
	}
}
