package intent_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/subnet112/assay/intent"
)

const pinned = 1_700_000_000

var rules = intent.PlanRules{AppID: "app", IntentID: "i_0011223344556677", ChainID: 1, Nonce: 42, Time: pinned}

type change func(*intent.Plan)

// plan is a plan that every rule accepts, then changed.
func plan(changes ...change) intent.Plan {
	p := intent.Plan{
		IntentID: "app",
		Interactions: []intent.Interaction{
			{Target: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", Value: "1000000000000000", CallData: "0xd0e30db0", ChainID: 1},
			{Target: "0x68b3465833fb72a70ecdf485e0e4c7bd8665fc45", Value: "0", CallData: "0x", ChainID: 1},
		},
		Deadline: pinned + 300,
		Nonce:    42,
		Metadata: map[string]any{},
	}
	for _, c := range changes {
		c(&p)
	}
	return p
}

func with(i int, set func(*intent.Interaction)) change {
	return func(p *intent.Plan) { set(&p.Interactions[i]) }
}

func times(n int, call intent.Interaction) change {
	return func(p *intent.Plan) { p.Interactions = slices.Repeat([]intent.Interaction{call}, n) }
}

func call(dataBytes int) intent.Interaction {
	return intent.Interaction{Target: "0x" + strings.Repeat("0", 40), Value: "0", CallData: "0x" + strings.Repeat("00", dataBytes), ChainID: 1}
}

func metadata(m map[string]any) change { return func(p *intent.Plan) { p.Metadata = m } }

func nest(levels int) map[string]any {
	m := map[string]any{"brackets in text do not count": `[[[[{{{{"[[`}
	for range levels - 1 {
		m = map[string]any{"a": m}
	}
	return m
}

func TestValidate(t *testing.T) {
	t.Parallel()
	target := func(s string) change { return with(1, func(x *intent.Interaction) { x.Target = s }) }
	value := func(s string) change { return with(1, func(x *intent.Interaction) { x.Value = s }) }
	data := func(s string) change { return with(1, func(x *intent.Interaction) { x.CallData = s }) }
	for _, tt := range []struct {
		name string
		plan intent.Plan
		err  error
		text string // in the error
	}{
		{name: "a good plan", plan: plan()},
		{name: "the intent's key for the app's id", plan: plan(func(p *intent.Plan) { p.IntentID = rules.IntentID })},
		{name: "another intent", plan: plan(func(p *intent.Plan) { p.IntentID = "other\x1b[2J" }), err: intent.ErrIntentID, text: `"other\x1b[2J"`},
		{name: "no intent", plan: plan(func(p *intent.Plan) { p.IntentID = "" }), err: intent.ErrIntentID},
		{name: "another nonce", plan: plan(func(p *intent.Plan) { p.Nonce = 43 }), err: intent.ErrNonce, text: "nonce 43, want 42"},
		{name: "deadline one second after the pinned time", plan: plan(func(p *intent.Plan) { p.Deadline = pinned + 1 })},
		{name: "deadline equal to the pinned time has passed", plan: plan(func(p *intent.Plan) { p.Deadline = pinned }), err: intent.ErrExpired},
		{name: "no interactions", plan: plan(times(0, call(0))), err: intent.ErrEmpty},
		{name: "as many interactions as allowed", plan: plan(times(64, call(4)))},
		{name: "one interaction too many", plan: plan(times(65, call(4))), err: intent.ErrTooMany, text: "65"},

		{name: "target in upper case", plan: plan(target("0x" + strings.Repeat("AB", 20)))},
		{name: "target with 0X", plan: plan(target("0X" + strings.Repeat("ab", 20))), err: intent.ErrTarget, text: "interactions[1].target"},
		{name: "target of 41 characters", plan: plan(target("0x" + strings.Repeat("a", 39))), err: intent.ErrTarget},
		{name: "target of 43 characters", plan: plan(target("0x" + strings.Repeat("a", 41))), err: intent.ErrTarget},
		{name: "target that is not hex", plan: plan(target("0x" + strings.Repeat("g", 40))), err: intent.ErrTarget},
		{name: "target without 0x", plan: plan(target(strings.Repeat("a", 42))), err: intent.ErrTarget},
		{name: "no target", plan: plan(target("")), err: intent.ErrTarget},

		{name: "the largest value", plan: plan(value("340282366920938463463374607431768211455"))},
		{name: "value 2^128", plan: plan(value("340282366920938463463374607431768211456")), err: intent.ErrValue, text: "interactions[1].value"},
		{name: "value 2^256", plan: plan(value("115792089237316195423570985008687907853269984665640564039457584007913129639936")), err: intent.ErrValue},
		{name: "value -1", plan: plan(value("-1")), err: intent.ErrValue, text: `"-1"`},
		{name: "value with a plus", plan: plan(value("+1")), err: intent.ErrValue},
		{name: "value with a leading zero", plan: plan(value("01")), err: intent.ErrValue},
		{name: "value in hex", plan: plan(value("0x1")), err: intent.ErrValue},
		{name: "value with an exponent", plan: plan(value("1e18")), err: intent.ErrValue},
		{name: "value with other digits", plan: plan(value("١")), err: intent.ErrValue},
		{name: "no value", plan: plan(value("")), err: intent.ErrValue},

		{name: "calldata in upper case", plan: plan(data("0xABCDEF"))},
		{name: "odd-length calldata", plan: plan(data("0xabc")), err: intent.ErrCallData, text: "interactions[1].call_data"},
		{name: "calldata that is not hex", plan: plan(data("0xzz")), err: intent.ErrCallData},
		{name: "calldata with 0X", plan: plan(data("0X00")), err: intent.ErrCallData},
		{name: "calldata without 0x", plan: plan(data("00")), err: intent.ErrCallData},
		{name: "no calldata", plan: plan(data("")), err: intent.ErrCallData},
		{name: "the most calldata of one call", plan: plan(times(1, call(128<<10)))},
		{name: "one byte of calldata too many", plan: plan(times(1, call(128<<10+1))), err: intent.ErrTooLarge, text: "131073 bytes"},
		{name: "the most calldata of all calls", plan: plan(times(4, call(128<<10)))},
		{name: "too much calldata in all", plan: plan(times(5, call(128<<10))), err: intent.ErrTooLarge, text: "interactions[4]"},

		{name: "another chain", plan: plan(with(1, func(x *intent.Interaction) { x.ChainID = 8453 })), err: intent.ErrChain, text: "interactions[1].chain_id 8453, want 1"},
		{name: "no chain", plan: plan(with(0, func(x *intent.Interaction) { x.ChainID = 0 })), err: intent.ErrChain, text: "interactions[0]"},
		{name: "another chain in metadata means nothing", plan: plan(metadata(map[string]any{"chain_id": json.Number("8453")}))},

		{name: "no metadata", plan: plan(metadata(nil))},
		{name: "the deepest metadata", plan: plan(metadata(nest(16)))},
		{name: "metadata one level too deep", plan: plan(metadata(nest(17))), err: intent.ErrMetadata, text: "deeper than 16"},
		{name: "the largest metadata", plan: plan(metadata(map[string]any{"a": strings.Repeat("x", 64<<10-len(`{"a":""}`))}))},
		{name: "metadata one byte too large", plan: plan(metadata(map[string]any{"a": strings.Repeat("x", 64<<10-len(`{"a":""}`)+1)})), err: intent.ErrMetadata, text: "65537 bytes"},
		{name: "metadata with a number that no float64 holds", plan: plan(metadata(map[string]any{"wei": json.Number("1000000000000000001")})), err: intent.ErrMetadata, text: "wei"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.plan.Validate(rules)
			if !errors.Is(err, tt.err) {
				t.Fatalf("Validate() = %v, want %v", err, tt.err)
			}
			if tt.text != "" && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Validate() = %v, want it to say %q", err, tt.text)
			}
		})
	}
}
