package intent

import (
	"math/big"
	"strconv"
	"strings"
)

// usdDecimals is how many decimals a price in dollars has.
const usdDecimals = 8

// newRebalance reads a portfolio given as lists in one order: tokens, target_bps,
// threshold_bps, prices, decimals. What the portfolio is worth now follows from
// what the owner is funded with.
func newRebalance(base BaseContext, s State) (any, bool) {
	p := reader{m: base.RawParams}
	tokens, targets := p.list("tokens"), p.list("target_bps")
	decimals := p.list("decimals")
	threshold := p.count("", "threshold_bps")
	c := RebalanceContext{
		BaseContext:        base,
		TargetAllocations:  map[string]string{},
		CurrentAllocations: map[string]string{},
		ThresholdPct:       percent(threshold),
		TotalValueUSD:      "0",
		TokenAddresses:     map[string]string{},
		TokenDecimals:      map[string]uint64{},
	}
	if p.bad || len(tokens) == 0 || len(targets) != len(tokens) || len(decimals) != len(tokens) {
		return nil, false
	}
	for i, token := range tokens {
		target, okTarget := smallInt(targets[i], maxBPS)
		places, okPlaces := smallInt(decimals[i], maxTokenDecimals)
		if !isAddress(token) || !okTarget || !okPlaces || c.TokenAddresses[token] != "" {
			return nil, false
		}
		c.TargetAllocations[token] = percent(target)
		c.TokenAddresses[token], c.TokenDecimals[token] = token, places
	}
	c.weigh(s, tokens)
	return c, true
}

// maxTokenDecimals is what the uint8 of an ERC-20 can say.
const maxTokenDecimals = 255

// weigh fills in what the portfolio is worth now, if every holding has a price.
func (c *RebalanceContext) weigh(s State, tokens []string) {
	p := reader{m: c.RawParams}
	prices := p.list("prices")
	fund, ok := s.Control["_fund"].(map[string]any)
	if p.bad || !ok || len(prices) != len(tokens) {
		return
	}
	held := map[string]any{}
	for token, amount := range fund {
		held[strings.ToLower(token)] = amount
	}
	values, total := make([]*big.Int, len(tokens)), new(big.Int)
	for i, token := range tokens {
		key := strings.ToLower(token)
		amount := "0"
		if present(held[key]) {
			if amount, ok = scalarText(held[key]); !ok {
				return
			}
		}
		n, errAmount := ParseAmount(amount)
		price, errPrice := ParseAmount(prices[i])
		if errAmount != nil || errPrice != nil {
			return
		}
		unit := new(big.Int).Exp(big.NewInt(10), new(big.Int).SetUint64(c.TokenDecimals[token]), nil)
		values[i] = new(big.Int).Mul(n.ToBig(), price.ToBig())
		total.Add(total, values[i].Quo(values[i], unit))
	}
	if total.Sign() == 0 {
		return
	}
	for i, token := range tokens {
		share := new(big.Int).Mul(values[i], big.NewInt(maxBPS))
		c.CurrentAllocations[token] = percent(share.Quo(share, total).Uint64())
	}
	c.TotalValueUSD = fixedPoint(total.String(), usdDecimals)
}

// rebalance reads a context back.
func (p *reader) rebalance(base BaseContext) RebalanceContext {
	c := RebalanceContext{
		BaseContext:        base,
		TargetAllocations:  p.texts("target_allocations"),
		CurrentAllocations: p.texts("current_allocations"),
		ThresholdPct:       p.text("", "threshold_pct"),
		TotalValueUSD:      p.text("", "total_value_usd"),
		TokenAddresses:     p.texts("token_addresses"),
		TokenDecimals:      map[string]uint64{},
	}
	for token, places := range p.texts("token_decimals") {
		n, ok := smallInt(places, maxTokenDecimals)
		p.bad = p.bad || !ok
		c.TokenDecimals[token] = n
	}
	return c
}

// list is an array of strings or numbers, as text.
func (p *reader) list(name string) []string {
	if texts, ok := p.m[name].([]string); ok { // a state that was never JSON
		return texts
	}
	values, ok := p.m[name].([]any)
	p.bad = p.bad || !ok
	out := make([]string, 0, len(values))
	for _, v := range values {
		text, ok := scalarText(v)
		p.bad = p.bad || !ok
		out = append(out, text)
	}
	return out
}

// texts is an object of strings or numbers, as text.
func (p *reader) texts(name string) map[string]string {
	values, ok := p.m[name].(map[string]any)
	p.bad = p.bad || !ok
	out := make(map[string]string, len(values))
	for key, v := range values {
		text, ok := scalarText(v)
		p.bad = p.bad || !ok
		out[key] = text
	}
	return out
}

func smallInt(text string, limit uint64) (uint64, bool) {
	if _, err := ParseAmount(text); err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil && n <= limit
}

// percent writes basis points as percent: 1250 is 12.5.
func percent(bps uint64) string { return fixedPoint(strconv.FormatUint(bps, 10), 2) }

// fixedPoint puts the point into digits and drops the zeros after it.
func fixedPoint(digits string, places int) string {
	if n := places + 1 - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	whole, fraction := digits[:len(digits)-places], strings.TrimRight(digits[len(digits)-places:], "0")
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}
