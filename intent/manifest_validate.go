package intent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Validate says what an app's config and manifest contradict or leave open, the
// first of it; nil if nothing. Loading an app does it too; guests, who decode what a
// younger host may write, don't.
func (d Definition) Validate() error {
	if err := d.Config.validateTiers(); err != nil {
		return fmt.Errorf("config.%w", err)
	}
	if d.Manifest == nil {
		return nil
	}
	for _, check := range []func(*Manifest, Config) error{
		(*Manifest).validateFunctions, (*Manifest).validateTiers, (*Manifest).validateChains,
		(*Manifest).validateValue, (*Manifest).validateQuote, (*Manifest).validateScenarios,
	} {
		if err := check(d.Manifest, d.Config); err != nil {
			return fmt.Errorf("manifest.%w", err)
		}
	}
	return nil
}

func (c Config) validateTiers() error {
	if err := unique("supported_policy_tiers", c.SupportedPolicyTiers); err != nil {
		return err
	}
	if !slices.Contains(c.SupportedPolicyTiers, c.PolicyTier) {
		return fmt.Errorf("policy_tier: %s is not one of supported_policy_tiers", short(c.PolicyTier))
	}
	return nil
}

// unique reports a list that is empty, or has an empty or repeated element.
func unique(name string, list []string) error {
	if len(list) == 0 {
		return errors.New(name + " is empty")
	}
	for i, s := range list {
		switch {
		case s == "":
			return fmt.Errorf("%s[%d] is empty", name, i)
		case slices.Contains(list[:i], s):
			return fmt.Errorf("%s[%d]: %s stands twice", name, i, short(s))
		}
	}
	return nil
}

func (m *Manifest) validateFunctions(c Config) error {
	if len(m.IntentFunctions) == 0 {
		return errors.New("intent_functions: an app has at least one function")
	}
	for i, f := range m.IntentFunctions {
		path := fmt.Sprintf("intent_functions[%d]", i)
		switch {
		case !isIdentifier(f.Name):
			return fmt.Errorf("%s.name: %s is no identifier", path, short(f.Name))
		case slices.ContainsFunc(m.IntentFunctions[:i], func(g Function) bool { return g.Name == f.Name }):
			return fmt.Errorf("%s: %s stands twice", path, short(f.Name))
		case f.TriggerType != "" && f.TriggerType != c.TriggerType:
			return fmt.Errorf("%s.trigger_type: %s, the config says %s", path, short(f.TriggerType), short(c.TriggerType))
		}
		for j, p := range f.Params {
			if slices.ContainsFunc(f.Params[:j], func(q Param) bool { return q.Name == p.Name }) {
				return fmt.Errorf("%s.params[%d]: %s stands twice", path, j, short(p.Name))
			}
			if err := p.validate(); err != nil {
				return fmt.Errorf("%s.params[%d]: %w", path, j, err)
			}
		}
		if err := f.fits(f.ExampleParams); err != nil {
			return fmt.Errorf("%s.example_params.%w", path, err)
		}
	}
	return nil
}

func (p Param) validate() error {
	if !isIdentifier(p.Name) {
		return fmt.Errorf("%s is no identifier", short(p.Name))
	}
	t, err := parseType(p.Type)
	if err != nil {
		return fmt.Errorf("%s: type %s: %w", short(p.Name), short(p.Type), err)
	}
	switch p.Source {
	case SourceQuote:
		if !slices.Contains(quoteFields, p.QuoteField) {
			return fmt.Errorf("%s: quote_field %s is not one of %s", short(p.Name), short(p.QuoteField), strings.Join(quoteFields, ", "))
		}
	case "", SourceUser, SourceSystem, SourceSolver:
		if p.QuoteField != "" {
			return fmt.Errorf("%s: quote_field %s, but its source is not %s", short(p.Name), short(p.QuoteField), SourceQuote)
		}
	default:
		return fmt.Errorf("%s: source %s is not user, quote, system or solver", short(p.Name), short(p.Source))
	}
	if p.Default != nil {
		if _, err := t.encode(p.Default); err != nil {
			return fmt.Errorf("%s: default %w", short(p.Name), err)
		}
	}
	return nil
}

// fits checks that parameters are declared and of their types. Some may be absent.
func (f Function) fits(params map[string]any) error {
	for _, name := range sortedKeys(params) {
		i := slices.IndexFunc(f.Params, func(p Param) bool { return p.Name == name })
		if i < 0 {
			return fmt.Errorf("%s: function %s has no such parameter", short(name), short(f.Name))
		}
		t, err := parseType(f.Params[i].Type)
		if err == nil && present(params[name]) {
			_, err = t.encode(params[name])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", short(name), err)
		}
	}
	return nil
}

func (m *Manifest) validateTiers(c Config) error {
	if m.SupportedPolicyTiers != nil {
		if err := unique("supported_policy_tiers", m.SupportedPolicyTiers); err != nil {
			return err
		}
		if !slices.Equal(slices.Sorted(slices.Values(m.SupportedPolicyTiers)), slices.Sorted(slices.Values(c.SupportedPolicyTiers))) {
			return errors.New("supported_policy_tiers: the config says others")
		}
	}
	if m.DefaultPolicyTier != "" && m.DefaultPolicyTier != c.PolicyTier {
		return fmt.Errorf("default_policy_tier: %s, the config says %s", short(m.DefaultPolicyTier), short(c.PolicyTier))
	}
	return nil
}

func (m *Manifest) validateChains(c Config) error {
	return supported("supported_chains", m.SupportedChains, c.SupportedChains)
}

// supported checks a list of chains against those that are supported.
func supported(name string, list, all []uint64) error {
	for i, id := range list {
		switch {
		case slices.Contains(list[:i], id):
			return fmt.Errorf("%s[%d]: chain %d stands twice", name, i, id)
		case !slices.Contains(all, id):
			return fmt.Errorf("%s[%d]: the config does not support chain %d", name, i, id)
		}
	}
	return nil
}

// validateValue holds the value rule against every function: whichever an intent
// names, its value can be measured.
func (m *Manifest) validateValue(Config) error {
	if m.Value == nil {
		return nil
	}
	for _, field := range []struct{ name, param, base string }{
		{"token", m.Value.Token, "address"},
		{"account", m.Value.Account, "address"},
		{"minimum", m.Value.Minimum, "uint"},
	} {
		switch {
		case field.param == "" && field.name == "minimum", field.param == "owner" && field.name == "account":
			continue
		case field.param == "":
			return fmt.Errorf("value.%s names no parameter", field.name)
		}
		for _, f := range m.IntentFunctions {
			i := slices.IndexFunc(f.Params, func(p Param) bool { return p.Name == field.param })
			if i < 0 {
				return fmt.Errorf("value.%s: function %s has no parameter %s", field.name, short(f.Name), short(field.param))
			}
			if t, err := parseType(f.Params[i].Type); err != nil || t.base != field.base {
				return fmt.Errorf("value.%s: parameter %s is of type %s, want %s", field.name, short(field.param), short(f.Params[i].Type), field.base)
			}
		}
	}
	return nil
}

// validateQuote holds the quote against the parameters that come from it.
func (m *Manifest) validateQuote(Config) error {
	for _, name := range sortedKeys(m.Quote) {
		declared := false
		for _, f := range m.IntentFunctions {
			for _, p := range f.Params {
				switch {
				case p.Name != name:
				case p.Source != SourceQuote || p.QuoteField != m.Quote[name]:
					return fmt.Errorf("quote.%s: function %s does not take it from the quote's %s", short(name), short(f.Name), short(m.Quote[name]))
				default:
					declared = true
				}
			}
		}
		if !declared {
			return fmt.Errorf("quote.%s: no function has such a parameter", short(name))
		}
	}
	return nil
}

func (m *Manifest) validateScenarios(c Config) error {
	for i, s := range m.Scenarios {
		path := fmt.Sprintf("benchmark_scenarios[%d]", i)
		if s.Name == "" {
			return fmt.Errorf("%s.name is empty", path)
		}
		if slices.ContainsFunc(m.Scenarios[:i], func(o Scenario) bool { return o.Name == s.Name }) {
			return fmt.Errorf("%s: %s stands twice", path, short(s.Name))
		}
		if err := supported(path+".chains", s.Chains, c.SupportedChains); err != nil {
			return err
		}
		f, ok := m.function(s.Function)
		if !ok {
			return fmt.Errorf("%s.intent_function: the app has no function %s", path, short(s.Function))
		}
		if err := f.fits(s.Params); err != nil {
			return fmt.Errorf("%s.params.%w", path, err)
		}
		if _, err := f.fill(s.Params, zeroAddress); err != nil {
			return fmt.Errorf("%s.params: %w", path, err)
		}
		for _, token := range sortedKeys(s.Fund) {
			if !isAddress(token) {
				return fmt.Errorf("%s.fund: %s is no address", path, short(token))
			}
			if _, err := ParseAmount(s.Fund[token]); err != nil {
				return fmt.Errorf("%s.fund: %s: %w", path, short(s.Fund[token]), err)
			}
		}
	}
	return nil
}

// function finds a function by its name.
func (m *Manifest) function(name string) (Function, bool) {
	for _, f := range m.IntentFunctions {
		if f.Name == name {
			return f, true
		}
	}
	return Function{}, false
}

// isIdentifier reports whether s can name something in Solidity and JavaScript.
func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= maxIdentifierBytes
}

// maxIdentifierBytes bounds a name of a function or a parameter.
const maxIdentifierBytes = 64

func short(s string) string { return Quoted(s, maxQuotedKeyRunes) }
