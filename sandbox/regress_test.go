package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
)

// Modules that something was once wrong with end as they must: see
// testdata/regress/README.md.
func TestRegress(t *testing.T) {
	for name, end := range map[string]string{
		"padded-prefix":       "run: status 48, error <nil>",
		"variables-that-meet": "run: status 0, error call run: depth: calls nest too deep",
	} {
		t.Run(name, func(t *testing.T) {
			module, err := os.ReadFile(filepath.Join("testdata/regress", name+".wasm"))
			if err != nil {
				t.Fatal(err)
			}
			if valid, rewritten := validity(t, module); !valid || !rewritten {
				t.Errorf("valid %v, rewritten %v", valid, rewritten)
			}
			s := &session{Name: name, Module: module, Profile: probeProfile, Fuel: endless, Steps: []step{{Export: "run"}}}
			compiled := s.on(t, sandbox.Config{}).run(t, s.Fuel)
			if got := compiled.last(); !strings.HasPrefix(got, end) {
				t.Errorf("%s, want %s", got, end)
			}
			if diff := cmp.Diff(compiled, s.on(t, sandbox.Config{Interpreter: true}).run(t, s.Fuel)); diff != "" {
				t.Errorf("(-compiler +interpreter):\n%s", diff)
			}
		})
	}
}
