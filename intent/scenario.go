package intent

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
)

const zeroAddress = "0x0000000000000000000000000000000000000000"

// ErrScenario is returned for a scenario that the app has no function or no chain
// for.
var ErrScenario = errors.New("the app has no such scenario")

// Scenario makes an intent of one of the manifest's scenarios, for an owner on a
// chain. Parameters that the scenario leaves out are the manifest's defaults, and
// the owner for receiver and recipient; those of another source than the user that
// have neither stay absent, for the caller to fill in. The grant is the scenario's
// fund, if it has one. Errors are [ErrScenario], or a [*ParamError] for what the
// user would have said.
func (d Definition) Scenario(s Scenario, chainID, nonce uint64, owner string) (State, error) {
	if d.Manifest == nil {
		return State{}, fmt.Errorf("%s: %w", short(s.Name), ErrScenario)
	}
	f, ok := d.Manifest.function(s.Function)
	if !ok {
		return State{}, fmt.Errorf("%s: function %s: %w", short(s.Name), short(s.Function), ErrScenario)
	}
	if !slices.Contains(d.ScenarioChains(s), chainID) {
		return State{}, fmt.Errorf("%s: chain %d: %w", short(s.Name), chainID, ErrScenario)
	}
	params, err := f.fill(s.Params, owner)
	if err != nil {
		return State{}, fmt.Errorf("%s: %w", short(s.Name), err)
	}
	var out State
	out.setDefaults()
	out.ChainID, out.Nonce, out.Owner, out.RawParams = chainID, nonce, owner, params
	out.Control["_intent_function"] = f.Name
	if len(s.Fund) > 0 {
		fund := map[string]any{}
		for token, amount := range s.Fund {
			fund[token] = amount
		}
		out.Control["_fund"] = fund
	}
	out.SyncExtra()
	return out, nil
}

// ScenarioChains are the chains on which a scenario can be tried, in the order that
// the definition has them.
func (d Definition) ScenarioChains(s Scenario) []uint64 {
	all := d.Config.SupportedChains
	if d.Manifest != nil && len(d.Manifest.SupportedChains) > 0 {
		all = d.Manifest.SupportedChains
	}
	var out []uint64
	for _, id := range all {
		if len(s.Chains) == 0 || slices.Contains(s.Chains, id) {
			out = append(out, id)
		}
	}
	return out
}

// fill adds what params leaves out. Values are shared, the map is new.
func (f Function) fill(params map[string]any, owner string) (map[string]any, error) {
	out := maps.Clone(params)
	if out == nil {
		out = map[string]any{}
	}
	for _, p := range f.Params {
		switch {
		case present(out[p.Name]):
		case p.Default != nil:
			out[p.Name] = p.Default
		case p.Name == "receiver" || p.Name == "recipient":
			out[p.Name] = owner
		case p.Source == "" || p.Source == SourceUser:
			return nil, paramError(f, p, ErrMissing)
		}
	}
	return out, nil
}

// quoteFields are what a parameter of source quote can be.
var quoteFields = []string{"estimated_output", "estimated_output_gross", "gas_estimate", "platform_fee_wei", "suggested_min_output"}

// FromQuote returns the parameters of source quote as a quote fills them in, by
// name. suggested_min_output is the estimate less slippage, which is in basis points
// and taken as 0 below 0 and 10,000 above that, rounded down. estimated_output_gross
// is what the quote's metadata has under that name, the estimate if nothing. A field
// that this build does not know fills nothing in. The error is [ErrAmount].
func (f Function) FromQuote(q Quote, slippageBPS int) (map[string]string, error) {
	estimate, err := ParseAmount(q.EstimatedOutput)
	if err != nil {
		return nil, fmt.Errorf("estimated_output %s: %w", short(q.EstimatedOutput), err)
	}
	fee := q.PlatformFeeWei
	if fee == "" {
		fee = "0"
	}
	if _, err := ParseAmount(fee); err != nil {
		return nil, fmt.Errorf("platform_fee_wei %s: %w", short(fee), err)
	}
	gross := q.EstimatedOutput
	if text, ok := q.Metadata["estimated_output_gross"].(string); ok {
		if _, err := ParseAmount(text); err != nil {
			return nil, fmt.Errorf("metadata.estimated_output_gross %s: %w", short(text), err)
		}
		gross = text
	}
	keep := big.NewInt(int64(maxBPS - min(max(slippageBPS, 0), maxBPS)))
	least := keep.Mul(keep, estimate.ToBig())
	values := map[string]string{
		"estimated_output":       q.EstimatedOutput,
		"estimated_output_gross": gross,
		"gas_estimate":           strconv.FormatUint(q.GasEstimate, 10),
		"platform_fee_wei":       fee,
		"suggested_min_output":   least.Quo(least, big.NewInt(maxBPS)).String(),
	}
	out := map[string]string{}
	for _, p := range f.Params {
		if value, ok := values[p.QuoteField]; ok && p.Source == SourceQuote {
			out[p.Name] = value
		}
	}
	return out, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
