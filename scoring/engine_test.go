package scoring_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/scoring"
)

func TestEngineIsTheOneThatWasVerified(t *testing.T) {
	line, err := os.ReadFile("engine/quickjs.wasm.sha256")
	if err != nil {
		t.Fatal(err)
	}
	hash := scoring.EngineHash()
	if want := hex.EncodeToString(hash[:]) + "  quickjs.wasm\n"; string(line) != want {
		t.Errorf("engine/quickjs.wasm.sha256 is %q, want %q", line, want)
	}
}

func engineBytes(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("engine/quickjs.wasm")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What wraps as on a chain is right: asUintN and asIntN agree with masks for
// every width, on both sides of each limb.
func TestEngineWrapsBigInts(t *testing.T) {
	script := `
		const wrong = [];
		for (let bits = 0n; bits <= 300n; bits++) {
			const size = 1n << bits;
			for (const v of [0n, 1n, -1n, 2n, -2n, size - 1n, size, -size, size / 2n, -size / 2n, size / 2n - 1n, -size - 1n, 3n ** 200n, -(3n ** 200n)]) {
				const unsigned = ((v % size) + size) % size;
				const signed = bits > 0n && unsigned >= size / 2n ? unsigned - size : unsigned;
				if (BigInt.asUintN(Number(bits), v) !== unsigned || BigInt.asIntN(Number(bits), v) !== signed) wrong.push(bits + ":" + v);
			}
		}
		if (wrong.length) throw new Error(wrong.length + " wrong: " + wrong.slice(0, 5));
		module.exports = {};`
	m, err := compiled.open(t).Compile(t.Context(), engineBytes(t), solverProfile)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	i, err := m.Instantiate(t.Context(), sandbox.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close(t.Context())
	input, err := json.Marshal(map[string]any{"source": script, "time": 0, "seed": strings.Repeat("0", 64)})
	if err != nil {
		t.Fatal(err)
	}
	result, err := i.Call(t.Context(), sandbox.Call{Export: "js_load", Input: input, Wall: time.Minute, Fuel: 1 << 40, OutputLimit: 1 << 20})
	if err != nil || result.Status != 0 {
		t.Errorf("status %d, %q, %v", result.Status, result.Output, err)
	}
}

// solverProfile is the engine seen as a solver: without WASI.
var solverProfile = func() sandbox.Profile {
	p := sandbox.Profile{Name: "JavaScript solver", ABI: "solver_abi", MemoryPages: 8192}
	for _, name := range []string{
		"js_load", "solver_metadata", "solver_initialize", "solver_restore_state", "solver_set_market",
		"solver_on_benchmark_start", "solver_check_trigger", "solver_generate_plan", "solver_quote",
		"solver_on_benchmark_end", "solver_serialize_state",
	} {
		p.Exports = append(p.Exports, sandbox.Export{Name: name})
	}
	return p
}()

func TestEngineImportsTheABIAndNothingElse(t *testing.T) {
	report, err := compiled.open(t).Check(engineBytes(t), solverProfile)
	if err != nil {
		t.Fatal(err)
	}
	var imports []string
	for _, i := range report.Imports {
		imports = append(imports, i.Module+"."+i.Name)
	}
	slices.Sort(imports)
	want := []string{"assay.input", "assay.log", "assay.output", "assay.rpc", "assay.rpc_read"}
	if diff := cmp.Diff(want, imports); diff != "" {
		t.Errorf("imports (-want +got):\n%s", diff)
	}
	if report.Start {
		t.Error("the engine has a start section: it could not be checkpointed")
	}
}

// The same engine runs solvers written in JavaScript.
func TestEngineRunsSolvers(t *testing.T) {
	module, err := compiled.open(t).Compile(t.Context(), engineBytes(t), solverProfile)
	if err != nil {
		t.Fatal(err)
	}
	instance, err := module.Instantiate(t.Context(), sandbox.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer instance.Close(t.Context())

	source, err := json.Marshal(map[string]any{"time": pinnedTime, "seed": strings.Repeat("5", 64), "source": `
		class Solver {
			metadata() { return { name: "js", version: "1.0.0" }; }
			initialize(config) { this.chains = config.chain_ids; }
			restore_state(bytes) { this.restored = bytes.length; }
			onBenchmarkStart(count) { this.count = count; }
			check_trigger(intent, state) { return state.due; }
			async generatePlan(intent, state, snapshot, intentId) {
				if (state.broken) throw new RangeError("no route");
				return { intent_id: intentId, app: intent.app_id, snapshot, block: await ethBlockNumber(1), now: Date.now(),
					chains: this.chains, restored: this.restored, count: this.count };
			}
			serializeState() { return new Uint8Array([0, 1, 255, 254]).subarray(1); }
		}
		module.exports = new Solver();`})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, export, input string
		status              int32
		want                string
	}{
		{"nothing works before the program is there", "solver_metadata", ``, 1, "no program is loaded"},
		{"the program loads", "js_load", string(source), 0, `{"score":"undefined","validate":"undefined","shouldTrigger":"undefined","config":"undefined","manifest":"undefined"}`},
		{"once", "js_load", string(source), 1, "a program is already loaded"},
		{"metadata", "solver_metadata", ``, 0, `{"name":"js","version":"1.0.0"}`},
		{"initialize answers nothing", "solver_initialize", `{"chain_ids":[1]}`, 0, ``},
		{"state is bytes", "solver_restore_state", "\x00\xff\x80", 0, ``},
		{"start", "solver_on_benchmark_start", `{"intent_count":3}`, 0, ``},
		{"a trigger of either spelling", "solver_check_trigger", `{"intent":{},"state":{"due":true}}`, 0, `{"trigger":true}`},
		{"a plan", "solver_generate_plan", `{"intent_id":"i_1","intent":{"app_id":"a"},"state":{},"snapshot":null}`, 0,
			`{"intent_id":"i_1","app":"a","snapshot":null,"block":16,"now":1769991048000,"chains":[1],"restored":3,"count":3}`},
		{"a throw is the solver's failure, and it lives on", "solver_generate_plan", `{"intent":{},"state":{"broken":true}}`, 1, "RangeError: no route"},
		{"what it lacks is not implemented", "solver_quote", `{"intent":{},"state":{}}`, 2, ``},
		{"input that is no JSON fails", "solver_initialize", `{`, 1, "SyntaxError: expecting property name"},
		{"state leaves as bytes", "solver_serialize_state", ``, 0, "\x01\xff\xfe"},
	} {
		result, err := instance.Call(t.Context(), sandbox.Call{
			Export: tt.export, Input: []byte(tt.input), Wall: time.Minute, Fuel: 1 << 40, OutputLimit: 1 << 20, ReadOut: 1 << 20,
			Read: func(context.Context, uint64, []byte) (sandbox.Reply, error) {
				return sandbox.Reply{Body: []byte(`{"jsonrpc":"2.0","id":1,"result":"0x10"}`)}, nil
			},
		})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if result.Status != tt.status || !bytes.HasPrefix(result.Output, []byte(tt.want)) {
			t.Errorf("%s: status %d, output %q, want %d, %q", tt.name, result.Status, result.Output, tt.status, tt.want)
		}
	}
}

// busy is a scorer that touches what could differ between hosts: floats, sorting,
// iteration, randomness, time, collection of garbage, reads.
const busy = `
exports.score = async (plan, state, context) => {
	let x = 0.1, text = "";
	for (let i = 1; i < 300; i++) { x = Math.sin(x * i) + Math.sqrt(i) / (x + 3) + Math.pow(i, 0.3); if (i % 7 === 0) text += x.toString(36); }
	const items = Array.from({ length: 200 }, (_, i) => ({ k: Math.random(), i })).sort((a, b) => a.k - b.k);
	for (let i = 0; i < 50; i++) items.push({ big: 3n ** BigInt(i), self: items.slice(i) });
	const seen = new Map(Object.entries(context.simulation)); let keys = ""; for (const [k] of seen) keys += k;
	const block = await ethBlockNumber(1), word = await ethCall(1, "0x3000000000000000000000000000000000000001", "0x");
	let hash = 7n; for (const c of text + keys + items[5].i + word + block + Date.now()) hash = (hash * 31n + BigInt(c.codePointAt(0))) % (1n << 61n);
	return { score: Math.abs(x % 1), breakdown: { hash, nan: String(0 / 0), tiny: x / 1e9, depth: deep(0) }, metadata: { raw_output: String(hash) } };
};
function deep(n) { try { return deep(n + 1); } catch { return n; } }`

// A score is the same digits in every instance, on both engines, beside others.
func TestScoreIsAFunctionOfItsInput(t *testing.T) {
	in := input(100)
	in.After = world(t).View()
	want := score(t, load(t, newScorer(t, compiled, patient()), app(busy)), in)
	if want.Value == "" || want.Breakdown["hash"] != want.Value {
		t.Fatalf("Score = %+v", want)
	}
	for _, e := range []struct {
		name   string
		engine *engine
		runs   int
	}{{"compiler", compiled, 24}, {"interpreter", interpreted, 2}} {
		a := load(t, newScorer(t, e.engine, patient()), app(busy))
		scores := make([]scoring.Score, e.runs)
		var wait sync.WaitGroup
		for worker := range 4 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for i := worker; i < e.runs; i += 4 {
					if i%3 == 0 {
						runtime.GC()
					}
					s, err := a.Score(t.Context(), in)
					if err != nil {
						t.Error(err)
					}
					scores[i] = s
				}
			}()
		}
		wait.Wait()
		for i, got := range scores {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, run %d (-want +got):\n%s", e.name, i, diff)
			}
		}
	}
	other := in
	other.Seed[0]++
	if got := score(t, load(t, newScorer(t, compiled, patient()), app(busy)), other); got.Value == want.Value {
		t.Error("another seed gives the same value: Math.random does not depend on it")
	}
}
