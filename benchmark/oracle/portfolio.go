package oracle

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

const (
	wholeBPS     = 10_000
	maxPortfolio = 8   // tokens, as the rebalance app has it
	maxDecimals  = 77  // 10^77 is the largest power of ten below 2^256
	penalty      = 4   // what a unit of value beyond a band costs in a rank
	leastMove    = 200 // what is thought to have to move is at least 1/leastMove of all
)

// A portfolio is what an intent of type rebalance asks for.
type portfolio struct {
	tokens    []common.Address
	target    []*big.Int // by token, basis points of the whole
	threshold *big.Int   // basis points that a share may be off
	price     []*big.Int // by token: dollars a whole one, times 10^8
	unit      []*big.Int // by token: base units of a whole one
	held      []uint256.Int
	spend     []uint256.Int // by token: how much of it may be sold
}

// newPortfolio reads the lists of an intent and what its owner holds.
func newPortfolio(ctx context.Context, s intent.State, order chain.Order, v *chain.View) (*portfolio, error) {
	p := &portfolio{}
	tokens, err := texts(s, "tokens")
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 || len(tokens) > maxPortfolio {
		return nil, fmt.Errorf("%w: a portfolio of %d tokens", ErrIntent, len(tokens))
	}
	for _, text := range tokens {
		token, err := chain.ParseAddress(text)
		if err != nil || slices.Contains(p.tokens, token) {
			return nil, fmt.Errorf("%w: raw_params.tokens: %s is no address or stands twice", ErrIntent, intent.Quoted(text, 64))
		}
		p.tokens = append(p.tokens, token)
	}
	var decimals []*big.Int
	for _, list := range []struct {
		name string
		to   *[]*big.Int
	}{{"target_bps", &p.target}, {"prices", &p.price}, {"decimals", &decimals}} {
		if *list.to, err = amounts(s, list.name, len(p.tokens)); err != nil {
			return nil, err
		}
	}
	for _, n := range decimals {
		if n.Cmp(big.NewInt(maxDecimals)) > 0 {
			return nil, fmt.Errorf("%w: raw_params.decimals: %s", ErrIntent, n)
		}
		p.unit = append(p.unit, new(big.Int).Exp(big.NewInt(10), n, nil))
	}
	text, _ := s.RawParams["threshold_bps"].(string)
	threshold, err := intent.ParseAmount(text)
	if err != nil {
		return nil, fmt.Errorf("%w: raw_params.threshold_bps: %w", ErrIntent, err)
	}
	p.threshold = threshold.ToBig()
	for _, token := range p.tokens {
		w, err := call(ctx, v, token, 1, "balanceOf(address)", addressWord(order.Owner))
		if err != nil {
			return nil, err
		}
		var spend uint256.Int
		for _, g := range order.Grant {
			if g.Token == token {
				spend = *g.Amount
			}
		}
		if spend.Gt(&w[0]) {
			spend = w[0]
		}
		p.held, p.spend = append(p.held, w[0]), append(p.spend, spend)
	}
	return p, nil
}

// texts reads a list of strings.
func texts(s intent.State, name string) ([]string, error) {
	var list []string
	switch raw := s.RawParams[name].(type) {
	case []string:
		return raw, nil
	case []any:
		for _, v := range raw {
			text, ok := v.(string)
			if !ok {
				return nil, fmt.Errorf("%w: raw_params.%s: not a list of strings", ErrIntent, name)
			}
			list = append(list, text)
		}
		return list, nil
	}
	return nil, fmt.Errorf("%w: raw_params.%s: no list", ErrIntent, name)
}

// amounts reads a list of n amounts.
func amounts(s intent.State, name string, n int) ([]*big.Int, error) {
	raw, err := texts(s, name)
	if err != nil {
		return nil, err
	}
	if len(raw) != n {
		return nil, fmt.Errorf("%w: raw_params.%s: %d of %d", ErrIntent, name, len(raw), n)
	}
	list := make([]*big.Int, n)
	for i, text := range raw {
		amount, err := intent.ParseAmount(text)
		if err != nil {
			return nil, fmt.Errorf("%w: raw_params.%s[%d]: %w", ErrIntent, name, i, err)
		}
		list[i] = amount.ToBig()
	}
	return list, nil
}

// tally says what balances are worth, in dollars with 8 decimals, and how far
// shares are outside their bands: the sum over the tokens, times 10,000. The
// scorer of the rebalance app counts the same.
func (p *portfolio) tally(held []uint256.Int) (sum, off *big.Int) {
	sum, off = new(big.Int), new(big.Int)
	values := make([]*big.Int, len(held))
	for i := range held {
		values[i] = new(big.Int).Mul(held[i].ToBig(), p.price[i])
		sum.Add(sum, values[i].Quo(values[i], p.unit[i]))
	}
	slack := new(big.Int).Mul(p.threshold, sum)
	for i, v := range values {
		v.Mul(v, big.NewInt(wholeBPS))
		v.Sub(v, new(big.Int).Mul(p.target[i], sum))
		if v.Abs(v); v.Cmp(slack) > 0 {
			off.Add(off, v.Sub(v, slack))
		}
	}
	return sum, off
}

// rank orders balances for the search: value, less what the bands are missed by.
func rank(sum, off *big.Int) *big.Int {
	z := new(big.Int).Mul(sum, big.NewInt(wholeBPS))
	return z.Sub(z, new(big.Int).Mul(off, big.NewInt(penalty)))
}

// quanta returns how much of each token is worth 1/parts of what has to move, at
// least 1.
func (p *portfolio) quanta(parts int64) []uint256.Int {
	sum, off := p.tally(p.held)
	// Half of what is off has to move: it is counted where it is and where not.
	base := off.Quo(off, big.NewInt(2*wholeBPS))
	if least := new(big.Int).Quo(sum, big.NewInt(leastMove)); base.Cmp(least) < 0 {
		base = least
	}
	list := make([]uint256.Int, len(p.tokens))
	for i := range list {
		n := new(big.Int)
		if p.price[i].Sign() > 0 {
			n.Mul(base, p.unit[i])
			n.Quo(n, p.price[i])
		} else {
			n = p.spend[i].ToBig()
		}
		n.Quo(n, big.NewInt(parts))
		if overflow := list[i].SetFromBig(n); overflow || list[i].Gt(&p.spend[i]) {
			list[i] = p.spend[i]
		}
		if list[i].IsZero() {
			list[i] = *one
		}
	}
	return list
}
