package hostile

import (
	"fmt"
	"slices"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// static are guests that break whoever reads or compiles them: wazero takes time
// and memory for them out of all proportion. They are refused.
func static() []Guest {
	size := func(detail string) End { return refused(sandbox.ReasonSize, detail) }
	bad := func(detail string) End { return refused(sandbox.ReasonMalformed, detail) }
	return []Guest{
		{Name: "br_table of a million", End: size("function 3 has a br_table of 1,000,000 targets, limit 16,384"), Wasm: func() []byte {
			return solver(1).plan(nil, wt.Block(wt.LocalGet(0), wt.BrTable(make([]uint32, 1_000_001)...)))
		}},
		{Name: "br_tables of 16,000 in 100 functions", End: size("targets in all, limit 500,000"), Wasm: func() []byte {
			b := solver(1)
			for range 100 {
				b.Func("", i32, nil, nil, wt.LocalGet(0), wt.BrTable(make([]uint32, 16_001)...))
			}
			return b.idle()
		}},
		{Name: "400,000 nested blocks", End: size("function 3 nests blocks 400,000 deep, limit 16,384"), Wasm: func() []byte { return nested(0x02, 400_000) }},
		{Name: "400,000 nested loops", End: size("function 3 nests blocks 400,000 deep, limit 16,384"), Wasm: func() []byte { return nested(0x03, 400_000) }},
		{Name: "16,000 nested blocks in 100 functions", End: size("the sum of squares is 768,000,000, limit 536,870,912"), Wasm: func() []byte {
			b := solver(1)
			for range 100 {
				b.Func("", nil, nil, nil, slices.Repeat([]byte{0x02, 0x40}, 16_000), slices.Repeat(wt.End, 16_000))
			}
			return b.idle()
		}},
		{Name: "2,000 functions of 49,990 locals", End: size("function 0 has 49,990 locals, limit 1,000"), Wasm: func() []byte { return locals(2000, 49_990) }},
		{Name: "2,000 functions of 1,000 locals", End: size("locals in all, limit 500,000"), Wasm: func() []byte { return locals(2000, 1000) }},
		{Name: "locals that are counted past 2^32", End: refused(sandbox.ReasonSize, "locals, limit 1,000"), Wasm: func() []byte {
			b := solver(1)
			group := append(wt.U32(1<<31), wt.I32)
			b.Code(nil, nil, slices.Concat(wt.U32(2), group, group, wt.End))
			return b.idle()
		}},
		{Name: "500,000 tiny functions", End: size("500,004 functions, limit 30,000"), Wasm: func() []byte {
			b := solver(1)
			for range 500_000 {
				b.Code(nil, nil, []byte{0, 0x0b})
			}
			return b.idle()
		}},
		{Name: "straight line of 3.5 MB", End: size("limit 2,097,152"), Wasm: func() []byte {
			return solver(1).plan(nil, repeat(500_000, wt.LocalGet(0), wt.I32Const(1), wt.I32Add, wt.LocalSet(0)))
		}},
		{Name: "300,000 operands on the stack", End: size("function 3 has more than 1,024 operands"), Wasm: func() []byte {
			return solver(1).plan(nil, repeat(300_000, wt.I32Const(1)), repeat(300_000, wt.Drop))
		}},
		{Name: "2 million globals", End: size("2,000,000 globals, limit 10,000"), Wasm: func() []byte {
			b := solver(1)
			for range 2_000_000 {
				b.Global(0)
			}
			return b.idle()
		}},
		{Name: "a million types", End: size("types, limit 10,000"), Wasm: func() []byte {
			return section(1, 1_000_000, slices.Repeat([]byte{0x60, 0, 0}, 1_000_000))
		}},
		{Name: "a type of a million results", End: size("limit 1,000"), Wasm: func() []byte {
			return section(1, 1, slices.Concat([]byte{0x60, 0}, wt.U32(1_000_000), slices.Repeat(i32, 1_000_000)))
		}},
		{Name: "100,000 exports", End: size("exports, limit 10,000"), Wasm: func() []byte {
			b := solver(1)
			for i := range 100_000 {
				b.Export(fmt.Sprint("export ", i), wt.KindFunc, 0)
			}
			return b.idle()
		}},
		{Name: "4 billion functions in 6 bytes", End: bad("type section"), Wasm: func() []byte { return section(1, 1<<32-1, []byte{0x60}) }},
		{Name: "4 billion elements in 6 bytes", End: bad("element section"), Wasm: func() []byte { return section(9, 1<<32-1, []byte{0}) }},
		{Name: "a name of 4 GiB", End: bad("custom section"), Wasm: func() []byte {
			return slices.Concat(wt.Header(), wt.Section(0, wt.U32(1<<32-1)))
		}},
		{Name: "17 MiB", End: size("limit 16,777,216"), Wasm: func() []byte {
			b := solver(1)
			b.Custom("ballast", make([]byte, 17*mib))
			return b.idle()
		}},
	}
}

// nested nests blocks of a kind in generate_plan.
func nested(op byte, deep int) []byte {
	return solver(1).plan(nil, slices.Repeat([]byte{op, 0x40}, deep), slices.Repeat(wt.End, deep))
}

func locals(functions int, each uint32) []byte {
	b := solver(1)
	for range functions {
		b.Code(nil, nil, slices.Concat(wt.U32(1), wt.U32(each), []byte{wt.I64, 0x0b}))
	}
	return b.idle()
}

// section is a module of nothing but a section that says how many it has.
func section(id byte, n uint32, content []byte) []byte {
	return slices.Concat(wt.Header(), wt.Section(id, append(wt.U32(n), content...)))
}
