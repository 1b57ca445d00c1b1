package benchmark_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasm"
	"github.com/subnet112/assay/sandbox/wasmtest"
	"github.com/subnet112/assay/scoring"
)

// delivering is a session that delivers these values, "" for none, "void" where the
// validator failed.
func delivering(miner string, role benchmark.Role, values ...string) *benchmark.Session {
	s := &benchmark.Session{ID: miner + " as " + string(role), Miner: miner, Module: miner + "'s", Role: role, Adoptable: true}
	for i, v := range values {
		r := benchmark.Row{IntentID: fmt.Sprint("i", i), Value: v, Credited: v, GasUsed: 100_000}
		switch v {
		case "":
			r.Cause = intent.CauseReverted
		case "void":
			r.Cause, r.Value, r.Credited = intent.CauseInfra, "", ""
		}
		s.Records = append(s.Records, benchmark.Record{Row: r})
	}
	return s
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const king, candidate, bar = benchmark.RoleChampion, benchmark.RoleCandidate, benchmark.RoleBar
	champion := delivering("ann", king, "1000", "1000")
	stalled := delivering("bob", candidate, "2000", "2000")
	stalled.Adoptable, stalled.NotAdoptable = false, `"it stalled"`
	thief := delivering("bob", candidate, "2000", "2000")
	thief.Module = champion.Module
	above := delivering("bob", candidate, "9000", "1000")
	above.Records[0].Row.Credited, above.Records[0].Row.AboveOracle = "1000", true

	for _, tt := range []struct {
		rule     string
		sessions []*benchmark.Session
		share    uint
		adopted  string // miner
		reason   string
	}{
		{
			"who is better dethrones",
			[]*benchmark.Session{champion, delivering("bob", candidate, "1010", "1000")}, 0,
			"bob", "dethrone: 1 better, 0 minor regression(s) within 1% floor (net +1)",
		},
		{
			"of several the one with the most orders",
			[]*benchmark.Session{champion, delivering("bob", candidate, "2000", "1000"), delivering("cid", candidate, "1010", "1010"), delivering("dee", candidate, "1", "1")}, 0,
			"cid", "dethrone: 2 better, 0 minor regression(s) within 1% floor (net +2)",
		},
		{
			"of several none",
			[]*benchmark.Session{champion, delivering("bob", candidate, "1000", "1000"), delivering("cid", candidate, "", "")}, 0,
			"", "none of 2 challengers passes",
		},
		{
			"the first champion is whoever serves most",
			[]*benchmark.Session{delivering("bob", candidate, "2000", ""), delivering("cid", candidate, "1010", "1010")}, 0,
			"cid", "adopt: no champion, value on 2 order(s)",
		},
		{
			"without a challenger there is nothing to decide",
			[]*benchmark.Session{champion}, 0, "", "no challenger",
		},
		{
			"a void row of the champion decides nothing",
			[]*benchmark.Session{delivering("ann", king, "1000", "void"), delivering("bob", candidate, "2000", "2000")}, 0,
			"", "void: 1 row(s) of the champion",
		},
		{
			"a challenger with a void row is not adopted",
			[]*benchmark.Session{champion, delivering("bob", candidate, "2000", "void")}, 0,
			"", "reject: 1 void row(s)",
		},
		{
			"nor one that may not be",
			[]*benchmark.Session{champion, stalled}, 0, "", `reject: "it stalled"`,
		},
		{
			"nor the champion's module in another's name",
			[]*benchmark.Session{champion, thief}, 0, "", "reject: the champion's own module, of another miner",
		},
		{
			"a copy needs more than one order",
			[]*benchmark.Session{champion, delivering("bob", candidate, "2000", "1000")}, 9_500,
			"", "reject: 95.00% of its functions are the champion's: 1 better, value_bps 250, a copy needs 2 and 10",
		},
		{
			"what is above the oracle earns nothing",
			[]*benchmark.Session{champion, above}, 0, "", "matched: no order better or worse",
		},
		{
			"what a dethroned champion served already is no gain",
			[]*benchmark.Session{delivering("ann", king, "1000", ""), delivering("bob", candidate, "1000", "500"), delivering("eve", bar, "", "500")}, 0,
			"", "matched: no order better or worse",
		},
		{
			"a bar with a void row is none",
			[]*benchmark.Session{delivering("ann", king, "1000", ""), delivering("bob", candidate, "1000", "500"), delivering("eve", bar, "void", "500")}, 0,
			"bob", "dethrone: 1 better, 0 minor regression(s) within 1% floor (net +1)",
		},
		{
			"rows without value of the champion are for who serves them",
			[]*benchmark.Session{delivering("ann", king, "1000", ""), delivering("bob", candidate, "1000", "1")}, 0,
			"bob", "dethrone: 1 better, 0 minor regression(s) within 1% floor (net +1)",
		},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			share := func(candidate, champion *benchmark.Session) uint {
				if candidate.Role != benchmark.RoleCandidate || champion.Role != benchmark.RoleChampion {
					t.Errorf("share of %s in %s", candidate.ID, champion.ID)
				}
				return tt.share
			}
			d, err := benchmark.Decide(tt.sessions, share)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if tt.adopted != "" {
				want = tt.adopted + " as candidate"
			}
			if d.Adopted != want || d.Reason != tt.reason {
				t.Errorf("adopted %q: %s\nwant %q: %s", d.Adopted, d.Reason, want, tt.reason)
			}
			reversed := slices.Clone(tt.sessions)
			slices.Reverse(reversed)
			again, err := benchmark.Decide(reversed, share)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(d, again, cmpopts.IgnoreUnexported(scoring.Adoption{})); diff != "" {
				t.Errorf("sessions in another order decide otherwise\n%s", diff)
			}
		})
	}
}

func TestThroneIsOnes(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	entrants := func(role benchmark.Role, n int) []benchmark.Entrant {
		var out []benchmark.Entrant
		for i := range n {
			out = append(out, benchmark.Entrant{Miner: fmt.Sprint("m", i), Role: role, Module: guest(t, fmt.Sprint("g", i), nil)})
		}
		return out
	}
	for _, tt := range []struct {
		entrants []benchmark.Entrant
		want     string
	}{
		{entrants(benchmark.RoleChampion, 2), "2 champions, want at most 1"},
		{entrants(benchmark.RoleBar, 3), "3 bars, want at most 2"},
	} {
		if err := p.CheckEntrants(tt.entrants, 1); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

// Whoever downloads the champion can strip it, leave out what it does not need, and
// have it spend less fuel. That dethrones nobody.
func TestACopiedAndShrunkChampionDoesNotDethrone(t *testing.T) {
	t.Parallel()
	champion := guest(t, "champion", func(o *wasmtest.Options) {
		o.Omit = nil
		o.Answers[serialize] = wasmtest.Answer{Output: []byte("learned")}
	})
	m, err := wasm.Decode(champion, wasm.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	m.Customs = nil
	m.Exports = slices.DeleteFunc(m.Exports, func(e wasm.Export) bool { return e.Name == serialize })
	shrunk := m.Encode()
	if len(shrunk) >= len(champion) {
		t.Fatalf("%d bytes, the champion has %d", len(shrunk), len(champion))
	}
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	e := runEpoch(t, p, []benchmark.Entrant{
		{Miner: "ann", Role: benchmark.RoleChampion, Module: champion},
		{Miner: "bob", Module: shrunk},
	}, 1, nil)
	got := e.Decision
	if got.Champion == "" || len(got.Challengers) != 1 {
		t.Fatalf("decision %+v", got)
	}
	c := got.Challengers[0]
	if got.Adopted != "" || c.Adopt || c.Share != 10_000 || c.Matched != intents || c.Compared != intents {
		t.Errorf("adopted %q, share %d, %d of %d orders matched: %s", got.Adopted, c.Share, c.Matched, c.Compared, got.Reason)
	}
}

// Two solvers in Go have the same runtime; that alone makes neither a copy.
func TestSolversInGoAreNoCopiesOfEachOther(t *testing.T) {
	t.Parallel()
	var both [2]*sandbox.Bodies
	for i, name := range []string{"swap", "fallback"} {
		var err error
		if both[i], err = sandbox.ReadBodies(solver(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, share := range []uint{both[0].Share(both[1]), both[1].Share(both[0])} {
		if share >= scoring.CopyShare/2 {
			t.Errorf("they share %d basis points", share)
		}
	}
}
