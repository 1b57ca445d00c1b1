package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/subnet112/assay/intent"
)

// planSeconds is how long after the pinned time a fallback plan is good.
const planSeconds = 300

// fallbackWei is what the fallback plan wraps: a thousandth of a coin.
const fallbackWei = "1000000000000000"

// wrappedNative are the wrapped native tokens of the chains that the fallback plan
// knows.
var wrappedNative = map[uint64]string{
	1:        "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
	10:       "0x4200000000000000000000000000000000000006",
	56:       "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c",
	137:      "0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270",
	8453:     "0x4200000000000000000000000000000000000006",
	42161:    "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1",
	43114:    "0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7",
	11155111: "0xfFf9976782d46CC05630D1f6eBAb18b2324d6B14",
}

// A RoutingSolver dispatches intents to strategies by app. Where none accepts an
// intent, or the one that does fails, the plan is a minimal one that is valid in
// structure and earns nothing. The zero value has no strategies.
type RoutingSolver struct {
	// About is what [RoutingSolver.Metadata] returns; fields left empty are filled in.
	About intent.Metadata

	config     *intent.InitConfig // nil before Initialize
	strategies map[string]*enrolled
	kept       map[string]json.RawMessage // states of strategies that are not registered, by app
	planned    map[string]string          // app by intent id, of a batch
}

// An enrolled strategy is one that was registered.
type enrolled struct {
	Strategy
	out error // why it is left out
}

// Interfaces that a RoutingSolver is.
var (
	_ Solver           = (*RoutingSolver)(nil)
	_ Quoter           = (*RoutingSolver)(nil)
	_ TriggerChecker   = (*RoutingSolver)(nil)
	_ MarketReceiver   = (*RoutingSolver)(nil)
	_ BenchmarkStarter = (*RoutingSolver)(nil)
	_ BenchmarkEnder   = (*RoutingSolver)(nil)
	_ StateKeeper      = (*RoutingSolver)(nil)
)

// RegisterStrategy adds a strategy, in place of one for the same app. One that comes
// after Initialize is initialized at once, and gets the state that was kept for its
// app. The error says that it names no app.
func (r *RoutingSolver) RegisterStrategy(s Strategy) error {
	if s == nil || s.AppID() == "" {
		return errors.New("a strategy's AppID must be set")
	}
	if r.strategies == nil {
		r.strategies = map[string]*enrolled{}
	}
	e := &enrolled{Strategy: s}
	r.strategies[s.AppID()] = e
	if r.config != nil {
		r.initialize(e)
	}
	return nil
}

// RemoveStrategy removes the strategy of an app and reports whether there was one.
func (r *RoutingSolver) RemoveStrategy(appID string) bool {
	_, ok := r.strategies[appID]
	delete(r.strategies, appID)
	return ok
}

// Strategy returns the strategy of an app, nil if there is none.
func (r *RoutingSolver) Strategy(appID string) Strategy {
	if e := r.strategies[appID]; e != nil {
		return e.Strategy
	}
	return nil
}

// sorted are the strategies that are not left out, by app.
func (r *RoutingSolver) sorted() []*enrolled {
	var out []*enrolled
	for _, app := range slices.Sorted(maps.Keys(r.strategies)) {
		if e := r.strategies[app]; e.out == nil {
			out = append(out, e)
		}
	}
	return out
}

// Initialize implements [Solver]. A strategy that fails is left out.
func (r *RoutingSolver) Initialize(c intent.InitConfig) error {
	r.config = &c
	for _, app := range slices.Sorted(maps.Keys(r.strategies)) {
		r.initialize(r.strategies[app])
	}
	return nil
}

func (r *RoutingSolver) initialize(e *enrolled) {
	if e.out = e.Initialize(*r.config); e.out != nil {
		Log(LevelError, "strategy of %s is left out: %v", e.AppID(), e.out)
		return
	}
	if state, ok := r.kept[e.AppID()]; ok {
		delete(r.kept, e.AppID())
		r.restore(e, state)
	}
}

// Metadata implements [Solver].
func (r *RoutingSolver) Metadata() intent.Metadata {
	m := r.About
	apps := slices.Sorted(maps.Keys(r.strategies))
	if m.Name == "" {
		m.Name = "routing-solver"
	}
	if m.Version == "" {
		m.Version = "1.0.0"
	}
	if m.Description == "" {
		m.Description = fmt.Sprintf("Routes to %d app strategies: %s", len(apps), strings.Join(apps[:min(len(apps), 5)], ", "))
	}
	if m.SupportedChains == nil {
		m.SupportedChains = []uint64{1}
		if r.config != nil && len(r.config.ChainIDs) > 0 {
			m.SupportedChains = r.config.ChainIDs
		}
	}
	return m
}

// find returns the strategy that accepts an intent, nil if none does.
func (r *RoutingSolver) find(q intent.Request) *enrolled {
	e := r.strategies[q.Intent.AppID]
	if e == nil || e.out != nil || !Accepts(e, q.Intent.AppID, FunctionOf(q.State)) {
		return nil
	}
	return e
}

// GeneratePlan implements [Solver].
func (r *RoutingSolver) GeneratePlan(q intent.Request) (intent.Plan, error) {
	e := r.find(q)
	if e == nil {
		return r.fallback(q, "no_matching_strategy")
	}
	p, err := e.GeneratePlan(q)
	if err != nil {
		Log(LevelWarn, "strategy of %s: %v", q.Intent.AppID, err)
		return r.fallback(q, "strategy_error")
	}
	if r.planned == nil {
		r.planned = map[string]string{}
	}
	r.planned[q.IntentID] = q.Intent.AppID
	return p, nil
}

// fallback is the plan of an intent that nobody plans for.
func (r *RoutingSolver) fallback(q intent.Request, reason string) (intent.Plan, error) {
	token, ok := wrappedNative[q.State.ChainID]
	if !ok {
		return intent.Plan{}, fmt.Errorf("%s, and chain %d has no wrapped token known here", reason, q.State.ChainID)
	}
	if q.Snapshot == nil || q.Snapshot.Timestamp == 0 {
		return intent.Plan{}, fmt.Errorf("%s, and without a market there is no time to plan for", reason)
	}
	const deposit = "0xd0e30db0"
	return intent.Plan{
		IntentID: q.IntentID, Nonce: q.State.Nonce, Deadline: q.Snapshot.Timestamp + planSeconds,
		Interactions: []intent.Interaction{{Target: token, Value: fallbackWei, CallData: deposit, ChainID: q.State.ChainID}},
		Metadata:     map[string]any{"plan_type": "fallback", "reason": reason},
	}, nil
}

// Quote implements [Quoter].
func (r *RoutingSolver) Quote(q intent.Request) (intent.Quote, error) {
	if e := r.find(q); e != nil {
		if quoter, ok := e.Strategy.(Quoter); ok {
			return quoter.Quote(q)
		}
	}
	return intent.Quote{}, fmt.Errorf("no strategy with quoting support for this app: %w", ErrNotImplemented)
}

// CheckTrigger implements [TriggerChecker]. An intent that no strategy accepts never
// executes, nor does one whose strategy fails.
func (r *RoutingSolver) CheckTrigger(q intent.Request) (bool, error) {
	e := r.find(q)
	if e == nil {
		return false, nil
	}
	checker, ok := e.Strategy.(TriggerChecker)
	if !ok {
		return false, nil
	}
	due, err := checker.CheckTrigger(q)
	if err != nil {
		Log(LevelWarn, "trigger of %s: %v", q.Intent.AppID, err)
		return false, nil
	}
	return due, nil
}
