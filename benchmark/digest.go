package benchmark

import (
	"encoding/hex"
	"fmt"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// Digest names the pack by everything that can change a row: the contents of
// intents, apps and scorer code, the snapshots' hashes, the market, the isolation
// of intents, the limits of solvers and scorers, rules and seed. The name and the closing time are not in
// it, nor is the order in which chains, apps and intents were written. The error
// is an [intent.UsageFault] that says what is wrong with the pack.
func (p *Pack) Digest() (string, error) {
	s, err := p.settled()
	if err != nil {
		return "", &intent.UsageFault{Err: err}
	}
	type chain struct {
		ChainID  uint64                 `json:"chain_id"`
		Snapshot string                 `json:"snapshot"`
		Market   *intent.MarketSnapshot `json:"market"`
	}
	type ask struct {
		App   string       `json:"app_id"`
		State intent.State `json:"state"`
		Truth *bool        `json:"truth,omitempty"`
		Best  string       `json:"best,omitempty"`
		Plan  *intent.Plan `json:"plan,omitempty"`
	}
	content := struct {
		Schema    int                 `json:"schema"`
		Rows      int                 `json:"rows"`
		Seed      string              `json:"seed"`
		Chains    []chain             `json:"chains"`
		Apps      []intent.Definition `json:"apps"`
		Cases     []ask               `json:"cases"`
		SelfTests []ask               `json:"self_tests"`
		Smoke     []ask               `json:"smoke"`
		Isolation harness.Isolation   `json:"isolation"`
		Limits    harness.Limits      `json:"limits"`
		Scorer    scoring.Limits      `json:"scorer_limits"`
		Rules     Rules               `json:"rules"`
	}{
		Schema: PackSchema, Rows: RowSchema, Seed: hex.EncodeToString(s.Seed[:]),
		Apps: s.Apps, Isolation: s.Isolation, Limits: s.Limits, Scorer: scoring.DefaultLimits(), Rules: s.Rules,
	}
	for _, c := range s.Chains {
		content.Chains = append(content.Chains, chain{c.ChainID, hex.EncodeToString(c.Snapshot[:]), c.Market})
	}
	for _, c := range s.Cases {
		content.Cases = append(content.Cases, ask{App: c.App, State: c.State, Truth: c.Truth, Best: c.Best})
	}
	for i := range s.SelfTests {
		t := &s.SelfTests[i]
		content.SelfTests = append(content.SelfTests, ask{App: t.App, State: t.State, Plan: &t.Plan})
	}
	for _, m := range s.Smoke {
		content.Smoke = append(content.Smoke, ask{App: m.App, State: m.State})
	}
	d, err := digest(content)
	if err != nil {
		return "", &intent.UsageFault{Err: fmt.Errorf("pack digest: %w", err)}
	}
	return d, nil
}
