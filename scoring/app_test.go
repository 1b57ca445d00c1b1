package scoring_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// The scorers of this file are those that the reference implementation is tested
// with, in our own words, with the values its tests expect.

const gasScorer = `
module.exports = {
  score(plan, state, { simulation }) {
    let tenths = 5;
    if (simulation.success) tenths += 3;
    if (simulation.gas_used < 200000) tenths += 1;
    if (simulation.gasUsed < 100000) tenths += 1;
    return tenths / 10;
  },
  validate: (plan) => plan.interactions.length > 0 || { valid: false, reason: "No interactions in plan" },
  shouldTrigger: (state) => state.nonce % 2 === 0,
};`

const transferScorer = `
exports.score = async (plan, state, context) => {
  if (!context.simulation.success) return 0;
  const n = context.simulation.token_transfers.length;
  return { score: n >= 2 ? 0.85 : n === 1 ? 0.5 : 0.3, valid: true };
};`

func TestScoreIsTheScorers(t *testing.T) {
	s := newScorer(t, compiled, patient())
	gas, transfers := load(t, s, app(gasScorer)), load(t, s, app(transferScorer))
	fixed := load(t, s, app(`exports.score = () => 0.42;`))
	for _, tt := range []struct {
		name      string
		app       *scoring.App
		gas       uint64
		transfers int
		want      string
	}{
		{"150k gas", gas, 150_000, 1, "0.9"},
		{"500k gas", gas, 500_000, 1, "0.8"},
		{"50k gas", gas, 50_000, 1, "1"},
		{"a sync scorer", fixed, 1, 1, "0.42"},
		{"two transfers", transfers, 1, 2, "0.85"},
		{"one transfer", transfers, 1, 1, "0.5"},
		{"no transfer", transfers, 1, 0, "0.3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := input(100)
			in.Outcome.GasUsed = tt.gas
			one := in.Outcome.Transfers[0]
			in.Outcome.Transfers = nil
			for range tt.transfers {
				in.Outcome.Transfers = append(in.Outcome.Transfers, one)
			}
			if got := score(t, tt.app, in).Score; got != tt.want {
				t.Errorf("score %s, want %s", got, tt.want)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	s := newScorer(t, compiled, patient())
	for _, tt := range []struct {
		name, code string
		empty      bool // the plan has no interactions
		want       scoring.Verdict
	}{
		{"a plan that is fine", gasScorer, false, scoring.Verdict{Valid: true}},
		{"a plan that is not, with the code's reason", gasScorer, true, scoring.Verdict{Reason: `"No interactions in plan"`}},
		{"code without validate accepts", accept, true, scoring.Verdict{Valid: true}},
		{"an object that accepts", accept + `exports.validate = async () => ({ valid: true, reason: "x" });`, false, scoring.Verdict{Valid: true}},
		{"false needs no reason", accept + `exports.validate = () => false;`, false, scoring.Verdict{Reason: "invalid without a reason"}},
		{"a throw refuses", accept + `exports.validate = () => { throw new TypeError("x") };`, false, scoring.Verdict{Reason: `"TypeError: x"`}},
		{"an answer of another type refuses", accept + `exports.validate = () => 1;`, false, scoring.Verdict{Reason: "validate returned neither true nor false"}},
		{"no answer refuses", accept + `exports.validate = () => {};`, false, scoring.Verdict{Reason: "validate returned neither true nor false"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := input(1)
			in.Outcome = nil
			if tt.empty {
				in.Plan.Interactions = nil
			}
			got, err := load(t, s, app(tt.code)).Validate(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Validate (-want +got):\n%s", diff)
			}
		})
	}
}

func TestShouldTrigger(t *testing.T) {
	s := newScorer(t, compiled, patient())
	for _, tt := range []struct {
		name, code string
		nonce      uint64
		want       bool
	}{
		{"an even nonce", gasScorer, 4, true},
		{"an odd nonce", gasScorer, 5, false},
		{"code without shouldTrigger says no", accept, 4, false},
		{"a throw says no", accept + `exports.shouldTrigger = () => { throw 1 };`, 4, false},
		{"a truthy answer says yes", accept + `exports.shouldTrigger = async () => "yes";`, 4, true},
		{"it sees no simulation", accept + `exports.shouldTrigger = (state, context) => context.simulation === null;`, 4, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := input(1)
			in.Outcome, in.State.Nonce = nil, tt.nonce
			got, err := load(t, s, app(tt.code)).ShouldTrigger(t.Context(), in)
			if err != nil || got != tt.want {
				t.Errorf("ShouldTrigger = %t, %v, want %t", got, err, tt.want)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	s := newScorer(t, compiled, patient())
	for _, tt := range []struct {
		name, code string
		edit       func(*intent.Definition)
		says       string
	}{
		{"nothing", ``, nil, "missing required export: score()"},
		{"code without score", `exports.config = {};`, nil, "missing required export: score()"},
		{"a score that is no function", `exports.score = 1;`, nil, "missing required export: score()"},
		{"a syntax error", `exports.score = (`, nil, "SyntaxError"},
		{"a throw while loading", `throw new Error("at once")`, nil, "Error: at once"},
		{"exports that are no object", `module.exports = 5`, nil, "module.exports is not an object"},
		{"exports that are null", `module.exports = null`, nil, "module.exports is not an object"},
		{"require", `require("fs")`, nil, "js_code does not load"},
		{"import", `import fs from "fs"; exports.score = () => 1`, nil, "SyntaxError"},
		{"code that bends what its loading needs", `Object.prototype.toJSON = () => 7; exports.score = () => 1`, nil, "exports cannot be read"},

		{"a config of another threshold", accept + `exports.config = { score_threshold: 0.6 };`, nil, `config.score_threshold is "0.6", the definition says "0.5"`},
		{"a config of other chains", accept + `exports.config = { supported_chains: [8453] };`, nil, "config.supported_chains"},
		{"a config that is none", accept + `exports.config = 5;`, nil, "config is no object"},
		{"a config that throws", accept + `Object.defineProperty(exports, "config", { enumerable: true, get() { throw 5 } });`, nil, "threw 5"},
		{"a value rule the definition has not", accept + `exports.manifest = { value: { token: "a", account: "b" } };`,
			func(d *intent.Definition) { d.Manifest = nil }, "manifest.value"},
		{"another value rule", accept + `exports.manifest = { value: { token: "input_token", account: "receiver" } };`, nil, "manifest.value"},
		{"another function", accept + `exports.manifest = { intent_functions: [{ name: "swop" }] };`,
			nil, "manifest.intent_functions[0]"},
		{"parameters in another order",
			accept + `exports.manifest = { intent_functions: [{ name: "swap", params: {
				receiver: { type: "address" }, output_token: { type: "address" }, min_output_amount: { type: "uint256" } } }] };`,
			nil, "manifest.intent_functions[0]"},
		{"functions that are no list", accept + `exports.manifest = { intent_functions: 5 };`,
			nil, "not a list of functions"},
		{"parameters that are no object", accept + `exports.manifest = { intent_functions: [{ name: "swap", params: 5 }] };`,
			nil, "neither an object nor a list"},

		{"a threshold above 1", accept, func(d *intent.Definition) { d.Config.ScoreThreshold = "1.1" }, "config.score_threshold"},
		{"no threshold", accept, func(d *intent.Definition) { d.Config.ScoreThreshold = "" }, "config.score_threshold"},
		{"a function without a name", accept, func(d *intent.Definition) { d.Manifest.IntentFunctions = []intent.Function{{}} }, "intent_functions[0].name"},
		{"a function that stands twice", accept,
			func(d *intent.Definition) { d.Manifest.IntentFunctions = []intent.Function{{Name: "a"}, {Name: "a"}} }, "intent_functions[1]"},
		{"a value of no token", accept, func(d *intent.Definition) { d.Manifest.Value.Token = "" }, "value.token"},
		{"a value of no account", accept, func(d *intent.Definition) { d.Manifest.Value.Account = "" }, "value.account"},
		{"a value rule that points nowhere", accept, func(d *intent.Definition) {
			d.Manifest.Value.Token = "output"
		}, "value.token"},
		{"a value rule of the wrong type", accept, func(d *intent.Definition) {
			d.Manifest.Value.Minimum = "receiver"
		}, "value.minimum"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := valued(tt.code)
			if tt.edit != nil {
				tt.edit(&d)
			}
			_, err := s.Load(t.Context(), d)
			var fault *intent.AppFault
			if !errors.As(err, &fault) || fault.AppID != d.AppID || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Load: %v, want a fault of %s that says %s", err, d.AppID, tt.says)
			}
		})
	}
}

func TestLoadAcceptsWhatAgrees(t *testing.T) {
	d := valued(accept + `
		exports.config = { score_threshold: 0.50, max_gas: 5e6, something_else: true };
		exports.manifest = {
			value: { minimum: "min_output_amount", token: "output_token", account: "receiver" },
			plan_metadata: false,
			intent_functions: [{ name: "swap", params: {
				output_token: { type: "address" }, receiver: { type: "address" }, min_output_amount: { type: "uint256" } } }],
			benchmark_scenarios: [],
		};`)
	load(t, newScorer(t, compiled, patient()), d)
}

func TestLoadUnderAnEndedContextIsInfra(t *testing.T) {
	s := newScorer(t, compiled, patient())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Load(ctx, app(accept)); !isInfraFault(err) || isAppFault(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("Load: %v, want an infra fault for a canceled context", err)
	}
}

// While the module itself runs there is no time and no chain, so that an app
// loads the same way for every intent.
func TestLoadingSeesNoTime(t *testing.T) {
	code := `const born = [Date.now(), Math.random()];` + telling(`[born[0], Date.now(), born[1] === Math.random()]`)
	if got, want := says(t, compiled, code), `[0,1769991048000,false]`; got != want {
		t.Errorf("born, called: %s, want %s", got, want)
	}
}
