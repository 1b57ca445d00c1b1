package wasm_test

import (
	"errors"
	"os/exec"
	"slices"
	"testing"

	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// module puts sections behind a header.
func module(sections ...[]byte) []byte {
	return append(wt.Header(), slices.Concat(sections...)...)
}

// vec is a vector of encoded elements.
func vec(items ...[]byte) []byte {
	return append(wt.U32(uint32(len(items))), slices.Concat(items...)...)
}

// sized puts the length in front.
func sized(b []byte) []byte { return append(wt.U32(uint32(len(b))), b...) }

func text(s string) []byte { return sized([]byte(s)) }

// Sections that many rows begin with: one type () -> (), one function of it, one
// table, one memory.
var (
	oneType   = wt.Section(1, vec([]byte{0x60, 0, 0}))
	oneFunc   = wt.Section(3, vec([]byte{0}))
	oneTable  = wt.Section(4, vec([]byte{0x70, 0, 1}))
	oneMemory = wt.Section(5, vec([]byte{0, 1}))
	oneBody   = wt.Section(10, vec(sized([]byte{0, 0x0b})))
)

// code is a module of one function () -> () with this body, which needs no final
// end; it has a table and a memory.
func code(body ...[]byte) []byte {
	return module(oneType, oneFunc, oneTable, oneMemory, wt.Section(10, vec(sized(slices.Concat([]byte{0}, slices.Concat(body...), wt.End)))))
}

// read is every instruction of an expression, with copies of what the reader
// reuses.
func read(e wasm.Expr) (all []wasm.Instr, err error) {
	r := wasm.NewReader(e, 0)
	var in wasm.Instr
	for r.Next(&in) {
		c := in
		c.Targets = slices.Clone(in.Targets)
		all = append(all, c)
	}
	return all, r.Err()
}

func decode(t testing.TB, b []byte) *wasm.Module {
	t.Helper()
	m, err := wasm.Decode(b, wasm.Bounds{})
	if err != nil {
		t.Fatalf("Decode() = %v", err)
	}
	return m
}

func refusal(t testing.TB, err error) *wasm.Error {
	t.Helper()
	var e *wasm.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want a *wasm.Error", err)
	}
	return e
}

// allOps are the opcodes that are admitted: those with a name of their own.
func allOps() (all []wasm.Op) {
	for o := range wasm.Op(0xffff) {
		if name := o.String(); name[0] < '0' || name[0] > '9' {
			all = append(all, o)
		}
	}
	return all
}

// wabt is the path of one of the reference implementation's tools.
func wabt(t testing.TB, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		t.Skipf("%s isn't installed: apt-get install wabt", tool)
	}
	return path
}
