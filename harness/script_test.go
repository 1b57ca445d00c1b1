package harness_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/scoring"
)

// script is a solver in JavaScript, run by the scorers' engine.
func script(text string) harness.Source {
	return harness.Source{Code: []byte(text), Script: true, Engine: scoring.Engine()}
}

// scripts is one engine for all scripts: it compiles theirs once.
func scripts(t testing.TB) *sandbox.Engine {
	t.Helper()
	e, err := scriptsOnce()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var scriptsOnce = sync.OnceValues(func() (*sandbox.Engine, error) {
	return sandbox.New(context.Background(), sandbox.Config{})
})

func load(t testing.TB, s harness.Source) *harness.Program {
	t.Helper()
	p, err := harness.Compile(t.Context(), scripts(t), s)
	if err != nil {
		t.Fatalf("Compile() = %v", err)
	}
	return p
}

// counting plans with the count of plans it has made so far as call data, over
// all its sessions. It dies of the intent with nonce 9.
const counting = `
let plans = 0;
exports.metadata = () => (` + goodMetadata + `);
exports.initialize = async (config) => { console.log("chains " + config.chain_ids); };
exports.restoreState = (bytes) => { plans = bytes[0]; };
exports.serializeState = async () => new Uint8Array([plans]);
exports.checkTrigger = () => true;
exports.generatePlan = async (intent, state, snapshot, id) => {
  if (state.nonce === 9) return "x".repeat(2 << 20);
  plans++;
  const block = await ethBlockNumber(state.chain_id);
  return {
    intent_id: intent.app_id,
    interactions: [{ target: "0x" + "aa".repeat(20), value: String(block), call_data: "0x0" + plans, chain_id: state.chain_id }],
    deadline: Math.floor(Date.now() / 1000) + 1,
    nonce: state.nonce,
  };
};
`

// A script goes through the lifecycle like any solver: its promises are waited
// for, its reads are served, its clock is the session's, and what it learned is
// given back.
func TestScript(t *testing.T) {
	t.Parallel()
	p := &puppet{act: func(harness.Phase, []byte) (byte, []byte) { return '{', []byte(`"id":1,"result":"0x11"}`) }}
	p.world = func(_ context.Context, _ uint64, _ []byte, _ harness.Cost) ([]byte, harness.Cost, error) {
		return []byte(`{"jsonrpc":"2.0","id":1,"result":"0x11"}`), harness.Cost{Requests: 1}, nil
	}
	m := load(t, script(counting))
	o := p.options()
	o.State = []byte{4}
	s := open(t, m, o)
	task := p.task()
	task.AskTrigger = true
	for _, want := range []string{"0x05", "0x06"} {
		a := run(t, s, task)
		if a.Cause != intent.CauseNone {
			t.Fatalf("Run() = %s", harness.Explain(a.Cause, a.Detail))
		}
		first := a.Plan.Interactions[0]
		if first.CallData != want || first.Value != "17" || a.Plan.Deadline != 1001 {
			t.Errorf("plan %+v, deadline %d, want call data %s, value 17, deadline 1001", first, a.Plan.Deadline, want)
		}
		if a.Reads.Requests != 1 || a.Triggered == nil || !*a.Triggered {
			t.Errorf("%d reads, triggered %v, want one and true", a.Reads.Requests, a.Triggered)
		}
	}
	if f := finish(t, s); !f.Saved || string(f.State) != "\x06" {
		t.Errorf("Finish() = %+v, want the count of plans saved", f)
	}
	if got := string(s.Log()); got != "I chains 1\n" {
		t.Errorf("log %q", got)
	}
}

// A death costs a script one row; the instance that follows has loaded it again
// and has the state the session came with.
func TestScriptDies(t *testing.T) {
	t.Parallel()
	p := &puppet{world: func(context.Context, uint64, []byte, harness.Cost) ([]byte, harness.Cost, error) {
		return []byte(`{"jsonrpc":"2.0","id":1,"result":"0x11"}`), harness.Cost{Requests: 1}, nil
	}}
	o := p.options()
	o.State = []byte{7}
	s := open(t, load(t, script(counting)), o)
	var got []string
	for _, nonce := range []uint64{1, 9, 1} {
		task := p.task()
		task.State.Nonce, task.Rules.Nonce = nonce, nonce
		a := run(t, s, task)
		if a.Plan == nil {
			got = append(got, string(a.Cause))
			continue
		}
		got = append(got, a.Plan.Interactions[0].CallData)
	}
	if diff := cmp.Diff([]string{"0x08", "output", "0x08"}, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if s.Restarts() != 1 {
		t.Errorf("%d restarts, want 1", s.Restarts())
	}
}

// A script that does not load never starts, and screening says so at the stage
// where a module's instance is made, with the line and column; those of a call are its bracket's.
func TestScriptThatDoesNotLoad(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text   string
		code, detail string
		at           string // what screening adds
	}{
		{"a syntax error", "let a = 1;\nlet b = ;", "load.solver_error", `load: solver_error: "SyntaxError: unexpected token in expression: ';'`, " (line 2, column 9)"},
		{"a throw", "\n  throw new Error(\"no key\x1b\")", "load.solver_error", `load: solver_error: "Error: no key\x1b`, " (line 2, column 18)"},
		{"a throw of no error", `throw "no key"`, "load.solver_error", `load: solver_error: "threw no key`, ""},
		{"require", `require("fs")`, "load.solver_error", `load: solver_error: "TypeError: not a function`, " (line 1, column 8)"},
		{"exports that are null", "module.exports = null", "load.solver_error", `load: solver_error: "TypeError: module.exports is not an object`, ""},
		{"exports that are a number", "module.exports = 5", "load.solver_error", `load: solver_error: "TypeError: module.exports is not an object`, ""},
		{"no metadata", "exports.initialize = () => {}", "metadata.not_implemented", `metadata: not_implemented: "the script does not export it`, ""},
		{"no initialize", "exports.metadata = {}", "initialize.not_implemented", `initialize: not_implemented: "the script does not export it`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &puppet{}
			var f *intent.MinerFault
			if _, err := harness.Open(t.Context(), load(t, script(tt.text)), p.options()); !errors.As(err, &f) || f.Cause != intent.CauseSessionEnded || f.Detail != tt.detail+`"` {
				t.Errorf("Open() = %v, want session_ended with %s", err, tt.detail)
			}
			sc, err := harness.Screen(t.Context(), scripts(t), script(tt.text), p.smoke())
			if err != nil {
				t.Fatal(err)
			}
			if sc.Passed || sc.Stage != harness.StageStart || sc.Code != tt.code || sc.Detail != tt.detail+tt.at+`"` {
				t.Errorf("Screen() = %+v, want %s: %s%s", sc, tt.code, tt.detail, tt.at)
			}
		})
	}
}

// Screening finds out by its smoke intents that there is nobody to plan.
func TestScriptThatDoesNotPlan(t *testing.T) {
	t.Parallel()
	p := &puppet{}
	sc, err := harness.Screen(t.Context(), scripts(t), script(`exports.metadata = `+goodMetadata+`; exports.initialize = () => {};`), p.smoke())
	if err != nil {
		t.Fatal(err)
	}
	want := `smoke intent 1 of 3: not_implemented: "the script does not export it"`
	if sc.Stage != harness.StageSmoke || sc.Detail != want {
		t.Errorf("Screen() = %+v, want %s", sc, want)
	}
}

// What is no text at all is refused before anything runs.
func TestScriptIsRefused(t *testing.T) {
	t.Parallel()
	e := scripts(t)
	for _, tt := range []struct {
		name   string
		text   string
		reason sandbox.Reason
		detail string
	}{
		{"empty", "", sandbox.ReasonMalformed, "the script is empty"},
		{"not UTF-8", "exports.a = 1 // \xff", sandbox.ReasonMalformed, "the script is not UTF-8: byte 0xff at offset 17"},
		{"larger than 16 MiB", strings.Repeat(" ", 16<<20+1), sandbox.ReasonSize, "the script is larger than 16777216 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var refusal *sandbox.Refusal
			if _, err := harness.Compile(t.Context(), e, script(tt.text)); !errors.As(err, &refusal) || refusal.Reason != tt.reason || refusal.Detail != tt.detail {
				t.Errorf("Compile() = %v, want %s: %s", err, tt.reason, tt.detail)
			}
			p := &puppet{}
			sc, err := harness.Screen(t.Context(), e, script(tt.text), p.smoke())
			if err != nil {
				t.Fatal(err)
			}
			if sc.Stage != harness.StageStatic || sc.Code != "module."+string(tt.reason) || sc.Detail != tt.detail {
				t.Errorf("Screen() = %+v, want module.%s: %s", sc, tt.reason, tt.detail)
			}
		})
	}
	if _, err := harness.Compile(t.Context(), e, script(strings.Repeat(" ", 16<<20))); err != nil {
		t.Errorf("Compile() of 16 MiB = %v, want it admitted", err)
	}
}

// The identity of a script is the hash of its engine's hash and its text.
func TestScriptIdentity(t *testing.T) {
	t.Parallel()
	s := script("exports.a = 1")
	engineHash := sha256.Sum256(scoring.Engine())
	want := sha256.Sum256(append(engineHash[:], "exports.a = 1"...))
	if got := load(t, s).Identity(); got != want || s.Identity() != want {
		t.Errorf("identity %x, want %x", got, want)
	}
}
