package benchmark_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// autoFile is the standard pack with an auto-triggered app and three intents:
// one that should trigger, one that should not, one that nobody knows.
func autoFile(t testing.TB) file {
	t.Helper()
	f := standardFile(t)
	object(item(f["apps"], 0)["config"])["trigger_type"] = intent.TriggerAuto
	var cases []any
	for _, truth := range []any{true, false, nil} {
		c := file{"app_id": "tip", "state": tipState(fmt.Sprint("truth ", truth))}
		if truth != nil {
			c["truth"] = truth
		}
		cases = append(cases, c)
	}
	f["cases"] = cases
	return f
}

func TestTriggersHaveATruth(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, autoFile(t))))
	answering := func(name, answer string) []byte {
		return guest(t, name, func(o *wasmtest.Options) { o.Answers[trigger] = wasmtest.Answer{Output: []byte(answer)} })
	}
	type row struct {
		Cause                    intent.Cause
		Triggered                string
		Value, Score, Plan, Hash string // Hash: "yes" with a plan
	}
	// A plan is worth 900 and scores 0.9, so that the composite of a right
	// trigger is 0.4 + 0.6 · 0.9.
	var (
		composite = row{Triggered: "true", Value: "900", Score: "0.94", Plan: "0.9", Hash: "yes"}
		plain     = row{Triggered: "true", Value: "900", Score: "0.9", Plan: "0.9", Hash: "yes"}
		declined  = row{Triggered: "false", Value: "1", Score: "1", Plan: "1"}
		missed    = row{Cause: intent.CauseNotTriggered, Triggered: "false", Score: "0", Plan: "0"}
		wrong     = row{Cause: intent.CauseFalseTrigger, Triggered: "true", Score: "0", Plan: "0"}
		broken    = row{Cause: intent.CauseBadOutput, Triggered: "<nil>", Score: "0", Plan: "0"}
		unasked   = plain
	)
	unasked.Triggered = "false"
	entrants := []benchmark.Entrant{}
	tests := []struct {
		name                 string
		wasm                 []byte
		yes, no, nobodyKnows row
	}{
		{"always", answering("always", `{"trigger": true}`), composite, wrong, plain},
		{"never", answering("never", `{"trigger": false}`), missed, declined, unasked},
		{"absent", guest(t, "absent", func(o *wasmtest.Options) { o.Omit = append(o.Omit, trigger) }), missed, declined, unasked},
		{"nonsense", answering("nonsense", `{"trigger": 1}`), broken, broken, broken},
	}
	for _, tt := range tests {
		entrants = append(entrants, benchmark.Entrant{Miner: tt.name, Module: tt.wasm})
	}
	e := runEpoch(t, p, entrants, 2, nil)
	for _, tt := range tests {
		for i, r := range sessionOf(t, e, tt.name).Records {
			checkRow(t, r.Row)
			got := row{Cause: r.Row.Cause, Triggered: "<nil>", Value: r.Row.Value, Score: r.Row.Score, Plan: r.Row.PlanScore}
			if r.Row.Triggered != nil {
				got.Triggered = fmt.Sprint(*r.Row.Triggered)
			}
			if r.Row.PlanHash != "" {
				got.Hash = "yes"
			}
			want := tt.nobodyKnows
			if truth := p.Pack().Cases[i].Truth; truth != nil {
				if want = tt.no; *truth {
					want = tt.yes
				}
			}
			if got != want {
				t.Errorf("%s, truth %v: %+v, want %+v", tt.name, p.Pack().Cases[i].State.RawParams["tag"], got, want)
			}
		}
	}
}

// A composite of eighteen digits is no number that a double holds: the row keeps
// them all, the solver is told fewer, and neither costs the session.
func TestACompositeOfManyDigitsIsTold(t *testing.T) {
	t.Parallel()
	f := autoFile(t)
	item(f["apps"], 0)["js_code"] = "exports.score = () => ({score: 1/3, valid: true});"
	f["cases"] = f["cases"].([]any)[:1]
	p := prepare(t, newEngine(t), decode(t, marshal(t, f)))
	repeating := guest(t, "repeating", func(o *wasmtest.Options) {
		o.Answers["solver_on_benchmark_end"] = wasmtest.Answer{Status: 1, Act: wasmtest.Echo}
	})
	s := sessionOf(t, runEpoch(t, p, []benchmark.Entrant{{Miner: "ann", Module: repeating}}, 1, nil), "ann")
	if s.Fault != "" || s.Records[0].Row.Score != "0.59999999999999998" {
		t.Fatalf("score %q, fault %q, want 0.4 + 0.6 · 0.3333333333333333 and none", s.Records[0].Row.Score, s.Fault)
	}
	if notes := strings.Join(s.Notes, " "); !strings.Contains(notes, ":0.599999999999999}") {
		t.Errorf("the solver was told %s, want 15 digits", notes)
	}
}

// A solver that gives up because the budget refuses its reads fails by that, not
// by its error.
func TestGivingUpBeyondTheReadBudget(t *testing.T) {
	t.Parallel()
	pack := decode(t, marshal(t, standardFile(t)))
	pack.Limits.Read.Requests = 0
	p := prepare(t, newEngine(t), pack)
	reading := func(name string, answer file) []byte {
		return guest(t, name, func(o *wasmtest.Options) {
			// The trigger is never asked; the plan reads, is refused, and status
			// 1 is what wasmtest makes of that.
			o.Answers[plan] = wasmtest.Answer{
				RPC:    &wasmtest.RPC{Chain: 1, Request: `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`},
				Output: marshal(t, answer),
			}
		})
	}
	e := runEpoch(t, p, []benchmark.Entrant{{Miner: "reader", Module: reading("reader", tipPlan("900"))}}, 1, nil)
	for _, r := range sessionOf(t, e, "reader").Records {
		if r.Row.Cause != intent.CauseRPCBudget {
			t.Errorf("cause %q, want rpc_budget", r.Row.Cause)
		}
	}
}
