package scoring_test

import (
	"encoding/json"
	"testing"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// A request is put together of parts, and canonical as a whole: members stand in
// order, and both spellings of a name say the same.
func TestRequestsAreCanonical(t *testing.T) {
	t.Parallel()
	a := new(scoring.App)
	for _, tt := range []struct {
		name   string
		change func(*scoring.Input)
	}{
		{"a plan that succeeded", func(*scoring.Input) {}},
		{"no outcome", func(in *scoring.Input) { in.Outcome = nil }},
		{"nothing moved", func(in *scoring.Input) { in.Outcome = &chain.Outcome{} }},
		{"a revert whose reason needs escapes", func(in *scoring.Input) {
			in.Outcome = &chain.Outcome{
				Cause: intent.CauseReverted, Detail: "interaction 0: \"STF\"\n",
				Revert: &chain.Revert{Reason: "\"STF\" <&>\u2028"},
			}
		}},
		{"a contract's address that needs escapes", func(in *scoring.Input) { in.State.ContractAddress = "a\"\\\x01" }},
		{"no parameters", func(in *scoring.Input) { in.State.RawParams, in.State.Control = nil, nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := input(1000)
			tt.change(&in)
			got, err := scoring.RequestOf(a, in)
			if err != nil {
				t.Fatal(err)
			}
			want, err := intent.Canonical(json.RawMessage(got))
			if err != nil || string(want) != string(got) {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
			}
			if in.Encoded, err = scoring.EncodeState(in.State); err != nil {
				t.Fatal(err)
			}
			if again, err := scoring.RequestOf(a, in); err != nil || string(again) != string(got) {
				t.Errorf("with the state encoded before: %s, %v", again, err)
			}
			twins(t, "request", got)
		})
	}
}

// twins asserts that what stands in both spellings says the same in both.
func twins(t *testing.T, path string, raw json.RawMessage) {
	t.Helper()
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, e := range list {
			twins(t, path+"[]", e)
		}
		return
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return
	}
	for _, pair := range [][2]string{
		{"approval_changes", "approvalChanges"}, {"balance_deltas", "balanceDeltas"}, {"gas_metered", "gasMetered"}, {"gas_used", "gasUsed"},
		{"on_chain_score", "onChainScore"}, {"revert_reason", "revertReason"}, {"state_changes", "stateChanges"}, {"token_transfers", "tokenTransfers"},
		{"from_addr", "fromAddr"}, {"to_addr", "toAddr"}, {"raw_params", "rawParams"}, {"call_data", "callData"}, {"intent_id", "intentId"},
	} {
		if string(fields[pair[0]]) != string(fields[pair[1]]) {
			t.Errorf("%s: %s is %s, %s is %s", path, pair[0], fields[pair[0]], pair[1], fields[pair[1]])
		}
	}
	for name, value := range fields {
		twins(t, path+"."+name, value)
	}
}
