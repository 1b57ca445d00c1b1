package sandbox_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
	"pgregory.net/rapid"
)

func TestCheckRefuses(t *testing.T) {
	e := newEngine(t, sandbox.Config{Interpreter: true})
	small := newProbe().run(wt.I32Const(0))
	module := func(build func(*probe)) []byte {
		p := newProbe()
		build(p)
		return p.run(wt.I32Const(0))
	}
	// raw is a module of one section after the header.
	raw := func(id byte, content ...byte) []byte { return append(wt.Header(), wt.Section(id, content)...) }
	bare := func(build func(*wt.Module)) []byte { m := &wt.Module{}; build(m); return m.Bytes() }
	many := func(n int, build func(*probe)) []byte {
		return module(func(p *probe) {
			for range n {
				build(p)
			}
		})
	}
	locals := func(n uint32) []byte { return wt.Seq([]byte{1}, wt.U32(n), []byte{wt.I32}, wt.End) }

	for _, tt := range []struct {
		name   string
		wasm   []byte
		reason sandbox.Reason
		detail string // exact
	}{
		{"nothing at all", nil, sandbox.ReasonNotWasm, `not a WebAssembly module: it doesn't begin with \0asm`},
		{"a script", []byte("#!/bin/sh"), sandbox.ReasonNotWasm, `not a WebAssembly module: it doesn't begin with \0asm`},
		{"half a header", small[:6], sandbox.ReasonMalformed, `header at offset 4: module ends after 6 bytes`},
		{"version 2", []byte("\x00asm\x02\x00\x00\x00"), sandbox.ReasonNotWasm, `WebAssembly version 2, want 1`},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00"), sandbox.ReasonNotWasm, `a component, not a core module: build without the component model`},
		{"17 MiB", make([]byte, 17<<20), sandbox.ReasonSize, `module is 17,825,792 bytes, limit 16,777,216`},
		{"a section cut off", append(wt.Header(), 1, 5, 0), sandbox.ReasonMalformed, `section header at offset 10: type section announces 5 bytes, 1 left`},
		{"an unknown section", raw(99), sandbox.ReasonMalformed, `section header at offset 10: unknown section 99`},
		{"a section twice", slices.Concat(raw(1, 0), wt.Section(1, []byte{0})), sandbox.ReasonMalformed, `section header at offset 14: type section is repeated or out of order`},
		{"memory before types", slices.Concat(raw(5, 0), wt.Section(1, []byte{0})), sandbox.ReasonMalformed, `section header at offset 14: type section is repeated or out of order`},
		{"data count after code", slices.Concat(raw(10, 0), wt.Section(12, []byte{0})), sandbox.ReasonMalformed, `section header at offset 14: data count section is repeated or out of order`},
		{"a byte too many", raw(1, 0, 0), sandbox.ReasonMalformed, `type section at offset 11: 1 bytes too many`},
		{"a count of 2^32-1", raw(1, 0xff, 0xff, 0xff, 0xff, 0x0f), sandbox.ReasonMalformed, `type section at offset 15: 4,294,967,295 elements announced, 0 bytes left`},
		{"a number of 33 bits", raw(1, 0xff, 0xff, 0xff, 0xff, 0x1f), sandbox.ReasonMalformed, `type section at offset 15: number is longer than 32 bits`},
		{"a number of 6 bytes", raw(1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00), sandbox.ReasonMalformed, `type section at offset 15: number is longer than 32 bits`},
		{"a name that isn't UTF-8", raw(0, 1, 0xff), sandbox.ReasonMalformed, `custom section at offset 12: name is not UTF-8`},
		{"a group of recursive types", raw(1, 1, 0x4e, 0, 0), sandbox.ReasonFeature, `type section at offset 12: type form 0x4e is not admitted`},
		{"SIMD", raw(1, 1, 0x60, 1, 0x7b, 0), sandbox.ReasonFeature, `type section at offset 14: v128 needs SIMD, which is not admitted`},
		{"typed references", raw(1, 1, 0x60, 1, 0x63, 0), sandbox.ReasonFeature, `type section at offset 14: value type 0x63 is not admitted`},
		{"exceptions", raw(13, 0), sandbox.ReasonFeature, `tag section at offset 10: exceptions are not admitted`},
		{"shared memory", raw(5, 1, 3, 1, 1), sandbox.ReasonFeature, `memory section at offset 12: memory limits 0x03 (shared or 64-bit) are not admitted`},
		{"64-bit memory", raw(5, 1, 4, 1), sandbox.ReasonFeature, `memory section at offset 12: memory limits 0x04 (shared or 64-bit) are not admitted`},
		{"a table with an initializer", raw(4, 1, 0x40, 0, 0x70, 0, 1), sandbox.ReasonFeature, `table section at offset 12: table type 0x40 is not admitted`},
		{"extended constants", raw(6, 1, wt.I32, 0, 0x41, 1, 0x41, 1, 0x6a, 0x0b), sandbox.ReasonFeature, `global section at offset 18: instruction 0x6a is not admitted in a constant expression`},

		{"1,001 custom sections", append(wt.Header(), bytes.Repeat([]byte{0, 1, 0}, 1001)...), sandbox.ReasonSize, "custom section at offset 10: 1,001 custom sections, limit 1,000"},
		{"an imported memory", bare(func(m *wt.Module) { m.ImportRaw("env", "memory", wt.KindMemory, []byte{0, 1}) }), sandbox.ReasonImport, `memory "env"."memory" is imported, only functions may be`},
		{"an imported table", bare(func(m *wt.Module) { m.ImportRaw("env", "t", wt.KindTable, []byte{0x70, 0, 1}) }), sandbox.ReasonImport, `table "env"."t" is imported, only functions may be`},
		{"an imported global", bare(func(m *wt.Module) { m.ImportRaw("env", "g", wt.KindGlobal, []byte{wt.I32, 0}) }), sandbox.ReasonImport, `global "env"."g" is imported, only functions may be`},
		{"an unknown import", module(func(p *probe) { p.Import("env", "sock_open", nil, nil) }), sandbox.ReasonImport, `unknown import "env"."sock_open"`},
		{"a name that repaints the terminal", module(func(p *probe) { p.Import("\x1b[2J", "\u202egnp", nil, nil) }), sandbox.ReasonImport, `unknown import "\x1b[2J"."\u202egnp"`},
		{"a WASI function that reaches files", module(func(p *probe) {
			p.Import("wasi_snapshot_preview1", "path_open", valueTypes("iiiiiIIii"), valueTypes("i"))
		}), sandbox.ReasonImport, `unknown import "wasi_snapshot_preview1"."path_open": it can open files, and a guest has none`},
		{"an import of the wrong type", module(func(p *probe) { p.Import("assay", "rpc", valueTypes("iii"), valueTypes("i")) }), sandbox.ReasonImport, `import "assay"."rpc" has type (i32, i32, i32) -> (i32), want (i64, i32, i32) -> (i32)`},

		{"no memory", bare(func(m *wt.Module) { m.Func("run", valueTypes("i"), valueTypes("i"), nil, wt.I32Const(0)) }), sandbox.ReasonExport, `no memory is exported as "memory"`},
		{"a function called memory", bare(func(m *wt.Module) {
			m.Func("memory", nil, nil, nil)
			m.Func("run", valueTypes("i"), valueTypes("i"), nil, wt.I32Const(0))
		}), sandbox.ReasonExport, `no memory is exported as "memory"`},
		{"two memories", bare(func(m *wt.Module) { m.Memory(1, -1); m.Memory(1, -1) }), sandbox.ReasonSize, `memory section at offset 11: 2 memories, limit 1`},
		{"two tables", bare(func(m *wt.Module) { m.Table(1, -1); m.Table(1, -1) }), sandbox.ReasonSize, `table section at offset 11: 2 tables, limit 1`},
		{"a table of 100,001", module(func(p *probe) { p.Table(100_001, -1) }), sandbox.ReasonSize, `table section at offset 28: table of 100,001 elements, limit 100,000`},
		{"a memory of 65,537 pages", bare(func(m *wt.Module) { m.Memory(1, 65537) }), sandbox.ReasonMalformed, `memory section at offset 16: memory of 65,537 pages, limit 65,536`},
		{"a maximum below the minimum", bare(func(m *wt.Module) { m.Memory(2, 1) }), sandbox.ReasonMalformed, `memory section at offset 14: memory minimum 2 is above its maximum 1`},
		{"a memory above the profile's", bare(func(m *wt.Module) {
			m.Memory(17, -1)
			m.Export("memory", wt.KindMemory, 0)
			m.Func("run", valueTypes("i"), valueTypes("i"), nil, wt.I32Const(0))
		}), sandbox.ReasonMemory, `memory starts with 17 pages, limit 16`},
		{"no run", bare(func(m *wt.Module) { m.Memory(1, -1); m.Export("memory", wt.KindMemory, 0) }), sandbox.ReasonExport, `no function is exported as "run"`},
		{"a command", bare(func(m *wt.Module) {
			m.Memory(1, -1)
			m.Export("memory", wt.KindMemory, 0)
			m.Func("_start", nil, nil, nil)
		}), sandbox.ReasonExport, `it exports "_start" and no "_initialize": build a reactor (Go: -buildmode=c-shared), not a command`},
		{"run of the wrong type", bare(func(m *wt.Module) {
			m.Memory(1, -1)
			m.Export("memory", wt.KindMemory, 0)
			m.Func("run", valueTypes("I"), nil, nil)
		}), sandbox.ReasonExport, `export "run" has type (i64) -> (), want (i32) -> (i32)`},
		{"run is an import", bare(func(m *wt.Module) {
			m.Import("wasi_snapshot_preview1", "fd_close", valueTypes("i"), valueTypes("i"))
			m.Memory(1, -1)
			m.Export("memory", wt.KindMemory, 0)
			m.Export("run", wt.KindFunc, 0)
		}), sandbox.ReasonExport, `export "run" is an import`},
		{"run is a global", bare(func(m *wt.Module) {
			m.Memory(1, -1)
			m.Export("memory", wt.KindMemory, 0)
			m.Export("run", wt.KindGlobal, m.Global(1))
		}), sandbox.ReasonExport, `export "run" is no function`},
		{"_initialize takes a parameter", module(func(p *probe) { p.Func("_initialize", valueTypes("i"), nil, nil) }), sandbox.ReasonExport, `export "_initialize" has type (i32) -> (), want () -> ()`},
		{"the same export twice", bare(func(m *wt.Module) { m.Func("f", nil, nil, nil); m.Export("f", wt.KindFunc, 0) }), sandbox.ReasonMalformed, `export section at offset 29: "f" is exported twice`},
		{"an export of nothing", bare(func(m *wt.Module) { m.Export("f", wt.KindFunc, 7) }), sandbox.ReasonMalformed, `export section at offset 15: export "f" names index 7 of kind 0, which isn't there`},
		{"a start function that isn't there", raw(8, 3), sandbox.ReasonMalformed, `start section at offset 11: function 3 of 0`},
		{"an element that isn't there", bare(func(m *wt.Module) { m.Table(1, -1); m.Elem(0, 7) }), sandbox.ReasonMalformed, `element section at offset 23: function 7 of 0`},

		{"30,001 functions", many(30_000, func(p *probe) { p.Func("", nil, nil, nil) }), sandbox.ReasonSize, `function section at offset 26: 30,001 functions, limit 30,000`},
		{"10,001 types", bare(func(m *wt.Module) {
			for i := range 10_001 {
				m.Type(bytes.Repeat([]byte{wt.I32}, i%100), bytes.Repeat([]byte{wt.I32}, i/100))
			}
		}), sandbox.ReasonSize, `type section at offset 14: 10,001 types, limit 10,000`},
		{"10,001 globals", many(10_001, func(p *probe) { p.Global(0) }), sandbox.ReasonSize, `global section at offset 32: 10,001 globals, limit 10,000`},
		{"1,001 imports", bare(func(m *wt.Module) {
			for range 1001 {
				m.Import("assay", "input", valueTypes("ii"), valueTypes("i"))
			}
		}), sandbox.ReasonSize, `import section at offset 22: 1,001 imports, limit 1,000`},
		{"49,990 locals", bare(func(m *wt.Module) { m.Code(nil, nil, locals(49_990)) }), sandbox.ReasonSize, `code section at offset 27: function 0 has 49,990 locals, limit 1,000`},
		{"2^32-1 locals", bare(func(m *wt.Module) { m.Code(nil, nil, locals(math.MaxUint32)) }), sandbox.ReasonSize, `code section at offset 29: function 0 has 4,294,967,295 locals, limit 1,000`},
		{"a body of 2 MiB and a byte", bare(func(m *wt.Module) { m.Code(nil, nil, append(make([]byte, 2<<20), 0x0b)) }), sandbox.ReasonSize, `code section at offset 28: function 0 has 2,097,153 bytes, limit 2,097,152`},
		{"a body without end", bare(func(m *wt.Module) { m.Code(nil, nil, []byte{0, 1}) }), sandbox.ReasonMalformed, `code section at offset 23: function 0 has no end`},
		{"a declared function without code", slices.Concat(raw(1, 1, 0x60, 0, 0), wt.Section(3, []byte{1, 0})), sandbox.ReasonMalformed, `1 functions are declared, 0 have code`},
		{"code without a declared function", raw(10, 1, 2, 0, 0x0b), sandbox.ReasonMalformed, `0 functions are declared, 1 have code`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report, err := e.Check(tt.wasm, probeProfile)
			var refusal *sandbox.Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("Check() = %v, want a refusal", err)
			}
			want := &sandbox.Refusal{Reason: tt.reason, Detail: tt.detail}
			if diff := cmp.Diff(want, refusal); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
			if len(report.Problems) == 0 || report.Problems[0] != refusal {
				t.Errorf("the error is not the first of %v", report.Problems)
			}
			if _, err := e.Compile(t.Context(), tt.wasm, probeProfile); !errors.As(err, &refusal) {
				t.Errorf("Compile() = %v, want a refusal", err)
			}
		})
	}
}

// A miner learns everything that is wrong at once.
func TestCheckListsEveryProblem(t *testing.T) {
	e := newEngine(t, sandbox.Config{Interpreter: true})
	wasm := wt.Solver(wt.Options{Omit: []string{"memory", "solver_abi", "solver_metadata", "solver_quote"}, Extra: [2]string{"env", "x"}})
	report, _ := e.Check(wasm, profile())
	var got []string
	for _, p := range report.Problems {
		got = append(got, p.Error())
	}
	want := []string{
		`unknown import "env"."x"`,
		`no memory is exported as "memory"`,
		`no function is exported as "solver_abi"`,
		`no function is exported as "solver_metadata"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	for i := range 100 {
		p := newProbe()
		for range i {
			p.Import("env", "x", nil, nil)
		}
		if report, _ := e.Check(p.run(wt.I32Const(0)), probeProfile); len(report.Problems) != min(i, 20) {
			t.Fatalf("%d unknown imports make %d problems, want at most 20", i, len(report.Problems))
		}
	}
}

func TestWASINeedsAProfileThatAdmitsIt(t *testing.T) {
	e := newEngine(t, sandbox.Config{Interpreter: true})
	wasm := newProbe("wasi.sched_yield").run(wt.I32Const(0))
	p := probeProfile
	p.WASI = false
	if _, err := e.Check(wasm, p); err == nil || err.Error() != `unknown import "wasi_snapshot_preview1"."sched_yield"` {
		t.Errorf("without WASI: %v", err)
	}
	if _, err := e.Check(wasm, probeProfile); err != nil {
		t.Errorf("with WASI: %v", err)
	}
}

// What Check admits of imports, the host really has, under the same types.
func TestEveryImportLinks(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		var names []string
		for name := range importTypes {
			names = append(names, name)
		}
		i := newProbeInstance(t, e, newProbe(names...).run(wt.I32Const(5)), sandbox.Env{})
		if got, err := i.Call(t.Context(), run()); err != nil || got.Status != 5 {
			t.Errorf("Call() = %d, %v", got.Status, err)
		}
	})
}

func TestReport(t *testing.T) {
	e := newEngine(t, sandbox.Config{Interpreter: true})
	p := newProbe("assay.input", "assay.log")
	p.Global(3)
	p.Custom("producers", []byte("x"))
	p.Start(p.Func("", nil, nil, nil))
	wasm := p.run(wt.I32Const(0))
	got, err := e.Check(wasm, probeProfile)
	if err != nil {
		t.Fatal(err)
	}
	// The custom section is the last: id, size, name length, name, one byte.
	identity := sha256.Sum256(wasm[:len(wasm)-(1+1+1+len("producers")+1)])
	want := sandbox.Report{
		SHA256: sha256.Sum256(wasm), Identity: identity, Bytes: len(wasm),
		Functions: 2, Types: 4, Globals: 1,
		Imports:   []sandbox.Import{{Module: "assay", Name: "input"}, {Module: "assay", Name: "log"}},
		Exports:   []string{"memory", "run"},
		Customs:   []string{"producers"},
		MemoryMin: 1, MemoryMax: 4, Start: true, Unsound: "it has a start section",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// Custom sections change the hash of a module and nothing else.
func TestIdentityIgnoresCustomSections(t *testing.T) {
	e := newEngine(t, sandbox.Config{Interpreter: true})
	base := newProbe().run(wt.I32Const(0))
	plain, err := e.Check(base, probeProfile)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringN(0, 20, -1).Draw(t, "name")
		content := rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "content")
		custom := wt.Section(0, slices.Concat(wt.U32(uint32(len(name))), []byte(name), content))
		var wasm []byte
		if rapid.Bool().Draw(t, "in front") {
			wasm = slices.Concat(base[:8], custom, base[8:])
		} else {
			wasm = slices.Concat(base, custom)
		}
		got, err := e.Check(wasm, probeProfile)
		if err != nil {
			t.Fatal(err)
		}
		if got.Identity != plain.Identity || got.SHA256 == plain.SHA256 {
			t.Errorf("identity %x and hash %x of the module with %q", got.Identity, got.SHA256, name)
		}
	})
}

// A linker pads numbers; the module is as good, with an identity of its own.
func TestPaddedNumbersAreLegal(t *testing.T) {
	e := newEngine(t, sandbox.Config{Interpreter: true})
	wasm := newProbe().run(wt.I32Const(0))
	// The first section's size, one byte, becomes five.
	padded := slices.Concat(wasm[:9], []byte{wasm[9] | 0x80, 0x80, 0x80, 0x80, 0}, wasm[10:])
	if _, err := e.Compile(t.Context(), padded, probeProfile); err != nil {
		t.Error(err)
	}
}

// Whatever the bytes: Check doesn't panic, its error is a refusal of one line,
// and what it admits is compiled or refused, never a fault of the host's.
func FuzzCheck(f *testing.F) {
	for act := wt.None; act <= wt.Remember; act++ {
		f.Add(guest(wt.Answer{Output: []byte("x"), Act: act}))
	}
	p := newProbe("assay.rpc", "wasi.fd_write")
	p.Table(3, 9)
	p.Elem(0, 1, 1)
	p.Data(5, []byte("data"))
	p.FuncNames(map[uint32]string{0: "f"})
	p.Start(p.Func("", nil, nil, []byte{wt.I64, wt.F32, wt.F64}))
	f.Add(p.run(wt.I32Const(0)))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		e := newEngine(t, sandbox.Config{Interpreter: true})
		report, err := e.Check(wasm, profile())
		var refusal *sandbox.Refusal
		if err != nil && (!errors.As(err, &refusal) || strings.ContainsAny(err.Error(), "\n\x1b")) {
			t.Fatalf("Check() = %q", err)
		}
		if (err == nil) != (len(report.Problems) == 0) {
			t.Fatalf("error %v, problems %v", err, report.Problems)
		}
		if err != nil || len(wasm) > 1<<16 {
			return
		}
		if _, err := e.Compile(t.Context(), wasm, profile()); err != nil && !errors.As(err, &refusal) {
			t.Fatalf("Compile() = %v", err)
		}
	})
}

// The identity alone is that of the report: for modules that are admitted, that are
// refused, and for what is none.
func TestIdentifyIsTheReports(t *testing.T) {
	t.Parallel()
	e := newEngine(t, sandbox.Config{Interpreter: true})
	module := newProbe().run(wt.I32Const(0))
	for name, wasm := range map[string][]byte{
		"admitted":                  module,
		"with a custom section":     append(bytes.Clone(module), wt.Section(0, []byte{1, 'x', 1, 2, 3})...),
		"refused, without a memory": (&wt.Module{}).Bytes(),
		"cut off":                   module[:len(module)-1],
		"a script":                  []byte("#!/bin/sh"),
		"nothing":                   nil,
	} {
		report, _ := e.Check(wasm, keeperProfile)
		if got := sandbox.Identify(wasm, keeperProfile); got != report.Identity {
			t.Errorf("%s: %x, the report has %x", name, got, report.Identity)
		}
	}
}
