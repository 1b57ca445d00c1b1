package scoring_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/scoring"
)

func TestResultIsRead(t *testing.T) {
	absent := "absent"
	for _, tt := range []struct {
		name, text string
		want       scoring.Said
	}{
		{"a number is a score", `0.9`, scoring.Said{Score: "0.9", Valid: true, Problem: absent}},
		{"a score above 1 is 1", `{"score":7}`, scoring.Said{Score: "1", Valid: true, Problem: absent}},
		{"a score below 0 is 0", `{"score":-3e5}`, scoring.Said{Score: "0", Valid: true, Problem: absent}},
		{"negative zero is 0", `-0`, scoring.Said{Score: "0", Valid: true, Problem: absent}},
		{"an overflowing number is 1", `1e400`, scoring.Said{Score: "1", Valid: true, Problem: absent}},
		{"null is 0 with a reason", `null`, scoring.Said{Score: "0", Reason: "the score is null", Problem: absent}},
		{"an absent score is a null one", `{"valid":true}`, scoring.Said{Score: "0", Reason: "the score is null", Problem: absent}},
		{"NaN is 0 with a reason", `{"score":"NaN"}`, scoring.Said{Score: "0", Reason: `the score is "NaN", not a finite number`, Problem: absent}},
		{"an infinity is 0 with a reason", `"-Infinity"`, scoring.Said{Score: "0", Reason: `the score is "-Infinity", not a finite number`, Problem: absent}},
		{"a boolean is no score", `true`, scoring.Said{Score: "0", Reason: "the score is of type boolean, not a number", Problem: absent}},
		{"a list is no score", `[1]`, scoring.Said{Score: "0", Reason: "the score is of type array, not a number", Problem: absent}},
		{"valid false is 0 with the scorer's reason", `{"score":1,"valid":false,"reason":"no\u202e"}`,
			scoring.Said{Score: "0", Reason: `"no\u202e"`, Problem: absent}},
		{"valid false needs no reason", `{"score":1,"valid":false}`, scoring.Said{Score: "0", Reason: "invalid without a reason", Problem: absent}},
		{"valid that is no boolean is not valid", `{"score":1,"valid":1}`, scoring.Said{Score: "0", Reason: "valid is of type number, not a boolean", Problem: absent}},
		{"a valid result needs no reason", `{"score":1,"valid":true,"reason":"fine"}`, scoring.Said{Score: "1", Valid: true, Problem: absent}},
		{"field names are exact", `{"score":0.5,"Score":1,"VALID":false}`, scoring.Said{Score: "0.5", Valid: true, Problem: absent}},
		{"a breakdown keeps decimals", `{"score":1,"breakdown":{"gas":150000,"loss":-0.50,"min":"12345678901234567890","no":"x","b":true}}`,
			scoring.Said{Score: "1", Valid: true, Problem: absent,
				Breakdown: map[string]string{"gas": "150000", "loss": "-0.5", "min": "12345678901234567890"},
				Notes:     []string{"breakdown: entries omitted"}}},
		{"a breakdown that is none is ignored", `{"score":1,"breakdown":[1]}`, scoring.Said{Score: "1", Valid: true, Problem: absent}},
		{"raw_output is a decimal string", `{"score":1,"metadata":{"raw_output":"1180591620717411303424"}}`,
			scoring.Said{Score: "1", Valid: true, Output: "1180591620717411303424"}},
		{"raw_output that is a number is malformed", `{"score":1,"metadata":{"raw_output":5}}`,
			scoring.Said{Score: "1", Valid: true, Problem: "of type number, want a decimal string"}},
		{"raw_output null is absent", `{"score":1,"metadata":{"raw_output":null}}`, scoring.Said{Score: "1", Valid: true, Problem: absent}},
		{"raw_output with a sign is malformed", `{"score":1,"metadata":{"raw_output":"-1"}}`,
			scoring.Said{Score: "1", Valid: true, Problem: `"-1": want a decimal below 2^256 without sign or leading zeros`}},
		{"other fields are ignored", `{"score":1,"gas":{"x":[1]},"metadata":{"y":1}}`, scoring.Said{Score: "1", Valid: true, Problem: absent}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := scoring.ParseResult([]byte(tt.text))
			if err != nil {
				t.Fatalf("ParseResult(%s): %v", tt.text, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ParseResult(%s) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestResultThatIsNoJSONIsAFailure(t *testing.T) {
	for _, text := range []string{"", " ", "undefined", "{", `{"score":}`, "1 2", "NaN", strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)} {
		if said, err := scoring.ParseResult([]byte(text)); err == nil {
			t.Errorf("ParseResult(%.20q) = %+v, want an error", text, said)
		}
	}
}

func TestBreakdownIsBounded(t *testing.T) {
	entries := map[string]int{strings.Repeat("k", 65): 1}
	for i := range 100 {
		entries[fmt.Sprintf("k%03d", i)] = i
	}
	text, err := json.Marshal(map[string]any{"score": 1, "breakdown": entries})
	if err != nil {
		t.Fatal(err)
	}
	said, err := scoring.ParseResult(text)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for i := range 64 { // the first in the order of their names
		want[fmt.Sprintf("k%03d", i)] = fmt.Sprint(i)
	}
	if diff := cmp.Diff(want, said.Breakdown); diff != "" {
		t.Errorf("breakdown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"breakdown: entries omitted"}, said.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// Whatever a scorer returns, its score lies in [0,1], only a valid result has one
// and an invalid one has a reason.
func FuzzParseResult(f *testing.F) {
	for _, seed := range []string{
		`1`, `null`, `{"score":0.5,"valid":false,"reason":"x"}`, `{"score":1e400,"breakdown":{"a":1e-7,"b":"2"}}`,
		`{"score":1,"metadata":{"raw_output":"12"}}`, `[]`, `"NaN"`, `{"score":{"score":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		said, err := scoring.ParseResult(text)
		if err != nil {
			return
		}
		v, ok := scoring.ParseDecimal(said.Score)
		if !ok || v.Sign() < 0 || v.Cmp(scale) > 0 || !said.Valid && v.Sign() != 0 {
			t.Errorf("score %q, valid %t", said.Score, said.Valid)
		}
		if said.Valid != (said.Reason == "") {
			t.Errorf("valid %t with reason %q", said.Valid, said.Reason)
		}
		for key, value := range said.Breakdown {
			if _, ok := scoring.ParseDecimal(value); !ok || len(key) > 64 {
				t.Errorf("breakdown %q: %q", key, value)
			}
		}
		if n, ok := new(big.Int).SetString(said.Output, 10); said.Problem == "" && (!ok || n.Sign() < 0) {
			t.Errorf("output %q", said.Output)
		}
	})
}
