package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/subnet112/assay/intent"
)

// routedState is the state of a [RoutingSolver]: those of its strategies, by app.
type routedState struct {
	Version    int                        `json:"version"`
	Strategies map[string]json.RawMessage `json:"strategies"`
}

const routedVersion = 1

// SetMarket implements [MarketReceiver].
func (r *RoutingSolver) SetMarket(m intent.MarketSnapshot) error {
	return r.all(func(s Strategy) error {
		if s, ok := s.(MarketReceiver); ok {
			return s.SetMarket(m)
		}
		return nil
	})
}

// OnBenchmarkStart implements [BenchmarkStarter].
func (r *RoutingSolver) OnBenchmarkStart(intents int) error {
	clear(r.planned)
	return r.all(func(s Strategy) error {
		if s, ok := s.(BenchmarkStarter); ok {
			return s.OnBenchmarkStart(intents)
		}
		return nil
	})
}

// OnBenchmarkEnd implements [BenchmarkEnder].
func (r *RoutingSolver) OnBenchmarkEnd(results []intent.Result) error {
	own := map[string][]intent.Result{}
	for _, result := range results {
		if app, ok := r.planned[result.IntentID]; ok {
			own[app] = append(own[app], result)
		}
	}
	clear(r.planned)
	return r.all(func(s Strategy) error {
		if s, ok := s.(BenchmarkEnder); ok {
			return s.OnBenchmarkEnd(own[s.(Strategy).AppID()])
		}
		return nil
	})
}

// all tells every strategy, and returns all their errors.
func (r *RoutingSolver) all(tell func(Strategy) error) error {
	var failed []error
	for _, e := range r.sorted() {
		if err := tell(e.Strategy); err != nil && !errors.Is(err, ErrNotImplemented) {
			failed = append(failed, fmt.Errorf("strategy of %s: %w", e.AppID(), err))
		}
	}
	return errors.Join(failed...)
}

// SerializeState implements [StateKeeper]: the states of all strategies that have
// one, which are JSON, and those kept for strategies that are not here.
func (r *RoutingSolver) SerializeState() ([]byte, error) {
	out := routedState{Version: routedVersion, Strategies: maps.Clone(r.kept)}
	if out.Strategies == nil {
		out.Strategies = map[string]json.RawMessage{}
	}
	err := r.all(func(s Strategy) error {
		keeper, ok := s.(StateKeeper)
		if !ok {
			return nil
		}
		state, err := keeper.SerializeState()
		if err != nil || len(state) == 0 {
			return err
		}
		if !json.Valid(state) {
			return errors.New("its state is no JSON")
		}
		out.Strategies[s.AppID()] = state
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(out.Strategies) == 0 {
		return nil, nil
	}
	return json.Marshal(out) // maps are written by key
}

// RestoreState implements [StateKeeper]. A strategy that cannot use its state starts
// without one.
func (r *RoutingSolver) RestoreState(data []byte) error {
	var in routedState
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if in.Version != routedVersion {
		return fmt.Errorf("state of version %d, want %d", in.Version, routedVersion)
	}
	r.kept = in.Strategies
	for _, e := range r.sorted() {
		if state, ok := r.kept[e.AppID()]; ok {
			delete(r.kept, e.AppID())
			r.restore(e, state)
		}
	}
	return nil
}

func (r *RoutingSolver) restore(e *enrolled, state []byte) {
	keeper, ok := e.Strategy.(StateKeeper)
	if !ok {
		return
	}
	if err := keeper.RestoreState(state); err != nil {
		Log(LevelWarn, "strategy of %s starts without its state: %v", e.AppID(), err)
	}
}
