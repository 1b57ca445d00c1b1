package benchmark_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// stateLimit is the largest state a solver may keep by version 1 of the ABI.
const stateLimit = 52_428_800

// A second run finds what the first one learned; runs from empty repeat.
func TestRunsRepeatFromEmpty(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	var first []string
	for round := range 2 {
		dir := t.TempDir()
		var digests []string
		for run := range 3 {
			store := openStore(t, dir)
			e := runEpoch(t, p, quartet(t), 1+run, store)
			digests = append(digests, e.RowsDigest)
			s := sessionOf(t, e, "learner")
			if restored := s.StateIn != ""; restored != (run > 0) {
				t.Errorf("run %d: state restored %t", run+1, restored)
			}
			b, err := store.State("learner", benchmark.RoleCandidate)
			if err != nil {
				t.Fatal(err)
			}
			if want := binary.LittleEndian.AppendUint64(nil, uint64((run+1)*intents)); !bytes.Equal(b, want) {
				t.Errorf("run %d: state %x, want a count of %d", run+1, b, (run+1)*intents)
			}
			back, err := store.Epoch(e.Number)
			if err != nil {
				t.Fatal(err)
			}
			if back.RowsDigest != e.RowsDigest || e.Number != uint64(run+1) {
				t.Errorf("run %d is stored as epoch %d with digest %s, want %s", run+1, e.Number, back.RowsDigest, e.RowsDigest)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Compact(slices.Sorted(slices.Values(digests)))[0] == "" || digests[0] == digests[1] || digests[1] == digests[2] {
			t.Errorf("digests %v: a restored state must show in them", digests)
		}
		if round == 0 {
			first = digests
		} else if !slices.Equal(first, digests) {
			t.Errorf("digests from empty %v, the first time %v", digests, first)
		}
	}
}

func TestOnlyAValueSavesState(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	// It learns like the other, but nothing it does has a value.
	poor := guest(t, "poor", func(o *wasmtest.Options) {
		o.Omit, o.Stateful = nil, true
		o.Answers[plan] = wasmtest.Answer{Act: wasmtest.Remember, Output: marshal(t, tipPlan("1"))}
	})
	huge := guest(t, "huge", func(o *wasmtest.Options) {
		o.Omit = nil
		o.Answers[serialize] = wasmtest.Answer{Pad: stateLimit + 1}
	})
	full := guest(t, "full", func(o *wasmtest.Options) {
		o.Omit = nil
		o.Answers[serialize] = wasmtest.Answer{Pad: stateLimit}
	})
	store := openStore(t, t.TempDir())
	e := runEpoch(t, p, []benchmark.Entrant{
		{Miner: "poor", Module: poor}, {Miner: "huge", Module: huge}, {Miner: "full", Module: full},
		{Miner: "bar", Role: benchmark.RoleBar, Module: remembering(t)},
	}, 2, store)
	for miner, want := range map[string]int{"poor": 0, "huge": 0, "full": stateLimit, "bar": 0} {
		if got := sessionOf(t, e, miner).StateOutBytes; got != want {
			t.Errorf("%s: %d bytes of state saved, want %d", miner, got, want)
		}
	}
	for _, miner := range []string{"huge", "full", "bar"} {
		if sum := summaryOf(t, e, miner); sum.Valued != intents {
			t.Errorf("%s: %d rows with a value, want %d: a state never touches a score", miner, sum.Valued, intents)
		}
	}
}

// A solver that refuses its state keeps it in the store, and its rows say so.
func TestARefusedStateIsKept(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	store := openStore(t, t.TempDir())
	runEpoch(t, p, []benchmark.Entrant{{Miner: "ann", Module: remembering(t)}}, 1, store)
	before, err := store.State("ann", benchmark.RoleCandidate)
	if err != nil || len(before) != 8 {
		t.Fatal(before, err)
	}
	picky := guest(t, "picky", func(o *wasmtest.Options) {
		o.Omit = nil
		o.Answers[restore] = wasmtest.Answer{Status: 1, Output: []byte("not mine")}
		o.Answers[serialize] = wasmtest.Answer{Output: []byte("something else")}
	})
	s := sessionOf(t, runEpoch(t, p, []benchmark.Entrant{{Miner: "ann", Module: picky}}, 1, store), "ann")
	for _, r := range s.Records {
		if !slices.Contains(r.Row.Notes, "state_refused") || r.Row.Cause != intent.CauseNone {
			t.Fatalf("row %s: notes %q and cause %q, want state_refused and a value", r.Row.IntentID, r.Row.Notes, r.Row.Cause)
		}
	}
	after, err := store.State("ann", benchmark.RoleCandidate)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("state %x after a refusal, %v, want %x", after, err, before)
	}
}
