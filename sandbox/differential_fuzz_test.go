package sandbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest/gen"
)

// Whatever a valid module does, compiler and interpreter do the same, wherever
// its fuel ends.
func FuzzEnginesAgree(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(gen.Seeded(seed), uint16(7919*seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte, part uint16) {
		s := &session{Name: "generated", Module: gen.Module(choices), Profile: probeProfile, Fuel: 200_000}
		s.Steps = []step{{Export: "run", Input: []byte("0123456789")}, {Export: "run"}}
		compiled, interpreted := s.on(t, sandbox.Config{}), s.on(t, sandbox.Config{Interpreter: true})
		whole := compiled.run(t, s.Fuel)
		if diff := cmp.Diff(whole, interpreted.run(t, s.Fuel)); diff != "" {
			t.Errorf("to its end (-compiler +interpreter):\n%s", diff)
		}
		cut := 1 + whole.Spent*uint64(part)>>16
		if diff := cmp.Diff(compiled.run(t, cut), interpreted.run(t, cut)); diff != "" {
			t.Errorf("cut off after %d (-compiler +interpreter):\n%s", cut, diff)
		}
	})
}
