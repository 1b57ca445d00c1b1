package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
)

var opening = []string{"initialize", "metadata", "restore_state", "set_market", "set_market", "on_benchmark_start"}

// withEverything gives a session all that its opening can have.
func withEverything(p *puppet) harness.Options {
	o := p.options()
	o.State = []byte{0, 1, 0xff}
	o.Market = []intent.MarketSnapshot{intent.EmptyMarket(8453), intent.EmptyMarket(1)}
	return o
}

func TestCallsFollowTheLifecycle(t *testing.T) {
	t.Parallel()
	p := &puppet{act: obedient}
	s := open(t, compile(t, puppetModule()), withEverything(p))
	full := p.task()
	full.AskTrigger, full.AskQuote = true, true
	run(t, s, full)
	run(t, s, p.task())
	finish(t, s)
	want := append(append([]string{}, opening...),
		"check_trigger", "generate_plan", "quote",
		"generate_plan",
		"on_benchmark_end", "serialize_state")
	if diff := cmp.Diff(want, p.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestAbsentExportsAreNotCalled(t *testing.T) {
	t.Parallel()
	p := &puppet{act: obedient}
	m := compile(t, puppetModule("restore_state", "set_market", "on_benchmark_start", "check_trigger", "quote", "on_benchmark_end", "serialize_state"))
	s := open(t, m, withEverything(p))
	task := p.task()
	task.AskTrigger, task.AskQuote = true, true
	a := run(t, s, task)
	if a.Cause != intent.CauseNone || a.Triggered == nil || *a.Triggered || a.QuoteCause != intent.CauseNotImplemented {
		t.Errorf("Run() = %+v, want a plan, no trigger and no quote", a)
	}
	if f := finish(t, s); f.Saved || f.Note != harness.NoteNotImplemented {
		t.Errorf("Finish() = %+v, want nothing saved", f)
	}
	if diff := cmp.Diff([]string{"initialize", "metadata", "generate_plan"}, p.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// Every optional export that answers status 2 behaves as an absent one.
func TestNotImplementedIsAbsent(t *testing.T) {
	t.Parallel()
	p := &puppet{act: func(p harness.Phase, input []byte) (byte, []byte) {
		switch p {
		case harness.PhaseInitialize, harness.PhaseMetadata, harness.PhasePlan:
			return obedient(p, input)
		}
		return 2, nil
	}}
	s := open(t, compile(t, puppetModule()), withEverything(p))
	task := p.task()
	task.AskTrigger, task.AskQuote = true, true
	a := run(t, s, task)
	if a.Cause != intent.CauseNone || a.Triggered == nil || *a.Triggered || a.QuoteCause != intent.CauseNotImplemented {
		t.Errorf("Run() = %+v, want a plan, no trigger and no quote", a)
	}
	if f := finish(t, s); f.Saved || f.Note != harness.NoteNotImplemented {
		t.Errorf("Finish() = %+v, want nothing saved", f)
	}
	if s.StateRefused() != "" || len(s.Notes()) != 0 {
		t.Errorf("refused %q, notes %q, want none", s.StateRefused(), s.Notes())
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	var got []string
	p := &puppet{act: func(p harness.Phase, input []byte) (byte, []byte) {
		got = append(got, fmt.Sprintf("%s %s", p, input))
		return obedient(p, input)
	}}
	o := p.options()
	o.State = []byte("as serialized")
	o.Count = 7
	o.Market = []intent.MarketSnapshot{intent.EmptyMarket(8453), intent.EmptyMarket(1)}
	s := open(t, compile(t, puppetModule()), o)
	run(t, s, p.task())
	if _, err := s.Finish(t.Context(), []intent.Result{{IntentID: "i_0000000000000001", Score: "0.25"}}); err != nil {
		t.Fatal(err)
	}
	definition := `{"app_id":"app","config":{"fee_mode":"","manifest_version":"v1","max_gas":5000000,"on_chain_threshold":5000,"policy_tier":"hybrid",` +
		`"score_threshold":0.5,"supported_chains":[],"supported_policy_tiers":["strict","hybrid","expert"],"trigger_type":"user_triggered"},` +
		`"deployer":"","description":"","intent_type":"","name":"App","version":"1.0.0"}`
	state := `{"chain_id":1,"contract_address":"","control":{"_f":"swap"},"extra":{"_f":"swap","amount":"5"},"nonce":1,"owner":"","raw_params":{"amount":"5"}}`
	want := []string{
		`initialize {"chain_ids":[1],"rpc_urls":{"1":"assay://chain/1"},"supported_protocols":[],"timeout_per_plan_ms":30000}`,
		`metadata `,
		`restore_state as serialized`,
		`set_market {"balances":{},"block_number":0,"chain_id":1,"dex_config":{},"pool_states":{},"prices":{},"raw_state":{},"timestamp":0}`,
		`set_market {"balances":{},"block_number":0,"chain_id":8453,"dex_config":{},"pool_states":{},"prices":{},"raw_state":{},"timestamp":0}`,
		`on_benchmark_start {"intent_count":7}`,
		`generate_plan {"intent":` + definition + `,"intent_id":"i_0000000000000001","snapshot":null,"state":` + state + `}`,
		`on_benchmark_end [{"elapsed_ms":0,"intent_id":"i_0000000000000001","score":0.25}]`,
		`serialize_state `,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
}

// A market that set_market did not take travels with each request of its chain.
func TestMarketTravelsIfNotTaken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		omit   []string
		status byte
		chain  uint64
		sent   bool
	}{
		{name: "taken", status: 0, chain: 1, sent: false},
		{name: "not exported", omit: []string{"set_market"}, chain: 1, sent: true},
		{name: "not implemented", status: 2, chain: 1, sent: true},
		{name: "failed", status: 1, chain: 1, sent: true},
		{name: "of another chain", status: 1, chain: 10, sent: false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var request string
			p := &puppet{act: func(p harness.Phase, input []byte) (byte, []byte) {
				switch p {
				case harness.PhaseMarket:
					return tt.status, nil
				case harness.PhasePlan:
					request = string(input)
				}
				return obedient(p, input)
			}}
			o := p.options()
			o.Market = []intent.MarketSnapshot{intent.EmptyMarket(tt.chain)}
			s := open(t, compile(t, puppetModule(tt.omit...)), o)
			run(t, s, p.task())
			if sent := !strings.Contains(request, `"snapshot":null`); sent != tt.sent {
				t.Errorf("snapshot sent: %v, want %v in %s", sent, tt.sent, request)
			}
		})
	}
}

// Failing in a phase that only tells the solver something is noted and costs
// nothing.
func TestFailuresThatCostNothing(t *testing.T) {
	t.Parallel()
	p := &puppet{act: func(p harness.Phase, input []byte) (byte, []byte) {
		switch p {
		case harness.PhaseMarket, harness.PhaseStart, harness.PhaseEnd:
			return 1, []byte("no\x1b[2J")
		}
		return obedient(p, input)
	}}
	s := open(t, compile(t, puppetModule()), withEverything(p))
	if a := run(t, s, p.task()); a.Cause != intent.CauseNone {
		t.Errorf("Run() = %+v, want a plan", a)
	}
	if f := finish(t, s); !f.Saved {
		t.Errorf("Finish() = %+v, want the state saved", f)
	}
	want := []string{
		`set_market: solver_error: "no\x1b[2J"`,
		`on_benchmark_start: solver_error: "no\x1b[2J"`,
		`on_benchmark_end: solver_error: "no\x1b[2J"`,
	}
	if diff := cmp.Diff(want, s.Notes()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestUnstarted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		act    func(harness.Phase, []byte) (byte, []byte)
		limits harness.Limits
		detail string
	}{
		{name: "initialize fails", act: but(harness.PhaseInitialize, 1, "no key"), detail: `initialize: solver_error: "no key"`},
		{name: "initialize is not implemented", act: but(harness.PhaseInitialize, 2, ""), detail: "initialize: not_implemented"},
		{name: "initialize traps", act: but(harness.PhaseInitialize, opTrap, ""), detail: "initialize: trap"},
		{name: "initialize loops", act: but(harness.PhaseInitialize, opSpin, ""), limits: short(harness.PhaseInitialize), detail: "initialize: stalled"},
		{name: "restore_state loops", act: but(harness.PhaseRestore, opSpin, ""), limits: short(harness.PhaseRestore), detail: "restore_state: stalled"},
		{name: "metadata traps", act: but(harness.PhaseMetadata, opTrap, ""), detail: "metadata: trap"},
		{name: "metadata is no JSON", act: but(harness.PhaseMetadata, 0, "hello"), detail: "metadata: bad_output"},
		{name: "set_market traps", act: but(harness.PhaseMarket, opTrap, ""), detail: "set_market: trap"},
		{name: "on_benchmark_start exits", act: but(harness.PhaseStart, opExit, ""), detail: "on_benchmark_start: exit"},
		{name: "the session has no time", act: obedient, limits: withSession(1), detail: "the session's time is spent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &puppet{act: tt.act}
			o := withEverything(p)
			o.Limits = tt.limits
			s, err := harness.Open(t.Context(), compile(t, puppetModule()), o)
			var f *intent.MinerFault
			if s == nil || !errors.As(err, &f) || f.Cause != intent.CauseSessionEnded || !strings.Contains(f.Detail, tt.detail) {
				t.Errorf("Open() = %v, %v, want session_ended with %q", s, err, tt.detail)
			}
		})
	}
}

func withSession(d time.Duration) harness.Limits {
	l := harness.DefaultLimits()
	l.Session = d
	return l
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	m := compile(t, puppetModule())
	for _, tt := range []struct {
		name string
		set  func(*harness.Options)
	}{
		{name: "a wall of zero", set: func(o *harness.Options) { o.Limits = harness.DefaultLimits(); o.Limits.Quote.Wall = 0 }},
		{name: "no time to load", set: func(o *harness.Options) { o.Limits = harness.DefaultLimits(); o.Limits.Load.Wall = 0 }},
		{name: "no fuel", set: func(o *harness.Options) { o.Limits = harness.DefaultLimits(); o.Limits.Plan.Fuel = 0 }},
		{name: "no fuel to load", set: func(o *harness.Options) { o.Limits = harness.DefaultLimits(); o.Limits.Load.Fuel = 0 }},
		{name: "a session without fuel", set: func(o *harness.Options) { o.Limits = harness.DefaultLimits(); o.Limits.SessionFuel = 0 }},
		{name: "no output", set: func(o *harness.Options) { o.Limits = harness.DefaultLimits(); o.Limits.Plan.OutputBytes = 0 }},
		{name: "a session without time", set: func(o *harness.Options) { o.Limits = withSession(0) }},
		{name: "restarts below zero", set: func(o *harness.Options) { o.Limits = harness.DefaultLimits(); o.Limits.Restarts = -1 }},
		{name: "reads below zero", set: func(o *harness.Options) { o.Limits = harness.DefaultLimits(); o.Limits.Read.Bytes = -1 }},
		{name: "two markets of a chain", set: func(o *harness.Options) {
			o.Market = []intent.MarketSnapshot{intent.EmptyMarket(1), intent.EmptyMarket(10), intent.EmptyMarket(1)}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &puppet{act: obedient}
			o := p.options()
			tt.set(&o)
			s, err := harness.Open(t.Context(), m, o)
			var usage *intent.UsageFault
			if s != nil || !errors.As(err, &usage) {
				t.Errorf("Open() = %v, %v, want a usage fault", s, err)
			}
		})
	}
}

// What ends a call and is not the solver's doing is never a row.
func TestInfra(t *testing.T) {
	t.Parallel()
	m := compile(t, puppetModule())
	broken := errors.New("disk on fire")

	t.Run("the caller stops the opening", func(t *testing.T) {
		p := &puppet{act: obedient}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if s, err := harness.Open(ctx, m, p.options()); s != nil || !isInfra(err) || !errors.Is(err, context.Canceled) {
			t.Errorf("Open() = %v, %v, want an infra fault", s, err)
		}
	})
	t.Run("the caller stops a looping guest", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := &puppet{}
		p.act = func(phase harness.Phase, input []byte) (byte, []byte) {
			if phase == harness.PhasePlan {
				cancel()
				return opSpin, nil
			}
			return obedient(phase, input)
		}
		s := open(t, m, p.options())
		if a, err := s.Run(ctx, p.task()); !isInfra(err) {
			t.Errorf("Run() = %+v, %v, want an infra fault", a, err)
		}
	})
	t.Run("a read breaks", func(t *testing.T) {
		p := &puppet{act: but(harness.PhasePlan, opRead, "{}"), world: func(context.Context, uint64, []byte, harness.Cost) ([]byte, harness.Cost, error) {
			return nil, harness.Cost{}, broken
		}}
		s := open(t, m, p.options())
		if a, err := s.Run(t.Context(), p.task()); !isInfra(err) || !errors.Is(err, broken) {
			t.Errorf("Run() = %+v, %v, want the read's own error", a, err)
		}
	})
	t.Run("an intent cannot be encoded", func(t *testing.T) {
		p := &puppet{act: obedient}
		s := open(t, m, p.options())
		task := p.task()
		task.State.RawParams = map[string]any{"amount": func() {}}
		var app *intent.AppFault
		if a, err := s.Run(t.Context(), task); !errors.As(err, &app) || app.AppID != "app" {
			t.Errorf("Run() = %+v, %v, want an app fault", a, err)
		}
	})
}
