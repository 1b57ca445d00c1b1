package gen_test

import (
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/subnet112/assay/sandbox/wasm"
	"github.com/subnet112/assay/sandbox/wasmtest/gen"
)

// Modules are valid, and every admitted instruction is in one of them.
func TestModules(t *testing.T) {
	config := wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2.SetEnabled(api.CoreFeatureSIMD, false))
	r := wazero.NewRuntimeWithConfig(t.Context(), config)
	defer r.Close(t.Context())
	seen := map[wasm.Op]int{}
	for seed := range uint64(1000) {
		code := gen.Module(gen.Seeded(seed))
		m, err := wasm.Decode(code, wasm.Bounds{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range m.Codes {
			reader := wasm.NewReader(m.Codes[i].Body, 0)
			var in wasm.Instr
			for reader.Next(&in) {
				seen[in.Op]++
			}
		}
		c, err := r.CompileModule(t.Context(), code)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		c.Close(t.Context())
	}
	for _, o := range gen.Ops() {
		if seen[o] == 0 {
			t.Errorf("no module has %s (0x%x)", o, uint16(o))
		}
	}
}

// No choices make a module as well.
func TestNoChoices(t *testing.T) {
	if _, err := wasm.Decode(gen.Module(nil), wasm.Bounds{}); err != nil {
		t.Error(err)
	}
}
