package benchmark_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
)

// A plan that delivers 900 earns all of it up to a best of 858, for 858·1.05 is
// 900.9; below, what is above 105 % earns nothing. The row says so and the summary
// shows the share.
func TestBestCapsWhatIsCredited(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		best, credited, share, mean string
		above                       bool
	}{
		{"1000", "900", "0.9", "0.9", false},
		{"900", "900", "1", "1", false},
		{"858", "900", "1.048951", "1.048951", false},
		{"857", "899", "1.050175", "1.049008", true},
		{"100", "105", "9", "1.05", true},
		{"", "900", "", "", false},
	} {
		t.Run("best "+tt.best, func(t *testing.T) {
			t.Parallel()
			f := standardFile(t)
			for _, c := range f["cases"].([]any) {
				if tt.best != "" {
					c.(file)["best"] = tt.best
				}
			}
			e := runEpoch(t, prepare(t, newEngine(t), decode(t, marshal(t, f))), []benchmark.Entrant{{Miner: "good", Module: good(t)}}, 1, nil)
			rec := sessionOf(t, e, "good").Records[0]
			if rec.Best != tt.best || rec.Row.Value != "900" || rec.Row.Credited != tt.credited || rec.Row.AboveOracle != tt.above {
				t.Errorf("best %s: value %s, credited %s, above the oracle: %t; want 900, %s, %t",
					rec.Best, rec.Row.Value, rec.Row.Credited, rec.Row.AboveOracle, tt.credited, tt.above)
			}
			got := summaryOf(t, e, "good").OfBest
			want := benchmark.OfBest{Mean: tt.mean}
			for range intents {
				if tt.best != "" {
					want.Shares, want.Intents = append(want.Shares, tt.share), want.Intents+1
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("of best (-want +got):\n%s", diff)
			}
		})
	}
}

// What has no value is 0 of the best; what is void and what has no best counts for
// nothing.
func TestSharesOfTheBest(t *testing.T) {
	t.Parallel()
	valued := func(id, value, best string) benchmark.Record {
		r := record(id, intent.CauseNone, "1", 0, 0)
		r.Row.Value, r.Row.Credited, r.Best = value, value, best
		return r
	}
	failed, void := record("i_5", intent.CauseReverted, "0", 0, 0), record("i_6", intent.CauseInfra, "", 0, 0)
	failed.Best, void.Best = "10", "10"
	got, err := benchmark.Rank([]*benchmark.Session{{Records: []benchmark.Record{
		valued("i_1", "2", "3"), valued("i_2", "7", ""), valued("i_3", "5", "5"),
		valued("i_4", "115792089237316195423570985008687907853269984665640564039457584007913129639934", "115792089237316195423570985008687907853269984665640564039457584007913129639935"),
		failed, void,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	want := benchmark.OfBest{
		Mean:    "0.666666", // of 0.666666, 1, 0.999999 and 0
		Intents: 4, Shares: []string{"0.666666", "", "1", "0.999999", "0", ""},
	}
	if diff := cmp.Diff(want, got[0].OfBest); diff != "" {
		t.Errorf("of best (-want +got):\n%s", diff)
	}
	for _, r := range []benchmark.Record{valued("i_1", "2", "0"), valued("i_1", "x", "3"), valued("i_1", "2", "1.5")} {
		if _, err := benchmark.Rank([]*benchmark.Session{{Records: []benchmark.Record{r}}}); err == nil {
			t.Errorf("value %q of best %q is a share", r.Row.Value, r.Best)
		}
	}
}
