package wasm

import "math"

func (d *decoder) codeSection() {
	n := d.limited(3, d.bounds.Functions, "function bodies")
	d.m.Codes = make([]Code, 0, n)
	section := d.b
	for range n {
		index := d.imported[KindFunc] + len(d.m.Codes)
		size := d.u32()
		if limit := d.bounds.BodyBytes; limit > 0 && uint64(size) > uint64(limit) {
			d.tooBig("function %s has %s bytes, limit %s", Thousands(index), Thousands(size), Thousands(limit))
		}
		start := d.i
		if d.bytes(size); d.err != nil {
			return
		}
		d.b, d.i = section[:d.i], start
		c := d.function(index)
		if d.err != nil {
			return
		}
		d.m.Codes = append(d.m.Codes, c)
		d.b = section
	}
}

// function reads a function up to the end of what there is.
func (d *decoder) function(index int) Code {
	c := Code{Locals: d.localGroups(index)}
	c.Offset = d.i
	if d.err == nil && (d.left() == 0 || d.b[len(d.b)-1] != byte(OpEnd)) {
		d.fail("function %s has no end", Thousands(index))
	}
	if d.err != nil {
		return c
	}
	c.Body = d.bytes(uint32(d.left()))
	d.body(&c)
	if d.err != nil {
		d.err.Detail = "function " + Thousands(index) + ": " + d.err.Detail
	}
	return c
}

func (d *decoder) localGroups(index int) []LocalGroup {
	n := d.count(2)
	if n == 0 {
		return nil
	}
	groups := make([]LocalGroup, 0, n)
	locals := uint64(0)
	for range n {
		g := LocalGroup{Count: d.u32()}
		g.Type = d.valType()
		if d.err != nil {
			return nil
		}
		locals += uint64(g.Count)
		groups = append(groups, g)
	}
	limit, total := uint64(d.bounds.Locals), d.bounds.LocalsTotal
	switch {
	case limit > 0 && locals > limit:
		d.tooBig("function %s has %s locals, limit %s", Thousands(index), Thousands(locals), Thousands(limit))
		return nil
	case locals > math.MaxUint32:
		d.fail("function %s has %s locals", Thousands(index), Thousands(locals))
		return nil
	}
	if d.locals += locals; total > 0 && d.locals > uint64(total) {
		d.tooBig("%s locals in all, limit %s", Thousands(d.locals), Thousands(total))
	}
	return groups
}

// body reads every instruction of a function, and looks at the types of blocks
// and at what needs the data count.
func (d *decoder) body(c *Code) {
	r := &d.code
	r.reset(c.Body, c.Offset)
	types := uint64(len(d.m.Types))
	var in Instr
	for r.Next(&in) {
		switch in.Op {
		case OpBlock, OpLoop, OpIf:
			if in.Block.HasIndex && uint64(in.Block.Index) >= types {
				r.refuse(&in, false, "type %s of %s", Thousands(in.Block.Index), Thousands(types))
			}
		case OpMemoryInit, OpDataDrop:
			if d.m.DataCount == nil {
				r.refuse(&in, false, "there is no data count section")
			}
		}
	}
	if r.err != nil {
		r.err.What = d.what
		d.err = r.err
	}
}
