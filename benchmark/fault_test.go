package benchmark_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// breaking is a progress function that panics, and with it the session, on the
// nth row of one miner, for as many attempts as times says.
func breaking(miner string, nth int, times int32) benchmark.Progress {
	var left atomic.Int32
	left.Store(times)
	return benchmark.Progress{Row: func(e benchmark.Entrant, done, _ int, _ benchmark.Record) {
		if e.Miner == miner && done == nth && left.Add(-1) >= 0 {
			panic("broken host")
		}
	}}
}

func TestAFaultOfTheValidatorsIsRunAgain(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	want := runEpoch(t, p, quartet(t), 2, nil)
	got, err := benchmark.RunEpoch(t.Context(), p, quartet(t), 2, nil, breaking("trapper", 3, 1))
	if err != nil {
		t.Fatal(err)
	}
	if got.RowsDigest != want.RowsDigest {
		t.Errorf("rows digest %s after a fault that was run again, want %s", got.RowsDigest, want.RowsDigest)
	}
}

func TestASecondFaultVoidsTheRowsThatAreLeft(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	store := openStore(t, t.TempDir())
	e, err := benchmark.RunEpoch(t.Context(), p, quartet(t), 2, store, breaking("learner", 3, 2))
	if err != nil {
		t.Fatal(err)
	}
	s := sessionOf(t, e, "learner")
	want := slices.Concat(make([]intent.Cause, 3), slices.Repeat([]intent.Cause{intent.CauseInfra}, intents-3))
	if got := causes(s); !slices.Equal(got, want) {
		t.Errorf("causes %q, want three rows and then void ones", got)
	}
	void := s.Records[intents-1]
	if void.Detail != "" || void.Row.Score != "" || void.Row.PlanHash != "" {
		t.Errorf("a void row says more than that it is void: %+v", void)
	}
	if s.Fault == "" || s.StateOut != "" {
		t.Errorf("fault %q, state out %q: want a reason and no state", s.Fault, s.StateOut)
	}
	if b, err := store.State("learner", benchmark.RoleCandidate); err != nil || b != nil {
		t.Errorf("a void session saved %x, %v", b, err)
	}
	if sum := summaryOf(t, e, "learner"); sum.Void != intents-3 {
		t.Errorf("summary counts %d void rows, want %d", sum.Void, intents-3)
	}
	for _, miner := range []string{"trapper", "crasher", "good"} {
		if sum := summaryOf(t, e, miner); sum.Void != 0 {
			t.Errorf("%s has %d void rows by another's fault", miner, sum.Void)
		}
	}
}

func TestASecondRunMustRepeatItsPlans(t *testing.T) {
	t.Parallel()
	row := func(hash string) benchmark.Record { return benchmark.Record{Row: benchmark.Row{PlanHash: hash}} }
	session := func(hashes ...string) *benchmark.Session {
		s := &benchmark.Session{}
		for _, h := range hashes {
			s.Records = append(s.Records, row(h))
		}
		return s
	}
	for _, tt := range []struct {
		name          string
		first, second *benchmark.Session
		rows          int
		differ        bool
	}{
		{"the second came further", session("a"), session("a", "b"), 2, false},
		{"the first came further", session("a", "b", "c"), session("a"), 3, false},
		{"another plan", session("a", "b", "c"), session("a", "x", "c"), 1, true},
		{"a plan where there was none", session("", "b"), session("x", "b"), 0, true},
	} {
		rows, err := benchmark.Compare(tt.first, tt.second)
		var fault *intent.InfraFault
		if rows != tt.rows || errors.As(err, &fault) != tt.differ {
			t.Errorf("%s: %d rows and %v, want %d and a fault %t", tt.name, rows, err, tt.rows, tt.differ)
		}
	}
}

func TestAnAppThatFailsItsSelfTestLeavesThePack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(app, test file)
		reason string
	}{
		{"its scorer throws", func(app, _ file) { app["js_code"] = "exports.score = () => { throw new Error('no') }" }, "scorer_failed"},
		{"its scorer is no code", func(app, _ file) { app["js_code"] = "exports.score = (" }, ""},
		{"its scorer vetoes", func(app, _ file) { app["js_code"] = "exports.score = () => ({score: 1, valid: false})" }, "scorer_veto"},
		{"its plan delivers too little", func(_, test file) { test["plan"] = tipPlan("1") }, "min_output"},
		{"its plan breaks a rule", func(_, test file) { test["plan"] = tipPlan("-1") }, "value"},
		{"its plan leaves the snapshot", func(_, test file) { test["plan"] = planTo(stranger, "900") }, "state_missing"},
		{"its intent has no value rule", func(_, test file) { delete(object(object(test["state"])["raw_params"]), "token") }, "token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			broken := edit(t, func(f file) { tt.change(item(f["apps"], 0), item(f["self_tests"], 0)) })
			_, err := benchmark.Prepare(t.Context(), decode(t, broken), snapshots(t), e)
			var fault *intent.AppFault
			if !errors.As(err, &fault) {
				t.Fatalf("alone in its pack: %v, want an app fault", err)
			}
			if !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %q does not say %q", err, tt.reason)
			}

			// Beside an app that works, it takes its own intents only.
			both := edit(t, func(f file) {
				bad, test := tipApp(), file{"app_id": "bad", "state": tipState("bad"), "plan": tipPlan("900")}
				bad["app_id"] = "bad"
				object(test["plan"])["intent_id"] = "bad"
				tt.change(bad, test)
				f["apps"] = append(f["apps"].([]any), bad)
				f["self_tests"] = append(f["self_tests"].([]any), test)
				f["cases"] = append(f["cases"].([]any), file{"app_id": "bad", "state": tipState("case of bad")})
			})
			p := prepare(t, e, decode(t, both))
			if len(p.Dropped()) != 1 || p.Dropped()[0].App != "bad" || len(p.Dropped()[0].Intents) != 1 {
				t.Errorf("dropped %+v, want the app bad with its one intent", p.Dropped())
			}
			if p.Intents() != intents {
				t.Errorf("%d intents are left, want %d", p.Intents(), intents)
			}
		})
	}
}

// An intent that cannot be measured is known before any solver has planned for
// it.
func TestAnIntentWithoutAReadableMinimumIsThePacksFault(t *testing.T) {
	t.Parallel()
	for name, minimum := range map[string]any{"a sign": "-1", "a number": 100, "a fraction": "0.5"} {
		b := edit(t, func(f file) { object(object(item(f["cases"], 3)["state"])["raw_params"])["minimum"] = minimum })
		_, err := benchmark.Prepare(t.Context(), decode(t, b), snapshots(t), newEngine(t))
		var fault *intent.UsageFault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), "raw_params.minimum") || !strings.Contains(err.Error(), "nonce") {
			t.Errorf("%s: %v, want a usage fault that names intent and parameter", name, err)
		}
	}
}

func TestPrepareWantsTheSnapshotsOfThePack(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	pack := decode(t, marshal(t, standardFile(t)))
	other := *testSnapshot()
	other.Context.Number++
	other.BlockHashes = []chain.BlockHash{{Number: blockNumber, Hash: common.Hash{2}}}
	for name, given := range map[string]map[common.Hash]*chain.Snapshot{
		"none":         nil,
		"another file": {common.Hash(pack.Chains[0].Snapshot): &other},
	} {
		_, err := benchmark.Prepare(t.Context(), pack, given, e)
		var missing *benchmark.SnapshotError
		if !errors.As(err, &missing) || missing.ChainID != 1 {
			t.Errorf("%s: %v, want a SnapshotError of chain 1", name, err)
		}
	}
}

func TestAMarketOfAnotherBlockIsRefused(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for _, block := range []int{blockNumber - 1, blockNumber} {
		b := edit(t, func(f file) {
			item(f["chains"], 0)["market"] = file{"chain_id": 1, "block_number": block, "timestamp": blockTime}
		})
		_, err := benchmark.Prepare(t.Context(), decode(t, b), snapshots(t), e)
		var usage *intent.UsageFault
		if errors.As(err, &usage) != (block != blockNumber) {
			t.Errorf("market of block %d, pinned %d: %v", block, blockNumber, err)
		}
	}
}

func TestAPackClosesBeforeItsPinnedTime(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for _, late := range []int{-1, 0, 1} {
		b := edit(t, func(f file) { f["close"] = blockTime + late })
		_, err := benchmark.Prepare(t.Context(), decode(t, b), snapshots(t), e)
		var usage *intent.UsageFault
		if errors.As(err, &usage) != (late >= 0) {
			t.Errorf("close %d s after the pinned time: %v", late, err)
		}
	}
}

// Two of three smoke intents are no screening, whatever they say.
func TestScreenWantsEverySmokeIntent(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, edit(t, func(f file) {
		for _, id := range []string{"bad", "worse"} {
			app := tipApp()
			app["app_id"], app["js_code"] = id, "exports.score = ("
			f["apps"] = append(f["apps"].([]any), app)
			f["self_tests"] = append(f["self_tests"].([]any), file{"app_id": id, "state": tipState(id), "plan": tipPlan("900")})
		}
		item(f["smoke"], 1)["app_id"] = "worse"
	})))
	_, err := p.Screen(t.Context(), good(t), false)
	var fault *intent.AppFault
	if !errors.As(err, &fault) || fault.AppID != "worse" {
		t.Errorf("Screen() = %v, want a fault of the app worse", err)
	}
}

func TestScreenUsesThePacksSmokeIntents(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	for _, tt := range []struct {
		name  string
		wasm  []byte
		stage int
	}{
		{"a good solver", good(t), 0},
		{"no module", []byte("text"), 1},
		{"a plan that breaks a rule", planning(t, "minus", tipPlan("-1")), 3},
	} {
		sc, err := p.Screen(t.Context(), tt.wasm, false)
		if err != nil {
			t.Fatal(err)
		}
		if sc.Stage != tt.stage || sc.Passed != (tt.stage == 0) {
			t.Errorf("%s: passed %t, refused at stage %d, want %d: %s", tt.name, sc.Passed, sc.Stage, tt.stage, sc.Detail)
		}
	}
}
