package intent_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/intent"
)

func app() intent.Definition {
	return intent.Definition{AppID: "a", Name: "n", Version: "1.0.0", JSCode: "score", SolidityCode: "contract", Config: intent.DefaultConfig()}
}

func state() intent.State {
	return intent.State{
		ContractAddress: "0x1", ChainID: 1, Nonce: 2, Owner: "0x3",
		RawParams: map[string]any{"input_amount": "5"},
		Control:   map[string]any{"_intent_function": "swap"},
	}
}

// The key is what DESIGN §4 says, spelled out here without the package's own
// encoder.
func TestKeyIsTheHashOfAppAndState(t *testing.T) {
	t.Parallel()
	d := app()
	digest, err := d.Digest()
	if err != nil {
		t.Fatal(err)
	}
	canonical := `{"app":"` + hex.EncodeToString(digest[:]) + `","state":{"chain_id":1,"contract_address":"0x1","control":{"_intent_function":"swap"},"nonce":2,"owner":"0x3","raw_params":{"input_amount":"5"}}}`
	sum := sha256.Sum256([]byte(canonical))
	want := "i_" + hex.EncodeToString(sum[:])[:16]
	if got, err := intent.Key(d, state()); err != nil || got != want {
		t.Errorf("Key() = %q, %v, want %q", got, err, want)
	}
}

func TestKeyFollowsContent(t *testing.T) {
	t.Parallel()
	key := func(change func(*intent.Definition, *intent.State)) string {
		d, s := app(), state()
		change(&d, &s)
		k, err := intent.Key(d, s)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	base := key(func(*intent.Definition, *intent.State) {})
	for name, change := range map[string]func(*intent.Definition, *intent.State){
		"the scorer's code":   func(d *intent.Definition, _ *intent.State) { d.JSCode += " " },
		"the contract's code": func(d *intent.Definition, _ *intent.State) { d.SolidityCode = "" },
		"the configuration":   func(d *intent.Definition, _ *intent.State) { d.Config.MaxGas++ },
		"the contract":        func(_ *intent.Definition, s *intent.State) { s.ContractAddress = "" },
		"the chain":           func(_ *intent.Definition, s *intent.State) { s.ChainID++ },
		"the nonce":           func(_ *intent.Definition, s *intent.State) { s.Nonce++ },
		"the owner":           func(_ *intent.Definition, s *intent.State) { s.Owner = "" },
		"a parameter":         func(_ *intent.Definition, s *intent.State) { s.RawParams["input_amount"] = "6" },
		"a control key":       func(_ *intent.Definition, s *intent.State) { s.Control["_x"] = true },
	} {
		if key(change) == base {
			t.Errorf("%s does not change the key", name)
		}
	}
	for name, change := range map[string]func(*intent.Definition, *intent.State){
		"the synthesised view": func(_ *intent.Definition, s *intent.State) { s.SyncExtra() },
		"a legacy view of the same": func(_ *intent.Definition, s *intent.State) {
			s.Extra = map[string]any{"input_amount": "5", "_intent_function": "swap"}
			s.RawParams, s.Control = nil, nil
		},
		"a typed context": func(_ *intent.Definition, s *intent.State) { s.TypedContext = 1 },
	} {
		if key(change) != base {
			t.Errorf("%s changes the key", name)
		}
	}
}

func TestKeyLeavesTheStateAlone(t *testing.T) {
	t.Parallel()
	s := state()
	s.Extra = map[string]any{"legacy": "1"}
	before := []map[string]any{maps.Clone(s.RawParams), maps.Clone(s.Control), maps.Clone(s.Extra)}
	if _, err := intent.Key(app(), s); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, []map[string]any{s.RawParams, s.Control, s.Extra}); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

func TestPublicHidesCode(t *testing.T) {
	t.Parallel()
	d := app()
	if p := d.Public(); p.JSCode != "" || p.SolidityCode != "" || p.AppID != d.AppID {
		t.Errorf("Public() = %+v", p)
	}
	if d.JSCode == "" {
		t.Error("Public() changed its receiver")
	}
	b, err := json.Marshal(d.Public())
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"js_code", "solidity_code"} {
		if _, there := fields[name]; there {
			t.Errorf("a solver would see %s", name)
		}
	}
}

// The rules are the solver API's: an underscore marks control, and what the
// state says itself wins over the legacy view.
func TestSyncExtra(t *testing.T) {
	t.Parallel()
	s := intent.State{
		RawParams: map[string]any{"a": 1},
		Control:   map[string]any{"_f": "swap"},
		Extra:     map[string]any{"a": 2, "b": 3, "_f": "other", "_g": 4},
	}
	s.SyncExtra()
	want := intent.State{
		RawParams: map[string]any{"a": 1, "b": 3},
		Control:   map[string]any{"_f": "swap", "_g": 4},
		Extra:     map[string]any{"a": 1, "b": 3, "_f": "swap", "_g": 4},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPlanHashIgnoresSpelling(t *testing.T) {
	t.Parallel()
	a, err := intent.DecodePlan([]byte(planJSON))
	if err != nil {
		t.Fatal(err)
	}
	b, err := intent.DecodePlan([]byte(`{"nonce":42,"deadline":1700000300,"metadata":{"route":"uniswap\u005fv3"},"interactions":[{"chainId":8453,"callData":"0xd0e30db0","value":"0","target":"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"}],"intentId":"app"}`))
	if err != nil {
		t.Fatal(err)
	}
	// planJSON is written in the order of the type, so its canonical form is
	// spelled out here.
	want := sha256.Sum256([]byte(`{"deadline":1700000300,"intent_id":"app","interactions":[{"call_data":"0xd0e30db0","chain_id":8453,"target":"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2","value":"0"}],"metadata":{"route":"uniswap_v3"},"nonce":42}`))
	for _, p := range []intent.Plan{a, b} {
		if got, err := p.Hash(); err != nil || got != want {
			t.Errorf("Hash() = %x, %v, want %x", got, err, want)
		}
	}
}
