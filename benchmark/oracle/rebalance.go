package oracle

import (
	"context"
	"fmt"
	"math/big"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// margins are how many basis points the bands are narrowed by for the search where
// tokens are not ordinary and the maths is not exact, or where it stops a little
// outside.
var margins = [...]int64{0, 1, 5, 25}

// rebalance answers an intent that trades a portfolio. Where a plan fails, it is
// tried again with fewer trades.
func (q *quest) rebalance(ctx context.Context) (Answer, error) {
	p, err := newPortfolio(ctx, q.state, q.order, q.funded.View())
	if err != nil {
		return Answer{}, err
	}
	best := Answer{Reason: "no trades bring every share into its band"}
	for _, flows := range legLimits {
		failed := false
		for _, margin := range margins {
			outcome, ordinary, err := q.balance(ctx, &best, p, flows, margin)
			if err != nil {
				return Answer{}, err
			}
			failed = outcome != nil && outcome.Cause != intent.CauseNone
			if best.Value != nil || failed || ordinary && outcome != nil {
				break
			}
		}
		if !failed {
			break
		}
	}
	return best, nil
}

// balance searches with bands that are narrower by a margin and executes what it
// finds. The outcome is nil where the search found nothing to execute; ordinary
// says that all tokens are, so that nothing is lost where it did.
func (q *quest) balance(ctx context.Context, best *Answer, p *portfolio, flows int, margin int64) (*chain.Outcome, bool, error) {
	o := q.o
	narrow := *p
	if narrow.threshold = new(big.Int).Sub(p.threshold, big.NewInt(margin)); narrow.threshold.Sign() < 0 {
		narrow.threshold = new(big.Int)
	}
	ordinary := true
	for _, token := range p.tokens {
		if t := o.tokens[token]; t != nil && !t.ordinary() {
			ordinary = false
		}
	}
	b, err := o.newBalancing(ctx, &narrow, flows)
	if err != nil {
		return nil, false, err
	}
	at, err := b.best(ctx)
	if err != nil {
		return nil, false, err
	}
	if _, off := p.tally(at.held); off.Sign() > 0 {
		return nil, ordinary, nil
	}
	plan, routes, err := q.balancePlan(ctx, b, at)
	if err != nil {
		return nil, false, err
	}
	for _, r := range routes {
		ordinary = ordinary && o.ordinary(r)
	}
	outcome, after, err := q.funded.Execute(ctx, plan)
	if err != nil {
		return nil, false, err
	}
	if outcome.Cause != intent.CauseNone {
		best.Reason = fmt.Sprintf("%s: %s", outcome.Cause, outcome.Detail)
		return outcome, ordinary, nil
	}
	held := make([]uint256.Int, len(p.tokens))
	for i, token := range p.tokens {
		w, err := call(ctx, after, token, 1, "balanceOf(address)", addressWord(q.order.Owner))
		if err != nil {
			return nil, false, err
		}
		if held[i] = w[0]; ordinary && !held[i].Eq(&at.held[i]) {
			return nil, false, fmt.Errorf("token %s: %w", token.Hex(), unconfirmed(&at.held[i], held[i].ToBig()))
		}
	}
	sum, off := p.tally(held)
	if off.Sign() > 0 || sum.Sign() == 0 {
		best.Reason = "the tokens on the way deliver too little to bring every share into its band"
		return outcome, ordinary, nil
	}
	*best = Answer{Value: sum, Found: sum, Plan: plan, Routes: routes}
	return outcome, ordinary, nil
}

// balancePlan makes the plan of a position: an allowance for each token that is
// sold, and an interaction for each flow.
func (q *quest) balancePlan(ctx context.Context, b *balancing, at *position) (intent.Plan, []Route, error) {
	o := q.o
	draft := o.newDraft(q.app, q.state)
	sold := make([]uint256.Int, len(b.p.tokens))
	for _, f := range at.flows {
		sum := &sold[b.lanes[f.lane].from]
		sum.Add(sum, &f.amount)
	}
	for i := range sold {
		if sold[i].IsZero() {
			continue
		}
		if err := o.allow(ctx, draft, q.funded.View(), b.p.tokens[i], q.order.Owner, &sold[i]); err != nil {
			return draft.plan, nil, err
		}
	}
	var routes []Route
	for i, f := range at.flows {
		l := b.lanes[f.lane]
		r := Route{In: b.p.tokens[l.from], Out: b.p.tokens[l.to], Legs: []Leg{o.leg(l.path, f.amount)}, Computed: &at.out[i]}
		o.addSwaps(draft, trade{order: q.order, in: r.In, out: r.Out, amount: f.amount, receiver: q.order.Owner}, r)
		if n := len(routes); n > 0 && routes[n-1].In == r.In && routes[n-1].Out == r.Out {
			last := &routes[n-1]
			last.Legs = append(last.Legs, r.Legs...)
			last.Computed = new(uint256.Int).Add(last.Computed, r.Computed)
			continue
		}
		routes = append(routes, r)
	}
	if len(draft.plan.Interactions) == 0 {
		// A plan must do something. This does nothing.
		draft.call(o.world.ChainID(), b.p.tokens[0], nil, encode("approve", o.routers.SwapRouter02, new(big.Int)))
	}
	return draft.plan, routes, nil
}
