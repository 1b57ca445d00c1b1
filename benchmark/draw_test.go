package benchmark_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/fixtures"
	"github.com/subnet112/assay/intent"
)

// Computed by hashlib from what DrawSeed documents.
func TestDrawSeed(t *testing.T) {
	t.Parallel()
	a, b := benchmark.Pin{ChainID: 1}, benchmark.Pin{ChainID: 8453}
	for i := range a.Block {
		a.Block[i], b.Block[i] = 0xaa, 0xbb
	}
	const want = "7dd28a4a968cd46b552097a7a3e9225d0b7328e1730c494b1bb8a32a071fcf56"
	for _, pins := range [][]benchmark.Pin{{a, b}, {b, a}} {
		seed := benchmark.DrawSeed("finney!", 42, pins)
		if got := hex.EncodeToString(seed[:]); got != want {
			t.Errorf("seed %s, want %s", got, want)
		}
	}
	seen := map[[32]byte]bool{
		benchmark.DrawSeed("finney!", 42, []benchmark.Pin{a, b}):                                                          true,
		benchmark.DrawSeed("finney!", 43, []benchmark.Pin{a, b}):                                                          true,
		benchmark.DrawSeed("finney", 42, []benchmark.Pin{a, b}):                                                           true,
		benchmark.DrawSeed("finney!", 42, []benchmark.Pin{a}):                                                             true,
		benchmark.DrawSeed("finney!", 42, []benchmark.Pin{{ChainID: 1, Block: b.Block}, {ChainID: 8453, Block: a.Block}}): true,
	}
	if len(seen) != 5 {
		t.Errorf("%d seeds of 5 epochs", len(seen))
	}
}

// base is the fixture's pack, which has scenarios and a past.
func base(t testing.TB) (*benchmark.Pack, map[common.Hash]*chain.Snapshot) {
	t.Helper()
	snap, err := chain.DecodeSnapshot(fixtures.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	hash, err := snap.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, fixtures.Pack()), map[common.Hash]*chain.Snapshot{hash: snap}
}

// everything are all tokens and contracts that a pack's cases name.
func everything(p *benchmark.Pack) map[uint64][]common.Address {
	allowed := map[uint64][]common.Address{}
	for _, c := range p.Cases {
		for _, v := range c.State.RawParams {
			for _, text := range addressesIn(v) {
				allowed[c.State.ChainID] = append(allowed[c.State.ChainID], common.HexToAddress(text))
			}
		}
		if fund, ok := c.State.Control["_fund"].(map[string]any); ok {
			for token := range fund {
				allowed[c.State.ChainID] = append(allowed[c.State.ChainID], common.HexToAddress(token))
			}
		}
	}
	return allowed
}

func addressesIn(v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		if common.IsHexAddress(v) {
			out = append(out, v)
		}
	case []any:
		for _, item := range v {
			out = append(out, addressesIn(item)...)
		}
	}
	return out
}

func TestDraw(t *testing.T) {
	t.Parallel()
	p, snaps := base(t)
	engine := newEngine(t)
	drawing := benchmark.Drawing{
		Base: p, Network: "test", Epoch: 7, Size: 6, HeldOut: 3_400, Allowed: everything(p),
		Reference: benchmark.Entrant{Module: solver(t, "swap")},
	}
	draw := func(d benchmark.Drawing) *benchmark.Drawn {
		t.Helper()
		out, err := benchmark.Draw(t.Context(), d, snaps, engine)
		if err != nil {
			t.Fatalf("%v\n%+v", err, out)
		}
		return out
	}
	encoded := func(p *benchmark.Pack) []byte {
		b, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	drawn := draw(drawing)

	if n := len(drawn.Pack.Cases); n != 6 {
		t.Errorf("%d cases, want 6", n)
	}
	held := 0
	for _, c := range drawn.Pack.Cases {
		if c.HeldOut {
			held++
		}
	}
	if held != 2 { // ⌊6 · 0.34⌋
		t.Errorf("%d cases are held out, want 2", held)
	}
	if b := encoded(drawn.Pack); !bytes.Equal(encoded(decode(t, b)), b) {
		t.Error("the pack does not survive its encoding")
	}

	// The reference solver serves each of them.
	ready, err := benchmark.Prepare(t.Context(), drawn.Pack, snaps, engine)
	if err != nil {
		t.Fatal(err)
	}
	e := runEpoch(t, ready, []benchmark.Entrant{{Miner: "ref", Module: drawing.Reference.Module}}, 1, nil)
	if sum := summaryOf(t, e, "ref"); sum.Valued != 6 {
		t.Errorf("the reference solver serves %d of 6", sum.Valued)
	}
	for _, r := range sessionOf(t, e, "ref").Records {
		best, ok := new(big.Int).SetString(r.Best, 10)
		value, _ := new(big.Int).SetString(r.Row.Value, 10)
		if !ok || best.Cmp(value) < 0 {
			t.Errorf("%s: best %q, the reference solver gets %s", r.Row.IntentID, r.Best, r.Row.Value)
		}
	}

	// No id of it was known before.
	known := map[string]bool{}
	for _, c := range p.Cases {
		known[c.ID] = true
	}
	for _, c := range drawn.Pack.Cases {
		if known[c.ID] {
			t.Errorf("%s is one of the base's", c.ID)
		}
	}

	// The order in which the base was written is of no account.
	other := drawing
	reversed := *p
	reversed.Cases, reversed.Apps = slices.Clone(p.Cases), slices.Clone(p.Apps)
	slices.Reverse(reversed.Cases)
	slices.Reverse(reversed.Apps)
	other.Base = &reversed
	if !bytes.Equal(encoded(draw(other).Pack), encoded(drawn.Pack)) {
		t.Error("another order of the base gives another pack")
	}

	other = drawing
	other.Epoch++
	if bytes.Equal(encoded(draw(other).Pack), encoded(drawn.Pack)) {
		t.Error("the next epoch has the same pack")
	}

	// Without an allow-list no history is drawn.
	other = drawing
	other.Allowed, other.Size = nil, 1
	for _, r := range draw(other).Refused {
		if strings.HasPrefix(r.Source, "history:") {
			t.Errorf("%s was looked at: %s", r.Source, r.Reason)
		}
	}

	// What names another token is not.
	other.Allowed, other.Size = map[uint64][]common.Address{1: {{1}}}, 1
	refused := 0
	for _, r := range draw(other).Refused {
		if strings.HasPrefix(r.Source, "history:") && strings.HasPrefix(r.Reason, "not allowed: ") {
			refused++
		}
	}
	if refused != len(p.Cases) {
		t.Errorf("%d of %d past intents are not allowed", refused, len(p.Cases))
	}

	// A draw that cannot be filled says what was refused, and why.
	other = drawing
	other.Size = 500
	out, err := benchmark.Draw(t.Context(), other, snaps, engine)
	var usage *intent.UsageFault
	if !errors.Is(err, benchmark.ErrTooFew) || !errors.As(err, &usage) || out.Pack != nil {
		t.Fatalf("%v with pack %v, want %v", err, out.Pack, benchmark.ErrTooFew)
	}
	unserved := 0
	for _, r := range out.Refused {
		if strings.HasPrefix(r.Reason, "not served by the reference solver: ") {
			unserved++
		}
	}
	if unserved == 0 {
		t.Errorf("the base has intents that no direct route serves; refused are %+v", out.Refused)
	}
}

// Amounts are between half and three halves of what they were, in steps of a
// thousandth, and the minimum moves with the input.
func TestDrawPerturbsAmounts(t *testing.T) {
	t.Parallel()
	p, snaps := base(t)
	byApp := map[string]intent.Definition{}
	for _, d := range p.Apps {
		byApp[d.AppID] = d
	}
	engine := newEngine(t)
	factors := map[string]bool{}
	for epoch := range uint64(8) {
		drawn, err := benchmark.Draw(t.Context(), benchmark.Drawing{
			Base: p, Network: "test", Epoch: epoch, Size: 2, Reference: benchmark.Entrant{Module: solver(t, "swap")},
		}, snaps, engine)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range drawn.Pack.Cases {
			k := factorOf(t, byApp[c.App], c.State)
			if k < 500 || k > 1500 {
				t.Errorf("factor %d/1000", k)
			}
			factors[fmt.Sprint(k)] = true
		}
	}
	if len(factors) < 8 {
		t.Errorf("only %d factors in 16 draws", len(factors))
	}
}

// factorOf finds the scenario that a state was made of, and what its amounts were
// multiplied by.
func factorOf(t *testing.T, d intent.Definition, s intent.State) int64 {
	t.Helper()
	name := "input_amount"
	if _, ok := s.RawParams[name]; !ok {
		name = "total_amount"
	}
	number := func(v any) *big.Int {
		n, ok := new(big.Int).SetString(fmt.Sprint(v), 10)
		if !ok {
			t.Fatalf("amount %v", v)
		}
		return n
	}
	for _, scenario := range d.Manifest.Scenarios {
		if scenario.Params["input_token"] != s.RawParams["input_token"] || scenario.Params["output_token"] != s.RawParams["output_token"] {
			continue
		}
		was, is := number(scenario.Params[name]), number(s.RawParams[name])
		// ⌈1000·is/was⌉ is the factor, for is was rounded down.
		k := new(big.Int).Mul(is, big.NewInt(1000))
		k.Add(k, was).Sub(k, big.NewInt(1)).Quo(k, was)
		for param, value := range scenario.Params {
			if !strings.HasPrefix(param, "min_output") {
				continue
			}
			minimum := number(value)
			minimum.Mul(minimum, k).Quo(minimum, big.NewInt(1000))
			if minimum.Cmp(number(s.RawParams[param])) != 0 {
				t.Errorf("%s is %v, want %s of %v", param, s.RawParams[param], k, value)
			}
		}
		return k.Int64()
	}
	t.Fatalf("%+v is of no scenario", s.RawParams)
	return 0
}

func TestDrawRefusesUsage(t *testing.T) {
	t.Parallel()
	p, snaps := base(t)
	good := benchmark.Drawing{Base: p, Network: "test", Size: 1, Reference: benchmark.Entrant{Module: good(t)}}
	for rule, edit := range map[string]func(*benchmark.Drawing){
		"no intents":                func(d *benchmark.Drawing) { d.Size = 0 },
		"too many":                  func(d *benchmark.Drawing) { d.Size = benchmark.MaxCases + 1 },
		"more than all held out":    func(d *benchmark.Drawing) { d.HeldOut = 10_001 },
		"no network":                func(d *benchmark.Drawing) { d.Network = "" },
		"a reference that is none":  func(d *benchmark.Drawing) { d.Reference.Module = []byte("x") },
		"a base that is no pack":    func(d *benchmark.Drawing) { d.Base = &benchmark.Pack{} },
		"a reference with no value": func(d *benchmark.Drawing) {},
	} {
		d := good
		edit(&d)
		_, err := benchmark.Draw(t.Context(), d, snaps, newEngine(t))
		var usage *intent.UsageFault
		if !errors.As(err, &usage) {
			t.Errorf("%s: %v, want a usage fault", rule, err)
		}
	}
	var missing *benchmark.SnapshotError
	if _, err := benchmark.Draw(t.Context(), good, nil, newEngine(t)); !errors.As(err, &missing) {
		t.Errorf("no snapshot: %v, want a *SnapshotError", err)
	}
}
