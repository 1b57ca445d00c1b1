package route

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

// A Rebalance is the strategy of app_rebalance. It sells of what weighs too much for
// what weighs too little, no more than brings both into the band.
type Rebalance struct {
	desk *Desk
}

// NewRebalance returns the strategy of app_rebalance.
func NewRebalance(d *Desk) *Rebalance { return &Rebalance{d} }

var _ sdk.Strategy = (*Rebalance)(nil)

// AppID implements [sdk.Strategy].
func (r *Rebalance) AppID() string { return "app_rebalance" }

// IntentFunctions implements [sdk.Strategy].
func (r *Rebalance) IntentFunctions() []string { return nil }

// Initialize implements [sdk.Strategy].
func (r *Rebalance) Initialize(intent.InitConfig) error { return nil }

// A holding is one token of a portfolio.
type holding struct {
	token  abi.Address
	amount uint256.Int // base units
	price  *big.Int    // dollars of 8 decimals for one token
	unit   *big.Int    // base units of one token
	target *big.Int    // basis points
}

func (h *holding) value() *big.Int {
	v := new(big.Int).Mul(h.amount.ToBig(), h.price)
	return v.Quo(v, h.unit)
}

// A portfolio is holdings and the band that they have to be in.
type portfolio struct {
	holdings  []holding
	threshold *big.Int // basis points
}

var errLists = errors.New("tokens, target_bps, prices and decimals differ in length or are no lists")

func newPortfolio(s intent.State) (portfolio, error) {
	var p portfolio
	list := func(name string) []any { l, _ := s.RawParams[name].([]any); return l }
	tokens, targets, prices, decimals := list("tokens"), list("target_bps"), list("prices"), list("decimals")
	n := len(tokens)
	if n == 0 || len(targets) != n || len(prices) != n || len(decimals) != n {
		return p, errLists
	}
	threshold, err := amountParam(s, "threshold_bps")
	if err != nil {
		return p, err
	}
	p.threshold = threshold.ToBig()
	fund, _ := s.Control["_fund"].(map[string]any)
	held := map[abi.Address]any{}
	for token, value := range fund {
		if a, err := abi.ParseAddress(token); err == nil {
			held[a] = value
		}
	}
	for i := range n {
		var h holding
		if h.token, err = abi.ParseAddress(textOf(tokens[i])); err != nil {
			return p, fmt.Errorf("tokens[%d]: %w", i, err)
		}
		var target, price, places uint256.Int
		fields := map[string]any{"target_bps": targets[i], "prices": prices[i], "decimals": decimals[i], "_fund": "0"}
		if v, ok := held[h.token]; ok {
			fields["_fund"] = v
		}
		for _, f := range []struct {
			into *uint256.Int
			name string
		}{{&target, "target_bps"}, {&price, "prices"}, {&places, "decimals"}, {&h.amount, "_fund"}} {
			if err := amount(f.into, fields, f.name); err != nil {
				return p, fmt.Errorf("%s[%d]: %w", f.name, i, err)
			}
		}
		if places.GtUint64(77) {
			return p, fmt.Errorf("decimals[%d]: more than 77", i)
		}
		h.target, h.price = target.ToBig(), price.ToBig()
		h.unit = new(big.Int).Exp(big.NewInt(10), places.ToBig(), nil)
		p.holdings = append(p.holdings, h)
	}
	return p, nil
}

// off is how far each holding's value is from its target, times 10000, and the value
// of all.
func (p portfolio) off() ([]*big.Int, *big.Int) {
	sum := new(big.Int)
	for i := range p.holdings {
		sum.Add(sum, p.holdings[i].value())
	}
	out := make([]*big.Int, len(p.holdings))
	for i := range p.holdings {
		h := &p.holdings[i]
		out[i] = new(big.Int).Mul(h.value(), big.NewInt(fullBPS))
		out[i].Sub(out[i], new(big.Int).Mul(h.target, sum))
	}
	return out, sum
}

// next says which holding to sell for which, and what value of it, times 10000. It is
// false if every one is within share/100 of its band.
func (p portfolio) next(share int64) (from, to int, value *big.Int, ok bool) {
	off, sum := p.off()
	band := new(big.Int).Mul(p.threshold, sum)
	band.Mul(band, big.NewInt(share)).Quo(band, big.NewInt(100))
	within := true
	for i := range off {
		if off[i].CmpAbs(band) > 0 {
			within = false
		}
		if off[i].Cmp(off[from]) > 0 {
			from = i
		}
		if off[i].Cmp(off[to]) < 0 {
			to = i
		}
	}
	if within || off[from].Sign() <= 0 || off[to].Sign() >= 0 {
		return 0, 0, nil, false
	}
	// Whichever is further out is brought to the edge of its band, if the other is far
	// enough from its target for that.
	excess := new(big.Int).Sub(off[from], band)
	if lack := new(big.Int).Sub(new(big.Int).Neg(off[to]), band); lack.Cmp(excess) > 0 {
		excess = lack
	}
	for _, most := range []*big.Int{off[from], new(big.Int).Neg(off[to])} {
		if limit := new(big.Int).Add(most, band); excess.Cmp(limit) > 0 {
			excess = limit
		}
	}
	return from, to, excess, excess.Sign() > 0
}

// GeneratePlan implements [sdk.Strategy].
func (r *Rebalance) GeneratePlan(q intent.Request) (intent.Plan, error) {
	b, err := r.desk.open(q.Snapshot)
	if err != nil {
		return intent.Plan{}, err
	}
	// A band less wide than the intent's leaves room for what pools do to the weights;
	// the widest that still ends inside costs least.
	for _, share := range []int64{99, 95, 85, 60, 30, 5} {
		p, sales, err := r.sales(b, q.State, share)
		if err != nil {
			return intent.Plan{}, err
		}
		if sales == nil {
			continue
		}
		if _, _, _, more := p.next(100); !more {
			return r.plan(b, q, p, sales)
		}
	}
	return intent.Plan{}, errors.New("the portfolio does not come into its band")
}

// A sale is a deal between two tokens of a portfolio.
type sale struct {
	order
	deal deal
}

// sales trades until every holding is within its band, aiming at share/100 of it. The
// result is nil if that does not come to an end.
func (r *Rebalance) sales(b *book, s intent.State, share int64) (portfolio, []sale, error) {
	p, err := newPortfolio(s)
	if err != nil {
		return p, nil, err
	}
	owner, err := abi.ParseAddress(s.Owner)
	if err != nil {
		return p, nil, fmt.Errorf("owner: %w", err)
	}
	m := b.market()
	out := []sale{}
	trade := func(from, to int, amount *uint256.Int, d deal) error {
		if err := b.sell(m, d); err != nil {
			return err
		}
		h, g := &p.holdings[from], &p.holdings[to]
		h.amount.Sub(&h.amount, amount)
		g.amount.Add(&g.amount, &d.out)
		out = append(out, sale{order{owner: owner, receiver: owner, in: h.token, out: g.token, amount: *amount}, d})
		return nil
	}
	// Where pools pay more than the intent's prices say, a detour is worth it.
	for from := range p.holdings {
		for to := range p.holdings {
			if amount, d, ok := b.bargain(m, &p.holdings[from], &p.holdings[to]); from != to && ok {
				if err := trade(from, to, amount, d); err != nil {
					return p, nil, nil
				}
			}
		}
	}
	for range 3 * len(p.holdings) {
		if _, _, _, more := p.next(100); !more {
			return p, out, nil
		}
		from, to, value, more := p.next(share)
		if !more {
			return p, out, nil
		}
		h := &p.holdings[from]
		size := value.Mul(value, h.unit)
		size.Quo(size, new(big.Int).Mul(h.price, big.NewInt(fullBPS)))
		amount, over := uint256.FromBig(size)
		if over || amount.IsZero() || amount.Gt(&h.amount) {
			return p, nil, nil
		}
		d, err := b.best(m, b.token(h.token), b.token(p.holdings[to].token), amount)
		if err != nil {
			return p, nil, nil
		}
		if err := trade(from, to, amount, d); err != nil {
			return p, nil, nil
		}
	}
	return p, nil, nil
}

// bargainBPS is what a detour has to bring beyond the intent's prices.
const bargainBPS = 50

// bargain finds how much of a holding to sell for another because that alone makes the
// portfolio worth more, and by the widest margin; false if nothing does.
func (b *book) bargain(m market, from, to *holding) (*uint256.Int, deal, bool) {
	gain := func(sold, bought *uint256.Int) (*big.Int, bool) {
		a, b := holding{amount: *sold, price: from.price, unit: from.unit}, holding{amount: *bought, price: to.price, unit: to.unit}
		least := new(big.Int).Mul(a.value(), big.NewInt(bargainBPS))
		least.Quo(least, big.NewInt(fullBPS))
		z := b.value()
		return z, z.Sub(z, a.value()).Cmp(least) >= 0 && z.Sign() > 0
	}
	// A path that does not pay for a little pays for no more.
	little := new(uint256.Int).Div(&from.amount, uint256.NewInt(128))
	all := b.paths(m, b.token(from.token), b.token(to.token), little)
	if len(all) == 0 {
		return nil, deal{}, false
	}
	if _, ok := gain(little, &all[0].amount); !ok {
		return nil, deal{}, false
	}
	var most *big.Int
	var size *uint256.Int
	var best deal
	for _, part := range []uint64{2, 4, 8, 16, 32, 64, 128} {
		amount := new(uint256.Int).Div(&from.amount, uint256.NewInt(part))
		d, err := b.best(m, b.token(from.token), b.token(to.token), amount)
		if err != nil {
			continue
		}
		if z, ok := gain(amount, &d.out); ok && (most == nil || z.Cmp(most) > 0) {
			most, size, best = z, amount, d
		}
	}
	return size, best, most != nil
}

// plan makes the calls of sales. An allowance is given once a token. A portfolio that
// needs no sale takes away an allowance that it has not given: a plan without a call is
// none.
func (r *Rebalance) plan(b *book, q intent.Request, held portfolio, sales []sale) (intent.Plan, error) {
	p := newPlan(q, b)
	p.Metadata = map[string]any{"sales": len(sales)}
	if len(sales) == 0 {
		none := abi.Pack(selApprove, abi.Addr(b.router), abi.Uint(nothing))
		p.Interactions = []intent.Interaction{b.call(held.holdings[0].token, nothing, none)}
	}
	sold := map[abi.Address]*uint256.Int{}
	var tokens []abi.Address
	for i := range sales {
		token := sales[i].in
		if sold[token] == nil {
			sold[token] = new(uint256.Int)
			tokens = append(tokens, token)
		}
		sold[token].Add(sold[token], &sales[i].amount)
	}
	for _, token := range tokens {
		calls, err := b.approvals(r.desk.connect(b.chain), sales[0].owner, token, sold[token])
		if err != nil {
			return p, err
		}
		p.Interactions = append(p.Interactions, calls...)
	}
	for _, s := range sales {
		p.Interactions = append(p.Interactions, b.swap(s.order, s.deal))
	}
	return p, nil
}
