package sandbox_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
)

var regressEnds = map[string]string{
	"padded-prefix":           "run: status 48, error <nil>",
	"popcnt-of-a-signed-load": "run: status 57, error <nil>",
	"variables-that-meet":     "run: status 0, error call run: depth: calls nest too deep",
}

// regressions are modules that something was once wrong with, by name.
func regressions(t *testing.T) (all []*session) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(regressEnds)) {
		module, err := os.ReadFile(filepath.Join("testdata/regress", name+".wasm"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &session{Name: name, Module: module, Profile: probeProfile, Fuel: endless, Steps: []step{{Export: "run"}}})
	}
	return all
}

// Modules that something was once wrong with end as they must: see
// testdata/regress/README.md.
func TestRegress(t *testing.T) {
	for _, s := range regressions(t) {
		t.Run(s.Name, func(t *testing.T) {
			end := regressEnds[s.Name]
			if valid, rewritten := validity(t, s.Module); !valid || !rewritten {
				t.Errorf("valid %v, rewritten %v", valid, rewritten)
			}
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
