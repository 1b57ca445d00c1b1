package oracle

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// ErrIntent means that an intent does not say what is traded for what, so that
// the oracle has no answer to it.
var ErrIntent = errors.New("not an intent the oracle knows")

// Best finds the best plan for an intent. Whether an intent of an app with a
// trigger is due is not asked.
//
// An app with a value rule trades its input_token, as much of it as is granted,
// for the token of the rule; nothing else that is granted is sold. An app of type
// rebalance trades its portfolio. Errors are [ErrIntent], [ErrUnconfirmed], those
// of [chain.NewOrder] and [chain.World.Fund], that of ctx and of reads.
func (o *Oracle) Best(ctx context.Context, d intent.Definition, s intent.State) (Answer, error) {
	o.turn.Lock()
	defer o.turn.Unlock()
	q, err := o.newQuest(ctx, d, s)
	if err != nil {
		return Answer{}, err
	}
	if d.IntentType == rebalance && (d.Manifest == nil || d.Manifest.Value == nil) {
		return q.rebalance(ctx)
	}
	t, err := newTrade(q.order, d, s)
	if err != nil {
		return Answer{}, err
	}
	if o.wrapped(t.in) == o.wrapped(t.out) {
		return q.move(ctx, t)
	}
	return q.swap(ctx, t)
}

// rebalance is the type of the intents that trade a portfolio.
const rebalance = "rebalance"

// A quest is the search for the best of one intent.
type quest struct {
	o      *Oracle
	app    intent.Definition
	state  intent.State
	order  chain.Order
	funded *chain.Funded
}

func (o *Oracle) newQuest(ctx context.Context, d intent.Definition, s intent.State) (*quest, error) {
	order, err := chain.NewOrder(d, s)
	if err != nil {
		return nil, err
	}
	if order.ChainID != o.world.ChainID() {
		return nil, fmt.Errorf("the intent is on chain %d, the oracle on %d", order.ChainID, o.world.ChainID())
	}
	funded, err := o.world.Fund(ctx, order)
	if err != nil {
		return nil, err
	}
	return &quest{o: o, app: d, state: s, order: order, funded: funded}, nil
}

// newTrade reads what is traded.
func newTrade(order chain.Order, d intent.Definition, s intent.State) (trade, error) {
	if d.Manifest == nil || d.Manifest.Value == nil {
		return trade{}, fmt.Errorf("%w: app %s has no value rule", ErrIntent, intent.Quoted(d.AppID, 64))
	}
	rule := d.Manifest.Value
	t := trade{order: order, receiver: order.Owner, minimum: *one}
	var err error
	if t.in, err = addressParam(s, "input_token"); err != nil {
		return t, err
	}
	if t.out, err = addressParam(s, rule.Token); err != nil {
		return t, err
	}
	if rule.Account != "owner" {
		if t.receiver, err = addressParam(s, rule.Account); err != nil {
			return t, err
		}
	}
	for _, g := range order.Grant {
		if g.Token == t.in {
			t.amount = *g.Amount
		}
	}
	if text, ok := s.RawParams[rule.Minimum].(string); ok && text != "" {
		n, err := intent.ParseAmount(text)
		if err != nil {
			return t, fmt.Errorf("raw_params.%s: %w", rule.Minimum, err)
		}
		if !n.IsZero() {
			t.minimum = *n
		}
	}
	return t, nil
}

func addressParam(s intent.State, name string) (common.Address, error) {
	text, ok := s.RawParams[name].(string)
	if !ok {
		return common.Address{}, fmt.Errorf("%w: raw_params.%s is no address", ErrIntent, name)
	}
	a, err := chain.ParseAddress(text)
	if err != nil {
		return a, fmt.Errorf("%w: raw_params.%s: %w", ErrIntent, name, err)
	}
	return a, nil
}

// swap answers a trade through pools. Where a plan fails, it is tried again with
// fewer legs: it may have taken more gas than the app has, which need not show in
// its cause.
func (q *quest) swap(ctx context.Context, t trade) (Answer, error) {
	from, to := q.o.wrapped(t.in), q.o.wrapped(t.out)
	best := Answer{Reason: "no pools give anything for the input"}
	for _, legs := range legLimits {
		routes, exact, err := q.o.routes(ctx, q.o.market(), from, to, &t.amount, legs)
		if err != nil {
			return Answer{}, err
		}
		failed := false
		for _, r := range routes {
			plan, err := q.swapPlan(ctx, t, r)
			if err != nil {
				return Answer{}, err
			}
			outcome, err := q.try(ctx, &best, t, plan)
			if err != nil {
				return Answer{}, err
			}
			if outcome.Cause != intent.CauseNone {
				failed = true
				continue
			}
			delivered := outcome.Delta(t.receiver, t.out)
			ordinary := q.o.ordinary(r)
			if ordinary && r.Computed.ToBig().Cmp(delivered) != 0 {
				return Answer{}, unconfirmed(r.Computed, delivered)
			}
			if best.Found.Cmp(delivered) == 0 && best.Routes == nil {
				best.Routes, best.Exact = []Route{r}, exact && ordinary && !failed
			}
			if ordinary {
				break // the others were computed to give less
			}
		}
		if !failed {
			break
		}
	}
	return best.judged(t), nil
}

// swapPlan is the plan of a route.
func (q *quest) swapPlan(ctx context.Context, t trade, r Route) (intent.Plan, error) {
	f := q.o.newDraft(q.app, q.state)
	if t.in != chain.ETH {
		if err := q.o.allow(ctx, f, q.funded.View(), t.in, t.order.Owner, &t.amount); err != nil {
			return f.plan, err
		}
	}
	q.o.addSwaps(f, t, r)
	return f.plan, nil
}

// move answers a trade that needs no pool.
func (q *quest) move(ctx context.Context, t trade) (Answer, error) {
	best := Answer{Reason: "the owner has it already", Exact: true}
	plans, err := q.o.moves(ctx, q.app, q.state, t, q.funded.View())
	if err != nil {
		return Answer{}, err
	}
	for _, plan := range plans {
		if _, err := q.try(ctx, &best, t, plan); err != nil {
			return Answer{}, err
		}
	}
	return best.judged(t), nil
}

// try executes a plan and keeps it where it delivers more than the best so far.
func (q *quest) try(ctx context.Context, best *Answer, t trade, plan intent.Plan) (*chain.Outcome, error) {
	outcome, _, err := q.funded.Execute(ctx, plan)
	if err != nil {
		return nil, err
	}
	if outcome.Cause != intent.CauseNone {
		if best.Found == nil {
			best.Reason = fmt.Sprintf("%s: %s", outcome.Cause, outcome.Detail)
		}
		return outcome, nil
	}
	delivered := outcome.Delta(t.receiver, t.out)
	if delivered == nil {
		return nil, fmt.Errorf("token %s of %s is not measured", t.out.Hex(), t.receiver.Hex())
	}
	if delivered.Sign() > 0 && (best.Found == nil || delivered.Cmp(best.Found) > 0) {
		best.Found, best.Plan, best.Routes = new(big.Int).Set(delivered), plan, nil
	}
	return outcome, nil
}

// judged sets the value by the minimum.
func (a Answer) judged(t trade) Answer {
	switch {
	case a.Found == nil:
	case a.Found.Cmp(t.minimum.ToBig()) < 0:
		a.Reason = fmt.Sprintf("the best delivers %s, the minimum is %s", a.Found, t.minimum.Dec())
	default:
		a.Value, a.Reason = a.Found, ""
	}
	return a
}
