package route

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
)

// A trader is what the strategies of swaps, limit orders and chunks have in common.
type trader struct {
	desk *Desk
	app  string
	read func(intent.State) (order, error)
}

func (t *trader) AppID() string                      { return t.app }
func (t *trader) IntentFunctions() []string          { return nil }
func (t *trader) Initialize(intent.InitConfig) error { return nil }

// An offer is what an order can get.
type offer struct {
	order
	*book
	deal   deal
	direct []intent.Interaction // no trade is needed
}

// offer finds what an intent's order can get.
func (t *trader) offer(r intent.Request) (f offer, err error) {
	if f.order, err = t.read(r.State); err != nil {
		return f, err
	}
	if f.book, err = t.desk.open(r.Snapshot); err != nil {
		return f, err
	}
	if f.direct = f.convert(f.order); f.direct != nil {
		f.deal.out = f.amount
		return f, nil
	}
	f.deal, err = f.best(f.market(), f.token(f.in), f.token(f.out), &f.amount)
	return f, err
}

// GeneratePlan implements [sdk.Strategy].
func (t *trader) GeneratePlan(r intent.Request) (intent.Plan, error) {
	f, err := t.offer(r)
	if err != nil {
		return intent.Plan{}, err
	}
	if f.deal.out.Lt(&f.minimum) {
		return intent.Plan{}, fmt.Errorf("the best there is gives %s, the intent wants %s", f.deal.out.Dec(), f.minimum.Dec())
	}
	p := newPlan(r, f.book)
	p.Metadata = map[string]any{"route": f.summary(), "quoted_output": f.deal.out.Dec()}
	if p.Interactions = f.direct; f.direct != nil {
		return p, nil
	}
	if !f.in.IsZero() {
		if p.Interactions, err = f.approvals(t.desk.connect(f.chain), f.owner, f.in, &f.amount); err != nil {
			return intent.Plan{}, err
		}
	}
	p.Interactions = append(p.Interactions, f.swap(f.order, f.deal))
	return p, nil
}

func newPlan(r intent.Request, b *book) intent.Plan {
	return intent.Plan{IntentID: r.IntentID, Nonce: r.State.Nonce, Deadline: b.time + validity}
}

// Quote implements [sdk.Quoter].
func (t *trader) Quote(r intent.Request) (intent.Quote, error) {
	f, err := t.offer(r)
	if err != nil {
		return intent.Quote{}, err
	}
	const gasOfFirst = 200_000
	q := intent.Quote{
		EstimatedOutput: f.deal.out.Dec(), PlatformFeeWei: "0", RouteSummary: f.summary(),
		GasEstimate: gasOfFirst + uint64(max(len(f.deal.shares)-1, 0))*legGas, ComputedParams: map[string]string{},
	}
	if r.Intent.Manifest == nil {
		return q, nil
	}
	for param, field := range r.Intent.Manifest.Quote {
		switch field {
		case "estimated_output", "estimated_output_gross":
			q.ComputedParams[param] = q.EstimatedOutput
		case "suggested_min_output":
			q.ComputedParams[param] = f.floor(&f.deal.out).Dec()
		case "platform_fee_wei":
			q.ComputedParams[param] = "0"
		case "gas_estimate":
			q.ComputedParams[param] = strconv.FormatUint(q.GasEstimate, 10)
		}
	}
	return q, nil
}

// summary names the route for people.
func (f offer) summary() string {
	if f.direct != nil {
		return "no trade"
	}
	var legs []string
	for _, s := range f.deal.shares {
		percent := new(uint256.Int).Mul(&s.in, uint256.NewInt(100))
		legs = append(legs, fmt.Sprintf("%s%% over %d pools", percent.Div(percent, &f.amount).Dec(), len(s.path)))
	}
	return strings.Join(legs, ", ")
}

// A Swap is the strategy of app_swap. It also keeps what its desk learned.
type Swap struct{ trader }

// NewSwap returns the strategy of app_swap.
func NewSwap(d *Desk) *Swap { return &Swap{trader{d, "app_swap", swapOrder}} }

var (
	_ sdk.Strategy    = (*Swap)(nil)
	_ sdk.Quoter      = (*Swap)(nil)
	_ sdk.StateKeeper = (*Swap)(nil)
)

// SerializeState implements [sdk.StateKeeper].
func (s *Swap) SerializeState() ([]byte, error) { return s.desk.memory.serialize() }

// RestoreState implements [sdk.StateKeeper].
func (s *Swap) RestoreState(data []byte) error {
	m, err := restoreMemory(data)
	if err == nil {
		s.desk.memory = m
	}
	return err
}
