package hostile

import (
	"slices"

	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

const pageBytes = 65536

var (
	i32     = []byte{wt.I32}
	success = wt.I32Const(0)
)

// A builder makes a solver out of functions of a row.
type builder struct {
	wt.Module
	call map[string][]byte // a call of each import
}

// solver begins a module with so many pages of memory, and as many more as it
// is let grow by, and these imports of the assay module.
func solver(pages uint32, imports ...string) *builder {
	b := &builder{call: map[string][]byte{}}
	for _, name := range imports {
		b.use(hostTypes[name])
	}
	b.Memory(pages, -1)
	b.Export("memory", wt.KindMemory, 0)
	return b
}

// use imports a function.
func (b *builder) use(h hostType) {
	b.call[h.name] = wt.Call(b.Import(h.module, h.name, h.params, h.results))
}

// ops makes instructions one after the other, none of them kept for another use.
func ops(parts ...[]byte) []byte { return slices.Concat(parts...) }

// plan finishes the module: generate_plan has these locals behind its parameter,
// and this body.
func (b *builder) plan(locals []byte, body ...[]byte) []byte {
	return b.finish(success, locals, body...)
}

// prepared is plan with something for initialize to do, with the same locals.
func (b *builder) prepared(prepare, locals []byte, body ...[]byte) []byte {
	return b.finish(ops(prepare, success), locals, body...)
}

func (b *builder) finish(initialize, locals []byte, body ...[]byte) []byte {
	b.Func("solver_abi", nil, i32, nil, wt.I32Const(1))
	b.Func("solver_metadata", i32, i32, nil, success)
	b.Func("solver_initialize", i32, i32, locals, initialize)
	b.Func("solver_generate_plan", i32, i32, locals, append(slices.Clone(body), success)...)
	return b.Bytes()
}

// idle finishes the module with functions that do nothing.
func (b *builder) idle() []byte { return b.plan(nil) }

// forever repeats instructions.
func forever(body ...[]byte) []byte { return wt.Loop(append(slices.Clone(body), wt.Br(0))...) }

// until repeats instructions as long as they leave something but zero.
func until(body ...[]byte) []byte { return wt.Loop(append(slices.Clone(body), wt.BrIf(0))...) }

func repeat(n int, part ...[]byte) []byte { return slices.Repeat(slices.Concat(part...), n) }

// add adds a constant to a local.
func add(local uint32, n int32) []byte {
	return ops(wt.LocalGet(local), wt.I32Const(n), wt.I32Add, wt.LocalSet(local))
}
