package hostile

import (
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/meter"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// injected are guests that name what isn't theirs: what the sandbox adds to a
// module would be there by the time the module is compiled.
func injected() []Guest {
	invalid := func(detail string) End { return refused(sandbox.ReasonInvalid, detail) }
	guests := []Guest{
		{Name: "imports the sandbox's function", End: refused(sandbox.ReasonImport, `unknown import "assay"."refill"`), Wasm: func() []byte {
			b := solver(1)
			f := b.Import(meter.ImportModule, meter.ImportName, nil, nil)
			return b.plan(nil, wt.Call(f))
		}},
		{Name: "exports a name of the sandbox's", End: refused(sandbox.ReasonExport, `export "assay:fuel"`), Wasm: func() []byte {
			b := solver(1)
			b.Export(meter.FuelGlobal, wt.KindGlobal, b.Global(0))
			return b.idle()
		}},
		{Name: "exports a name of the sandbox's after a null byte", End: End{}, Wasm: func() []byte {
			b := solver(1)
			b.Export("\x00"+meter.FuelGlobal, wt.KindGlobal, b.Global(0))
			return b.idle()
		}},
	}
	// Without an own global the fuel would be 0 and the depth 1. Three functions
	// before generate_plan, so the index beyond the last is 4: it would be the last
	// one after the shift, and 5 the first that was added.
	for _, row := range []struct {
		name, detail string
		body         func(b *builder) []byte
	}{
		{"reads the fuel", "global 0 of 0", func(*builder) []byte { return ops(wt.GlobalGet(0), wt.Drop) }},
		{"fills the fuel up", "global 0 of 0", func(*builder) []byte { return ops(wt.I64Const(1<<60), wt.GlobalSet(0)) }},
		{"fills the fuel up where nothing is reached", "global 0 of 0", func(*builder) []byte {
			return ops(wt.Unreachable, wt.I64Const(1<<60), wt.GlobalSet(0))
		}},
		{"reads the depth behind a global of its own", "global 2 of 1", func(b *builder) []byte {
			b.Global(0)
			return ops(wt.GlobalGet(2), wt.Drop)
		}},
		{"calls the function behind the last", "function 4 of 4", func(*builder) []byte { return wt.Call(4) }},
		{"calls a function that is added", "function 5 of 4", func(*builder) []byte {
			return ops(wt.I32Const(0), wt.I32Const(0), wt.I32Const(1), wt.MemoryFill, wt.I32Const(0), wt.I32Const(0), wt.I32Const(1), wt.Call(5))
		}},
		{"calls the shifted index of a type that is added", "type 3 of ", func(b *builder) []byte {
			b.Table(1, 1)
			return ops(wt.I32Const(0), wt.CallIndirect(3))
		}},
		{"refers to a function that is added", "function 5 of 4", func(b *builder) []byte {
			return ops(wt.I32Const(0), wt.I32Const(0), wt.I32Const(1), wt.MemoryFill, wt.RefFunc(5), wt.Drop)
		}},
		{"reads a local that is added", "local 1 of 1", func(*builder) []byte { return ops(wt.LocalGet(1), wt.Drop) }},
		{"branches behind the last label", "branch to level 1 of 1", func(*builder) []byte { return wt.Br(1) }},
		{"takes an operand that isn't its own", "function 3: an operand is missing", func(*builder) []byte { return wt.Drop }},
	} {
		guests = append(guests, Guest{Name: row.name, End: invalid(row.detail), Wasm: func() []byte {
			b := solver(1)
			body := row.body(b)
			return b.plan(nil, body)
		}})
	}
	malformed := func(detail string) End { return refused(sandbox.ReasonMalformed, detail) }
	for _, row := range []struct {
		name string
		end  End
		add  func(b *builder)
	}{
		{"exports the fuel", malformed(`export "mine" names index 0 of kind 3`), func(b *builder) { b.Export("mine", wt.KindGlobal, 0) }},
		{"exports a function that is added", malformed(`export "mine" names index 4 of kind 0`), func(b *builder) { b.Export("mine", wt.KindFunc, 4) }},
		{"starts with a function that is added", malformed("function 4 of 4"), func(b *builder) { b.Start(4) }},
		{"puts a function that is added into its table", malformed("function 4 of 4"), func(b *builder) {
			b.Table(1, 1)
			b.Elem(0, 4)
		}},
	} {
		guests = append(guests, Guest{Name: row.name, End: row.end, Wasm: func() []byte {
			b := solver(1)
			row.add(b)
			return b.idle()
		}})
	}
	return guests
}
