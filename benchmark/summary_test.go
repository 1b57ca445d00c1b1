package benchmark_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
)

func record(id string, cause intent.Cause, score string, gas uint64, pages uint32) benchmark.Record {
	return benchmark.Record{
		App: "tip", Detail: "why " + id, HostCalls: 3,
		Row: benchmark.Row{IntentID: id, Cause: cause, Score: score, GasUsed: gas, PeakPages: pages, Reads: benchmark.Reads{Requests: 2}},
	}
}

func TestSummaryCountsWhatTheRowsSay(t *testing.T) {
	t.Parallel()
	got, err := benchmark.Rank([]*benchmark.Session{
		{ID: "b", Miner: "low", Records: []benchmark.Record{record("i_1", intent.CauseTrap, "0", 0, 1)}},
		{ID: "c", Miner: "mid", Role: benchmark.RoleCandidate, StateInBytes: 5, Records: []benchmark.Record{
			record("i_1", intent.CauseNone, "1", 100, 7),
			record("i_2", intent.CauseNone, "0.25", 50, 2),
			record("i_3", intent.CauseReverted, "0", 30, 2),
			record("i_4", intent.CauseTrap, "0", 0, 9),
			record("i_5", intent.CauseReverted, "0", 20, 2),
			record("i_6", intent.CauseInfra, "", 0, 0),
		}},
		{ID: "a", Miner: "alike", Records: []benchmark.Record{record("i_1", intent.CauseTrap, "0", 0, 1)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	// mid's score leaves a void row out, so it is not compared with the others'.
	for i, miner := range []string{"alike", "low", "mid"} {
		if got[i].Miner != miner {
			t.Errorf("place %d is %s's, want %s's", i+1, got[i].Miner, miner)
		}
	}
	want := benchmark.Summary{
		Session: "c", Miner: "mid", Role: benchmark.RoleCandidate,
		Score:  "0.25", // 1.25 of 5 rows that are not void
		Valued: 2, Intents: 6, Void: 1,
		Failures:  []benchmark.CauseCount{{Cause: intent.CauseReverted, Rows: 2}, {Cause: intent.CauseInfra, Rows: 1}, {Cause: intent.CauseTrap, Rows: 1}},
		GasUsed:   200,
		PeakPages: 9, HostCalls: 18, Reads: 12, StateIn: 5,
		Worst: []benchmark.Worst{
			{IntentID: "i_3", App: "tip", Score: "0", Cause: intent.CauseReverted, Reason: "why i_3"},
			{IntentID: "i_4", App: "tip", Score: "0", Cause: intent.CauseTrap, Reason: "why i_4"},
			{IntentID: "i_5", App: "tip", Score: "0", Cause: intent.CauseReverted, Reason: "why i_5"},
		},
	}
	if diff := cmp.Diff(want, got[2]); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestASessionOfVoidRowsHasNoScore(t *testing.T) {
	t.Parallel()
	got, err := benchmark.Rank([]*benchmark.Session{{Records: []benchmark.Record{record("i_1", intent.CauseInfra, "", 0, 0)}}})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Score != "" || got[0].Void != 1 || len(got[0].Worst) != 0 {
		t.Errorf("score %q with %d rows void, worst %+v: want no score and no worst", got[0].Score, got[0].Void, got[0].Worst)
	}
}

func TestAPerfectRowIsNotAmongTheWorst(t *testing.T) {
	t.Parallel()
	got, err := benchmark.Rank([]*benchmark.Session{{Records: []benchmark.Record{
		record("i_1", intent.CauseNone, "1", 0, 0),
		record("i_2", intent.CauseNone, "0.999999999999999999", 0, 0),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got[0].Worst) != 1 || got[0].Worst[0].IntentID != "i_2" {
		t.Errorf("worst rows %+v, want i_2 alone", got[0].Worst)
	}
}

func TestARowWithoutAReadableScoreIsAnError(t *testing.T) {
	t.Parallel()
	for _, score := range []string{"1.1", "-0.1", "x"} {
		if got, err := benchmark.Rank([]*benchmark.Session{{Records: []benchmark.Record{record("i_1", intent.CauseNone, score, 0, 0)}}}); err == nil {
			t.Errorf("score %q counts as %s", score, got[0].Score)
		}
	}
}
