package conformance_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
)

// source is the guest as a miner hands it in.
func (g guest) source(t *testing.T) harness.Source {
	t.Helper()
	code, err := os.ReadFile(g.file)
	if err != nil {
		t.Fatal(err)
	}
	if !g.script {
		return harness.Source{Code: code}
	}
	script, err := os.ReadFile(scriptFile)
	if err != nil {
		t.Fatal(err)
	}
	return harness.Source{Code: script, Script: true, Engine: code}
}

// serve answers every read of chain 1.
func serve(_ context.Context, chain uint64, _ []byte, _ harness.Cost) ([]byte, harness.Cost, error) {
	if chain != 1 {
		return nil, harness.Cost{}, harness.ErrUnknownChain
	}
	return []byte(`{"jsonrpc":"2.0","id":1,"result":"0x1"}`), harness.Cost{Requests: 1}, nil
}

// options are a session's whose initialize carries scripts.
func options(scripts ...string) harness.Options {
	return harness.Options{
		Init: intent.InitConfig{
			ChainIDs: []uint64{1}, RPCURLs: map[string]string{"1": "assay://chain/1"},
			TimeoutPerPlanMS: 30_000, SupportedProtocols: append([]string{}, scripts...),
		},
		Time: pinned, Seed: seed, Reads: serve, Count: 1,
	}
}

// task is an intent that the default plan answers; scripts tell its calls
// something else.
func task(scripts ...string) harness.Task {
	list := make([]any, len(scripts))
	for i, s := range scripts {
		list[i] = s
	}
	return harness.Task{
		Intent:   intent.Definition{AppID: "conformance", Name: "Conformance", Version: "1.0.0", IntentType: "swap", Config: intent.DefaultConfig()},
		State:    intent.State{ChainID: 1, Nonce: 1, RawParams: map[string]any{"scripts": list}, Control: map[string]any{}},
		IntentID: "i_0000000000000001",
		Rules:    intent.PlanRules{AppID: "conformance", IntentID: "i_0000000000000001", ChainID: 1, Nonce: 1, Time: pinned},
		Reads:    serve,
	}
}

// programs has a func() (*harness.Program, error) by guest.
var programs sync.Map

// program compiles the guest as a solver, once for all tests.
func (g guest) program(t *testing.T) *harness.Program {
	t.Helper()
	source := g.source(t)
	compile, _ := programs.LoadOrStore(g, sync.OnceValues(func() (*harness.Program, error) {
		return harness.Compile(context.Background(), shared, source)
	}))
	p, err := compile.(func() (*harness.Program, error))()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (g guest) open(t *testing.T, o harness.Options) *harness.Solver {
	t.Helper()
	s, err := harness.Open(t.Context(), g.program(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func run(t *testing.T, s *harness.Solver, k harness.Task) harness.Answer {
	t.Helper()
	a, err := s.Run(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func finish(t *testing.T, s *harness.Solver) harness.Final {
	t.Helper()
	f, err := s.Finish(t.Context(), []intent.Result{{IntentID: "i_0000000000000001", Score: "0.5"}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestScreening(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		triggered := task()
		triggered.AskTrigger = true
		sc, err := harness.Screen(t.Context(), shared, g.source(t), harness.ScreenOptions{Options: options(), Smoke: []harness.Task{task(), triggered}})
		if err != nil || !sc.Passed {
			t.Errorf("Screen() = %+v, %v", sc, err)
		}
	})
}

// Every call adds a letter to the state, which comes back with all of them in
// the order of the lifecycle.
func TestLifecycle(t *testing.T) {
	scripts := []string{
		"set_market state;say m;keep",
		"on_benchmark_start state;say s;keep",
		"check_trigger state;say t;keep;json {'trigger':true}",
		"generate_plan state;say p;keep;json " + strings.ReplaceAll(planText, `"`, "'"),
		"quote state;say q;keep;json {'estimated_output':'42'}",
		"on_benchmark_end state;say e;keep",
	}
	eachGuest(t, func(t *testing.T, g guest) {
		o := options(scripts...)
		o.State = []byte("r")
		o.Market = []intent.MarketSnapshot{intent.EmptyMarket(10), intent.EmptyMarket(1)}
		s := g.open(t, o)
		k := task()
		k.AskTrigger, k.AskQuote = true, true
		for range 2 {
			a := run(t, s, k)
			if a.Cause != intent.CauseNone || a.Triggered == nil || !*a.Triggered || a.Quote == nil || a.Quote.EstimatedOutput != "42" {
				t.Errorf("answer %+v", a)
			}
		}
		f := finish(t, s)
		if want := "rmmstpqtpqe"; !f.Saved || string(f.State) != want {
			t.Errorf("state %q %q, want %q", f.State, f.Note, want)
		}
		if m := s.Metadata(); m.Name != "conformance" || m.Version != "1.0.0" {
			t.Errorf("metadata %+v", m)
		}
	})
}

// planText is the plan that a guest answers without a script.
const planText = `{"intent_id":"conformance","interactions":[{"target":"0x00000000000000000000000000000000000000aa","value":"0","call_data":"0x"}],"deadline":4102444800,"nonce":1}`

func TestAnswers(t *testing.T) {
	plan := func(edits ...string) string {
		return "json " + strings.NewReplacer(edits...).Replace(strings.ReplaceAll(planText, `"`, "'"))
	}
	rows := []struct {
		name   string
		init   []string // scripts of initialize
		script string   // of generate_plan; empty: its answer without one
		plan   string   // what the plan must be; empty: there is none
		cause  intent.Cause
		detail string // part of it
		cannot map[string]string
	}{
		{name: "the plan", plan: planText},
		{name: "camelCase", script: plan("intent_id", "intentId", "call_data", "callData"), plan: planText},
		{name: "twins that are equal", script: plan("{'intent_id'", "{'intentId':'conformance','intent_id'"), plan: planText},
		{name: "twins that differ", script: plan("{'intent_id'", "{'intentId':'other','intent_id'"), cause: intent.CauseBadOutput, detail: "intent"},
		{name: "a field that there isn't", script: plan("'nonce'", "'score':1,'nonce'"), cause: intent.CauseBadOutput, detail: "score"},
		{name: "metadata of any kind", script: plan("'nonce'", "'metadata':{'a':[1,0.1,1e21,null,true,{}],'text':'"+manyScripts+"'},'nonce'"),
			plan: strings.Replace(planText, `"nonce"`, `"metadata":{"a":[1,0.1,1e21,null,true,{}],"text":"`+manyScripts+`"},"nonce"`, 1)},
		{name: "no plan but JSON", script: "json [1,2]", cause: intent.CauseBadOutput},
		{name: "no JSON", script: "say hello", cause: intent.CauseBadOutput, cannot: cannotJS("what it returns is encoded by the engine")},
		{name: "no answer", script: "say ", cause: intent.CauseBadOutput, cannot: cannotJS("what it returns is encoded by the engine")},
		{name: "another intent's nonce", script: plan("'nonce':1", "'nonce':2"), cause: intent.CauseInvalidPlan, detail: "nonce 2, want 1"},
		{name: "a deadline that has passed", script: plan("4102444800", "1700000000"), cause: intent.CauseInvalidPlan, detail: "deadline"},
		{name: "an error", script: "say no route;fail", cause: intent.CauseSolverError, detail: "no route"},
		{name: "not implemented", init: []string{"generate_plan absent"}, cause: intent.CauseNotImplemented},
		{name: "a trap", script: "trap", cause: intent.CauseTrap, cannot: cannotJS(engineTraps)},
		{name: "an exit", script: "exit 1", cause: intent.CauseExit, detail: "proc_exit(1)", cannot: cannotJS(noExit)},
		{name: "a megabyte too much", script: tooMuch, cause: intent.CauseOutput},
		{name: "an error after too many reads", script: "reads 4 1 m;fail", cause: intent.CauseRPCBudget, detail: "3 -2"},
		{name: "a plan after too many reads", script: "reads 4 1 m;keep;" + plan(), plan: planText},
	}
	eachGuest(t, func(t *testing.T, g guest) {
		for _, r := range rows {
			t.Run(r.name, func(t *testing.T) {
				if why, ok := r.cannot[g.name]; ok {
					t.Skipf("%s has no way to do this: %s", g.name, why)
				}
				o := options(r.init...)
				o.Limits = harness.DefaultLimits()
				o.Limits.Read.Requests = 3
				s := g.open(t, o)
				k := task()
				if r.script != "" {
					k = task("generate_plan " + r.script)
				}
				a := run(t, s, k)
				if a.Cause != r.cause || !strings.Contains(a.Detail, r.detail) {
					t.Errorf("%s, want %s %q", harness.Explain(a.Cause, a.Detail), r.cause, r.detail)
				}
				if r.plan == "" {
					return
				}
				want, err := intent.DecodePlan([]byte(r.plan))
				if err != nil {
					t.Fatal(err)
				}
				hash, err := want.Hash()
				if err != nil {
					t.Fatal(err)
				}
				if a.Plan == nil || a.PlanHash != hash {
					t.Errorf("plan (-want +got)\n%s", cmp.Diff(&want, a.Plan))
				}
			})
		}
	})
}

// tooMuch is a plan of more than a megabyte: every guest, whatever its language,
// dies of it.
const tooMuch = "json {'intent_id':';repeat 1048577 x;json '}"

// A death costs one row. The next intent is answered by a fresh instance that
// has the scripts and the state the session came with, until the restarts are
// spent.
func TestDeaths(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		o := options()
		o.State = []byte("incoming")
		s := g.open(t, o)
		die, tell := task("generate_plan say learned;keep;"+tooMuch), task("generate_plan state;fail")
		for i := range harness.DefaultLimits().Restarts {
			if a := run(t, s, die); a.Cause != intent.CauseOutput {
				t.Fatalf("death %d: %s", i, harness.Explain(a.Cause, a.Detail))
			}
			if a := run(t, s, tell); a.Cause != intent.CauseSolverError || a.Detail != "incoming" {
				t.Fatalf("after death %d: %s", i, harness.Explain(a.Cause, a.Detail))
			}
		}
		run(t, s, die)
		if a := run(t, s, tell); a.Cause != intent.CauseSessionRestarts {
			t.Errorf("after the last: %s", harness.Explain(a.Cause, a.Detail))
		}
		if f := finish(t, s); f.Saved || f.Note != harness.NoteNoInstance {
			t.Errorf("Finish() = %+v", f)
		}
	})
}

func TestStateIsRefused(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		o := options("restore_state say too old;fail")
		o.State = []byte("incoming")
		s := g.open(t, o)
		if want := `restore_state: solver_error: "too old"`; s.StateRefused() != want {
			t.Errorf("refused %q, want %q", s.StateRefused(), want)
		}
		if a := run(t, s, task()); a.Cause != intent.CauseNone {
			t.Errorf("without its state: %s", harness.Explain(a.Cause, a.Detail))
		}
		if f := finish(t, s); f.Saved || f.Note != harness.NoteStateRefused {
			t.Errorf("Finish() = %+v", f)
		}
	})
}

// What a solver doesn't implement is missing without a fault.
func TestAbsent(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		o := options("restore_state absent", "set_market absent", "on_benchmark_start absent", "check_trigger absent",
			"quote absent", "on_benchmark_end absent", "serialize_state absent")
		o.State = []byte("incoming")
		o.Market = []intent.MarketSnapshot{intent.EmptyMarket(1)}
		s := g.open(t, o)
		k := task()
		k.AskTrigger, k.AskQuote = true, true
		a := run(t, s, k)
		if a.Cause != intent.CauseNone || a.Triggered == nil || *a.Triggered || a.QuoteCause != intent.CauseNotImplemented {
			t.Errorf("answer %+v", a)
		}
		if f := finish(t, s); f.Saved || f.Note != harness.NoteNotImplemented || s.StateRefused() != "" || len(s.Notes()) != 0 {
			t.Errorf("Finish() = %+v, refused %q, notes %q", f, s.StateRefused(), s.Notes())
		}
	})
}

func TestUnstarted(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		for script, want := range map[string]string{
			"initialize say no key;fail":        `initialize: solver_error: "no key"`,
			"metadata say who am I;fail":        `metadata: solver_error: "who am I"`,
			"metadata json {'name':'x'}":        `metadata: bad_output: `,
			"metadata json {'name':1,'x':null}": `metadata: bad_output: `,
		} {
			var f *intent.MinerFault
			if _, err := harness.Open(t.Context(), g.program(t), options(script)); !errors.As(err, &f) || f.Cause != intent.CauseSessionEnded || !strings.HasPrefix(f.Detail, want) {
				t.Errorf("%s: %v, want %s", script, err, want)
			}
		}
	})
}

// Math.random of a script is the same in two sessions of a seed, and another in
// one of another seed.
func TestRandomInScripts(t *testing.T) {
	t.Parallel()
	js := guests[len(guests)-1]
	draw := func(seed byte) string {
		o := options()
		o.Seed[0] = seed
		return run(t, js.open(t, o), task("generate_plan random 16;fail")).Detail
	}
	first, second, other := draw(1), draw(1), draw(2)
	if len(first) != 32 || first != second || first == other {
		t.Errorf("drew %s, %s, and of another seed %s", first, second, other)
	}
}
