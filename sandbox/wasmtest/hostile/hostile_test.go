package hostile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest/hostile"
)

// A guest that is refused for its size or for what it names is valid
// WebAssembly all the same, as are those that are admitted; one that is refused
// as malformed or invalid isn't. The reference implementation says so.
func TestModulesAreWhatTheyClaim(t *testing.T) {
	wabt, err := exec.LookPath("wasm-validate")
	if err != nil {
		if os.Getenv("ASSAY_ALL") != "" {
			t.Fatal("wabt is missing: apt-get install wabt")
		}
		t.Skip("wabt is missing")
	}
	for _, g := range hostile.All() {
		if g.Wasm == nil || beyond[g.Name] {
			continue
		}
		t.Run(g.Name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "guest.wasm")
			if err := os.WriteFile(file, g.Wasm(), 0o600); err != nil {
				t.Fatal(err)
			}
			text, err := exec.Command(wabt, file).CombinedOutput()
			invalid := g.End.Reason == sandbox.ReasonMalformed || g.End.Reason == sandbox.ReasonInvalid
			if (err != nil) != invalid {
				t.Errorf("wasm-validate: %v, want invalid = %v: %.300s", err, invalid, text)
			}
		})
	}
}

// beyond are guests that wabt doesn't get through: its stack overflows, or it
// has a smaller limit of its own.
var beyond = map[string]bool{"400,000 nested blocks": true, "400,000 nested loops": true, "locals that are counted past 2^32": true}

// Every guest has a name of its own, one thing to run and one end.
func TestRowsAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, g := range hostile.All() {
		if g.Name == "" || names[g.Name] {
			t.Errorf("%q is there twice, or without name", g.Name)
		}
		names[g.Name] = true
		kinds := 0
		for _, is := range []bool{g.Wasm != nil, g.Script != "", g.Go} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			t.Errorf("%q has %d things to run", g.Name, kinds)
		}
		if g.End.Reason != "" && g.End.Cause != "" || g.End.Reason != "" && g.End.Detail == "" {
			t.Errorf("%q has no clear end", g.Name)
		}
	}
}
