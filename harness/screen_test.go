package harness_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// smoke is three intents, the second of them auto-triggered.
func (p *puppet) smoke() harness.ScreenOptions {
	o := harness.ScreenOptions{Options: p.options(), Smoke: []harness.Task{p.task(), p.task(), p.task()}}
	yes := true
	o.Smoke[1].AskTrigger, o.Smoke[1].Truth = true, &yes
	return o
}

func TestScreen(t *testing.T) {
	t.Parallel()
	metadata := func(name, version string) func(harness.Phase, []byte) (byte, []byte) {
		return but(harness.PhaseMetadata, 0, `{"name":"`+name+`","version":"`+version+`","author":"","description":""}`)
	}
	good := puppetModule()
	for _, tt := range []struct {
		name   string
		wasm   []byte
		act    func(harness.Phase, []byte) (byte, []byte)
		limits harness.Limits
		stage  int
		code   string
	}{
		{name: "a good solver", wasm: good, act: obedient},
		{name: "one that decides not to trigger", wasm: good, act: but(harness.PhaseTrigger, 0, `{"trigger":false}`)},
		{name: "one that quotes badly", wasm: good, act: but(harness.PhaseQuote, opTrap, "")},
		{name: "a name of 64 characters", wasm: good, act: metadata(strings.Repeat("é", 64), "1.0.0")},

		{name: "no bytes", wasm: nil, act: obedient, stage: 1, code: "module.not_wasm"},
		{name: "truncated", wasm: good[:len(good)-5], act: obedient, stage: 1, code: "module.malformed"},
		{name: "no memory", wasm: wasmtest.Solver(wasmtest.Options{Omit: []string{"memory"}}), act: obedient, stage: 1, code: "module.export"},
		{name: "no generate_plan", wasm: puppetModule("generate_plan"), act: obedient, stage: 1, code: "module.export"},
		{name: "an unknown import", wasm: wasmtest.Solver(wasmtest.Options{Extra: [2]string{"env", "system"}}), act: obedient, stage: 1, code: "module.import"},

		{name: "traps while it loads", wasm: wasmtest.Solver(wasmtest.Options{Start: wasmtest.Trap}), act: obedient, stage: 2, code: "load.trap"},
		{name: "loops while it loads", wasm: wasmtest.Solver(wasmtest.Options{Start: wasmtest.Spin}), act: obedient, limits: short("load"), stage: 2, code: "load.stalled"},
		{name: "speaks another ABI", wasm: wasmtest.Solver(wasmtest.Options{ABI: 2}), act: obedient, stage: 2, code: "load.refused"},
		{name: "initialize fails", wasm: good, act: but(harness.PhaseInitialize, 1, "x"), stage: 2, code: "initialize.solver_error"},
		{name: "initialize loops", wasm: good, act: but(harness.PhaseInitialize, opSpin, ""), limits: short(harness.PhaseInitialize), stage: 2, code: "initialize.stalled"},
		{name: "metadata is not JSON", wasm: good, act: but(harness.PhaseMetadata, 0, "{"), stage: 2, code: "metadata.bad_output"},
		{name: "no name", wasm: good, act: metadata("", "1.0.0"), stage: 2, code: "metadata.name"},
		{name: "a blank name", wasm: good, act: metadata(" \u2003", "1.0.0"), stage: 2, code: "metadata.name"},
		{name: "a name of 65 characters", wasm: good, act: metadata(strings.Repeat("é", 65), "1.0.0"), stage: 2, code: "metadata.name"},
		{name: "a version that is none", wasm: good, act: metadata("n", `1.0\u001b[31m`), stage: 2, code: "metadata.version"},

		{name: "set_market traps", wasm: good, act: but(harness.PhaseMarket, opTrap, ""), stage: 3, code: "set_market.trap"},
		{name: "no plan", wasm: good, act: but(harness.PhasePlan, 1, "no \u001b[2Jroute\u202e"), stage: 3, code: "generate_plan.solver_error"},
		{name: "a plan for another chain", wasm: good, act: but(harness.PhasePlan, 0, strings.Replace(goodPlan, `"chain_id":1`, `"chain_id":2`, 1)), stage: 3, code: "generate_plan.invalid_plan"},
		{name: "a trigger that is no bool", wasm: good, act: but(harness.PhaseTrigger, 0, `{"trigger":"yes"}`), stage: 3, code: "check_trigger.bad_output"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &puppet{act: tt.act}
			o := p.smoke()
			o.State = []byte("never offered")
			o.Market = []intent.MarketSnapshot{intent.EmptyMarket(1)}
			o.Limits = tt.limits
			for i := range o.Smoke {
				o.Smoke[i].AskQuote = true
			}
			sc, err := harness.Screen(t.Context(), engine(t), harness.Source{Code: tt.wasm}, o)
			if err != nil {
				t.Fatal(err)
			}
			if sc.Passed != (tt.code == "") || sc.Stage != tt.stage || sc.Code != tt.code {
				t.Errorf("passed %v, stage %d, code %q (%s), want stage %d, code %q", sc.Passed, sc.Stage, sc.Code, sc.Detail, tt.stage, tt.code)
			}
			last := tt.stage
			if last == 0 {
				last = harness.StageSmoke
			}
			if len(sc.Stages) != last {
				t.Errorf("%d stages ran, want %d", len(sc.Stages), last)
			}
			if sc.Detail == "" || strings.ContainsFunc(sc.Detail, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("detail %q is not one printable line", sc.Detail)
			}
			if strings.Contains(strings.Join(p.calls, " "), "restore_state") {
				t.Error("screening offered a state")
			}
		})
	}
}

// A name with terminal escapes is kept as it is and printed escaped.
func TestScreenPrintsNamesSafely(t *testing.T) {
	t.Parallel()
	p := &puppet{act: but(harness.PhaseMetadata, 0, `{"name":"\u001b]0;owned\u0007","version":"1.0.0","author":"","description":""}`)}
	sc, err := harness.Screen(t.Context(), engine(t), harness.Source{Code: puppetModule()}, p.smoke())
	if err != nil {
		t.Fatal(err)
	}
	want := []harness.Stage{
		{Stage: harness.StageStart, Passed: true, Detail: `"\x1b]0;owned\a" 1.0.0`},
		{Stage: harness.StageSmoke, Passed: true, Detail: "3 of 3 plans valid, trigger decisions: 1"},
	}
	if diff := cmp.Diff(want, sc.Stages[1:]); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if sc.Metadata.Name != "\x1b]0;owned\a" {
		t.Errorf("name %q was changed", sc.Metadata.Name)
	}
}

// Stopping a screening says nothing about the module.
func TestScreenIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &puppet{}
	p.act = func(phase harness.Phase, input []byte) (byte, []byte) {
		if phase == harness.PhasePlan {
			cancel()
		}
		return obedient(phase, input)
	}
	if sc, err := harness.Screen(ctx, engine(t), harness.Source{Code: puppetModule()}, p.smoke()); sc != nil || !isInfra(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("Screen() = %+v, %v, want an infra fault", sc, err)
	}
}

// A gate without a question lets nobody through.
func TestScreenNeedsSmokeIntents(t *testing.T) {
	t.Parallel()
	p := &puppet{act: obedient}
	sc, err := harness.Screen(t.Context(), engine(t), harness.Source{Code: puppetModule()}, harness.ScreenOptions{Options: p.options()})
	var usage *intent.UsageFault
	if sc != nil || !errors.As(err, &usage) {
		t.Errorf("Screen() = %+v, %v, want a usage fault", sc, err)
	}
}

// A screening leaves no code behind: with the cache gone, the engine has to
// compile the module anew and tells that it couldn't keep it.
func TestScreenFreesWhatItCompiled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	var notices []sandbox.NoticeKind
	e := engineOf(t, sandbox.Config{CacheDir: dir, Notice: func(n sandbox.Notice) { notices = append(notices, n.Kind) }})
	p := &puppet{act: obedient}
	if sc, err := harness.Screen(t.Context(), e, harness.Source{Code: puppetModule()}, p.smoke()); err != nil || !sc.Passed {
		t.Fatalf("Screen() = %+v, %v, want it passed", sc, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Compile(t.Context(), puppetModule(), harness.Profile); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]sandbox.NoticeKind{sandbox.NoticeUnkept}, notices); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}
