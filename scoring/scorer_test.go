package scoring_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// says runs code whose score function returns {score: 1, reason, valid: false}
// with the text of what the test asks for, and gives that text.
func says(t *testing.T, e *engine, code string) string {
	t.Helper()
	a := load(t, newScorer(t, e, patient()), app(code))
	s := score(t, a, input(100))
	if s.Cause != intent.CauseScorerVeto {
		t.Fatalf("cause %s: %s", s.Cause, s.Reason)
	}
	var text string
	if err := json.Unmarshal([]byte(s.Reason), &text); err != nil {
		t.Fatalf("reason %s: %v", s.Reason, err)
	}
	return text
}

// telling makes a score function that tells the value of an expression over plan,
// state and context.
func telling(expression string) string {
	return `exports.score = async (plan, state, context) =>
		({ score: 1, valid: false, reason: JSON.stringify(await (` + expression + `)) });`
}

func TestScorerSeesItsWorld(t *testing.T) {
	for _, tt := range []struct{ name, expression, want string }{
		{"Date is the pinned time", `[Date.now(), new Date().toISOString()]`, `[1769991048000,"2026-02-02T00:10:48.000Z"]`},
		{"the time zone is UTC", `new Date(0).getTimezoneOffset()`, `0`},
		{"BigInt is exact", `String(10n**19n * 2n)`, `"20000000000000000000"`},
		{"mathematics works", `10 * 2 + Math.sqrt(16)`, `24`},
		{"there is no way out", `[typeof require, typeof process, typeof Buffer, typeof global.process, typeof module.require, typeof setTimeout]`,
			`["undefined","undefined","undefined","undefined","undefined","undefined"]`},
		{"a function made at run time sees no more", `(() => { try { return this.constructor.constructor("return process")() } catch (e) { return e.name } })()`, `"ReferenceError"`},
		{"httpGet rejects", `httpGet("http://169.254.169.254/").catch(e => e.message)`, `"httpGet: there is no network here"`},
		{"without a view no chain is known", `ethBlockNumber(1).catch(e => e.message)`, `"eth_blockNumber: unknown chain (chain 1)"`},
		{"a chain id beyond any is unknown", `ethBlockNumber(2n**64n + 1n).catch(e => e.message)`, `"eth_blockNumber: unknown chain (chain 18446744073709551617)"`},
		{"console does not disturb", `(console.log("x", {a: 1n}, Symbol("s"), [undefined]), console.error(null), 5)`, `5`},
		{"promises settle in order", `Promise.all([1, Promise.resolve(2), (async () => 3)()])`, `[1,2,3]`},
		{"oracle is empty", `context.oracle`, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := says(t, compiled, telling(tt.expression)); got != tt.want {
				t.Errorf("%s = %s, want %s", tt.expression, got, tt.want)
			}
		})
	}
}

// comparing makes a score function that tells where the value of an expression
// first differs from some JSON: a reason has no room for all of it.
func comparing(expression, want string) string {
	return telling(`(() => {
		const sorted = (v) => v === null || typeof v !== "object" ? v : Array.isArray(v) ? v.map(sorted) :
			Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])]));
		const got = JSON.stringify(sorted(` + expression + `)), want = JSON.stringify(sorted(` + want + `));
		let i = 0;
		while (i < got.length && got[i] === want[i]) i++;
		return got === want ? "same" : "got …" + got.slice(Math.max(0, i - 30), i + 30) + "…, want …" + want.slice(Math.max(0, i - 30), i + 30);
	})()`)
}

const inputShape = `[plan, state, context.timestamp, context.blockNumber, context.chainId, context.contractAddress,
	context.simulator === context.simulation, context.state === state, Object.keys(context).sort()]`

func TestScorerInput(t *testing.T) {
	want := `[
		{"intent_id":"app-1","intentId":"app-1","deadline":1769991348,"nonce":4,"metadata":{},"interactions":[
			{"target":"` + token.Hex() + `","value":"0","call_data":"0xd0e30db0","callData":"0xd0e30db0","chain_id":1,"chainId":1}]},
		{"contract_address":"","contractAddress":"","chain_id":1,"chainId":1,"nonce":4,"owner":"` + owner.Hex() + `",
			"raw_params":{"output_token":"` + token.Hex() + `","receiver":"` + receiver.Hex() + `","min_output_amount":"100"},
			"rawParams":{"output_token":"` + token.Hex() + `","receiver":"` + receiver.Hex() + `","min_output_amount":"100"},
			"control":{"_intent_function":"swap"}},
		1769991048, 24199254, 1, "", true, true,
		["blockNumber","chainId","contractAddress","oracle","simulation","simulator","state","timestamp"]]`
	if got := says(t, compiled, comparing(inputShape, want)); got != `"same"` {
		t.Error(got)
	}
}

func TestScorerSimulation(t *testing.T) {
	twins := `Object.keys(context.simulation).filter(k => k.includes("_"))
		.filter(k => JSON.stringify(context.simulation[k]) !==
			JSON.stringify(context.simulation[k.replace(/_(.)/g, (_, c) => c.toUpperCase())]))`
	if got := says(t, compiled, telling(twins)); got != `[]` {
		t.Errorf("without an equal camelCase twin: %s", got)
	}
	snake := `Object.fromEntries(Object.entries(context.simulation).filter(([k]) => !/[A-Z]/.test(k)))`
	want := `{"success":true,"error":null,"revert_reason":null,"gas_used":150000,"gas_metered":170000,"on_chain_score":null,
		"token_transfers":[{"token":"0x20000000000000000000000000000000000000ab",
			"from_addr":"0x1000000000000000000000000000000000000001","fromAddr":"0x1000000000000000000000000000000000000001",
			"to_addr":"0x1000000000000000000000000000000000000002","toAddr":"0x1000000000000000000000000000000000000002","amount":"100"}],
		"balance_deltas":{
			"0x1000000000000000000000000000000000000001":{"0x20000000000000000000000000000000000000ab":"-7"},
			"0x1000000000000000000000000000000000000002":{"0x20000000000000000000000000000000000000ab":"100"}},
		"state_changes":[],
		"approval_changes":[{"token":"0x20000000000000000000000000000000000000ab",
			"owner":"0x1000000000000000000000000000000000000001","spender":"0x3000000000000000000000000000000000000001","amount":"5"}]}`
	if got := says(t, compiled, comparing(snake, want)); got != `"same"` {
		t.Error(got)
	}
}

func TestPlanMetadataNeedsTheManifest(t *testing.T) {
	d := app(telling(`plan.metadata`))
	s := newScorer(t, compiled, patient())
	if got := score(t, load(t, s, d), input(1)).Reason; got != `"{}"` {
		t.Errorf("metadata without asking: %s", got)
	}
	d.Manifest = &intent.Manifest{IntentFunctions: functions()}
	if got := score(t, load(t, s, d), input(1)).Reason; got != `"{}"` {
		t.Errorf("metadata with a manifest that does not ask: %s", got)
	}
	d.Manifest.PlanMetadata = true
	if got := score(t, load(t, s, d), input(1)).Reason; !strings.Contains(got, "999") {
		t.Errorf("metadata when asked for: %s", got)
	}
}

func TestTypedContextIsPassed(t *testing.T) {
	in := input(1)
	in.State.TypedContext = map[string]any{"kind": "swap"}
	a := load(t, newScorer(t, compiled, patient()), app(telling(`[state.typed_context, state.typedContext]`)))
	if got, want := score(t, a, in).Reason, `"[{\"kind\":\"swap\"},{\"kind\":\"swap\"}]"`; got != want {
		t.Errorf("typed context %s, want %s", got, want)
	}
}

// readRegister reads the test chain's contract.
const readRegister = `BigInt(await ethCall(1, "0x3000000000000000000000000000000000000001", "0x", "latest"))`

func TestReadsSeeTheStateAfterThePlan(t *testing.T) {
	w := world(t)
	in := input(1)
	in.Plan.Interactions = []intent.Interaction{{Target: register.Hex(), Value: "0", ChainID: 1, CallData: "0x" + strings.Repeat("0", 62) + "2a"}}
	outcome, after, err := w.Execute(t.Context(), chain.Order{Owner: owner, ChainID: 1, MaxGas: 1_000_000, Watch: nil}, in.Plan)
	if err != nil || outcome.Cause != intent.CauseNone {
		t.Fatalf("execute: %v, %+v", err, outcome)
	}
	a := load(t, newScorer(t, compiled, patient()), app(telling(`(async () => [await ethBlockNumber(1), String(`+readRegister+`)])()`)))
	for _, tt := range []struct {
		name string
		view *chain.View
		want string
	}{
		{"before", w.View(), `[24199254,"7"]`},
		{"after", after, `[24199254,"42"]`},
	} {
		in.After = tt.view
		var got string
		if err := json.Unmarshal([]byte(score(t, a, in).Reason), &got); err != nil || got != tt.want {
			t.Errorf("%s the plan: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestReadsAreBounded(t *testing.T) {
	in := input(1)
	in.After = world(t).View()
	for _, tt := range []struct{ name, expression, want string }{
		{"the 17th read is over budget and so is every later one", `(async () => {
				let done = 0, refused = "";
				for (let i = 0; i < 20; i++) await ethBlockNumber(1).then(() => done++, (e) => refused = e.message);
				return [done, refused];
			})()`, `[16,"eth_blockNumber: over the budget of reads (chain 1)"]`},
		{"another chain is unknown", `ethCall(2, "0x00", "0x").catch(e => e.message)`, `"eth_call: unknown chain (chain 2)"`},
		{"a read that fails says why", `rpc(1, "eth_sendTransaction", []).catch(e => e.message)`, `"RPC error: method not found"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := load(t, newScorer(t, compiled, patient()), app(telling(tt.expression)))
			var got string
			if err := json.Unmarshal([]byte(score(t, a, in).Reason), &got); err != nil || got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
