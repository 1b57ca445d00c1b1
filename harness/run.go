package harness

import (
	"context"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// A Task is one intent as it is put to a solver.
type Task struct {
	Intent   intent.Definition // code may be in it: the solver gets Public()
	State    intent.State
	IntentID string           // the row's key
	Rules    intent.PlanRules // what the plan must obey
	Reads    Reads            // the worlds with this intent's funding; nil: no chain is known

	// AskTrigger: the app is auto-triggered, check_trigger decides before a plan
	// is asked. Truth is whether it should trigger; nil = unknown: the decision
	// is reported and the plan is asked either way.
	AskTrigger bool
	Truth      *bool

	AskQuote bool // the app's manifest has a quote

	input []byte // see Encode
}

// Encode makes once what every solver is given for the task, which must not change
// afterwards. A task without it is encoded for each. The error is an
// *intent.AppFault.
func (t *Task) Encode() (err error) {
	t.input, err = t.encode(nil)
	return err
}

// An Answer is what a solver made of one [Task]. It holds no time and nothing
// of the host, so the same module answers alike everywhere.
type Answer struct {
	IntentID string

	// Triggered is the solver's decision; nil when it was not asked or gave none.
	Triggered *bool

	// Plan obeys the rules of its task. It is nil with a Cause, and without one
	// when the solver rightly declined to trigger.
	Plan     *intent.Plan
	PlanHash [32]byte // zero without a plan

	Cause  intent.Cause // why there is no plan
	Phase  Phase        // the call that Cause is about; empty if no call was made
	Detail string       // may be a guest's text, valid UTF-8: print it by Explain

	// Quote is nil when none was asked or none came; then QuoteCause says why,
	// and not_implemented is no failure. A quote never changes Cause.
	Quote       *intent.Quote
	QuoteCause  intent.Cause
	QuoteDetail string

	Usage     Usage
	Reads     ReadTally
	LogDigest [32]byte // zero: nothing was logged
	Log       []byte   // what was logged: a guest's text, print it quoted
}

// Usage is what the calls of one row used.
type Usage struct {
	Calls     []CallUsage // in the order they were made
	Fuel      uint64      // sum
	PeakPages uint32      // highest memory of any call, in 64 KiB
	HostCalls uint64      // sum
}

// A CallUsage is what one call used.
type CallUsage struct {
	Phase     Phase
	Fuel      uint64
	PeakPages uint32
	HostCalls uint64
}

func (u *Usage) add(p Phase, of sandbox.Usage) {
	u.Calls = append(u.Calls, CallUsage{Phase: p, Fuel: of.Fuel, PeakPages: of.PeakPages, HostCalls: of.HostCalls})
	u.Fuel += of.Fuel
	u.PeakPages = max(u.PeakPages, of.PeakPages)
	u.HostCalls += of.HostCalls
}

func (a *Answer) fail(f *fault) {
	a.Cause, a.Phase, a.Detail = f.cause, f.phase, f.where()
}

// Run puts one task to the solver. A dead instance is replaced first, within the
// session's restarts. Whatever the module does becomes the answer; the error is
// the host's, *intent.InfraFault, or *intent.AppFault for an intent that cannot
// be encoded.
func (s *Solver) Run(ctx context.Context, t Task) (Answer, error) {
	a := Answer{IntentID: t.IntentID}
	f, err := s.revive(ctx)
	if err != nil {
		return Answer{}, err
	}
	if f != nil {
		a.fail(f)
		return a, nil
	}
	input, err := s.request(t)
	if err != nil {
		return Answer{}, err
	}
	row := &tally{}
	if err := s.ask(ctx, t, input, row, &a); err != nil {
		return Answer{}, err
	}
	a.Usage, a.Reads, a.LogDigest, a.Log = row.usage, row.reads, row.log, row.text
	return a, nil
}

// ask makes the calls of one task.
func (s *Solver) ask(ctx context.Context, t Task, input []byte, row *tally, a *Answer) error {
	if t.AskTrigger {
		wanted, err := s.trigger(ctx, t, input, row, a)
		if err != nil || !wanted {
			return err
		}
	}
	if err := s.plan(ctx, t, input, row, a); err != nil {
		return err
	}
	if !t.AskQuote || !s.alive() {
		return nil
	}
	return s.quote(ctx, t, input, row, a)
}

// trigger asks whether the intent should execute now, and returns whether a plan
// is wanted.
func (s *Solver) trigger(ctx context.Context, t Task, input []byte, row *tally, a *Answer) (bool, error) {
	out, f, err := s.do(ctx, call{phase: PhaseTrigger, subject: t.IntentID, input: input, reads: t.Reads}, row)
	if err != nil {
		return false, err
	}
	var yes bool // the seed's default
	switch {
	case f == nil:
		if yes, err = intent.DecodeTrigger(out); err != nil {
			f = badOutput(PhaseTrigger, err)
		}
	case f.cause == intent.CauseNotImplemented:
		f = nil
	}
	if f != nil {
		a.fail(f)
		return false, nil
	}
	a.Triggered = &yes
	switch {
	case t.Truth == nil:
		return true, nil
	case *t.Truth && !yes:
		a.Cause, a.Phase = intent.CauseNotTriggered, PhaseTrigger
	case !*t.Truth && yes:
		a.Cause, a.Phase = intent.CauseFalseTrigger, PhaseTrigger
	}
	return *t.Truth && yes, nil
}

func (s *Solver) plan(ctx context.Context, t Task, input []byte, row *tally, a *Answer) error {
	out, f, err := s.do(ctx, call{phase: PhasePlan, subject: t.IntentID, input: input, reads: t.Reads}, row)
	if err != nil {
		return err
	}
	if f != nil {
		if f.cause == intent.CauseSolverError && row.reads.OverBudget {
			f.cause = intent.CauseRPCBudget
		}
		a.fail(f)
		return nil
	}
	p, err := intent.DecodePlan(out)
	if err != nil {
		a.fail(badOutput(PhasePlan, err))
		return nil
	}
	hash, err := valid(p, t.Rules)
	if err != nil {
		a.fail(&fault{PhasePlan, intent.CauseInvalidPlan, clip(err.Error())})
		return nil
	}
	a.Plan, a.PlanHash = &p, hash
	return nil
}

// valid checks a plan and names it. A plan without a canonical form, say with an
// integer in its metadata that a double does not hold, has no name: it is
// invalid like any other.
func valid(p intent.Plan, r intent.PlanRules) ([32]byte, error) {
	if err := p.Validate(r); err != nil {
		return [32]byte{}, err
	}
	return p.Hash()
}

func (s *Solver) quote(ctx context.Context, t Task, input []byte, row *tally, a *Answer) error {
	out, f, err := s.do(ctx, call{phase: PhaseQuote, subject: t.IntentID, input: input, reads: t.Reads}, row)
	if err != nil {
		return err
	}
	if f == nil {
		q, err := intent.DecodeQuote(out)
		if err == nil {
			a.Quote = &q
			return nil
		}
		f = badOutput(PhaseQuote, err)
	}
	a.QuoteCause, a.QuoteDetail = f.cause, f.detail
	return nil
}

// request is what the three calls of a task receive. The market travels in it
// only if set_market of the live instance did not take it.
func (s *Solver) request(t Task) ([]byte, error) {
	for i := range s.market {
		if m := &s.market[i]; m.snapshot.ChainID == t.State.ChainID && !m.taken {
			return t.encode(&m.snapshot)
		}
	}
	if t.input != nil {
		return t.input, nil
	}
	return t.encode(nil)
}

func (t *Task) encode(market *intent.MarketSnapshot) ([]byte, error) {
	state := t.State
	state.SyncExtra()
	b, err := intent.Canonical(intent.Request{IntentID: t.IntentID, Intent: t.Intent.Public(), State: state, Snapshot: market})
	if err != nil {
		return nil, &intent.AppFault{AppID: t.Intent.AppID, Err: err}
	}
	return b, nil
}
