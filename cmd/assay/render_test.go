package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
)

// Whatever is in an epoch, the summary fits into 80 columns and drives no
// terminal. Text of guests is quoted where rows are made.
func TestSummaryFitsEightyColumns(t *testing.T) {
	quoted := func(max int) *rapid.Generator[string] {
		return rapid.Map(rapid.String(), func(s string) string { return intent.Quoted(s, max) })
	}
	causes := rapid.SampledFrom([]intent.Cause{intent.CauseNone, intent.CauseSessionRestarts, intent.CauseStateMissing, intent.CauseTrap})
	rapid.Check(t, func(t *rapid.T) {
		e := &benchmark.Epoch{
			Number: rapid.Uint64().Draw(t, "number"), Pack: strings.Repeat("a", 64), RowsDigest: strings.Repeat("b", 64),
			PackName: rapid.String().Draw(t, "pack"),
			Dropped:  []benchmark.DroppedApp{{App: rapid.String().Draw(t, "app"), Reason: quoted(200).Draw(t, "reason")}},
		}
		for range rapid.IntRange(0, 3).Draw(t, "solvers") {
			s := benchmark.Summary{
				Miner: rapid.String().Draw(t, "miner"), Name: quoted(harness.MaxNameRunes).Draw(t, "name"), Version: quoted(64).Draw(t, "version"),
				Score: "0.123456789012345678", Valued: rapid.IntRange(0, 4096).Draw(t, "valued"), Intents: 4096, Void: rapid.IntRange(0, 4096).Draw(t, "void"),
				Fuel: rapid.Uint64().Draw(t, "fuel"), Adoptable: rapid.Bool().Draw(t, "adoptable"), NotAdoptable: quoted(200).Draw(t, "not adoptable"),
				GasUsed: rapid.Uint64().Draw(t, "gas"), PeakPages: rapid.Uint32().Draw(t, "pages"), HostCalls: rapid.Uint64().Draw(t, "calls"),
				Reads: rapid.Uint64().Draw(t, "reads"), StateIn: rapid.IntRange(0, 50<<20).Draw(t, "in"), StateNote: "kept: " + quoted(200).Draw(t, "note"),
			}
			for range rapid.IntRange(0, 20).Draw(t, "failures") {
				s.Failures = append(s.Failures, benchmark.CauseCount{Cause: causes.Draw(t, "cause"), Rows: 4096})
			}
			share := rapid.SampledFrom([]string{"", "0", "0.000001", "0.999999", "1", "1.05", "123456789012345678901234567890"})
			s.OfBest = benchmark.OfBest{Mean: share.Draw(t, "mean"), Shares: rapid.SliceOfN(share, 0, 300).Draw(t, "shares")}
			for range rapid.IntRange(0, benchmark.WorstRows).Draw(t, "worst") {
				s.Worst = append(s.Worst, benchmark.Worst{
					IntentID: "i_0123456789abcdef", Cause: causes.Draw(t, "cause"), Score: "0.5", Reason: quoted(200).Draw(t, "reason"),
				})
			}
			e.Solvers = append(e.Solvers, s)
		}
		var out strings.Builder
		renderEpoch(&out, e)
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := cells.StringWidth(line); n > columns {
				t.Fatalf("%d columns: %s", n, line)
			}
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' || r == '\u2066' }) {
				t.Fatalf("unsafe to print: %q", line)
			}
		}
	})
}

func TestFuelHasItsUnit(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 fuel", 999: "999 fuel", 1_000: "1.0 kfuel", 999_999: "999.9 kfuel", 1_000_000: "1.0 Mfuel",
		84_000_000_000: "84.0 Gfuel", 12_345_000_000_000: "12345.0 Gfuel",
	} {
		if got := fuel(n); got != want {
			t.Errorf("fuel(%d) = %q, want %q", n, got, want)
		}
	}
}

// Every plan is shown as a share of the best, rounded down.
func TestSummaryShowsEveryPlanAsOfBest(t *testing.T) {
	var out strings.Builder
	renderSolver(&out, 1, benchmark.Summary{Miner: "ann", OfBest: benchmark.OfBest{
		Mean: "0.748012", Intents: 6, Shares: []string{"1", "0.999999", "0.9", "", "0", "0.0104", "1.05"},
	}})
	want := "   of best  74.8 % on average, by intent in % (- has no best):\n" +
		"            100 99.99 90 - 0 1.04 105\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("summary has no\n%s:\n%s", want, out.String())
	}
	out.Reset()
	renderSolver(&out, 1, benchmark.Summary{Miner: "ann"})
	if strings.Contains(out.String(), "of best") {
		t.Errorf("of what best?\n%s", out.String())
	}
	out.Reset()
	renderOfBest(&out, benchmark.OfBest{Mean: "1", Shares: make([]string, sharesShown+7)})
	if !strings.HasSuffix(out.String(), " and 7 more\n") {
		t.Errorf("shares that are not shown are not counted:\n%s", out.String())
	}
}

// A session that decides nothing says why.
func TestSummarySaysWhatDecidesNothing(t *testing.T) {
	var out strings.Builder
	renderSolver(&out, 1, benchmark.Summary{Miner: "ann", NotAdoptable: `"intent i_1: generate_plan: stalled"`})
	if want := `   not adoptable: "intent i_1: generate_plan: stalled"`; !strings.Contains(out.String(), want+"\n") {
		t.Errorf("summary has no line %q:\n%s", want, out.String())
	}
}

func TestFold(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   string
		want []string
	}{
		{"nothing", "", nil},
		{"what fits stays whole", "0123456789", []string{"0123456789"}},
		{"a break falls on a space", "01234 6789 1234", []string{"01234 6789", "1234"}},
		{"a long word is cut", "0123456789abcd", []string{"0123456789", "abcd"}},
		{"what is left out is marked", "0123456789 0123456789 0123456789", []string{"0123456789", "012345678…"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, fold(tt.in, 10)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A document in ASCII decodes to what was put into it.
func TestWriteJSONIsASCIIAndLossless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		var out strings.Builder
		if err := writeJSON(&out, want); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(out.String(), func(r rune) bool { return r >= 0x7f || r < ' ' && r != '\n' }) {
			t.Fatalf("%q is not plain ASCII", out.String())
		}
		var got string
		if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got != want {
			t.Fatalf("read back %q, %v, want %q", got, err, want)
		}
	})
}
