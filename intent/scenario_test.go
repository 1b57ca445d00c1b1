package intent_test

import (
	"errors"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/intent"
)

const keeper = "0x1000000000000000000000000000000000000001"

func TestScenario(t *testing.T) {
	t.Parallel()
	d := declared()
	s, err := d.Scenario(d.Manifest.Scenarios[0], 8453, 7, keeper)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"input_token": wethAddress, "output_token": usdcAddress, "input_amount": "5",
		"receiver": keeper, "fee": "3000", // the quote's stays absent
	}
	if diff := cmp.Diff(want, s.RawParams); diff != "" {
		t.Errorf("parameters (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"_intent_function": "swap", "_fund": map[string]any{wethAddress: "5"}}, s.Control); diff != "" {
		t.Errorf("control (-want +got)\n%s", diff)
	}
	if s.ChainID != 8453 || s.Nonce != 7 || s.Owner != keeper || s.Extra["receiver"] != keeper {
		t.Errorf("state %+v", s)
	}
	s.RawParams["input_amount"] = "6"
	if d.Manifest.Scenarios[0].Params["input_amount"] != "5" {
		t.Error("the scenario was changed with the intent")
	}
}

func TestScenarioNeedsFunctionAndChain(t *testing.T) {
	t.Parallel()
	for rule, edit := range map[string]func(*intent.Definition, *intent.Scenario){
		"no manifest":         func(d *intent.Definition, _ *intent.Scenario) { d.Manifest = nil },
		"no such function":    func(_ *intent.Definition, s *intent.Scenario) { s.Function = "x" },
		"not on this chain":   func(_ *intent.Definition, s *intent.Scenario) { s.Chains = []uint64{1} },
		"chain not supported": func(d *intent.Definition, s *intent.Scenario) { s.Chains, d.Config.SupportedChains = nil, []uint64{1} },
		"not on the manifest's": func(d *intent.Definition, s *intent.Scenario) {
			s.Chains, d.Manifest.SupportedChains = nil, []uint64{1}
		},
	} {
		d := declared()
		s := d.Manifest.Scenarios[0]
		edit(&d, &s)
		if _, err := d.Scenario(s, 8453, 1, keeper); !errors.Is(err, intent.ErrScenario) {
			t.Errorf("%s: %v, want %v", rule, err, intent.ErrScenario)
		}
	}
}

// What the user would have said has to be there; a recipient is the owner too.
func TestScenarioFillsIn(t *testing.T) {
	t.Parallel()
	d := declared()
	s := d.Manifest.Scenarios[0]
	d.Manifest.IntentFunctions[0].Params[4].Name = "recipient"
	state, err := d.Scenario(s, 8453, 1, keeper)
	if err != nil || state.RawParams["recipient"] != keeper {
		t.Errorf("recipient %v, %v", state.RawParams["recipient"], err)
	}
	delete(s.Params, "input_amount")
	var missing *intent.ParamError
	if _, err := d.Scenario(s, 8453, 1, keeper); !errors.As(err, &missing) {
		t.Errorf("%v, want a *ParamError", err)
	}
	d.Manifest.IntentFunctions[0].Params[2].Default = "9"
	if state, err = d.Scenario(s, 8453, 1, keeper); err != nil || state.RawParams["input_amount"] != "9" {
		t.Errorf("input_amount %v, %v", state.RawParams["input_amount"], err)
	}
}

func TestScenarioChains(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule                       string
		config, manifest, scenario []uint64
		want                       []uint64
	}{
		{"the config's", []uint64{8453, 1}, nil, nil, []uint64{8453, 1}},
		{"those of the manifest", []uint64{8453, 1}, []uint64{1}, nil, []uint64{1}},
		{"of these the scenario's, in their order", []uint64{8453, 10, 1}, nil, []uint64{1, 8453, 5}, []uint64{8453, 1}},
	} {
		d := declared()
		d.Config.SupportedChains, d.Manifest.SupportedChains = tt.config, tt.manifest
		if diff := cmp.Diff(tt.want, d.ScenarioChains(intent.Scenario{Chains: tt.scenario})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.rule, diff)
		}
	}
}

// quoted is a function with a parameter for every field of a quote, and one that is
// none of its business.
func quoted() intent.Function {
	f := intent.Function{Name: "f", Params: intent.Params{{Name: "user", Type: "uint256"}}}
	for _, field := range []string{"estimated_output", "estimated_output_gross", "gas_estimate", "platform_fee_wei", "suggested_min_output", "of_tomorrow"} {
		f.Params = append(f.Params, intent.Param{Name: "p_" + field, Type: "uint256", Source: intent.SourceQuote, QuoteField: field})
	}
	return f
}

func TestFromQuote(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule  string
		quote intent.Quote
		bps   int
		want  map[string]string
	}{
		{
			"every field", intent.Quote{EstimatedOutput: "1000", GasEstimate: 21_000, PlatformFeeWei: "3", Metadata: map[string]any{"estimated_output_gross": "1003"}}, 50,
			map[string]string{"p_estimated_output": "1000", "p_estimated_output_gross": "1003", "p_gas_estimate": "21000", "p_platform_fee_wei": "3", "p_suggested_min_output": "995"},
		},
		{
			"what a quote leaves out", intent.Quote{EstimatedOutput: "1000"}, 0,
			map[string]string{"p_estimated_output": "1000", "p_estimated_output_gross": "1000", "p_gas_estimate": "0", "p_platform_fee_wei": "0", "p_suggested_min_output": "1000"},
		},
		{
			"the minimum is rounded down", intent.Quote{EstimatedOutput: "999"}, 1,
			map[string]string{"p_estimated_output": "999", "p_estimated_output_gross": "999", "p_gas_estimate": "0", "p_platform_fee_wei": "0", "p_suggested_min_output": "998"},
		},
		{
			"slippage below 0 is none, above all is all", intent.Quote{EstimatedOutput: "0"}, 20_000,
			map[string]string{"p_estimated_output": "0", "p_estimated_output_gross": "0", "p_gas_estimate": "0", "p_platform_fee_wei": "0", "p_suggested_min_output": "0"},
		},
	} {
		got, err := quoted().FromQuote(tt.quote, tt.bps)
		if err != nil {
			t.Errorf("%s: %v", tt.rule, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.rule, diff)
		}
	}
	for _, q := range []intent.Quote{
		{EstimatedOutput: ""}, {EstimatedOutput: "-1"}, {EstimatedOutput: "1e3"},
		{EstimatedOutput: "1", PlatformFeeWei: "x"}, {EstimatedOutput: "1", Metadata: map[string]any{"estimated_output_gross": "x"}},
	} {
		if _, err := quoted().FromQuote(q, 0); !errors.Is(err, intent.ErrAmount) {
			t.Errorf("%+v: %v, want %v", q, err, intent.ErrAmount)
		}
	}
}

// The suggested minimum is never above the estimate, and falls as slippage grows.
func TestSuggestedMinimum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		estimate := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "estimate"))
		minimum := func(bps int) *big.Int {
			got, err := quoted().FromQuote(intent.Quote{EstimatedOutput: estimate.String()}, bps)
			if err != nil {
				t.Fatal(err)
			}
			n, ok := new(big.Int).SetString(got["p_suggested_min_output"], 10)
			if !ok {
				t.Fatalf("suggested_min_output %q", got["p_suggested_min_output"])
			}
			return n
		}
		less := rapid.IntRange(-100, 10_100).Draw(t, "bps")
		more := rapid.IntRange(less, 10_200).Draw(t, "more")
		if a, b := minimum(less), minimum(more); a.Cmp(estimate) > 0 || b.Cmp(a) > 0 || b.Sign() < 0 {
			t.Fatalf("of %s: %s at %d bps, %s at %d", estimate, a, less, b, more)
		}
	})
}
