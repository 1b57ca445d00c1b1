package benchmark

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
)

// PackSchema is the version of the pack file.
const PackSchema = 1

// Bounds of a pack. A pack file is at most [intent.MaxDocumentBytes] long.
const (
	MaxChains    = 16
	MaxApps      = 64
	MaxCases     = 4096
	MaxSelfTests = 256
	SmokeIntents = 3 // exactly, for screening
	maxNameRunes = 128
)

// A Pack is what an epoch runs: intents, the apps that score them, the chains
// they live on, and the limits and rules they are run by. Two packs with the
// same digest give the same rows; see [Pack.Digest].
//
// A pack from [DecodePack] is checked and in order. It is not to be changed
// while it is in use.
type Pack struct {
	Name      string    // for people, in no digest
	Seed      [32]byte  // of all randomness in the epoch
	Close     time.Time // when commits ended, UTC: before every pinned time; in no digest
	Chains    []ChainRef
	Apps      []intent.Definition
	Cases     []Case
	SelfTests []SelfTest
	Smoke     []Smoke           // the intents of screening
	Isolation harness.Isolation // what solvers carry from intent to intent; "" = batch
	Limits    harness.Limits    // what one session may use
	Rules     Rules
}

// A ChainRef names the snapshot a chain is pinned to.
type ChainRef struct {
	ChainID  uint64
	Snapshot [32]byte               // content hash
	Market   *intent.MarketSnapshot // what solvers are told before the batch, nil = nothing
}

// A Case is one intent of a pack.
type Case struct {
	ID    string // [intent.Key], set by DecodePack
	App   string // app id
	State intent.State
	Truth *bool  // whether a trigger is right, nil = nobody asks
	Best  string // best known value in base units, at least 1; "" = no cap on the credit

	// HeldOut: what guests say about it is published later than the rest. It changes
	// no row, and is in no digest.
	HeldOut bool
}

// A SelfTest is a plan that is known to be good. An app whose self-test earns
// no value is broken, and so is every score it would give.
type SelfTest struct {
	App   string
	State intent.State
	Plan  intent.Plan
}

// A Smoke is an intent for screening.
type Smoke struct {
	App   string
	State intent.State
}

// packFile is the pack as JSON.
type packFile struct {
	Schema    int                 `json:"schema" strict:"required"`
	Name      string              `json:"name" strict:"required"`
	Seed      string              `json:"seed" strict:"required"`  // 64 hex digits
	Close     uint64              `json:"close" strict:"required"` // unix seconds
	Chains    []chainFile         `json:"chains" strict:"required"`
	Apps      []intent.Definition `json:"apps" strict:"required"` // js_code included
	Cases     []caseFile          `json:"cases" strict:"required"`
	SelfTests []selfTestFile      `json:"self_tests" strict:"required"`
	Smoke     []smokeFile         `json:"smoke" strict:"required"`
	Isolation string              `json:"isolation,omitempty"` // absent: batch
	Limits    any                 `json:"limits,omitempty"`    // absent: this build's
	Rules     any                 `json:"rules,omitempty"`     // absent: this build's
}

type chainFile struct {
	ChainID  uint64                 `json:"chain_id" strict:"required"`
	Snapshot string                 `json:"snapshot" strict:"required"` // content hash, 64 hex digits
	Market   *intent.MarketSnapshot `json:"market,omitempty"`
}

type caseFile struct {
	App   string       `json:"app_id" strict:"required"`
	State intent.State `json:"state" strict:"required"`
	Truth *bool        `json:"truth,omitempty"`
	Best  string       `json:"best,omitempty"` // base units, decimal, not 0

	HeldOut bool `json:"held_out,omitempty"`
}

type selfTestFile struct {
	App   string       `json:"app_id" strict:"required"`
	State intent.State `json:"state" strict:"required"`
	Plan  intent.Plan  `json:"plan" strict:"required"`
}

type smokeFile struct {
	App   string       `json:"app_id" strict:"required"`
	State intent.State `json:"state" strict:"required"`
}

// LoadPack reads and decodes a pack file. Every error is an
// [intent.UsageFault].
func LoadPack(path string) (*Pack, error) {
	b, err := readPack(path)
	if err != nil {
		return nil, &intent.UsageFault{Err: fmt.Errorf("open pack %s: %w", path, err)}
	}
	p, err := DecodePack(b)
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", path, err)
	}
	return p, nil
}

// readPack reads a file, or a pipe, up to what a document may have.
func readPack(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, intent.MaxDocumentBytes+1))
	if err == nil && len(b) > intent.MaxDocumentBytes {
		err = fmt.Errorf("more than %d bytes", intent.MaxDocumentBytes)
	}
	return b, err
}

// DecodePack decodes a pack file strictly and checks it. Every error is an
// [intent.UsageFault]; a pack that asks for limits or rules which are not this
// build's gives a [*RulesError] inside it.
func DecodePack(b []byte) (*Pack, error) {
	p, err := decodePack(b)
	if err != nil {
		return nil, &intent.UsageFault{Err: err}
	}
	return p, nil
}

func decodePack(b []byte) (*Pack, error) {
	var f packFile
	if err := intent.DecodeStrict(b, &f); err != nil {
		return nil, err
	}
	if f.Schema != PackSchema {
		return nil, at("schema", fmt.Errorf("%d, this build reads %d", f.Schema, PackSchema))
	}
	p := &Pack{
		Name: f.Name, Close: time.Unix(int64(f.Close), 0).UTC(), Apps: f.Apps, Isolation: harness.Isolation(f.Isolation),
		Limits: harness.DefaultLimits(), Rules: BuildRules(),
	}
	if err := sameAsBuild("limits", f.Limits, p.Limits); err != nil {
		return nil, err
	}
	if err := sameAsBuild("rules", f.Rules, p.Rules); err != nil {
		return nil, err
	}
	if err := unhex(&p.Seed, f.Seed); err != nil {
		return nil, at("seed", err)
	}
	for i, c := range f.Chains {
		ref := ChainRef{ChainID: c.ChainID, Market: c.Market}
		if err := unhex(&ref.Snapshot, c.Snapshot); err != nil {
			return nil, at(fmt.Sprintf("chains[%d].snapshot", i), err)
		}
		p.Chains = append(p.Chains, ref)
	}
	for _, c := range f.Cases {
		p.Cases = append(p.Cases, Case{App: c.App, State: c.State, Truth: c.Truth, Best: c.Best, HeldOut: c.HeldOut})
	}
	for _, t := range f.SelfTests {
		p.SelfTests = append(p.SelfTests, SelfTest(t))
	}
	for _, s := range f.Smoke {
		p.Smoke = append(p.Smoke, Smoke(s))
	}
	return p.settled()
}

// Encode returns the pack as canonical JSON, which [DecodePack] reads back to
// an equal pack. Limits and rules are written out.
func (p *Pack) Encode() ([]byte, error) {
	f := packFile{
		Schema:    PackSchema,
		Name:      p.Name,
		Seed:      hex.EncodeToString(p.Seed[:]),
		Close:     uint64(p.Close.Unix()),
		Apps:      p.Apps,
		Isolation: string(p.Isolation),
		Limits:    p.Limits,
		Rules:     p.Rules,
	}
	for _, c := range p.Chains {
		f.Chains = append(f.Chains, chainFile{c.ChainID, hex.EncodeToString(c.Snapshot[:]), c.Market})
	}
	for _, c := range p.Cases {
		f.Cases = append(f.Cases, caseFile{c.App, c.State, c.Truth, c.Best, c.HeldOut})
	}
	for _, t := range p.SelfTests {
		f.SelfTests = append(f.SelfTests, selfTestFile(t))
	}
	for _, s := range p.Smoke {
		f.Smoke = append(f.Smoke, smokeFile(s))
	}
	b, err := intent.Canonical(f)
	if err != nil {
		return nil, fmt.Errorf("encode pack: %w", err)
	}
	return b, nil
}

// settled returns a checked copy of p with its parts in order and its cases
// named: chains by id, apps by id, cases by intent id.
func (p *Pack) settled() (*Pack, error) {
	out := *p
	out.Isolation = cmp.Or(p.Isolation, harness.IsolationBatch)
	out.Chains = slices.SortedStableFunc(slices.Values(p.Chains), func(a, b ChainRef) int { return cmp.Compare(a.ChainID, b.ChainID) })
	out.Apps = slices.SortedStableFunc(slices.Values(p.Apps), func(a, b intent.Definition) int { return cmp.Compare(a.AppID, b.AppID) })
	out.Cases = slices.Clone(p.Cases)
	if err := p.bounded(); err != nil {
		return nil, err
	}
	if err := p.checkParts(); err != nil {
		return nil, err
	}
	for i := range out.Cases {
		c := &out.Cases[i]
		app, _ := p.app(c.App)
		id, err := intent.Key(app, c.State)
		if err != nil {
			return nil, at(fmt.Sprintf("cases[%d]", i), err)
		}
		c.ID = id
	}
	slices.SortFunc(out.Cases, func(a, b Case) int { return cmp.Compare(a.ID, b.ID) })
	for i := 1; i < len(out.Cases); i++ {
		if out.Cases[i].ID == out.Cases[i-1].ID {
			return nil, at("cases", fmt.Errorf("two intents are %s", out.Cases[i].ID))
		}
	}
	return &out, nil
}

func (p *Pack) bounded() error {
	for _, part := range []struct {
		path        string
		n, min, max int
	}{
		{"name", len([]rune(p.Name)), 1, maxNameRunes},
		{"chains", len(p.Chains), 1, MaxChains},
		{"apps", len(p.Apps), 1, MaxApps},
		{"cases", len(p.Cases), 1, MaxCases},
		{"self_tests", len(p.SelfTests), 1, MaxSelfTests},
		{"smoke", len(p.Smoke), SmokeIntents, SmokeIntents},
	} {
		if part.n < part.min || part.n > part.max {
			return at(part.path, fmt.Errorf("length %d, want %d to %d", part.n, part.min, part.max))
		}
	}
	if p.Isolation != "" && !p.Isolation.Valid() {
		return at("isolation", fmt.Errorf("%s is neither %s nor %s", quoted(string(p.Isolation)), harness.IsolationBatch, harness.IsolationIntent))
	}
	if p.Close.Unix() < 0 {
		return at("close", errors.New("before 1970"))
	}
	return p.Limits.Validate()
}

// checkParts checks that everything refers to something the pack has.
func (p *Pack) checkParts() error {
	chains := map[uint64]bool{}
	for i, c := range p.Chains {
		path := fmt.Sprintf("chains[%d]", i)
		switch {
		case c.ChainID == 0:
			return at(path, errors.New("chain 0 does not exist"))
		case chains[c.ChainID]:
			return at(path, fmt.Errorf("chain %d twice", c.ChainID))
		case c.Market != nil && c.Market.ChainID != c.ChainID:
			return at(path+".market", fmt.Errorf("is of chain %d, want %d", c.Market.ChainID, c.ChainID))
		}
		chains[c.ChainID] = true
	}
	apps := map[string]bool{}
	for i, a := range p.Apps {
		if apps[a.AppID] {
			return at(fmt.Sprintf("apps[%d]", i), fmt.Errorf("app %s twice", quoted(a.AppID)))
		}
		apps[a.AppID] = true
	}
	for i, c := range p.Cases {
		path := fmt.Sprintf("cases[%d]", i)
		if err := p.refers(path, c.App, c.State); err != nil {
			return err
		}
		app, _ := p.app(c.App)
		if c.Truth != nil && app.Config.TriggerType != intent.TriggerAuto {
			return at(path+".truth", fmt.Errorf("app %s is not %s", quoted(c.App), intent.TriggerAuto))
		}
		if c.Best != "" {
			best, err := intent.ParseAmount(c.Best)
			if err == nil && best.IsZero() {
				err = errors.New("0 is no value, leave it out for no cap")
			}
			if err != nil {
				return at(path+".best", err)
			}
		}
	}
	tested := map[string]bool{}
	for i, t := range p.SelfTests {
		if err := p.refers(fmt.Sprintf("self_tests[%d]", i), t.App, t.State); err != nil {
			return err
		}
		tested[t.App] = true
	}
	for i, s := range p.Smoke {
		if err := p.refers(fmt.Sprintf("smoke[%d]", i), s.App, s.State); err != nil {
			return err
		}
	}
	for i, a := range p.Apps {
		if !tested[a.AppID] {
			return at(fmt.Sprintf("apps[%d]", i), fmt.Errorf("app %s has no self-test", quoted(a.AppID)))
		}
	}
	return nil
}

// refers checks an intent's app and chain.
func (p *Pack) refers(path, app string, s intent.State) error {
	d, ok := p.app(app)
	if !ok {
		return at(path+".app_id", fmt.Errorf("the pack has no app %s", quoted(app)))
	}
	if !slices.ContainsFunc(p.Chains, func(c ChainRef) bool { return c.ChainID == s.ChainID }) {
		return at(path+".state.chain_id", fmt.Errorf("the pack has no chain %d", s.ChainID))
	}
	if !slices.Contains(d.Config.SupportedChains, s.ChainID) {
		return at(path+".state.chain_id", fmt.Errorf("app %s does not support chain %d", quoted(app), s.ChainID))
	}
	return nil
}

func (p *Pack) app(id string) (intent.Definition, bool) {
	i := slices.IndexFunc(p.Apps, func(d intent.Definition) bool { return d.AppID == id })
	if i < 0 {
		return intent.Definition{}, false
	}
	return p.Apps[i], true
}

func unhex(into *[32]byte, s string) error {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(into) || s != hex.EncodeToString(b) {
		return fmt.Errorf("%s is not 64 lower-case hex digits", quoted(s))
	}
	copy(into[:], b)
	return nil
}

// at names the place of an error in the pack file.
func at(path string, err error) error { return fmt.Errorf("%s: %w", path, err) }

// quoted is for text that somebody else wrote, in an error or a detail.
func quoted(s string) string { return intent.Quoted(s, intent.MaxQuotedRunes) }
