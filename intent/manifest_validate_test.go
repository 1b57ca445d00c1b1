package intent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/subnet112/assay/intent"
)

// declared is an app that every rule accepts.
func declared() intent.Definition {
	c := intent.DefaultConfig()
	c.SupportedChains = []uint64{1, 8453}
	return intent.Definition{
		AppID: "app", Config: c,
		Manifest: &intent.Manifest{
			IntentFunctions: []intent.Function{{
				Name: "swap", Params: intent.Params{
					{Name: "input_token", Type: "address"},
					{Name: "output_token", Type: "address"},
					{Name: "input_amount", Type: "uint256", Source: intent.SourceUser},
					{Name: "min_output_amount", Type: "uint256", Source: intent.SourceQuote, QuoteField: "suggested_min_output"},
					{Name: "receiver", Type: "address", Source: intent.SourceSystem},
					{Name: "fee", Type: "uint24", Source: intent.SourceSolver, Default: "3000"},
				},
				ExampleParams: map[string]any{"input_amount": "1"},
			}},
			Value: &intent.ValueRule{Token: "output_token", Account: "receiver", Minimum: "min_output_amount"},
			Quote: map[string]string{"min_output_amount": "suggested_min_output"},
			Scenarios: []intent.Scenario{{
				Name: "weth", Function: "swap", Chains: []uint64{8453}, Fund: map[string]string{wethAddress: "5"},
				Params: map[string]any{"input_token": wethAddress, "output_token": usdcAddress, "input_amount": "5"},
			}},
		},
	}
}

const (
	wethAddress = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
	usdcAddress = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
)

func TestDefinitionValidate(t *testing.T) {
	t.Parallel()
	type def = intent.Definition
	function := func(d *def) *intent.Function { return &d.Manifest.IntentFunctions[0] }
	for _, tt := range []struct {
		rule string
		edit func(*def)
		says string // "" = it is accepted
	}{
		{"everything in place", func(*def) {}, ""},
		{"no manifest", func(d *def) { d.Manifest = nil }, ""},
		{"no functions", func(d *def) { d.Manifest.IntentFunctions = nil }, "manifest.intent_functions: an app has at least one function"},
		{"a function without a name", func(d *def) { function(d).Name = "" }, `manifest.intent_functions[0].name: "" is no identifier`},
		{"a name with a dash", func(d *def) { function(d).Name = "a-b" }, "is no identifier"},
		{"a name that begins with a digit", func(d *def) { function(d).Name = "1a" }, "is no identifier"},
		{"a name that is long", func(d *def) { function(d).Name = strings.Repeat("a", 65) }, "is no identifier"},
		{"a function twice", func(d *def) {
			d.Manifest.IntentFunctions = append(d.Manifest.IntentFunctions, *function(d))
		}, `manifest.intent_functions[1]: "swap" stands twice`},
		{"another trigger than the config's", func(d *def) { function(d).TriggerType = intent.TriggerAuto }, "trigger_type"},
		{"the config's trigger", func(d *def) { function(d).TriggerType = d.Config.TriggerType }, ""},
		{"a parameter twice", func(d *def) { function(d).Params[1].Name = "input_token" }, `params[1]: "input_token" stands twice`},
		{"a type of no contract", func(d *def) { function(d).Params[2].Type = "uint257" }, `type "uint257"`},
		{"a source nobody knows", func(d *def) { function(d).Params[2].Source = "god" }, `source "god"`},
		{"a field that no quote has", func(d *def) { function(d).Params[3].QuoteField = "price" }, `quote_field "price"`},
		{"a field of the quote, of another source", func(d *def) { function(d).Params[2].QuoteField = "gas_estimate" }, "but its source is not quote"},
		{"a default that is not of the type", func(d *def) { function(d).Params[5].Default = "16777216" }, "default"},
		{"an example that is no parameter", func(d *def) { function(d).ExampleParams["x"] = 1 }, `example_params."x"`},
		{"an example that is not of the type", func(d *def) { function(d).ExampleParams["input_amount"] = "-1" }, `example_params."input_amount"`},

		{"no policy tiers", func(d *def) { d.Config.SupportedPolicyTiers = nil }, "config.supported_policy_tiers is empty"},
		{"an empty policy tier", func(d *def) { d.Config.SupportedPolicyTiers = []string{"hybrid", ""} }, "config.supported_policy_tiers[1] is empty"},
		{"a policy tier twice", func(d *def) { d.Config.SupportedPolicyTiers = []string{"hybrid", "hybrid"} }, "stands twice"},
		{"a tier that is not supported", func(d *def) { d.Config.PolicyTier = "loose" }, "config.policy_tier"},
		{"the manifest's tiers in another order", func(d *def) {
			d.Config.SupportedPolicyTiers = []string{"hybrid", "strict"}
			d.Manifest.SupportedPolicyTiers = []string{"strict", "hybrid"}
		}, ""},
		{"other tiers than the config's", func(d *def) { d.Manifest.SupportedPolicyTiers = []string{"x"} }, "manifest.supported_policy_tiers"},
		{"another default tier than the config's", func(d *def) { d.Manifest.DefaultPolicyTier = "x" }, "manifest.default_policy_tier"},

		{"a chain the config has not", func(d *def) { d.Manifest.SupportedChains = []uint64{10} }, "manifest.supported_chains[0]"},
		{"a chain twice", func(d *def) { d.Manifest.SupportedChains = []uint64{1, 1} }, "chain 1 stands twice"},

		{"a value of no parameter", func(d *def) { d.Manifest.Value.Token = "x" }, `manifest.value.token: function "swap" has no parameter "x"`},
		{"a value of one function only", func(d *def) {
			d.Manifest.IntentFunctions = append(d.Manifest.IntentFunctions, intent.Function{Name: "other"})
		}, `function "other" has no parameter`},
		{"a value of another type", func(d *def) { d.Manifest.Value.Minimum = "receiver" }, "manifest.value.minimum"},
		{"a value of a list", func(d *def) { function(d).Params[1].Type = "address[]" }, "manifest.value.token"},
		{"the value of the owner", func(d *def) { d.Manifest.Value.Account = "owner" }, ""},
		{"a value without a minimum", func(d *def) { d.Manifest.Value.Minimum = "" }, ""},

		{"a quote for no parameter", func(d *def) { d.Manifest.Quote["x"] = "gas_estimate" }, `manifest.quote."x": no function has such a parameter`},
		{"a quote that the parameter does not take", func(d *def) { d.Manifest.Quote["min_output_amount"] = "gas_estimate" }, "does not take it from"},

		{"a scenario without a name", func(d *def) { d.Manifest.Scenarios[0].Name = "" }, "benchmark_scenarios[0].name is empty"},
		{"a scenario twice", func(d *def) {
			d.Manifest.Scenarios = append(d.Manifest.Scenarios, d.Manifest.Scenarios[0])
		}, `benchmark_scenarios[1]: "weth" stands twice`},
		{"a scenario on another chain", func(d *def) { d.Manifest.Scenarios[0].Chains = []uint64{10} }, "benchmark_scenarios[0].chains[0]"},
		{"a scenario of no function", func(d *def) { d.Manifest.Scenarios[0].Function = "x" }, "benchmark_scenarios[0].intent_function"},
		{"a scenario with a parameter too many", func(d *def) { d.Manifest.Scenarios[0].Params["x"] = 1 }, `benchmark_scenarios[0].params."x"`},
		{"a scenario without one the user says", func(d *def) { delete(d.Manifest.Scenarios[0].Params, "input_amount") }, "input_amount"},
		{"a scenario that funds no address", func(d *def) { d.Manifest.Scenarios[0].Fund["weth"] = "1" }, `fund: "weth" is no address`},
		{"a scenario that funds no amount", func(d *def) { d.Manifest.Scenarios[0].Fund[wethAddress] = "1.5" }, "fund"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			d := declared()
			tt.edit(&d)
			err := d.Validate()
			switch {
			case tt.says == "" && err != nil:
				t.Errorf("Validate() = %v, want none", err)
			case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("Validate() = %v, want it to say %q", err, tt.says)
			}
		})
	}
}

// The apps of the fixture are what they ask of others.
func TestFixtureAppsAreValid(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../fixtures/apps/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d apps, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d intent.Definition
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := d.Validate(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, s := range d.Manifest.Scenarios {
			for _, chain := range d.ScenarioChains(s) {
				if _, err := d.Scenario(s, chain, 1, "0x1000000000000000000000000000000000000001"); err != nil {
					t.Errorf("%s: scenario %s: %v", file, s.Name, err)
				}
			}
		}
	}
}
