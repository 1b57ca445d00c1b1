package direct

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
)

const (
	validity    = 300    // seconds a plan is good for
	slippageBPS = 50     // basis points below the offer at which a swap reverts
	fullBPS     = 10_000 // basis points of the whole
	wrapGas     = 60_000 // of wrapping and passing on
	maxPlanned  = 4096   // intents of one batch to learn from
)

// A Solver answers swaps. It is made by [New].
type Solver struct {
	connect func(chainID uint64) *sdk.Client
	memory  memory
	planned map[string]string // intent id: pair, of plans made since the batch began
}

var (
	_ sdk.Solver           = (*Solver)(nil)
	_ sdk.Quoter           = (*Solver)(nil)
	_ sdk.TriggerChecker   = (*Solver)(nil)
	_ sdk.BenchmarkStarter = (*Solver)(nil)
	_ sdk.BenchmarkEnder   = (*Solver)(nil)
	_ sdk.StateKeeper      = (*Solver)(nil)
)

// New returns a solver that reads chains through connect: in a guest that is
// [sdk.RPC].
func New(connect func(chainID uint64) *sdk.Client) *Solver {
	return &Solver{connect: connect, memory: newMemory(), planned: make(map[string]string)}
}

// Metadata implements [sdk.Solver].
func (s *Solver) Metadata() intent.Metadata {
	return intent.Metadata{
		Name:                 "direct-swap",
		Version:              "1.0.0",
		Author:               "assay",
		Description:          "Best single pool of Uniswap V2 and V3, priced on chain",
		SupportedChains:      []uint64{1},
		SupportedIntentTypes: []string{"swap", "limit_order"},
	}
}

// Initialize implements [sdk.Solver]. There is nothing to prepare: pools are
// found when a pair is first asked for.
func (s *Solver) Initialize(intent.InitConfig) error { return nil }

// A decision is everything about an intent but the calls.
type decision struct {
	route
	key   string // of the pair, empty for wrapping
	offer offer
}

// decide finds what the intent's order can get.
func (s *Solver) decide(c *sdk.Client, r intent.Request) (decision, error) {
	o, err := newOrder(r.State)
	if err != nil {
		return decision{}, err
	}
	d, known := deployments[o.chain]
	if !known {
		return decision{}, fmt.Errorf("chain %d is not supported", o.chain)
	}
	at, err := now(c, r.Snapshot)
	if err != nil {
		return decision{}, err
	}
	choice := decision{route: route{order: o, deployment: d, deadline: at.time + validity}}
	in, out := o.path(d)
	if in == out {
		choice.offer = offer{amount: o.amount}
		return choice, nil
	}
	choice.key = pairKey(o.chain, in, out)
	p, fresh := s.memory.fresh(choice.key, at.block)
	if !fresh {
		pools, certain, err := discover(c, d, in, out)
		if err != nil {
			return decision{}, err
		}
		p = pair{Block: at.block, Pools: pools, KeepsFee: p.KeepsFee && slices.Contains(pools, v2)}
		if certain {
			s.memory.remember(choice.key, p)
		}
	}
	pools := p.Pools
	if p.KeepsFee {
		pools = []venue{v2}
	}
	if choice.offer, err = bestOffer(c, d, pools, in, out, o.amount); err != nil {
		return decision{}, err
	}
	choice.venue, choice.keepsFee = choice.offer.venue, p.KeepsFee
	choice.floor = choice.leastOutput()
	return choice, nil
}

// leastOutput is what the swap must bring or revert: the intent's minimum or the
// offer less slippage, whichever is more. What a token keeps of a transfer is
// not known beforehand, so there only the intent's minimum holds.
func (d decision) leastOutput() *uint256.Int {
	least := lessSlippage(d.offer.amount)
	if d.keepsFee || least.Lt(d.minimum) {
		return d.minimum
	}
	return least
}

func lessSlippage(amount *uint256.Int) *uint256.Int {
	// The product is divided at 512 bits and the ratio is below one.
	less, _ := new(uint256.Int).MulDivOverflow(amount, uint256.NewInt(fullBPS-slippageBPS), uint256.NewInt(fullBPS))
	return less
}

// enough reports whether the offer reaches the intent's minimum.
func (d decision) enough() bool { return !d.offer.amount.Lt(d.minimum) }

// GeneratePlan implements [sdk.Solver].
func (s *Solver) GeneratePlan(r intent.Request) (intent.Plan, error) {
	c := s.connect(r.State.ChainID)
	d, err := s.decide(c, r)
	if err != nil {
		return intent.Plan{}, err
	}
	if !d.enough() {
		return intent.Plan{}, fmt.Errorf("best direct route gives %s, the intent wants %s", d.offer.amount.Dec(), d.minimum.Dec())
	}
	p := intent.Plan{
		IntentID: r.IntentID,
		Deadline: d.deadline,
		Nonce:    r.State.Nonce,
		Metadata: map[string]any{"route": d.summary(), "quoted_output": d.offer.amount.Dec()},
	}
	if d.key == "" {
		p.Interactions = d.wrap(d.deployment)
		return p, nil
	}
	if p.Interactions, err = d.approvals(c); err != nil {
		return intent.Plan{}, err
	}
	p.Interactions = append(p.Interactions, d.swap())
	if len(s.planned) < maxPlanned {
		s.planned[r.IntentID] = d.key
	}
	return p, nil
}

// Quote implements [sdk.Quoter]. Its computed parameters are those the app's
// manifest asks for by name.
func (s *Solver) Quote(r intent.Request) (intent.Quote, error) {
	d, err := s.decide(s.connect(r.State.ChainID), r)
	if err != nil {
		return intent.Quote{}, err
	}
	gas := uint64(wrapGas)
	if d.key != "" {
		gas = d.venue.gas()
	}
	q := intent.Quote{
		EstimatedOutput: d.offer.amount.Dec(),
		ComputedParams:  make(map[string]string),
		RouteSummary:    d.summary(),
		GasEstimate:     gas,
	}
	if r.Intent.Manifest == nil {
		return q, nil
	}
	for param, field := range r.Intent.Manifest.Quote {
		switch field {
		case "estimated_output", "estimated_output_gross":
			q.ComputedParams[param] = q.EstimatedOutput
		case "suggested_min_output":
			q.ComputedParams[param] = lessSlippage(d.offer.amount).Dec()
		case "platform_fee_wei":
			q.ComputedParams[param] = "0"
		case "gas_estimate":
			q.ComputedParams[param] = strconv.FormatUint(gas, 10)
		}
	}
	return q, nil
}

// CheckTrigger implements [sdk.TriggerChecker]: an order waits until its
// minimum can be had.
func (s *Solver) CheckTrigger(r intent.Request) (bool, error) {
	d, err := s.decide(s.connect(r.State.ChainID), r)
	if err != nil {
		return false, err
	}
	return d.enough(), nil
}

// OnBenchmarkStart implements [sdk.BenchmarkStarter].
func (s *Solver) OnBenchmarkStart(int) error {
	clear(s.planned)
	return nil
}

// OnBenchmarkEnd implements [sdk.BenchmarkEnder]. The state at the pin does not
// move between offer and swap, so a planned swap that earned nothing says
// something about its tokens.
func (s *Solver) OnBenchmarkEnd(results []intent.Result) error {
	for _, r := range results {
		key, planned := s.planned[r.IntentID]
		if !planned || !isZero(r.Score) {
			continue
		}
		if p := s.memory.Pairs[key]; slices.Contains(p.Pools, v2) {
			p.KeepsFee = !p.KeepsFee
			s.memory.Pairs[key] = p
		}
	}
	clear(s.planned)
	return nil
}

// SerializeState implements [sdk.StateKeeper].
func (s *Solver) SerializeState() ([]byte, error) { return s.memory.serialize() }

// RestoreState implements [sdk.StateKeeper].
func (s *Solver) RestoreState(data []byte) error {
	m, err := restoreMemory(data)
	if err != nil {
		return err
	}
	s.memory = m
	return nil
}

// summary names the route for people.
func (d decision) summary() string {
	if d.key == "" {
		return "wrapped native token"
	}
	in, out := d.path(d.deployment)
	summary := d.venue.protocol()
	if d.venue != v2 {
		summary += " " + strconv.FormatUint(uint64(d.venue), 10)
	}
	return summary + " " + in.String() + " > " + out.String()
}
