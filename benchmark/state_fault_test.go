package benchmark_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
)

// A state that the validator cannot read back voids the session of its miner and
// no other; the store goes on referring to it.
func TestADamagedStateVoidsItsOwnSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	entrants := []benchmark.Entrant{{Miner: "ann", Module: remembering(t)}, {Miner: "bob", Module: good(t)}}
	store := openStore(t, dir)
	kept := sessionOf(t, runEpoch(t, p, entrants, 2, store), "ann").StateOut
	if kept == "" {
		t.Fatal("nothing was saved")
	}
	blob := filepath.Join(dir, "blobs", kept)
	whole, err := os.ReadFile(blob)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blob, append([]byte("x"), whole[1:]...), 0o600); err != nil {
		t.Fatal(err)
	}

	e := runEpoch(t, p, entrants, 2, store)
	ann, bob := sessionOf(t, e, "ann"), sessionOf(t, e, "bob")
	if ann.Fault == "" || ann.StateIn != kept || len(ann.Records) != p.Intents() {
		t.Errorf("ann: fault %q, state %q, %d rows, want a fault, %q and %d", ann.Fault, ann.StateIn, len(ann.Records), kept, p.Intents())
	}
	for _, r := range ann.Records {
		if r.Row.Cause != intent.CauseInfra {
			t.Errorf("ann's row %s: cause %q, want it void", r.Row.IntentID, r.Row.Cause)
		}
	}
	if bob.Fault != "" || bob.Records[0].Row.Cause == intent.CauseInfra {
		t.Errorf("bob's session is void too: %q", bob.Fault)
	}

	if err := os.WriteFile(blob, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if again := sessionOf(t, runEpoch(t, p, entrants, 2, store), "ann"); again.StateIn != kept || again.Fault != "" {
		t.Errorf("after a repair: state %q, fault %q, want %q and none", again.StateIn, again.Fault, kept)
	}
}

// A state that cannot be written costs its miner what it learned, and no row:
// they were made before. The epoch is stored, though what stands in the way
// cannot be swept either.
func TestAStateThatCannotBeWrittenIsItsOwnSessionsFault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	entrants := []benchmark.Entrant{{Miner: "ann", Module: remembering(t)}, {Miner: "bob", Module: good(t)}}
	want := runEpoch(t, p, entrants, 2, nil)

	store := openStore(t, dir)
	blob := filepath.Join(dir, "blobs", sessionOf(t, want, "ann").StateOut)
	if err := os.MkdirAll(filepath.Join(blob, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := runEpoch(t, p, entrants, 2, store)
	if e.RowsDigest != want.RowsDigest {
		t.Errorf("rows digest %s, want %s as without a store", e.RowsDigest, want.RowsDigest)
	}
	ann, bob := sessionOf(t, e, "ann"), sessionOf(t, e, "bob")
	if ann.Fault == "" || ann.StateOut != "" || ann.StateOutBytes != 0 || ann.StateNote == benchmark.NoteSaved {
		t.Errorf("ann: fault %q, state out %q, %s: want a fault and none", ann.Fault, ann.StateOut, ann.StateNote)
	}
	if bob.Fault != "" {
		t.Errorf("bob: fault %q by another's state", bob.Fault)
	}
	if _, err := store.Epoch(1); e.Number != 1 || err != nil {
		t.Errorf("epoch %d, stored: %v, want 1", e.Number, err)
	}
	if b, err := store.State("ann", benchmark.RoleCandidate); err != nil || b != nil {
		t.Errorf("state %x, %v, want none", b, err)
	}

	if err := os.RemoveAll(blob); err != nil {
		t.Fatal(err)
	}
	if s := sessionOf(t, runEpoch(t, p, entrants, 2, store), "ann"); s.Fault != "" || s.StateNote != benchmark.NoteSaved {
		t.Errorf("once it can be written: fault %q, %s", s.Fault, s.StateNote)
	}
}
