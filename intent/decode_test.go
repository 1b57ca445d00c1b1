package intent_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/intent"
)

const planJSON = `{"intent_id":"app","interactions":[{"target":"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2","value":"0","call_data":"0xd0e30db0","chain_id":8453}],"deadline":1700000300,"nonce":42,"metadata":{"route":"uniswap_v3"}}`

func TestDecodePlan(t *testing.T) {
	t.Parallel()
	want := intent.Plan{
		IntentID: "app",
		Interactions: []intent.Interaction{{
			Target: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", Value: "0", CallData: "0xd0e30db0", ChainID: 8453,
		}},
		Deadline: 1700000300,
		Nonce:    42,
		Metadata: map[string]any{"route": "uniswap_v3"},
	}
	mainnet := want
	mainnet.Interactions = []intent.Interaction{want.Interactions[0]}
	mainnet.Interactions[0].ChainID = 1
	bare := want
	bare.Metadata = map[string]any{}
	replace := func(old, new string) string {
		if !strings.Contains(planJSON, old) {
			t.Fatalf("no %q in the plan", old)
		}
		return strings.Replace(planJSON, old, new, 1)
	}
	for _, tt := range []struct {
		name, doc string
		want      intent.Plan
	}{
		{"snake case", planJSON, want},
		{"camel case", strings.NewReplacer("intent_id", "intentId", "call_data", "callData", "chain_id", "chainId").Replace(planJSON), want},
		{"both spellings, equal", replace(`"call_data":"0xd0e30db0"`, `"callData":"0xd0e30db0","call_data":"0xd0e30db0"`), want},
		{"both spellings absent by null", replace(`"chain_id":8453`, `"chainId":null,"chain_id":null`), mainnet},
		{"chain_id absent is mainnet", replace(`,"chain_id":8453`, ``), mainnet},
		{"chain_id null is absent", replace(`8453`, `null`), mainnet},
		{"metadata absent is empty", replace(`,"metadata":{"route":"uniswap_v3"}`, ``), bare},
		{"metadata null is absent", replace(`{"route":"uniswap_v3"}`, `null`), bare},
		{"space anywhere between tokens", " \n" + replace(`:[{`, " :\t[ {\r") + "\n ", want},
		{"an escape is what it stands for", replace(`"app"`, `"\u0061\u0070p"`), want},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := intent.DecodePlan([]byte(tt.doc))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDecodePlanRefuses(t *testing.T) {
	t.Parallel()
	replace := func(old, new string) string {
		if !strings.Contains(planJSON, old) {
			t.Fatalf("no %q in the plan", old)
		}
		return strings.Replace(planJSON, old, new, 1)
	}
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct{ name, doc, path, reason string }{
		{"nothing", ``, ``, "want an object, found the end"},
		{"another type", `[]`, ``, "want an object, found an array"},
		{"null", `null`, ``, "want an object, found null"},
		{"a missing field", replace(`"nonce":42,`, ``), `nonce`, "missing"},
		{"a missing field of an interaction", replace(`"value":"0",`, ``), `interactions[0].value`, "missing"},
		{"null for a required field", replace(`"0xd0e30db0"`, `null`), `interactions[0].call_data`, "want a string, found null"},
		{"an unknown field", replace(`"nonce"`, `"score":1,"nonce"`), ``, `unknown field "score"`},
		{"an unknown field of an interaction", replace(`"value"`, `"gas":1,"value"`), `interactions[0]`, `unknown field "gas"`},
		{"another case", replace(`"nonce"`, `"Nonce"`), ``, `unknown field "Nonce"`},
		{"a control character in a field's name", replace(`"nonce"`, `"\u001b[2J"`), ``, `unknown field "\x1b[2J"`},
		{"the same field twice", replace(`"nonce":42`, `"nonce":42,"nonce":42`), `nonce`, "twice in one object"},
		{"the same field twice by an escape", replace(`"nonce":42`, `"nonce":42,"nonc\u0065":42`), `nonce`, "twice in one object"},
		{"the same twin twice", replace(`"intent_id":"app"`, `"intentId":"app","intentId":"app"`), `intentId`, "twice in one object"},
		{"both spellings, different", replace(`"call_data":"0xd0e30db0"`, `"call_data":"0xd0e30db0","callData":"0x"`), `interactions[0].callData`, "differs from its other spelling"},
		{"both spellings, one null", replace(`"chain_id":8453`, `"chain_id":8453,"chainId":null`), `interactions[0].chainId`, "differs from its other spelling"},
		{"the same key twice in metadata", replace(`"route"`, `"route":1,"route"`), `metadata.route`, "twice in one object"},
		{"more data", planJSON + `{}`, ``, "more data after the document, from byte " + strconv.Itoa(len(planJSON))},
		{"a byte order mark", "\ufeff" + planJSON, ``, `want an object, found "\ufeff`},
		{"NaN", replace(`42`, `NaN`), `nonce`, "want a number, found NaN or Infinity, which JSON has not"},
		{"Infinity in metadata", replace(`"uniswap_v3"`, `-Infinity`), `metadata.route`, "want a number, found NaN or Infinity, which JSON has not"},
		{"a negative integer", replace(`42`, `-1`), `nonce`, "-1 is out of range"},
		{"minus zero", replace(`42`, `-0`), `nonce`, "-0 is no integer within ±9007199254740991"},
		{"a fraction for an integer", replace(`42`, `42.0`), `nonce`, "42.0 is no integer within ±9007199254740991"},
		{"an integer that no float64 holds", replace(`1700000300`, `9007199254740993`), `deadline`, "9007199254740993 is no integer within ±9007199254740991"},
		{"a free number that no float64 holds", replace(`"uniswap_v3"`, `{"a":[1000000000000000001]}`), `metadata.route.a[0]`, "1000000000000000001 is more than a float64 holds, use a decimal string"},
		{"a free number above every float64", replace(`"uniswap_v3"`, `1e400`), `metadata.route`, "1e400 is more than a float64 holds, use a decimal string"},
		{"a number without end", replace(`42`, strings.Repeat("4", 65)), `nonce`, "a number of 65 characters, limit 64"},
		{"a leading zero", replace(`42`, `042`), `nonce`, "a number with a leading zero"},
		{"a point without digits", replace(`"uniswap_v3"`, `1.`), `metadata.route`, "a number without digits after its point"},
		{"an exponent without digits", replace(`"uniswap_v3"`, `1e+`), `metadata.route`, "a number without digits in its exponent"},
		{"a number for a string", replace(`"0xd0e30db0"`, `1`), `interactions[0].call_data`, "want a string, found a number"},
		{"a comma before the bracket", replace(`8453}`, `8453,}`), `interactions[0]`, "a comma before the closing bracket"},
		{"no comma", replace(`"0",`, `"0"`), `interactions[0]`, "want a comma or the closing bracket, found a string"},
		{"no colon", replace(`"nonce":`, `"nonce"`), ``, "want a colon, found a number"},
		{"a key without quotes", replace(`"nonce"`, `nonce`), ``, "want a key in quotes, found null"},
		{"the end within", planJSON[:len(planJSON)-1], ``, "want a comma or the closing bracket, found the end"},
		{"the end within a string", `{"intent_id":"a`, `intent_id`, "a string without its closing quote"},
		{"a raw control character", replace(`"app"`, "\"a\x01\""), `intent_id`, "a raw control character in a string"},
		{"text that is not UTF-8", replace(`"app"`, "\"\xff\""), `intent_id`, "a string that is not UTF-8"},
		{"half a surrogate pair", replace(`"app"`, `"\ud800"`), `intent_id`, "half a surrogate pair in a string"},
		{"the second half of a surrogate pair", replace(`"app"`, `"\udc00\ud800"`), `intent_id`, "half a surrogate pair in a string"},
		{"an unknown escape", replace(`"app"`, `"\x41"`), `intent_id`, "an unknown escape in a string"},
		{"10,000 nested arrays", replace(`"uniswap_v3"`, nested(10_000)), `metadata.route` + strings.Repeat("[0]", intent.MaxDepth-2), "nested deeper than 64"},
		{"a key that would move the cursor", replace(`"route":"uniswap_v3"`, `"a\u001bb":tru`), `metadata["a\x1bb"]`, "no JSON value"},
		{"2 MiB", replace(`"app"`, `"`+strings.Repeat("a", 2<<20)+`"`), ``, strconv.Itoa(len(planJSON)-3+2<<20) + " bytes, limit 1048576"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := intent.DecodePlan([]byte(tt.doc))
			var refusal *intent.DecodeError
			if !errors.As(err, &refusal) {
				t.Fatalf("DecodePlan() = %v, %v, want a *DecodeError", got, err)
			}
			if refusal.Path != tt.path || !strings.HasPrefix(refusal.Reason, tt.reason) {
				t.Errorf("at %q: %q\nwant %q: %q", refusal.Path, refusal.Reason, tt.path, tt.reason)
			}
			if diff := cmp.Diff(intent.Plan{}, got); diff != "" {
				t.Errorf("an error comes with a plan (-want +got)\n%s", diff)
			}
		})
	}
}

func TestDepthLimitIsExact(t *testing.T) {
	t.Parallel()
	doc := func(levels int) []byte {
		return []byte(strings.Replace(planJSON, `"uniswap_v3"`, strings.Repeat("[", levels)+strings.Repeat("]", levels), 1))
	}
	// The plan and its metadata are two levels.
	if _, err := intent.DecodePlan(doc(intent.MaxDepth - 2)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := intent.DecodePlan(doc(intent.MaxDepth - 1)); err == nil {
		t.Error("one above the limit is accepted")
	}
}

func TestSizeLimitIsExact(t *testing.T) {
	t.Parallel()
	doc := func(size int) []byte {
		return []byte(planJSON + strings.Repeat(" ", size-len(planJSON)))
	}
	if _, err := intent.DecodePlan(doc(intent.MaxPlanBytes)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := intent.DecodePlan(doc(intent.MaxPlanBytes + 1)); err == nil {
		t.Error("one above the limit is accepted")
	}
}

func TestDecodeErrorIsBounded(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("\u202e", 100_000)
	doc := `{"intent_id":"a","metadata":` + strings.Repeat(`{"`+key[:300]+`":`, 60) + `{"` + key + `":x}`
	_, err := intent.DecodePlan([]byte(doc))
	if err == nil || len([]rune(err.Error())) > 400 {
		t.Errorf("error of %d runes: %.500v", len([]rune(err.Error())), err)
	}
}

func TestDecodeMetadata(t *testing.T) {
	t.Parallel()
	got, err := intent.DecodeMetadata([]byte(`{"name":"advanced-router","version":"2.1.0","author":"5F"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := intent.Metadata{
		Name: "advanced-router", Version: "2.1.0", Author: "5F",
		SupportedChains: []uint64{1}, SupportedIntentTypes: []string{"swap"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got, err = intent.DecodeMetadata([]byte(`{"name":"n","version":"v","author":"a","supportedChains":[],"supported_intent_types":["vault","swap"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.SupportedChains) != 0 || len(got.SupportedIntentTypes) != 2 {
		t.Errorf("present lists keep their default: %+v", got)
	}
}

func TestDecodeQuote(t *testing.T) {
	t.Parallel()
	got, err := intent.DecodeQuote([]byte(`{"estimatedOutput":"340282366920938463463374607431768211456","gas_estimate":180000}`))
	if err != nil {
		t.Fatal(err)
	}
	want := intent.Quote{
		EstimatedOutput: "340282366920938463463374607431768211456", GasEstimate: 180000, PlatformFeeWei: "0",
		ComputedParams: map[string]string{}, Metadata: map[string]any{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, amount := range []string{"", "-1", "+1", "01", "1e3", "0x1", " 1", "1.0",
		"115792089237316195423570985008687907853269984665640564039457584007913129639936"} { // 2^256
		if _, err := intent.DecodeQuote([]byte(`{"estimated_output":"` + amount + `"}`)); err == nil {
			t.Errorf("estimated_output %q is accepted", amount)
		}
		if _, err := intent.DecodeQuote([]byte(`{"estimated_output":"1","platform_fee_wei":"` + amount + `"}`)); err == nil {
			t.Errorf("platform_fee_wei %q is accepted", amount)
		}
	}
}

func TestDecodeTrigger(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]bool{`{"trigger":true}`: true, ` {"trigger" : false}`: false} {
		if got, err := intent.DecodeTrigger([]byte(doc)); err != nil || got != want {
			t.Errorf("DecodeTrigger(%s) = %v, %v", doc, got, err)
		}
	}
	for _, doc := range []string{`true`, `{}`, `{"trigger":1}`, `{"trigger":"true"}`, `{"trigger":null}`, `{"trigger":true,"why":""}`} {
		if got, err := intent.DecodeTrigger([]byte(doc)); err == nil {
			t.Errorf("DecodeTrigger(%s) = %v", doc, got)
		}
	}
}

// The defaults are the solver API's, but for max_gas, which this project raised
// because it is enforced here.
func TestDecodeDefinitionDefaults(t *testing.T) {
	t.Parallel()
	got, err := intent.DecodeDefinition([]byte(`{"app_id":"a","name":"n","version":"1.0.0","intent_type":"","solidity_code":null,"manifest":null}`))
	if err != nil {
		t.Fatal(err)
	}
	want := intent.Definition{AppID: "a", Name: "n", Version: "1.0.0", Config: intent.Config{
		SupportedChains: []uint64{}, ScoreThreshold: "0.5", OnChainThreshold: 5000, TriggerType: "user_triggered",
		MaxGas: 5_000_000, PolicyTier: "hybrid", SupportedPolicyTiers: []string{"strict", "hybrid", "expert"}, ManifestVersion: "v1",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got, err = intent.DecodeDefinition([]byte(`{"app_id":"a","name":"n","version":"1.0.0","intent_type":"swap","config":{"max_gas":30000000}}`))
	if err != nil {
		t.Fatal(err)
	}
	want.IntentType, want.Config.MaxGas = "swap", 30_000_000
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("one field set (-want +got)\n%s", diff)
	}
}

func TestDecodeDefinitionRefuses(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"a trigger type that does not exist": `{"trigger_type":"sometimes"}`,
		"a threshold above one":              `{"score_threshold":1.1}`,
		"a negative threshold":               `{"score_threshold":-0.1}`,
		"a threshold that is text":           `{"score_threshold":"0.5"}`,
		"more than all basis points":         `{"on_chain_threshold":10001}`,
	} {
		if _, err := intent.DecodeDefinition([]byte(`{"app_id":"a","name":"n","version":"v","intent_type":"","config":` + config + `}`)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, threshold := range []string{"0", "1", "1.0", "0.99", "1e0"} {
		if _, err := intent.DecodeDefinition([]byte(`{"app_id":"a","name":"n","version":"v","intent_type":"","config":{"score_threshold":` + threshold + `}}`)); err != nil {
			t.Errorf("threshold %s: %v", threshold, err)
		}
	}
	if _, err := intent.DecodeDefinition([]byte(`{"app_id":"","name":"n","version":"v","intent_type":""}`)); err == nil {
		t.Error("an empty app_id is accepted")
	}
	if _, err := intent.DecodeDefinition([]byte(`{"appId":"a","name":"n","version":"v","intent_type":""}`)); err == nil {
		t.Error("a camelCase field is accepted from somebody who is no solver")
	}
}

func TestDecodeMarket(t *testing.T) {
	t.Parallel()
	got, err := intent.DecodeMarket([]byte(`{"chain_id":1,"block_number":18500000,"timestamp":1700000000,"prices":{"ETH/USD":1850.25},"pool_states":{"0x1":{"fee":500,"liquidity":"20000000000000000000"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := intent.EmptyMarket(1)
	want.BlockNumber, want.Timestamp = 18500000, 1700000000
	want.Prices["ETH/USD"] = "1850.25"
	want.PoolStates["0x1"] = map[string]any{"fee": json.Number("500"), "liquidity": "20000000000000000000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := intent.DecodeMarket([]byte(`{"chain_id":1,"block_number":1}`)); err == nil {
		t.Error("a market without time is accepted")
	}
}
