package intent

import (
	"encoding/json"
	"strconv"
)

// SwapOf returns the typed context of a swap or a limit order, as [BuildContext]
// made it or as it came out of JSON; false if the state has another or none. It
// copies the few fields and decodes nothing, so a guest may ask in every call.
func SwapOf(s State) (SwapContext, bool) {
	switch c := s.TypedContext.(type) {
	case SwapContext:
		return c, true
	case map[string]any:
		p := reader{m: c}
		out := p.swap(p.base(), "")
		return out, !p.bad && p.has("input_amount")
	}
	return SwapContext{}, false
}

// TwapOf is [SwapOf] for a chunk of a TWAP.
func TwapOf(s State) (TwapContext, bool) {
	switch c := s.TypedContext.(type) {
	case TwapContext:
		return c, true
	case map[string]any:
		p := reader{m: c}
		out := p.twap(p.base(), "")
		return out, !p.bad
	}
	return TwapContext{}, false
}

// RebalanceOf is [SwapOf] for the rebalancing of a portfolio.
func RebalanceOf(s State) (RebalanceContext, bool) {
	switch c := s.TypedContext.(type) {
	case RebalanceContext:
		return c, true
	case map[string]any:
		p := reader{m: c}
		out := p.rebalance(p.base())
		return out, !p.bad
	}
	return RebalanceContext{}, false
}

// BaseOf returns what every typed context has; false if the state has none.
func BaseOf(s State) (BaseContext, bool) {
	switch c := s.TypedContext.(type) {
	case BaseContext:
		return c, true
	case SwapContext:
		return c.BaseContext, true
	case TwapContext:
		return c.BaseContext, true
	case RebalanceContext:
		return c.BaseContext, true
	case map[string]any:
		p := reader{m: c}
		out := p.base()
		return out, !p.bad
	}
	return BaseContext{}, false
}

// A reader takes typed values out of free JSON. It remembers whether one of them
// was not what was asked for.
type reader struct {
	m   map[string]any
	bad bool
}

func (p *reader) base() BaseContext {
	raw, ok := p.m["raw_params"].(map[string]any)
	p.bad = p.bad || !ok
	return BaseContext{
		AppID:           p.text("", "app_id"),
		IntentFunction:  p.maybe("intent_function"),
		ChainID:         p.count("", "chain_id"),
		Owner:           p.maybe("owner"),
		ContractAddress: p.maybe("contract_address"),
		Nonce:           p.count("", "nonce"),
		RawParams:       raw,
		ContextVersion:  p.text("", "context_version"),
	}
}

func (p *reader) has(name string) bool { return present(p.m[name]) }

// present reports whether a parameter says something: null and "" do not.
func present(v any) bool { return v != nil && v != "" }

// scalar is the text of the first of names that is present: a string, or a number
// as it was written. Where none is, it is absent, and "" makes that a fault.
func (p *reader) scalar(absent string, names []string) string {
	for _, name := range names {
		v := p.m[name]
		if !present(v) {
			continue
		}
		text, ok := scalarText(v)
		p.bad = p.bad || !ok
		return text
	}
	p.bad = p.bad || absent == ""
	return absent
}

func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return string(v), true
	}
	return "", false
}

// text is a string.
func (p *reader) text(absent string, names ...string) string { return p.scalar(absent, names) }

// maybe is a string that may be empty.
func (p *reader) maybe(name string) string {
	text, _ := p.m[name].(string)
	return text
}

// amount is a decimal below 2^256.
func (p *reader) amount(absent string, names ...string) string {
	text := p.scalar(absent, names)
	if _, err := ParseAmount(text); err != nil {
		p.bad = true
	}
	return text
}

// count is an integer that JSON can say.
func (p *reader) count(absent string, names ...string) uint64 {
	n, err := strconv.ParseUint(p.amount(absent, names...), 10, 64)
	if err != nil || n > MaxSafeInteger {
		p.bad = true
		return 0
	}
	return n
}

// address is 0x and 40 hex digits, spelled as it was.
func (p *reader) address(absent string, names ...string) string {
	text := p.scalar(absent, names)
	p.bad = p.bad || !isAddress(text)
	return text
}

func isAddress(s string) bool { return len(s) == 42 && isHex(s) }
