package sdk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
)

// scripted is a strategy whose answers a test sets.
type scripted struct {
	app        string
	functions  []string
	broken     error // of Initialize
	err        error // of everything else
	due        bool
	state      []byte
	config     *intent.InitConfig
	heard      []intent.Result
	planned    int
	restoreErr error
}

func (s *scripted) AppID() string                        { return s.app }
func (s *scripted) IntentFunctions() []string            { return s.functions }
func (s *scripted) Initialize(c intent.InitConfig) error { s.config = &c; return s.broken }
func (s *scripted) GeneratePlan(r intent.Request) (intent.Plan, error) {
	s.planned++
	return intent.Plan{IntentID: r.IntentID, Metadata: map[string]any{"by": s.app}}, s.err
}

// complete is scripted with everything that a strategy may have.
type complete struct{ *scripted }

func (s complete) Quote(intent.Request) (intent.Quote, error) {
	return intent.Quote{EstimatedOutput: s.app}, s.err
}
func (s complete) CheckTrigger(intent.Request) (bool, error) { return s.due, s.err }
func (s complete) OnBenchmarkEnd(r []intent.Result) error    { s.heard = r; return nil }
func (s complete) SerializeState() ([]byte, error)           { return s.state, s.err }
func (s complete) RestoreState(b []byte) error               { s.state = b; return s.restoreErr }

func routing(t *testing.T, strategies ...sdk.Strategy) *sdk.RoutingSolver {
	t.Helper()
	r := new(sdk.RoutingSolver)
	for _, s := range strategies {
		if err := r.RegisterStrategy(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Initialize(intent.InitConfig{ChainIDs: []uint64{1, 8453}}); err != nil {
		t.Fatal(err)
	}
	return r
}

func ask(app string) intent.Request {
	return intent.Request{
		IntentID: "i_1", Intent: intent.Definition{AppID: app}, State: intent.State{ChainID: 8453, Nonce: 9},
		Snapshot: &intent.MarketSnapshot{ChainID: 8453, Timestamp: 1_700_000_000},
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule, app, function string
		functions           []string
		want                bool
	}{
		{"the app", "a", "", nil, true},
		{"another app", "b", "", nil, false},
		{"a function it lists", "a", "swap", []string{"swap"}, true},
		{"a function it doesn't", "a", "burn", []string{"swap"}, false},
		{"any function, listing none", "a", "burn", nil, true},
		{"an intent that names none", "a", "", []string{"swap"}, true},
	} {
		if got := sdk.Accepts(&scripted{app: "a", functions: tt.functions}, tt.app, tt.function); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.rule, got, tt.want)
		}
	}
}

func TestRegisterStrategy(t *testing.T) {
	t.Parallel()
	r := new(sdk.RoutingSolver)
	for _, s := range []sdk.Strategy{nil, &scripted{}} {
		if err := r.RegisterStrategy(s); err == nil || !strings.Contains(err.Error(), "AppID must be set") {
			t.Errorf("%v: %v", s, err)
		}
	}
	first, second := &scripted{app: "a"}, &scripted{app: "a"}
	for _, s := range []sdk.Strategy{first, second} {
		if err := r.RegisterStrategy(s); err != nil {
			t.Fatal(err)
		}
	}
	if r.Strategy("a") != sdk.Strategy(second) || r.Strategy("b") != nil {
		t.Error("the second of one app is in place of the first")
	}
	if !r.RemoveStrategy("a") || r.RemoveStrategy("a") || r.Strategy("a") != nil {
		t.Error("a strategy is removed once")
	}
}

// One that is registered late is initialized, and gets the state kept for it.
func TestLateStrategyIsInitialized(t *testing.T) {
	t.Parallel()
	r := routing(t)
	if err := r.RestoreState([]byte(`{"version":1,"strategies":{"a":{"k":1},"b":2}}`)); err != nil {
		t.Fatal(err)
	}
	s := complete{&scripted{app: "a"}}
	if err := r.RegisterStrategy(s); err != nil {
		t.Fatal(err)
	}
	if s.config == nil || len(s.config.ChainIDs) != 2 || string(s.state) != `{"k":1}` {
		t.Errorf("config %v, state %s", s.config, s.state)
	}
	b, err := r.SerializeState()
	if err != nil || string(b) != `{"version":1,"strategies":{"a":{"k":1},"b":2}}` {
		t.Errorf("state %s, %v: that of b is kept for when it comes", b, err)
	}
}

func TestRoutingDispatches(t *testing.T) {
	t.Parallel()
	buy := func(r intent.Request) intent.Request {
		r.State.Control = map[string]any{"_intent_function": "buyDip"}
		return r
	}
	typed := func(r intent.Request) intent.Request {
		r.State.TypedContext = map[string]any{"intent_function": "buyDip"}
		return r
	}
	for _, tt := range []struct {
		rule     string
		request  intent.Request
		strategy *scripted
		reason   string // of the fallback, "" = the strategy's own plan
	}{
		{"by app", ask("a"), &scripted{app: "a"}, ""},
		{"by function in control", buy(ask("a")), &scripted{app: "a", functions: []string{"buyDip"}}, ""},
		{"by function in the typed context", typed(ask("a")), &scripted{app: "a", functions: []string{"buyDip"}}, ""},
		{"no other function", buy(ask("a")), &scripted{app: "a", functions: []string{"swap"}}, "no_matching_strategy"},
		{"no other app", ask("b"), &scripted{app: "a"}, "no_matching_strategy"},
		{"a strategy that fails", ask("a"), &scripted{app: "a", err: errors.New("x")}, "strategy_error"},
		{"a strategy left out", ask("a"), &scripted{app: "a", broken: errors.New("x")}, "no_matching_strategy"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			p, err := routing(t, tt.strategy).GeneratePlan(tt.request)
			if err != nil {
				t.Fatal(err)
			}
			if tt.reason == "" {
				if p.Metadata["by"] != "a" {
					t.Errorf("plan %+v", p)
				}
				return
			}
			want := intent.Plan{
				IntentID: "i_1", Nonce: 9, Deadline: 1_700_000_300,
				Interactions: []intent.Interaction{{
					Target: "0x4200000000000000000000000000000000000006", Value: "1000000000000000", CallData: "0xd0e30db0", ChainID: 8453,
				}},
				Metadata: map[string]any{"plan_type": "fallback", "reason": tt.reason},
			}
			if diff := cmp.Diff(want, p); diff != "" {
				t.Errorf("fallback (-want +got)\n%s", diff)
			}
			rules := intent.PlanRules{AppID: "a", IntentID: "i_1", ChainID: 8453, Nonce: 9, Time: 1_700_000_000}
			if err := p.Validate(rules); err != nil {
				t.Errorf("the fallback is not valid: %v", err)
			}
		})
	}
}

// Nothing is made up: without the chain's token or the time there is no plan.
func TestFallbackNeedsTokenAndTime(t *testing.T) {
	t.Parallel()
	for rule, edit := range map[string]func(*intent.Request){
		"another chain": func(r *intent.Request) { r.State.ChainID = 964 },
		"no market":     func(r *intent.Request) { r.Snapshot = nil },
		"no time":       func(r *intent.Request) { r.Snapshot.Timestamp = 0 },
	} {
		r := ask("a")
		edit(&r)
		if p, err := routing(t).GeneratePlan(r); err == nil {
			t.Errorf("%s: plan %+v", rule, p)
		}
	}
}

func TestRoutingTriggers(t *testing.T) {
	t.Parallel()
	burn := ask("a")
	burn.State.Control = map[string]any{"_intent_function": "burn"}
	for _, tt := range []struct {
		rule     string
		request  intent.Request
		strategy sdk.Strategy
		want     bool
	}{
		{"due", ask("a"), complete{&scripted{app: "a", due: true}}, true},
		{"not due", ask("a"), complete{&scripted{app: "a"}}, false},
		{"no strategy", ask("b"), complete{&scripted{app: "a", due: true}}, false},
		{"a strategy that checks nothing", ask("a"), &scripted{app: "a", due: true}, false},
		{"a strategy that fails", ask("a"), complete{&scripted{app: "a", due: true, err: errors.New("x")}}, false},
		{"a function it does not accept", burn, complete{&scripted{app: "a", due: true, functions: []string{"swap"}}}, false},
	} {
		if got, err := routing(t, tt.strategy).CheckTrigger(tt.request); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v, want %v", tt.rule, got, err, tt.want)
		}
	}
}

func TestRoutingQuotes(t *testing.T) {
	t.Parallel()
	r := routing(t, complete{&scripted{app: "a"}}, &scripted{app: "mute"})
	if q, err := r.Quote(ask("a")); err != nil || q.EstimatedOutput != "a" {
		t.Errorf("quote %+v, %v", q, err)
	}
	for _, app := range []string{"mute", "nobody's"} {
		if _, err := r.Quote(ask(app)); !errors.Is(err, sdk.ErrNotImplemented) {
			t.Errorf("%s: %v, want %v", app, err, sdk.ErrNotImplemented)
		}
	}
	failing := routing(t, complete{&scripted{app: "a", err: errors.New("x")}})
	if _, err := failing.Quote(ask("a")); err == nil || errors.Is(err, sdk.ErrNotImplemented) {
		t.Errorf("%v, want the strategy's own error", err)
	}
}

func TestRoutingMetadata(t *testing.T) {
	t.Parallel()
	var strategies []sdk.Strategy
	for i := range 7 {
		strategies = append(strategies, &scripted{app: fmt.Sprint("app", 6-i)})
	}
	want := intent.Metadata{
		Name: "routing-solver", Version: "1.0.0", SupportedChains: []uint64{1, 8453},
		Description: "Routes to 7 app strategies: app0, app1, app2, app3, app4",
	}
	r := routing(t, strategies...)
	if diff := cmp.Diff(want, r.Metadata()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r.About = intent.Metadata{Name: "mine", Version: "2.0.0", Description: "d", SupportedChains: []uint64{5}}
	if diff := cmp.Diff(r.About, r.Metadata()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := new(sdk.RoutingSolver).Metadata().SupportedChains; !cmp.Equal(got, []uint64{1}) {
		t.Errorf("before Initialize: chains %v", got)
	}
}

// Strategies hear of the results of their own plans, and keep states apart.
func TestRoutingKeepsStrategiesApart(t *testing.T) {
	t.Parallel()
	a, b := complete{&scripted{app: "a", state: []byte(`1`)}}, complete{&scripted{app: "b", state: []byte(`[2]`)}}
	r := routing(t, a, b)
	if err := r.OnBenchmarkStart(2); err != nil {
		t.Fatal(err)
	}
	for app, id := range map[string]string{"a": "i_a", "b": "i_b"} {
		q := ask(app)
		q.IntentID = id
		if _, err := r.GeneratePlan(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.OnBenchmarkEnd([]intent.Result{{IntentID: "i_b"}, {IntentID: "i_x"}, {IntentID: "i_a"}}); err != nil {
		t.Fatal(err)
	}
	if len(a.heard) != 1 || a.heard[0].IntentID != "i_a" || len(b.heard) != 1 || b.heard[0].IntentID != "i_b" {
		t.Errorf("a heard %v, b %v", a.heard, b.heard)
	}
	saved, err := r.SerializeState()
	if err != nil || string(saved) != `{"version":1,"strategies":{"a":1,"b":[2]}}` {
		t.Fatalf("state %s, %v", saved, err)
	}
	a2, b2 := complete{&scripted{app: "a"}}, complete{&scripted{app: "b", restoreErr: errors.New("x")}}
	if err := routing(t, a2, b2).RestoreState(saved); err != nil {
		t.Fatal(err)
	}
	if string(a2.state) != `1` || string(b2.state) != `[2]` {
		t.Errorf("a got %s, b %s", a2.state, b2.state)
	}
	for rule, bad := range map[string]string{"no JSON": "x", "another version": `{"version":2}`} {
		if err := routing(t).RestoreState([]byte(bad)); err == nil {
			t.Errorf("%s is restored", rule)
		}
	}
	if s, err := routing(t, &scripted{app: "a"}).SerializeState(); err != nil || s != nil {
		t.Errorf("nothing to keep: %s, %v", s, err)
	}
	a.state = []byte("no json")
	if _, err := r.SerializeState(); err == nil {
		t.Error("a state that is no JSON is written into one")
	}
}
