package wasm

// Encode writes the module with every number in its shortest form. The module
// must be as Decode makes one: expressions that can be read. Custom sections come
// last.
func (m *Module) Encode() []byte { return m.encode(Expr.canonical) }

// EncodeVerbatim is Encode that copies expressions as they are.
func (m *Module) EncodeVerbatim() []byte {
	return m.encode(func(e Expr, b []byte) []byte { return append(b, e...) })
}

// canonical appends the expression, re-encoded.
func (e Expr) canonical(b []byte) []byte {
	r := NewReader(e, 0)
	var in Instr
	for r.Next(&in) {
		b = AppendInstr(b, &in)
	}
	return b
}

type encoder struct {
	b    []byte
	body []byte // of the section, reused
	expr func(e Expr, b []byte) []byte
}

func (m *Module) encode(expr func(Expr, []byte) []byte) []byte {
	e := &encoder{b: []byte("\x00asm\x01\x00\x00\x00"), expr: expr}
	each(e, 1, m.Types, func(b []byte, t FuncType) []byte {
		return appendTypes(appendTypes(append(b, 0x60), t.Params), t.Results)
	})
	each(e, 2, m.Imports, appendImport)
	each(e, 3, m.Funcs, AppendU32)
	each(e, 4, m.Tables, appendTable)
	each(e, 5, m.Memories, appendLimits)
	each(e, 6, m.Globals, func(b []byte, g Global) []byte { return expr(g.Init, appendGlobalType(b, g.GlobalType)) })
	each(e, 7, m.Exports, func(b []byte, x Export) []byte {
		return AppendU32(append(appendName(b, x.Name), byte(x.Kind)), x.Index)
	})
	if m.Start != nil {
		e.section(8, AppendU32(nil, *m.Start))
	}
	each(e, 9, m.Elems, e.elem)
	if m.DataCount != nil {
		e.section(12, AppendU32(nil, *m.DataCount))
	}
	each(e, 10, m.Codes, e.code())
	each(e, 11, m.Datas, e.data)
	for _, c := range m.Customs {
		e.section(0, append(appendName(nil, c.Name), c.Bytes...))
	}
	return e.b
}

func (e *encoder) section(id byte, body []byte) {
	e.b = append(e.b, id)
	e.b = AppendU32(e.b, uint32(len(body)))
	e.b = append(e.b, body...)
}

// each writes a section that is a vector; one without elements is left out.
func each[T any](e *encoder, id byte, items []T, item func(b []byte, t T) []byte) {
	if len(items) == 0 {
		return
	}
	e.body = AppendU32(e.body[:0], uint32(len(items)))
	for _, t := range items {
		e.body = item(e.body, t)
	}
	e.section(id, e.body)
}

func appendName(b []byte, s string) []byte {
	return append(AppendU32(b, uint32(len(s))), s...)
}

func appendTypes(b []byte, types []ValType) []byte {
	b = AppendU32(b, uint32(len(types)))
	for _, t := range types {
		b = append(b, byte(t))
	}
	return b
}

func appendLimits(b []byte, l Limits) []byte {
	if !l.HasMax {
		return AppendU32(append(b, 0), l.Min)
	}
	return AppendU32(AppendU32(append(b, 1), l.Min), l.Max)
}

func appendTable(b []byte, t Table) []byte { return appendLimits(append(b, byte(t.Elem)), t.Limits) }

func appendGlobalType(b []byte, g GlobalType) []byte {
	if g.Mutable {
		return append(b, byte(g.Type), 1)
	}
	return append(b, byte(g.Type), 0)
}

func appendImport(b []byte, i Import) []byte {
	b = append(appendName(appendName(b, i.Module), i.Name), byte(i.Kind))
	switch i.Kind {
	case KindTable:
		return appendTable(b, i.Table)
	case KindMemory:
		return appendLimits(b, i.Memory)
	case KindGlobal:
		return appendGlobalType(b, i.Global)
	}
	return AppendU32(b, i.Type)
}

// elem writes a segment in the form it was read in.
func (e *encoder) elem(b []byte, s Elem) []byte {
	form := byte(0)
	switch {
	case s.Mode == ElemPassive:
		form = 1
	case s.Mode == ElemDeclarative:
		form = 3
	case s.Explicit:
		form = 2
	}
	if s.UsesExprs {
		form |= 4
	}
	b = append(b, form)
	if s.Mode == ElemActive {
		if s.Explicit {
			b = AppendU32(b, s.Table)
		}
		b = e.expr(s.Offset, b)
	}
	if form&3 != 0 {
		if s.UsesExprs {
			b = append(b, byte(s.Type))
		} else {
			b = append(b, 0)
		}
	}
	if !s.UsesExprs {
		b = AppendU32(b, uint32(len(s.Funcs)))
		for _, f := range s.Funcs {
			b = AppendU32(b, f)
		}
		return b
	}
	b = AppendU32(b, uint32(len(s.Exprs)))
	for _, x := range s.Exprs {
		b = e.expr(x, b)
	}
	return b
}

// code writes function bodies through a buffer, for their size comes first.
func (e *encoder) code() func(b []byte, c Code) []byte {
	var body []byte
	return func(b []byte, c Code) []byte {
		body = AppendU32(body[:0], uint32(len(c.Locals)))
		for _, g := range c.Locals {
			body = append(AppendU32(body, g.Count), byte(g.Type))
		}
		body = e.expr(c.Body, body)
		return append(AppendU32(b, uint32(len(body))), body...)
	}
}

func (e *encoder) data(b []byte, d Data) []byte {
	switch {
	case d.Passive:
		b = append(b, 1)
	case d.Explicit:
		b = e.expr(d.Offset, AppendU32(append(b, 2), d.Memory))
	default:
		b = e.expr(d.Offset, append(b, 0))
	}
	return append(AppendU32(b, uint32(len(d.Bytes))), d.Bytes...)
}
