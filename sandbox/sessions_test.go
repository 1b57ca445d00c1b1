package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest/gen"
	"github.com/subnet112/assay/sandbox/wasmtest/hostile"
)

// sessions are all guests there are: a program in every language, hostile ones,
// and modules made at random.
func sessions(t *testing.T, seed uint64) []*session {
	return slices.Concat(languages(t), []*session{operating()}, hostiles(t), generated(seed))
}

const scriptEngine = "../scoring/engine/quickjs.wasm"

// languages are sessions of the conformance program: what its operations do is in
// solvers/conformance/README.md. One that isn't built is skipped by name.
func languages(t *testing.T) (all []*session) {
	t.Helper()
	for _, language := range []string{"go", "c", "rust", "as", "js"} {
		file := "../bin/conformance-" + language + ".wasm"
		if language == "js" {
			file = scriptEngine
		}
		module, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) && !mustHaveAll() {
			t.Logf("skipped: %s: %s is not built: make conformance", language, file)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		s := &session{Name: language, Module: module, Profile: profile(), Fuel: endless, Reads: hostile.Replies}
		s.Profile.MemoryPages = 1024
		if language == "js" {
			s.script(t, "../solvers/conformance/js/solver.js")
		}
		const (
			compute = "f64 div 7ff0000000000000 7ff0000000000000;f64 sqrt bff0000000000000 0;f32 add ffc01234 3f800000;f64 add fff8000000001234 3ff0000000000000;mix 300;recurse 200"
			host    = "clock;random 32;ticks;sleep 1000;clock;log 1 a line;read 1 eth_blockNumber;read 7 eth_chainId"
			memory  = "grow 1;state;fill 20000;keep"
		)
		scripts := []string{"serialize_state state;" + compute, "on_benchmark_start " + host, "on_benchmark_end " + memory, "quote say too much;recurse 100000000"}
		list, err := json.Marshal(scripts)
		if err != nil {
			t.Fatal(err)
		}
		s.call("initialize", fmt.Sprintf(`{"chain_ids":[1],"rpc_urls":{"1":"assay://chain/1"},"supported_protocols":%s,"timeout_per_plan_ms":30000}`, list))
		for _, export := range []string{"on_benchmark_start", "on_benchmark_end", "serialize_state", "quote"} {
			s.call(export, "[]")
		}
		all = append(all, s)
	}
	return all
}

func (s *session) call(export, input string) {
	s.Steps = append(s.Steps, step{Export: "solver_" + export, Input: []byte(input)})
}

// script has the session's engine load a program first.
func (s *session) script(t *testing.T, file string) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.load(t, string(source))
}

func (s *session) load(t *testing.T, source string) {
	t.Helper()
	input, err := json.Marshal(map[string]any{"time": 1_700_000_000, "seed": strings.Repeat("0123456789abcdef", 4), "source": source})
	if err != nil {
		t.Fatal(err)
	}
	s.Profile.Exports = append([]sandbox.Export{{Name: "js_load"}}, s.Profile.Exports...)
	s.Profile.KnownFrames = true
	s.Steps = append(s.Steps, step{Export: "js_load", Input: input})
}

// hostiles are the hostile guests that are admitted.
func hostiles(t *testing.T) (all []*session) {
	t.Helper()
	modules := map[string][]byte{}
	for _, g := range hostile.All() {
		if g.End.Reason != "" || (g.Large || underRaceDetector()) && !soak() {
			continue
		}
		s := &session{Name: g.Name, Profile: hostileProfile(g), Fuel: endless, Reads: g.Reads, Large: g.Large}
		key := moduleKey(g)
		if s.Module = modules[key]; s.Module == nil {
			s.Module = hostileModule(t, g)
			if key != "" {
				modules[key] = s.Module
			}
		}
		fuel := g.Fuel
		if fuel == 0 {
			fuel = hostile.DefaultFuel
		}
		if g.Endless() {
			fuel = 500_000
		}
		s.Long = g.Script != "" || g.Go || g.Reads == hostile.Chain || g.End.Cause == sandbox.CauseMemory || fuel > hostile.DefaultFuel
		if g.Script != "" {
			s.Profile.Exports = s.Profile.Exports[1:]
			s.load(t, g.Script)
			if g.Start {
				s.Steps[0].Fuel = fuel
			}
			g.Input = `{"intent_id":"i","intent":{},"state":{},"snapshot":null}`
		} else if g.Start {
			s.Fuel = fuel
		}
		s.call("initialize", "{}")
		s.call("generate_plan", g.Input)
		s.Steps[len(s.Steps)-1].Fuel = fuel
		all = append(all, s)
	}
	return all
}

func hostileModule(t *testing.T, g hostile.Guest) (module []byte) {
	t.Helper()
	var err error
	switch moduleKey(g) {
	case "go":
		module, err = hostile.BuildGo(t.TempDir())
	case "engine":
		module, err = os.ReadFile(scriptEngine)
	default:
		module = g.Wasm()
	}
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// generated are modules of random choices, many runs of each.
func generated(seed uint64) (all []*session) {
	n := uint64(300)
	switch {
	case underRaceDetector():
		n = 20
	case soak():
		n = 2_000
	}
	for k := range n {
		s := &session{Name: fmt.Sprintf("generated %d", seed+k), Module: gen.Module(gen.Seeded(seed + k)), Profile: probeProfile, Fuel: 200_000}
		for _, input := range []string{"", "0123456789"} {
			s.Steps = append(s.Steps, step{Export: "run", Input: []byte(input)})
		}
		all = append(all, s)
	}
	return all
}
