package intent_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/subnet112/assay/intent"
)

// check holds for every decoder and document: no panic, an error is a
// *DecodeError, and what was decoded, encoded and decoded again is the same.
func check[T any](t *testing.T, decode func([]byte) (T, error), doc []byte) {
	t.Helper()
	first, err := decode(doc)
	if err != nil {
		var refusal *intent.DecodeError
		if !errors.As(err, &refusal) {
			t.Fatalf("%T: %v", err, err)
		}
		if len(err.Error()) > 2000 {
			t.Fatalf("an error of %d bytes", len(err.Error()))
		}
		return
	}
	encoded, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := decode(encoded)
	if err != nil {
		t.Fatalf("%v\n%s", err, encoded)
	}
	if diff := cmp.Diff(first, second, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("(-first +second)\n%s", diff)
	}
	if _, err := intent.Canonical(first); err != nil {
		t.Fatalf("decoded but not canonical: %v", err)
	}
}

func trigger(b []byte) (map[string]bool, error) {
	v, err := intent.DecodeTrigger(b)
	return map[string]bool{"trigger": v}, err
}

var seeds = map[string][]string{
	"plan":     {planJSON, `{"intentId":"a","interactions":[],"deadline":1,"nonce":0,"metadata":{"a":[1.5e3,null,true,"\ud83d\ude00"]}}`},
	"metadata": {`{"name":"n","version":"1.0.0","author":"a","supported_chains":[1,8453],"supportedIntentTypes":["swap"]}`},
	"quote":    {`{"estimated_output":"1","computed_params":{"a":"b"},"gas_estimate":1,"metadata":{"x":1}}`},
	"trigger":  {`{"trigger":true}`},
	"definition": {
		`{"app_id":"a","name":"n","version":"v","intent_type":"","config":{"score_threshold":0.5},"manifest":{"intent_functions":[{"name":"swap","params":[{"name":"p","type":"address","default":"0x","in_signature":false}]}],"value":{"token":"t","account":"owner"},"quote":{"m":"e"}}}`,
	},
	"state":  {`{"contract_address":"","chain_id":1,"nonce":2,"owner":"o","raw_params":{"a":"1"},"control":{"_f":{}},"extra":{"_g":[],"b":null},"typed_context":[]}`},
	"market": {`{"chain_id":1,"block_number":2,"timestamp":3,"prices":{"a":1.5},"pool_states":{"p":{"x":1}},"balances":{"t":"1"}}`},
}

func fuzz[T any](f *testing.F, name string, decode func([]byte) (T, error)) {
	for _, s := range seeds[name] {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) { check(t, decode, doc) })
}

func FuzzDecodePlan(f *testing.F)       { fuzz(f, "plan", intent.DecodePlan) }
func FuzzDecodeMetadata(f *testing.F)   { fuzz(f, "metadata", intent.DecodeMetadata) }
func FuzzDecodeQuote(f *testing.F)      { fuzz(f, "quote", intent.DecodeQuote) }
func FuzzDecodeTrigger(f *testing.F)    { fuzz(f, "trigger", trigger) }
func FuzzDecodeDefinition(f *testing.F) { fuzz(f, "definition", intent.DecodeDefinition) }
func FuzzDecodeState(f *testing.F)      { fuzz(f, "state", intent.DecodeState) }
func FuzzDecodeMarket(f *testing.F)     { fuzz(f, "market", intent.DecodeMarket) }

// FuzzDecodeAgainstLibrary holds strictness against encoding/json: whatever is
// accepted here is JSON to everybody else.
func FuzzDecodeAgainstLibrary(f *testing.F) {
	for _, list := range seeds {
		for _, s := range list {
			f.Add([]byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var v any
		if intent.DecodeStrict(doc, &v) == nil && !json.Valid(doc) {
			t.Fatalf("not JSON: %q", doc)
		}
	})
}

// TestRegress replays every document that was once handled wrongly:
// testdata/regress/<what was wrong>/<what it is>.json.
func TestRegress(t *testing.T) {
	t.Parallel()
	docs, err := filepath.Glob("testdata/regress/*/*.json")
	if err != nil || len(docs) == 0 {
		t.Fatalf("no regressions found: %v", err)
	}
	for _, path := range docs {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			t.Parallel()
			doc, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			switch name := filepath.Base(path); name {
			case "state.json":
				check(t, intent.DecodeState, doc)
			default:
				t.Fatalf("no decoder for %s", name)
			}
		})
	}
}
