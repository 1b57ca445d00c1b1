package wasm_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// A tool runs a program of the reference implementation on modules.
type tool struct {
	path string
	file string
}

func newTool(t *testing.T, name string) tool {
	t.Helper()
	return tool{wabt(t, name), filepath.Join(t.TempDir(), name)}
}

// on gives the hash of what the program writes.
func (w tool) on(module []byte, flags ...string) (hash [32]byte, err error) {
	if err := os.WriteFile(w.file, module, 0o600); err != nil {
		return hash, err
	}
	var said bytes.Buffer
	h := sha256.New()
	cmd := exec.Command(w.path, append(flags, w.file)...)
	cmd.Stdout, cmd.Stderr = h, &said
	if err := cmd.Run(); err != nil {
		return hash, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	h.Sum(hash[:0])
	return hash, nil
}

// corpus are modules of compilers.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{
		"a solver by hand": wt.Solver(wt.Options{Stateful: true, Start: wt.Recurse}),
		"a trapping one":   wt.Solver(wt.Options{Answers: map[string]wt.Answer{"solver_metadata": {Act: wt.Trap, Log: []byte("x")}}}),
	}
	for _, file := range []string{
		"scoring/engine/quickjs.wasm", "bin/swap.wasm", "bin/conformance-c.wasm", "bin/conformance-rust.wasm", "bin/conformance-as.wasm",
	} {
		if b, err := os.ReadFile("../../" + file); err == nil {
			all[file] = b
		} else {
			t.Logf("without %s: %v", file, err)
		}
	}
	return all
}

// A module of a compiler reads the same in the text format before and after.
func TestRealModulesKeepTheirText(t *testing.T) {
	wasm2wat := newTool(t, "wasm2wat")
	for name, b := range corpus(t) {
		if testing.Short() && len(b) > 1<<20 {
			continue
		}
		want, err := wasm2wat.on(b)
		if err != nil {
			t.Fatal(name, err)
		}
		encoded := decode(t, b).Encode()
		if got, err := wasm2wat.on(encoded); err != nil || got != want {
			t.Errorf("%s: the text differs, %v", name, err)
		}
		if again := decode(t, encoded).Encode(); !bytes.Equal(again, encoded) {
			t.Errorf("%s: encoded twice, it differs", name)
		}
		t.Logf("%s: %d bytes, %d encoded", name, len(b), len(encoded))
	}
}

// The generator's modules are valid, and read the same in the text format before
// and after.
func TestGeneratedModulesKeepTheirText(t *testing.T) {
	wasm2wat, validate := newTool(t, "wasm2wat"), newTool(t, "wasm-validate")
	rapid.Check(t, func(t *rapid.T) {
		b := generated(t)
		if _, err := validate.on(b); err != nil {
			t.Fatalf("invalid: %v\n% x", err, b)
		}
		m, err := wasm.Decode(b, wasm.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := wasm2wat.on(b)
		if err != nil {
			t.Fatal(err)
		}
		for name, encoded := range map[string][]byte{"canonical": m.Encode(), "verbatim": m.EncodeVerbatim()} {
			if got, err := wasm2wat.on(encoded); err != nil || got != want {
				t.Errorf("%s: the text differs, %v", name, err)
			}
		}
	})
}

// lenient are refusals by the specification of what wabt 1.0.32 takes: it ends a
// constant expression with its section and a function with any block's end, looks
// at two bits of a data segment's form, and counts data only if there is a data
// section.
var lenient = []string{"it has no end", "blocks have no end", "data segment of form", "announced, there are 0"}

// Of modules with a few bytes changed, what the reference implementation finds
// valid decodes, and what decodes it can read.
func TestDamagedModulesFareAsInWABT(t *testing.T) {
	wasm2wat, validate := newTool(t, "wasm2wat"), newTool(t, "wasm-validate")
	rapid.Check(t, func(t *rapid.T) {
		b := generated(t)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			b[rapid.IntRange(8, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		_, ours := wasm.Decode(b, wasm.Bounds{Locals: 50_000})
		var e *wasm.Error
		if errors.As(ours, &e) && e.Size {
			t.Skip("wabt takes memory for every local: ", ours)
		}
		if ours != nil && slices.ContainsFunc(lenient, func(s string) bool { return strings.Contains(ours.Error(), s) }) {
			t.Skip("wabt takes more than the specification: ", ours)
		}
		if _, theirs := validate.on(b, "--disable-simd"); theirs == nil && ours != nil {
			t.Errorf("wabt finds valid what is refused: %v\n% x", ours, b)
		}
		// Indices in code are left to a validator here.
		_, theirs := wasm2wat.on(b, "--no-check", "--disable-simd")
		if theirs != nil && ours == nil && !strings.Contains(theirs.Error(), "out of range") {
			t.Errorf("wabt refuses what decodes: %v\n% x", theirs, b)
		}
	})
}
