package wasm

// Encode writes the module with every number in its shortest form, sections
// without elements left out, custom sections last. It is meant for modules of
// [Decode] and such as are put together as well; from an instruction on that can't
// be read, an expression is copied as it is.
func (m *Module) Encode() []byte { return m.encode(appendCanonical) }

// EncodeVerbatim is Encode that copies expressions as they are, which is faster.
func (m *Module) EncodeVerbatim() []byte {
	return m.encode(func(b []byte, e Expr) []byte { return append(b, e...) })
}

func appendCanonical(b []byte, e Expr) []byte {
	r := Reader{b: e, depth: 1}
	var in Instr
	done := 0
	for r.Next(&in) {
		b = AppendInstr(b, &in)
		done = r.i
	}
	return append(b, e[done:]...)
}

// An encoder appends a module's sections.
type encoder struct {
	b       []byte
	section []byte // reused
	body    []byte // of a function; reused
	expr    func(b []byte, e Expr) []byte
}

func (m *Module) encode(expr func([]byte, Expr) []byte) []byte {
	code := 0
	for i := range m.Codes {
		code += len(m.Codes[i].Body) + 16
	}
	e := &encoder{b: make([]byte, 0, code+code/8+1024), section: make([]byte, 0, code), expr: expr}
	e.b = append(e.b, magic...)
	e.b = append(e.b, version, 0, 0, 0)
	appendVector(e, sectionType, m.Types, func(b []byte, t *FuncType) []byte {
		return appendValTypes(appendValTypes(append(b, typeForm), t.Params), t.Results)
	})
	appendVector(e, sectionImport, m.Imports, appendImport)
	appendVector(e, sectionFunction, m.Funcs, func(b []byte, t *uint32) []byte { return AppendU32(b, *t) })
	appendVector(e, sectionTable, m.Tables, appendTable)
	appendVector(e, sectionMemory, m.Memories, appendLimits)
	appendVector(e, sectionGlobal, m.Globals, func(b []byte, g *Global) []byte {
		return expr(appendGlobalType(b, g.GlobalType), g.Init)
	})
	appendVector(e, sectionExport, m.Exports, func(b []byte, x *Export) []byte {
		return AppendU32(append(appendName(b, x.Name), byte(x.Kind)), x.Index)
	})
	e.number(sectionStart, m.Start)
	appendVector(e, sectionElement, m.Elems, e.elem)
	e.number(sectionDataCount, m.DataCount)
	appendVector(e, sectionCode, m.Codes, e.code)
	appendVector(e, sectionData, m.Datas, e.data)
	for i := range m.Customs {
		e.section = append(appendName(e.section[:0], m.Customs[i].Name), m.Customs[i].Bytes...)
		e.flush(sectionCustom)
	}
	return e.b
}

// flush appends the section that is being written.
func (e *encoder) flush(id byte) {
	e.b = AppendU32(append(e.b, id), uint32(len(e.section)))
	e.b = append(e.b, e.section...)
}

// number appends a section that is one number, if there is one.
func (e *encoder) number(id byte, v *uint32) {
	if v != nil {
		e.section = AppendU32(e.section[:0], *v)
		e.flush(id)
	}
}

// appendVector appends a section that is a vector; one without elements is left
// out.
func appendVector[T any](e *encoder, id byte, items []T, item func(b []byte, t *T) []byte) {
	if len(items) == 0 {
		return
	}
	e.section = AppendU32(e.section[:0], uint32(len(items)))
	for i := range items {
		e.section = item(e.section, &items[i])
	}
	e.flush(id)
}

func appendName(b []byte, s string) []byte { return append(AppendU32(b, uint32(len(s))), s...) }

func appendValTypes(b []byte, types []ValType) []byte {
	b = AppendU32(b, uint32(len(types)))
	for _, t := range types {
		b = append(b, byte(t))
	}
	return b
}

func appendLimits(b []byte, l *Limits) []byte {
	if !l.HasMax {
		return AppendU32(append(b, 0), l.Min)
	}
	return AppendU32(AppendU32(append(b, 1), l.Min), l.Max)
}

func appendTable(b []byte, t *Table) []byte { return appendLimits(append(b, byte(t.Elem)), &t.Limits) }

func appendGlobalType(b []byte, g GlobalType) []byte {
	mutable := byte(0)
	if g.Mutable {
		mutable = 1
	}
	return append(b, byte(g.Type), mutable)
}

func appendImport(b []byte, i *Import) []byte {
	b = append(appendName(appendName(b, i.Module), i.Name), byte(i.Kind))
	switch i.Kind {
	case KindTable:
		return appendTable(b, &i.Table)
	case KindMemory:
		return appendLimits(b, &i.Memory)
	case KindGlobal:
		return appendGlobalType(b, i.Global)
	}
	return AppendU32(b, i.Type)
}

// elem appends a segment in the form it says, or in one that can hold it.
func (e *encoder) elem(b []byte, s *Elem) []byte {
	form := byte(0)
	switch {
	case s.Mode == ElemPassive:
		form = elemNotActive
	case s.Mode == ElemDeclarative:
		form = elemNotActive | elemExplicit
	case s.Explicit || s.Table != 0 || s.Type == ExternRef:
		form = elemExplicit
	}
	typed := form != 0
	if s.UsesExprs {
		form |= elemExprs
	}
	b = append(b, form)
	if s.Mode == ElemActive {
		if typed {
			b = AppendU32(b, s.Table)
		}
		b = e.expr(b, s.Offset)
	}
	switch {
	case !typed:
	case s.UsesExprs:
		b = append(b, byte(s.Type))
	default:
		b = append(b, 0) // functions
	}
	if s.UsesExprs {
		b = AppendU32(b, uint32(len(s.Exprs)))
		for _, x := range s.Exprs {
			b = e.expr(b, x)
		}
		return b
	}
	b = AppendU32(b, uint32(len(s.Funcs)))
	for _, f := range s.Funcs {
		b = AppendU32(b, f)
	}
	return b
}

func (e *encoder) code(b []byte, c *Code) []byte {
	e.body = AppendU32(e.body[:0], uint32(len(c.Locals)))
	for _, g := range c.Locals {
		e.body = append(AppendU32(e.body, g.Count), byte(g.Type))
	}
	e.body = e.expr(e.body, c.Body)
	return append(AppendU32(b, uint32(len(e.body))), e.body...)
}

func (e *encoder) data(b []byte, s *Data) []byte {
	switch {
	case s.Passive:
		b = append(b, dataPassive)
	case s.Explicit || s.Memory != 0:
		b = e.expr(AppendU32(append(b, dataExplicit), s.Memory), s.Offset)
	default:
		b = e.expr(append(b, dataActive), s.Offset)
	}
	return append(AppendU32(b, uint32(len(s.Bytes))), s.Bytes...)
}
