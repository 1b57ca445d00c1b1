package direct_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/reference/swap/direct"
	"github.com/subnet112/assay/solvers/sdk"
)

func TestSelectors(t *testing.T) {
	t.Parallel()
	for signature, got := range direct.Selectors {
		if want := crypto.Keccak256([]byte(signature))[:4]; !strings.EqualFold(fmt.Sprintf("%x", got), fmt.Sprintf("%x", want)) {
			t.Errorf("%s is %x, want %x", signature, got, want)
		}
	}
}

func TestMetadataPassesScreening(t *testing.T) {
	t.Parallel()
	m := direct.New(nil).Metadata()
	if m.Name == "" || !intent.ValidVersion(m.Version) {
		t.Errorf("%+v", m)
	}
}

// offline answers every request with the same error or reply.
func offline(reply func(id json.RawMessage) string, err error) func(uint64) *sdk.Client {
	return func(uint64) *sdk.Client {
		return sdk.NewClient(func(request []byte) ([]byte, error) {
			if err != nil {
				return nil, err
			}
			var batch []struct {
				ID json.RawMessage `json:"id"`
			}
			if err := json.Unmarshal(request, &batch); err != nil {
				return nil, err
			}
			var parts []string
			for _, r := range batch {
				parts = append(parts, reply(r.ID))
			}
			return []byte("[" + strings.Join(parts, ",") + "]"), nil
		})
	}
}

func result(text string) func(json.RawMessage) string {
	return func(id json.RawMessage) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%q}`, id, text) }
}

func refusal(code int) func(json.RawMessage) string {
	return func(id json.RawMessage) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"state missing"}}`, id, code)
	}
}

func TestDeclines(t *testing.T) {
	t.Parallel()
	good := order(usdc, weth, units(1, 6), alice)
	without := func(key string, value any) intent.State {
		s := good
		s.RawParams = map[string]any{}
		for k, v := range good.RawParams {
			s.RawParams[k] = v
		}
		if value == nil {
			delete(s.RawParams, key)
		} else {
			s.RawParams[key] = value
		}
		return s
	}
	elsewhere := good
	elsewhere.ChainID = 8453
	nobody := good
	nobody.Owner = "0x1"
	zeroWord := "0x" + strings.Repeat("0", 64)
	for _, tt := range []struct {
		name    string
		state   intent.State
		connect func(uint64) *sdk.Client
		want    string
		is      error
	}{
		{name: "no input token", state: without("input_token", nil), want: "input_token: "},
		{name: "an output token that is no address", state: without("output_token", "0x12"), want: "output_token: "},
		{name: "a receiver that is no address", state: without("receiver", "me"), want: "receiver: "},
		{name: "no amount", state: without("input_amount", nil), want: "input_amount: ", is: intent.ErrAmount},
		{name: "an amount of zero", state: without("input_amount", "0"), want: "input_amount is zero"},
		{name: "a negative amount", state: without("input_amount", "-1"), is: intent.ErrAmount},
		{name: "a minimum that is no amount", state: without("min_output_amount", "1.5"), want: "min_output_amount: ", is: intent.ErrAmount},
		{name: "a token for itself", state: without("output_token", usdc.Hex()), want: "the same"},
		{name: "no owner", state: nobody, want: "owner: "},
		{name: "another chain", state: elsewhere, want: "chain 8453 is not supported"},
		{name: "no pool", state: good, connect: offline(result(zeroWord), nil), want: "no direct route"},
		{name: "factories without code", state: good, connect: offline(result("0x"), nil), want: "no direct route"},
		{name: "factories outside the snapshot", state: good, connect: offline(refusal(-32001), nil), want: "no direct route"},
		{name: "over budget", state: good, connect: offline(nil, sdk.ErrBudget), is: sdk.ErrBudget},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.connect == nil {
				tt.connect = offline(nil, errors.New("asked the chain"))
			}
			market := intent.EmptyMarket(1)
			market.Timestamp = 1
			r := intent.Request{IntentID: "i", State: tt.state, Snapshot: &market}
			p, err := direct.New(tt.connect).GeneratePlan(r)
			if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("GeneratePlan() = %v, %v, want %q %v", p, err, tt.want, tt.is)
			}
			if diff := cmp.Diff(intent.Plan{}, p); diff != "" {
				t.Errorf("an error comes with a plan\n%s", diff)
			}
			if q, err := direct.New(tt.connect).Quote(r); err == nil {
				t.Errorf("Quote() = %v", q)
			}
		})
	}
}

// What was not answered is not remembered as absent.
func TestUnansweredIsNotLearned(t *testing.T) {
	t.Parallel()
	s := direct.New(offline(refusal(-32001), nil))
	market := intent.EmptyMarket(1)
	market.Timestamp = 1
	if _, err := s.GeneratePlan(intent.Request{State: order(usdc, weth, units(1, 6), alice), Snapshot: &market}); err == nil {
		t.Fatal("a plan without a pool")
	}
	if saved, err := s.SerializeState(); err != nil || len(saved) != 0 {
		t.Errorf("SerializeState() = %s, %v", saved, err)
	}
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	for name, saved := range map[string]string{
		"no state":             ``,
		"text":                 `routes`,
		"another version":      `{"pairs":{},"version":2}`,
		"no version":           `{"pairs":{}}`,
		"a venue of no kind":   `{"pairs":{"1:a:b":{"block":1,"pools":[250]}},"version":1}`,
		"an unknown field":     `{"pairs":{},"version":1,"x":1}`,
		"more pairs than kept": manyPairs(direct.MaxPairs + 1),
	} {
		s := direct.New(nil)
		if err := s.RestoreState([]byte(saved)); err == nil {
			t.Errorf("%s is accepted", name)
		}
		if kept, err := s.SerializeState(); err != nil || len(kept) != 0 {
			t.Errorf("%s: something was restored: %s, %v", name, kept, err)
		}
	}
}

func manyPairs(n int) string {
	pairs := make([]string, n)
	for i := range pairs {
		pairs[i] = fmt.Sprintf(`"1:%d:x":{"block":%d,"pools":[500]}`, i, i+10)
	}
	return `{"pairs":{` + strings.Join(pairs, ",") + `},"version":1}`
}

// A full memory drops the pair that was asked for longest ago, and no other.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	state := order(usdc, weth, units(1000, 6), alice)
	s := newSession(t)
	if err := s.RestoreState([]byte(manyPairs(direct.MaxPairs))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.plan(t, state); err != nil {
		t.Fatal(err)
	}
	saved, err := s.SerializeState()
	if err != nil {
		t.Fatal(err)
	}
	var memory struct {
		Pairs map[string]any `json:"pairs"`
	}
	if err := json.Unmarshal(saved, &memory); err != nil {
		t.Fatal(err)
	}
	_, oldest := memory.Pairs["1:0:x"]
	_, next := memory.Pairs["1:1:x"]
	if len(memory.Pairs) != direct.MaxPairs || oldest || !next {
		t.Errorf("%d pairs, oldest kept %v, next kept %v", len(memory.Pairs), oldest, next)
	}
}

// Pools are asked for again after a while, and when the memory is from a block
// that is not yet.
func TestMemoryAges(t *testing.T) {
	t.Parallel()
	state := order(usdc, weth, units(1000, 6), alice)
	at := world(t).Context().Number
	first := newSession(t)
	if _, err := first.plan(t, state); err != nil {
		t.Fatal(err)
	}
	all := first.at.reads
	saved, err := first.SerializeState()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		block uint64
		reads int
	}{
		{"asked now", at, all - 5},
		{"asked just within a week", at - direct.RelearnBlocks + 1, all - 5},
		{"asked a week ago", at - direct.RelearnBlocks, all},
		{"asked in the future", at + 1, all},
	} {
		aged := strings.Replace(string(saved), fmt.Sprintf(`"block":%d`, at), fmt.Sprintf(`"block":%d`, tt.block), 1)
		s := newSession(t)
		if err := s.RestoreState([]byte(aged)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.plan(t, state); err != nil {
			t.Fatal(err)
		}
		if s.at.reads != tt.reads {
			t.Errorf("%s: %d reads, want %d", tt.name, s.at.reads, tt.reads)
		}
	}
}

func FuzzRestoreState(f *testing.F) {
	f.Add([]byte(`{"pairs":{"1:a:b":{"block":1,"keeps_fee":true,"pools":[500,0]}},"version":1}`))
	f.Fuzz(func(t *testing.T, saved []byte) {
		s := direct.New(nil)
		if s.RestoreState(saved) != nil {
			return
		}
		kept, err := s.SerializeState()
		if err != nil {
			t.Fatal(err)
		}
		if len(kept) == 0 {
			return
		}
		again := direct.New(nil)
		if err := again.RestoreState(kept); err != nil {
			t.Fatalf("%v\n%s", err, kept)
		}
		if second, err := again.SerializeState(); err != nil || string(kept) != string(second) {
			t.Fatalf("%s\n%s\n%v", kept, second, err)
		}
	})
}
