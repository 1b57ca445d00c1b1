// Package conformance_test asks the same of one program written in every
// language: see README.md.
package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/sandbox"
)

// Where the files are, seen from this folder.
const (
	built      = "../../bin"
	engineFile = "../../scoring/engine/quickjs.wasm"
	scriptFile = "js/solver.js"
)

// A guest is the conformance program in one language.
type guest struct {
	name   string
	file   string
	script bool // it is source for the engine in file
}

var guests = []guest{
	{name: "go", file: built + "/conformance-go.wasm"},
	{name: "c", file: built + "/conformance-c.wasm"},
	{name: "rust", file: built + "/conformance-rust.wasm"},
	{name: "as", file: built + "/conformance-as.wasm"},
	{name: "js", file: engineFile, script: true},
}

// shared is one engine for all tests: it compiles a module once.
var shared *sandbox.Engine

func TestMain(m *testing.M) {
	var err error
	if shared, err = sandbox.New(context.Background(), sandbox.Config{}); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	if err := shared.Close(context.Background()); err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

// eachGuest runs a test on every guest that is built. One that isn't is skipped
// by name, and where everything has to be tested it is a failure.
func eachGuest(t *testing.T, test func(*testing.T, guest)) {
	t.Parallel()
	for _, g := range guests {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(g.file); errors.Is(err, fs.ErrNotExist) {
				message := fmt.Sprintf("skipped: %s: %s is not built: make conformance", g.name, filepath.Base(g.file))
				if os.Getenv("CI") == "true" || os.Getenv("ASSAY_ALL") == "1" {
					t.Fatal(message)
				}
				t.Skip(message)
			}
			test(t, g)
		})
	}
}

const exportLoad = "js_load"

// profile is the solver's, with the engine's way to load a script.
func (g guest) profile() sandbox.Profile {
	p := harness.Profile
	if g.script {
		p.Exports = append([]sandbox.Export{{Name: exportLoad}}, p.Exports...)
	}
	return p
}

var modules sync.Map // guest's name to a func() (*sandbox.Module, error)

// module compiles the guest, once for all tests.
func (g guest) module(t *testing.T) *sandbox.Module {
	t.Helper()
	compile, _ := modules.LoadOrStore(g.name, sync.OnceValues(func() (*sandbox.Module, error) {
		wasm, err := os.ReadFile(g.file)
		if err != nil {
			return nil, err
		}
		return shared.Compile(context.Background(), wasm, g.profile())
	}))
	m, err := compile.(func() (*sandbox.Module, error))()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// pinned is when the guests' clocks start, seed where their randomness does.
const pinned = 1_700_000_000

var seed = [32]byte{1, 2, 3, 4, 5, 6, 7, 8}

// instantiate makes an instance, with the script in it.
func (g guest) instantiate(t *testing.T) *sandbox.Instance {
	t.Helper()
	i, err := g.module(t).Instantiate(t.Context(), sandbox.Env{Time: pinned, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close(context.Background()) })
	if !g.script {
		return i
	}
	source, err := os.ReadFile(scriptFile)
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(map[string]any{"time": pinned, "seed": fmt.Sprintf("%x", seed), "source": string(source)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := i.Call(t.Context(), sandbox.Call{Export: exportLoad, Input: input, Wall: wall, Fuel: plenty, OutputLimit: 1 << 16})
	if err != nil || r.Status != 0 {
		t.Fatalf("js_load: status %d %s, %v", r.Status, r.Output, err)
	}
	return i
}

// Limits that no case is meant to reach.
const (
	wall   = 2 * time.Minute
	plenty = 100_000_000_000
)
