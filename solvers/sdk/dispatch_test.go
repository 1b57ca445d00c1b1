package sdk_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
)

// minimal has only what every solver must have.
type minimal struct {
	plan func(intent.Request) (intent.Plan, error)
}

func (minimal) Initialize(c intent.InitConfig) error {
	if len(c.ChainIDs) == 0 {
		return errors.New("no chains")
	}
	return nil
}

func (minimal) Metadata() intent.Metadata {
	return intent.Metadata{Name: "m", Version: "1.0.0", Author: "a"}
}

func (m minimal) GeneratePlan(r intent.Request) (intent.Plan, error) { return m.plan(r) }

// full has everything and writes down what it heard.
type full struct {
	minimal
	heard []string
}

func (f *full) hear(format string, args ...any) error {
	f.heard = append(f.heard, fmt.Sprintf(format, args...))
	return nil
}

func (f *full) Quote(r intent.Request) (intent.Quote, error) {
	return intent.Quote{EstimatedOutput: "5", RouteSummary: r.IntentID}, nil
}
func (f *full) CheckTrigger(r intent.Request) (bool, error) { return r.State.Nonce == 1, nil }
func (f *full) SetMarket(m intent.MarketSnapshot) error     { return f.hear("market %d", m.ChainID) }
func (f *full) OnBenchmarkStart(n int) error                { return f.hear("start %d", n) }
func (f *full) OnBenchmarkEnd(r []intent.Result) error      { return f.hear("end %v", r) }
func (f *full) SerializeState() ([]byte, error)             { return []byte("\x00state\xff"), nil }
func (f *full) RestoreState(b []byte) error                 { return f.hear("restore %q", b) }

const requestJSON = `{"intent_id":"i_1","intent":{"app_id":"app","name":"n","version":"1.0.0","intent_type":"swap","config":{},"a_field_of_next_year":{"a":[1]}},"state":{"contract_address":"","chain_id":8453,"nonce":1,"owner":"0x","raw_params":{"amount":9007199254740991}},"snapshot":null}`

func planOf(r intent.Request) (intent.Plan, error) {
	return intent.Plan{IntentID: r.IntentID, Nonce: r.State.Nonce, Deadline: r.Snapshot.Timestamp, Interactions: []intent.Interaction{
		{Target: "0x", Value: fmt.Sprint(r.State.RawParams["amount"]), CallData: "0x", ChainID: r.State.ChainID},
	}}, nil
}

func TestMinimalSolver(t *testing.T) {
	t.Parallel()
	call := sdk.NewModule(minimal{planOf})
	for _, tt := range []struct {
		export, input string
		status        int32
	}{
		{"metadata", "", 0},
		{"initialize", `{"chain_ids":[1],"rpc_urls":{"1":"assay://chain/1"}}`, 0},
		{"initialize", `{}`, 1},
		{"initialize", `[]`, 1},
		{"restore_state", "x", 2},
		{"set_market", `{"chain_id":8453,"block_number":7,"timestamp":1700}`, 0},
		{"set_market", `nonsense`, 1},
		{"on_benchmark_start", `{"intent_count":3}`, 2},
		{"check_trigger", requestJSON, 2},
		{"quote", requestJSON, 2},
		{"on_benchmark_end", `[]`, 2},
		{"serialize_state", "", 2},
		{"generate_plan", `{"intent_id":`, 1},
	} {
		if status, output := call(tt.export, tt.input); status != tt.status {
			t.Errorf("%s(%s) = %d %s, want %d", tt.export, tt.input, status, output, tt.status)
		}
	}
}

func TestFullSolver(t *testing.T) {
	t.Parallel()
	solver := &full{minimal: minimal{planOf}}
	call := sdk.NewModule(solver)
	for _, tt := range []struct{ export, input, output string }{
		{"restore_state", "\x00state\xff", ""},
		{"set_market", `{"chain_id":8453,"block_number":7,"timestamp":1700}`, ""},
		{"on_benchmark_start", `{"intent_count":3}`, ""},
		{"check_trigger", requestJSON, `{"trigger":true}`},
		{"on_benchmark_end", `[{"intent_id":"i_1","score":0.75,"elapsed_ms":3}]`, ""},
		{"serialize_state", "", "\x00state\xff"},
	} {
		if status, output := call(tt.export, tt.input); status != 0 || output != tt.output {
			t.Errorf("%s = %d %q, want %q", tt.export, status, output, tt.output)
		}
	}
	want := []string{`restore "\x00state\xff"`, "market 8453", "start 3", "end [{i_1 0.75 3}]"}
	if diff := cmp.Diff(want, solver.heard); diff != "" {
		t.Errorf("heard (-want +got)\n%s", diff)
	}
	_, output := call("quote", requestJSON)
	q, err := intent.DecodeQuote([]byte(output))
	if err != nil {
		t.Fatal(err)
	}
	if q.EstimatedOutput != "5" || q.RouteSummary != "i_1" || q.PlatformFeeWei != "0" {
		t.Errorf("quote %+v", q)
	}
}

// The market of the state's chain stands in for a request without one, and a
// number of a free parameter keeps its digits.
func TestMarketReachesThePlan(t *testing.T) {
	t.Parallel()
	call := sdk.NewModule(minimal{planOf})
	call("set_market", `{"chain_id":1,"block_number":7,"timestamp":1600}`)
	call("set_market", `{"chain_id":8453,"block_number":7,"timestamp":1700}`)
	for input, deadline := range map[string]uint64{
		requestJSON: 1700,
		strings.Replace(requestJSON, `"snapshot":null`, `"snapshot":{"chain_id":8453,"block_number":7,"timestamp":1800}`, 1): 1800,
	} {
		status, output := call("generate_plan", input)
		p, err := intent.DecodePlan([]byte(output))
		if status != 0 || err != nil {
			t.Fatal(status, output, err)
		}
		if p.Deadline != deadline {
			t.Errorf("deadline %d, want %d", p.Deadline, deadline)
		}
		if p.Interactions[0].Value != "9007199254740991" {
			t.Errorf("the amount became %s", p.Interactions[0].Value)
		}
	}
}

// What a solver leaves out of its answers is an answer that decodes.
func TestAnswersDecode(t *testing.T) {
	t.Parallel()
	call := sdk.NewModule(minimal{func(intent.Request) (intent.Plan, error) { return intent.Plan{}, nil }})
	_, output := call("generate_plan", requestJSON)
	if p, err := intent.DecodePlan([]byte(output)); err != nil || len(p.Interactions) != 0 {
		t.Errorf("empty plan: %v, %v", p, err)
	}
	_, output = call("metadata", "")
	m, err := intent.DecodeMetadata([]byte(output))
	if err != nil {
		t.Fatal(err)
	}
	want := intent.Metadata{Name: "m", Version: "1.0.0", Author: "a", SupportedChains: []uint64{1}, SupportedIntentTypes: []string{"swap"}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		plan    func(intent.Request) (intent.Plan, error)
		status  int32
		message string
	}{
		{"an error is its text", func(intent.Request) (intent.Plan, error) { return intent.Plan{}, errors.New("no route") }, 1, "no route"},
		{"not implemented, however wrapped", func(intent.Request) (intent.Plan, error) {
			return intent.Plan{}, fmt.Errorf("vaults: %w", sdk.ErrNotImplemented)
		}, 2, "vaults: not implemented"},
		{"a panic is an error", func(intent.Request) (intent.Plan, error) { panic("boom") }, 1, "panic: boom"},
		{"so is a mistake of the program", func(r intent.Request) (intent.Plan, error) {
			return intent.Plan{Nonce: r.Snapshot.Timestamp}, nil
		}, 1, "panic: runtime error: invalid memory address or nil pointer dereference"},
		{"a message has an end", func(intent.Request) (intent.Plan, error) {
			return intent.Plan{}, errors.New(strings.Repeat("x", 10_000))
		}, 1, strings.Repeat("x", 4096)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			call := sdk.NewModule(minimal{tt.plan})
			if status, message := call("generate_plan", requestJSON); status != tt.status || message != tt.message {
				t.Errorf("%d %q, want %d %q", status, message, tt.status, tt.message)
			}
			// The instance lives on.
			if status, _ := call("metadata", ""); status != 0 {
				t.Errorf("metadata afterwards: %d", status)
			}
		})
	}
}

func TestNoSolver(t *testing.T) {
	t.Parallel()
	if status, message := sdk.NewModule(nil)("metadata", ""); status != 1 || !strings.Contains(message, "sdk.Register") {
		t.Errorf("%d %q", status, message)
	}
}

func FuzzGeneratePlan(f *testing.F) {
	f.Add([]byte(requestJSON))
	f.Add([]byte(`{"state":{"raw_params":null},"snapshot":{"prices":{"a":1e400}}}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		call := sdk.NewModule(minimal{planOf})
		status, output := call("generate_plan", string(input))
		if status == 0 && !json.Valid([]byte(output)) {
			t.Fatalf("no JSON: %q", output)
		}
	})
}
