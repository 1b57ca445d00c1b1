package benchmark

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/intent"
)

// scaled are the parameters that are amounts of a trade, in the field's spellings.
var scaled = map[string]bool{
	"input_amount": true, "amount": true, "amountPerBuy": true, "amount_per_buy": true, "total_amount": true,
	"min_output_amount": true, "output_amount": true, "minAmountOut": true, "min_amount_out": true, "min_output_per_chunk": true,
}

// personal are the parameters that say whose an intent is, or that only one quote or
// signature has.
var personal = map[string]bool{
	"receiver": true, "recipient": true, "owner": true,
	"quoted_output": true, "platform_fee_wei": true, "intent_params_hex": true,
	"permit_deadline": true, "permit_v": true, "permit_r": true, "permit_s": true,
}

// A shape says what an intent trades, roughly: app, function, chain and parameters,
// amounts by their decade, without what is personal. Of two intents of one shape a
// pack has one.
func shapeOf(app string, s intent.State) (string, error) {
	params := map[string]any{}
	for name, value := range s.RawParams {
		switch {
		case personal[name]:
		case scaled[name]:
			if !strings.HasPrefix(name, "min") && name != "output_amount" {
				params[name] = decade(fmt.Sprint(value))
			}
		default:
			params[name] = value
		}
	}
	fund, _ := s.Control["_fund"].(map[string]any)
	grants := map[string]any{}
	for token, amount := range fund {
		grants[strings.ToLower(token)] = decade(fmt.Sprint(amount))
	}
	b, err := intent.Canonical(map[string]any{
		"app": app, "function": s.Control["_intent_function"], "chain": s.ChainID, "params": params, "fund": grants,
	})
	return string(b), err
}

// decade is the power of ten of an amount, the amount itself where it is none.
func decade(amount string) string {
	if _, err := intent.ParseAmount(amount); err != nil {
		return amount
	}
	return fmt.Sprintf("e%d", len(amount)-1)
}

// perturb multiplies the amounts of an intent by thousandths/1000, rounded down but
// never to 0, and leaves its maps to the original.
func perturb(d intent.Definition, s intent.State, thousandths uint64) intent.State {
	factor := func(v any) any {
		amount, err := intent.ParseAmount(fmt.Sprint(v))
		if err != nil || amount.IsZero() {
			return v
		}
		n := amount.ToBig()
		n.Mul(n, new(big.Int).SetUint64(thousandths)).Quo(n, big.NewInt(1000))
		if n.Sign() == 0 {
			n.SetUint64(1)
		}
		return n.String()
	}
	s.RawParams = maps.Clone(s.RawParams)
	for name, value := range s.RawParams {
		if scaled[name] {
			s.RawParams[name] = factor(value)
		}
	}
	if fund, ok := s.Control["_fund"].(map[string]any); ok {
		fund = maps.Clone(fund)
		for token, amount := range fund {
			fund[token] = factor(amount)
		}
		// A chunk is a part of the total, rounded.
		if c, ok := intent.BuildContext(d, s).(intent.TwapContext); ok {
			for token := range fund {
				if strings.EqualFold(token, c.InputToken) {
					fund[token] = c.Chunk()
				}
			}
		}
		s.Control = maps.Clone(s.Control)
		s.Control["_fund"] = fund
	}
	s.SyncExtra()
	return s
}

// foreign names a token or contract of an intent that is not allowed on its chain,
// "" if there is none. Parameters are read by their types in the manifest; those that
// say whose the intent is may be anybody.
func foreign(d intent.Definition, s intent.State, allowed []common.Address) string {
	ok := func(text string) bool {
		return common.IsHexAddress(text) && (common.HexToAddress(text) == common.Address{} || slices.Contains(allowed, common.HexToAddress(text)))
	}
	types := map[string]string{}
	if d.Manifest != nil {
		for _, f := range d.Manifest.IntentFunctions {
			for _, p := range f.Params {
				types[p.Name] = p.Type
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.RawParams)) {
		if personal[name] {
			continue
		}
		switch value := s.RawParams[name].(type) {
		case string:
			if isAddress := types[name] == "address" || common.IsHexAddress(value); isAddress && !ok(value) {
				return name + " " + quoted(value)
			}
		case []any:
			for _, item := range value {
				if text, _ := item.(string); (strings.HasPrefix(types[name], "address") || common.IsHexAddress(text)) && !ok(text) {
					return name + " " + quoted(text)
				}
			}
		case map[string]any:
			return name + ", which is an object"
		}
	}
	fund, _ := s.Control["_fund"].(map[string]any)
	for _, token := range slices.Sorted(maps.Keys(fund)) {
		if !ok(token) {
			return "_fund " + quoted(token)
		}
	}
	return ""
}
