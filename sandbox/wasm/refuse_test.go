package wasm_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

type sort string

const (
	malformed sort = "malformed"
	feature   sort = "feature"
	size      sort = "size"
)

func sortOf(e *wasm.Error) sort {
	switch {
	case e.Feature && e.Size:
		return "both"
	case e.Feature:
		return feature
	case e.Size:
		return size
	}
	return malformed
}

type row struct {
	name string
	wasm []byte
	sort sort
	says string // exact
}

func testRows(t *testing.T, rows []row, bounds wasm.Bounds) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := wasm.Decode(tt.wasm, bounds)
			if m != nil {
				t.Errorf("Decode() gives a module besides the error %v", err)
			}
			e := refusal(t, err)
			if diff := cmp.Diff(tt.says, e.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if got := sortOf(e); got != tt.sort {
				t.Errorf("it is %s, want %s", got, tt.sort)
			}
		})
	}
}

func TestDecodeRefusesHeaders(t *testing.T) {
	testRows(t, []row{
		{"nothing at all", nil, malformed, `not a WebAssembly module: it doesn't begin with \0asm`},
		{"a script", []byte("#!/bin/sh"), malformed, `not a WebAssembly module: it doesn't begin with \0asm`},
		{"half a header", wt.Header()[:6], malformed, `header at offset 4: module ends after 6 bytes`},
		{"version 2", []byte("\x00asm\x02\x00\x00\x00"), malformed, `header at offset 4: WebAssembly version 2, want 1`},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00"), feature, `header at offset 4: a component, not a core module: build without the component model`},
	}, wasm.Bounds{})
}

func TestDecodeRefusesSections(t *testing.T) {
	section := func(id byte, content ...byte) []byte { return module(wt.Section(id, content)) }
	testRows(t, []row{
		{"cut off", append(wt.Header(), 1, 5, 0), malformed, `section header at offset 10: type section announces 5 bytes, 1 left`},
		{"without a size", append(wt.Header(), 1), malformed, `section header at offset 9: unexpected end`},
		{"unknown", section(14), malformed, `section header at offset 10: unknown section 14`},
		{"twice", module(oneType, oneType), malformed, `section header at offset 20: type section is repeated or out of order`},
		{"memory before types", module(oneMemory, oneType), malformed, `section header at offset 19: type section is repeated or out of order`},
		{"data count after code", module(oneType, oneFunc, oneBody, wt.Section(12, []byte{0})), malformed, `section header at offset 27: data count section is repeated or out of order`},
		{"a byte too many", section(1, 0, 0), malformed, `type section at offset 11: 1 bytes too many`},
		{"a byte too few", append(wt.Header(), 1, 2, 1, 0x60), malformed, `type section at offset 11: 1 elements announced, 1 bytes left`},
		{"exceptions", section(13, 0), feature, `tag section at offset 10: exceptions are not admitted`},
		{"a number of 33 bits", section(1, 0xff, 0xff, 0xff, 0xff, 0x1f), malformed, `type section at offset 15: number is longer than 32 bits`},
		{"a number of 6 bytes", section(1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00), malformed, `type section at offset 15: number is longer than 32 bits`},
		{"a number that isn't ended", section(1, 0x80, 0x80), malformed, `type section at offset 12: unexpected end`},
		{"a number that the next section would end", module(wt.Section(1, []byte{0x80}), wt.Section(0, text("x"))), malformed, `type section at offset 11: unexpected end`},
		{"a custom section's name that isn't UTF-8", section(0, 1, 0xff), malformed, `custom section at offset 12: name is not UTF-8`},
		{"a custom section's name that is cut off", section(0, 2, 'a'), malformed, `custom section at offset 11: 2 bytes announced, 1 left`},
		{"a custom section without name", section(0), malformed, `custom section at offset 10: unexpected end`},
		{"functions without code", module(oneType, oneFunc), malformed, `1 functions are declared, 0 have code`},
		{"code without functions", module(oneBody), malformed, `0 functions are declared, 1 have code`},
		{"more data than announced", module(oneMemory, wt.Section(12, []byte{0}), wt.Section(11, vec([]byte{1, 0}))), malformed, `0 data segments are announced, there are 1`},
		{"less data than announced", module(oneMemory, wt.Section(12, []byte{2})), malformed, `2 data segments are announced, there are 0`},
	}, wasm.Bounds{})
}

func TestDecodeRefusesDeclarations(t *testing.T) {
	section := func(id byte, content ...byte) []byte { return module(wt.Section(id, content)) }
	imported := func(desc ...byte) []byte {
		return module(oneType, wt.Section(2, vec(slices.Concat(text("m"), text("n"), desc))))
	}
	testRows(t, []row{
		{"a recursive type", section(1, 1, 0x4e, 0, 0), feature, `type section at offset 12: type form 0x4e is not admitted`},
		{"a structure", section(1, 1, 0x5f, 0, 0), feature, `type section at offset 12: type form 0x5f is not admitted`},
		{"a parameter of SIMD", section(1, 1, 0x60, 1, 0x7b, 0), feature, `type section at offset 14: v128 needs SIMD, which is not admitted`},
		{"a result that is a typed reference", section(1, 1, 0x60, 0, 1, 0x63), feature, `type section at offset 15: value type 0x63 is not admitted`},

		{"an import of a type that isn't there", imported(0, 1), malformed, `import section at offset 23: type 1 of 1`},
		{"an import of an exception", imported(4, 0, 0), feature, `import section at offset 22: exceptions are not admitted`},
		{"an import without kind", module(wt.Section(2, []byte{1, 1, 'a', 1, 'b'})), malformed, `import section at offset 15: unexpected end`},
		{"an import of an unknown kind", imported(5, 0), malformed, `import section at offset 22: unknown kind 5 of import`},
		{"an import's name that isn't UTF-8", module(oneType, wt.Section(2, []byte{1, 1, 0xc0, 0, 0, 0})), malformed, `import section at offset 19: name is not UTF-8`},
		{"two imported memories", module(wt.Section(2, vec([]byte{0, 0, 2, 0, 1}, []byte{0, 0, 2, 0, 1}))), feature, `import section at offset 19: 2 memories: more than one is not admitted`},
		{"an imported memory and one of its own", module(wt.Section(2, vec([]byte{0, 0, 2, 0, 1})), oneMemory), feature, `memory section at offset 19: 2 memories: more than one is not admitted`},
		{"an imported global of unknown mutability", imported(3, wt.I32, 2), malformed, `import section at offset 24: mutability 0x02 of global`},

		{"a function of a type that isn't there", module(oneType, wt.Section(3, []byte{1, 1})), malformed, `function section at offset 18: type 1 of 1`},

		{"a table of numbers", section(4, 1, wt.I32, 0, 0), feature, `table section at offset 12: table type 0x7f is not admitted`},
		{"a table with an initializer", section(4, 1, 0x40, 0, 0x70, 0, 1), feature, `table section at offset 12: table type 0x40 is not admitted`},
		{"a 64-bit table", section(4, 1, 0x70, 4, 0), feature, `table section at offset 13: table limits 0x04 (shared or 64-bit) are not admitted`},
		{"a table's maximum below its minimum", section(4, 1, 0x70, 1, 2, 1), malformed, `table section at offset 15: table minimum 2 is above its maximum 1`},

		{"two memories", section(5, 2, 0, 1, 0, 1), feature, `memory section at offset 11: 2 memories: more than one is not admitted`},
		{"a shared memory", section(5, 1, 3, 1, 1), feature, `memory section at offset 12: memory limits 0x03 (shared or 64-bit) are not admitted`},
		{"a 64-bit memory", section(5, 1, 4, 1), feature, `memory section at offset 12: memory limits 0x04 (shared or 64-bit) are not admitted`},
		{"a memory of 65,537 pages", section(5, 1, 0, 0x81, 0x80, 0x04), malformed, `memory section at offset 15: memory of 65,537 pages, limit 65,536`},
		{"a memory's maximum of 65,537 pages", section(5, 1, 1, 0, 0x81, 0x80, 0x04), malformed, `memory section at offset 16: memory of 65,537 pages, limit 65,536`},

		{"a global of unknown mutability", section(6, 1, wt.I32, 2, 0x41, 0, 0x0b), malformed, `global section at offset 13: mutability 0x02 of global`},

		{"an export of nothing", section(7, 1, 1, 'f', 0, 7), malformed, `export section at offset 15: export "f" names index 7 of kind 0, which isn't there`},
		{"an export of an unknown kind", section(7, 1, 1, 'f', 5, 0), malformed, `export section at offset 15: export "f" names index 0 of kind 5, which isn't there`},
		{"an export of an exception", section(7, 1, 1, 'f', 4, 0), feature, `export section at offset 15: export "f": exceptions are not admitted`},
		{"two exports of a name", module(oneMemory, wt.Section(7, vec([]byte{1, 'm', 2, 0}, []byte{1, 'm', 2, 0}))), malformed, `export section at offset 24: "m" is exported twice`},
		{"an export's name that isn't UTF-8", module(oneMemory, wt.Section(7, vec([]byte{1, 0x80, 2, 0}))), malformed, `export section at offset 18: name is not UTF-8`},
		{"an export's name that repaints the terminal", section(7, 1, 4, 0x1b, '[', '2', 'J', 0, 0), malformed, `export section at offset 18: export "\x1b[2J" names index 0 of kind 0, which isn't there`},
		{"an export's name of a kilobyte", module(wt.Section(7, vec(append(text(strings.Repeat("a", 1000)), 0, 0)))), malformed, `export section at offset 1,016: export "` + strings.Repeat("a", 200) + `"… names index 0 of kind 0, which isn't there`},

		{"a start function that isn't there", section(8, 3), malformed, `start section at offset 11: function 3 of 0`},
	}, wasm.Bounds{})
}

func TestDecodeRefusesConstants(t *testing.T) {
	global := func(init ...byte) []byte {
		return module(wt.Section(6, vec(append([]byte{wt.I32, 0}, init...))))
	}
	testRows(t, []row{
		{"extended constants", global(0x41, 1, 0x41, 1, 0x6a, 0x0b), feature, `global section at offset 18: instruction 0x6a is not admitted in a constant expression`},
		{"a block", global(0x02, 0x40, 0x0b, 0x0b), feature, `global section at offset 15: instruction 0x02 is not admitted in a constant expression`},
		{"SIMD", global(0xfd, 0x0c, 0x0b), feature, `global section at offset 13: constant expression: SIMD instruction 0xfd 12 is not admitted`},
		{"no instruction", global(0x0b, 0, 0), malformed, `global section at offset 14: constant expression of 0 instructions, want 1`},
		{"two instructions", global(0x41, 1, 0x41, 1, 0x0b), malformed, `global section at offset 18: constant expression of 2 instructions, want 1`},
		{"no end", global(0x41, 1, 0x41, 1), malformed, `global section at offset 17: constant expression: it has no end`},
		{"an end in the next section", module(wt.Section(6, vec([]byte{wt.I32, 0, 0x41, 0x81, 0})), wt.Section(0x0b, []byte{0})), malformed, `global section at offset 16: constant expression: it has no end`},
		{"a number that is cut off", global(0x41, 0x80, 0x80), malformed, `global section at offset 13: constant expression: i32.const: unexpected end`},
		{"itself", global(0x23, 0, 0x0b), malformed, `global section at offset 15: global 0 of 0`},
		{"a function that isn't there", global(0xd2, 0, 0x0b), malformed, `global section at offset 15: function 0 of 0`},
		{"a null that is no reference", global(0xd0, wt.I32, 0x0b), feature, `global section at offset 13: constant expression: ref.null: value type 0x7f is not admitted`},
	}, wasm.Bounds{})
}

func TestDecodeRefusesSegments(t *testing.T) {
	elem := func(segment ...byte) []byte {
		return module(oneType, oneFunc, oneTable, wt.Section(9, vec(segment)), oneBody)
	}
	data := func(segment ...byte) []byte { return module(oneMemory, wt.Section(11, vec(segment))) }
	testRows(t, []row{
		{"form 8", elem(8, 0, 0), malformed, `element section at offset 28: element segment of form 8`},
		{"an element that isn't there", elem(0, 0x41, 0, 0x0b, 1, 1), malformed, `element section at offset 33: function 1 of 1`},
		{"an expression of a function that isn't there", elem(5, 0x70, 1, 0xd2, 1, 0x0b), malformed, `element section at offset 32: function 1 of 1`},
		{"elements of a table that isn't there", elem(2, 1, 0x41, 0, 0x0b, 0, 0), malformed, `element section at offset 29: table 1 of 1`},
		{"elements without a table", module(wt.Section(9, vec([]byte{0, 0x41, 0, 0x0b, 0}))), malformed, `element section at offset 12: table 0 of 0`},
		{"elements of another kind", elem(1, 1, 0), feature, `element section at offset 29: element kind 0x01 is not admitted`},
		{"elements of numbers", elem(5, wt.I32, 0), feature, `element section at offset 29: element type 0x7f is not admitted`},
		{"more elements than bytes", elem(1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f), malformed, `element section at offset 34: 4,294,967,295 elements announced, 0 bytes left`},
		{"data of form 3", data(3, 0), malformed, `data section at offset 17: data segment of form 3`},
		{"data of another memory", data(2, 1, 0x41, 0, 0x0b, 0), feature, `data section at offset 18: memory 1: more than one memory is not admitted`},
		{"data of a memory that is cut off", data(2, 0x80), malformed, `data section at offset 18: unexpected end`},
		{"data without memory", module(wt.Section(11, vec([]byte{0, 0x41, 0, 0x0b, 0}))), malformed, `data section at offset 12: memory 0 of 0`},
		{"data that is cut off", data(1, 2, 0), malformed, `data section at offset 18: 2 bytes announced, 1 left`},
	}, wasm.Bounds{})
}

func TestDecodeRefusesFunctions(t *testing.T) {
	body := func(entry ...byte) []byte { return module(oneType, oneFunc, wt.Section(10, vec(sized(entry)))) }
	testRows(t, []row{
		{"without end", body(0, 1), malformed, `code section at offset 23: function 0 has no end`},
		{"without anything", module(oneType, oneFunc, wt.Section(10, []byte{1, 0, 0, 0})), malformed, `code section at offset 22: unexpected end`},
		{"longer than the section", module(oneType, oneFunc, wt.Section(10, []byte{1, 3, 0, 0x0b})), malformed, `code section at offset 22: 3 bytes announced, 2 left`},
		{"shorter than the section", module(oneType, oneFunc, wt.Section(10, []byte{1, 2, 0, 0x0b, 0})), malformed, `code section at offset 24: 1 bytes too many`},
		{"a local of SIMD", body(1, 1, 0x7b, 0x0b), feature, `code section at offset 25: v128 needs SIMD, which is not admitted`},
		{"2^32 locals", body(2, 0xff, 0xff, 0xff, 0xff, 0x0f, wt.I32, 1, wt.I32, 0x0b), malformed, `code section at offset 31: function 0 has 4,294,967,296 locals`},
		{"code behind its end", body(0, 0x0b, 0x0b), malformed, `code section at offset 24: function 0: 1 bytes behind its end`},
		{"a block that isn't ended", body(0, 0x02, 0x40, 0x0b), malformed, `code section at offset 26: function 0: it has no end`},
		{"two blocks that aren't ended", body(0, 0x02, 0x40, 0x03, 0x40, 0x02, 0x40, 0x0b, 0x0b), malformed, `code section at offset 31: function 0: 1 blocks have no end`},
		{"a block of a type that isn't there", code([]byte{0x02, 1, 0x0b}), malformed, `code section at offset 34: function 0: block: type 1 of 1`},
		{"memory.init without a data count", code([]byte{0xfc, 8, 0, 0}), malformed, `code section at offset 34: function 0: memory.init: there is no data count section`},
		{"data.drop without a data count", code([]byte{0xfc, 9, 0}), malformed, `code section at offset 34: function 0: data.drop: there is no data count section`},
		{"the second of two functions", module(oneType, wt.Section(3, []byte{2, 0, 0}), wt.Section(10, vec(sized([]byte{0, 0x0b}), sized([]byte{0, 0xff, 0x0b})))), malformed, `code section at offset 27: function 1: unknown instruction 0xff`},
		{"a function behind an import", module(oneType, wt.Section(2, vec([]byte{0, 0, 0, 0})), oneFunc, wt.Section(10, vec(sized([]byte{0, 0xff, 0x0b})))), malformed, `code section at offset 30: function 1: unknown instruction 0xff`},
	}, wasm.Bounds{})
}

// The bounds are those of the engine's callers; each is exceeded by one.
func TestDecodeRefusesWhatIsOutOfBounds(t *testing.T) {
	bounds := wasm.Bounds{
		Types: 2, Imports: 2, Functions: 2, Tables: 1, Memories: 1, Globals: 2, Exports: 2, ElemSegments: 2, TableElements: 3,
		DataSegments: 2, BodyBytes: 10, Params: 2, Results: 2, Locals: 4, LocalsTotal: 7,
	}
	times := func(n int, item ...byte) []byte { return append(wt.U32(uint32(n)), bytes.Repeat(item, n)...) }
	// build has so many of everything.
	type counts struct {
		types, params, results, imports, funcs, tables, tableMin, memories, globals, exports, elems, entries, datas, locals, nops int
	}
	build := func(n counts) []byte {
		exports := [][]byte{{1, 'a', 2, 0}, {1, 'b', 2, 0}, {1, 'c', 2, 0}}
		elems := [][]byte{}
		for i := range n.elems {
			entries := n.entries / n.elems
			if i == 0 {
				entries = n.entries - entries*(n.elems-1)
			}
			elems = append(elems, append([]byte{1, 0}, times(entries, 0)...))
		}
		body := slices.Concat([]byte{1, byte(n.locals), wt.I32}, bytes.Repeat([]byte{1}, n.nops), wt.End)
		return module(
			wt.Section(1, times(n.types, slices.Concat([]byte{0x60}, times(n.params, wt.I32), times(n.results, wt.I32))...)),
			wt.Section(2, times(n.imports, 0, 0, 0, 0)),
			wt.Section(3, times(n.funcs, 0)),
			wt.Section(4, times(n.tables, 0x70, 0, byte(n.tableMin))),
			wt.Section(5, times(n.memories, 0, 1)),
			wt.Section(6, times(n.globals, wt.I32, 0, 0x41, 0, 0x0b)),
			wt.Section(7, vec(exports[:n.exports]...)),
			wt.Section(9, vec(elems...)),
			wt.Section(10, times(n.funcs, sized(body)...)),
			wt.Section(11, times(n.datas, 1, 0)),
		)
	}
	most := counts{types: 2, params: 2, results: 2, imports: 2, funcs: 2, tables: 1, tableMin: 3, memories: 1, globals: 2, exports: 2, elems: 2, entries: 3, datas: 2, locals: 3, nops: 6}
	if _, err := wasm.Decode(build(most), bounds); err != nil {
		t.Fatalf("at the bounds: %v", err)
	}
	with := func(change func(n *counts)) []byte {
		n := most
		change(&n)
		return build(n)
	}
	testRows(t, []row{
		{"types", with(func(n *counts) { n.types++ }), size, `type section at offset 11: 3 types, limit 2`},
		{"parameters", with(func(n *counts) { n.params++ }), size, `type section at offset 13: 3 parameters, limit 2`},
		{"results", with(func(n *counts) { n.results++ }), size, `type section at offset 16: 3 results, limit 2`},
		{"imports", with(func(n *counts) { n.imports++ }), size, `import section at offset 28: 3 imports, limit 2`},
		{"functions", with(func(n *counts) { n.funcs++ }), size, `function section at offset 39: 3 functions, limit 2`},
		{"tables", with(func(n *counts) { n.tables++ }), size, `table section at offset 44: 2 tables, limit 1`},
		{"a table's elements", with(func(n *counts) { n.tableMin++ }), size, `table section at offset 47: table of 4 elements, limit 3`},
		{"memories", with(func(n *counts) { n.memories++ }), size, `memory section at offset 50: 2 memories, limit 1`},
		{"globals", with(func(n *counts) { n.globals++ }), size, `global section at offset 55: 3 globals, limit 2`},
		{"exports", with(func(n *counts) { n.exports++ }), size, `export section at offset 68: 3 exports, limit 2`},
		{"element segments", with(func(n *counts) { n.elems++ }), size, `element section at offset 79: 3 element segments, limit 2`},
		{"elements in all", with(func(n *counts) { n.entries++ }), size, `element section at offset 87: 4 elements in all, limit 3`},
		{"elements of a segment", with(func(n *counts) { n.entries = 7 }), size, `element section at offset 82: 4 elements, limit 3`},
		{"data segments", with(func(n *counts) { n.datas++ }), size, `data section at offset 116: 3 data segments, limit 2`},
		{"a body's bytes", with(func(n *counts) { n.nops++ }), size, `code section at offset 92: function 2 has 11 bytes, limit 10`},
		{"locals", with(func(n *counts) { n.locals = 5 }), size, `code section at offset 95: function 2 has 5 locals, limit 4`},
		{"locals in all", with(func(n *counts) { n.locals = 4 }), size, `code section at offset 106: 8 locals in all, limit 7`},
	}, bounds)
}
