package sandbox_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/meter"
	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
	"github.com/subnet112/assay/sandbox/wasmtest/gen"
	"github.com/subnet112/assay/sandbox/wasmtest/hostile"
)

// A rewritten module is valid if the original is, and only then: whether the
// rewrite looks at types or not, it hides no error of the module's. The modules
// are valid ones with some bytes changed.
func TestRewritingKeepsValidity(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		module := gen.Module(gen.Seeded(rapid.Uint64().Draw(r, "seed")))
		for range rapid.IntRange(0, 3).Draw(r, "changes") {
			module[rapid.IntRange(8, len(module)-1).Draw(r, "at")] = rapid.Byte().Draw(r, "byte")
		}
		validity(r, module)
	})
	// The rewrite looks at no types: what is wrong with them is left to be found.
	for name, tt := range map[string]struct {
		code  []byte
		valid bool
	}{
		"right types": {wt.Seq(wt.I32Const(0), wt.I32Eqz, wt.Drop), true},
		"wrong types": {wt.Seq(wt.I64Const(0), wt.I32Eqz, wt.Drop), false},
	} {
		m := &wt.Module{}
		m.Func("", nil, nil, nil, tt.code)
		if valid, rewritten := validity(t, m.Bytes()); valid != tt.valid || !rewritten {
			t.Errorf("%s: valid %v, rewritten %v", name, valid, rewritten)
		}
	}
}

// What decodes and is rewritten is valid for wazero as before, whatever it is.
func FuzzRewrite(f *testing.F) {
	f.Add(wt.Solver(wt.Options{Stateful: true}))
	for seed := range uint64(20) {
		f.Add(gen.Module(gen.Seeded(seed)))
	}
	for _, g := range hostile.All() {
		if g.Wasm == nil || g.Large {
			continue
		}
		if module := g.Wasm(); len(module) < 4096 {
			f.Add(module)
		}
	}
	f.Fuzz(func(t *testing.T, module []byte) { validity(t, module) })
}

// validity asserts that wazero says the same of a module and of what it is
// rewritten to: whether it is valid, and whether it was rewritten at all.
func validity(t rapid.TB, module []byte) (valid, rewritten bool) {
	t.Helper()
	m, err := wasm.Decode(module, sandbox.Bounds)
	if err != nil {
		return false, false
	}
	after, err := meter.Rewrite(m, meter.Options{})
	if err != nil {
		return false, false
	}
	err = validate(after.Bytes)
	// wazero refuses some modules that are valid, for numbers that are padded and
	// for custom sections. The rewrite leaves neither.
	m.Customs = nil
	if plain := validate(m.Encode()); (plain == nil) != (err == nil) {
		t.Errorf("% x\nwazero of the module: %v\nrewritten: %v", module, plain, err)
	}
	if err != nil && validate(module) == nil {
		t.Errorf("% x\nwazero takes the module, and rewritten not: %v", module, err)
	}
	return err == nil, true
}

// validate is wazero's error of a module, whatever it imports.
func validate(module []byte) error {
	config := wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2.SetEnabled(api.CoreFeatureSIMD, false))
	r := wazero.NewRuntimeWithConfig(context.Background(), config)
	defer r.Close(context.Background())
	_, err := r.CompileModule(context.Background(), module)
	return err
}
