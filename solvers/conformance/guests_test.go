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

	interpreted bool // the sandbox runs it without compiling it
}

var guests = []guest{
	{name: "go", file: built + "/conformance-go.wasm"},
	{name: "c", file: built + "/conformance-c.wasm"},
	{name: "rust", file: built + "/conformance-rust.wasm"},
	{name: "as", file: built + "/conformance-as.wasm"},
	{name: "js", file: engineFile, script: true},
}

// The engines of all tests: each compiles a module once.
var shared, interpreter *sandbox.Engine

func TestMain(m *testing.M) {
	ctx := context.Background()
	var errs [4]error
	shared, errs[0] = sandbox.New(ctx, sandbox.Config{})
	interpreter, errs[1] = sandbox.New(ctx, sandbox.Config{Interpreter: true})
	code := 1
	if errs[0] == nil && errs[1] == nil {
		code = m.Run()
		errs[2], errs[3] = shared.Close(ctx), interpreter.Close(ctx)
	}
	if err := errors.Join(errs[:]...); err != nil {
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
		p.KnownFrames = true // it is the host's own engine
	}
	return p
}

// modules has a func() (*sandbox.Module, error) by guest.
var modules sync.Map

// module compiles the guest, once for all tests.
func (g guest) module(t *testing.T) *sandbox.Module {
	t.Helper()
	compile, _ := modules.LoadOrStore(g, sync.OnceValues(func() (*sandbox.Module, error) {
		wasm, err := os.ReadFile(g.file)
		if err != nil {
			return nil, err
		}
		engine := shared
		if g.interpreted {
			engine = interpreter
		}
		return engine.Compile(context.Background(), wasm, g.profile())
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
