package benchmark_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
)

func openStore(t testing.TB, dir string) *benchmark.Store {
	t.Helper()
	s, err := benchmark.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // closing twice is harmless
	return s
}

// epochOf is an epoch with one session for each miner and two rows each.
func epochOf(pack string, miners ...string) *benchmark.Epoch {
	e := &benchmark.Epoch{Schema: benchmark.RowSchema, Pack: pack, PackName: "p"}
	for _, m := range miners {
		s := &benchmark.Session{ID: "session-" + m, Miner: m, Role: benchmark.RoleCandidate, Notes: []string{}}
		for _, id := range []string{"i_a", "i_b"} {
			s.Records = append(s.Records, benchmark.Record{
				App: "tip",
				Row: benchmark.Row{Session: s.ID, IntentID: id, Score: "0.5", Value: "7", Deltas: []benchmark.Delta{}, Fuel: []benchmark.CallFuel{}, Notes: []string{}},
			})
		}
		e.Sessions = append(e.Sessions, s)
	}
	return e
}

func commit(t testing.TB, s *benchmark.Store, e *benchmark.Epoch, states map[string][]byte) {
	t.Helper()
	if err := s.CommitEpoch(e, []byte("pack "+e.Pack), states); err != nil {
		t.Fatal(err)
	}
}

func TestStoreReturnsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir)
	want := epochOf("aa", "ann", "bob")
	state := bytes.Repeat([]byte{0, 1, 2}, 100_000)
	commit(t, s, want, map[string][]byte{"ann": state})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = openStore(t, dir)
	numbers, err := s.Epochs()
	if err != nil || !slices.Equal(numbers, []uint64{1}) {
		t.Fatalf("Epochs() = %v, %v, want [1]", numbers, err)
	}
	got, err := s.Epoch(1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(benchmark.Session{})); diff != "" {
		t.Errorf("epoch (-want +got):\n%s", diff)
	}
	if b, err := s.State("ann", benchmark.RoleCandidate); err != nil || !bytes.Equal(b, state) {
		t.Errorf("state of ann: %d bytes, %v, want the %d saved", len(b), err, len(state))
	}
	if b, err := s.Pack("aa"); err != nil || string(b) != "pack aa" {
		t.Errorf("Pack = %q, %v", b, err)
	}
}

func TestStateBelongsToMinerAndRole(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	commit(t, s, epochOf("aa", "ann"), map[string][]byte{"ann": []byte("learned")})
	for _, tt := range []struct {
		miner string
		role  benchmark.Role
		want  []byte
	}{
		{"ann", benchmark.RoleCandidate, []byte("learned")},
		{"ann", benchmark.RoleChampion, nil},
		{"ann", benchmark.RoleBar, nil},
		{"Ann", benchmark.RoleCandidate, nil},
		{"", benchmark.RoleCandidate, nil},
	} {
		got, err := s.State(tt.miner, tt.role)
		if err != nil || !bytes.Equal(got, tt.want) {
			t.Errorf("State(%q, %s) = %q, %v, want %q", tt.miner, tt.role, got, err, tt.want)
		}
	}
}

func TestAReplacedStateIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir)
	for i := range 5 {
		commit(t, s, epochOf("aa", "ann", "bob"), map[string][]byte{"ann": fmt.Append(nil, "state ", i), "bob": []byte("same")})
	}
	files, err := os.ReadDir(filepath.Join(dir, "blobs"))
	if err != nil || len(files) != 2 {
		t.Errorf("%d blobs after five epochs of two miners, %v, want 2", len(files), err)
	}
}

func TestAnInterruptedBlobIsRemovedAtOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir)
	commit(t, s, epochOf("aa", "ann"), map[string][]byte{"ann": []byte("kept")})
	name, err := s.PutBlob([]byte("of an epoch that was never committed"))
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "blobs", "README")
	for _, path := range []string{foreign, filepath.Join(dir, "blobs", "new-123")} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir)
	if _, err := s.StoredBlob(name, len("of an epoch that was never committed")); !errors.Is(err, benchmark.ErrDamaged) {
		t.Errorf("the orphan is still there: %v", err)
	}
	if b, err := s.State("ann", benchmark.RoleCandidate); err != nil || string(b) != "kept" {
		t.Errorf("state of ann = %q, %v", b, err)
	}
	files, err := os.ReadDir(filepath.Join(dir, "blobs"))
	if err != nil || len(files) != 2 {
		t.Errorf("%d files in blobs, %v, want the state and a file that is not the store's", len(files), err)
	}
}

func TestRetentionIsBounded(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	const extra = 3
	for i := range benchmark.RetainEpochs + extra {
		commit(t, s, epochOf(fmt.Sprintf("%02x", min(i, extra)), "ann"), nil)
	}
	numbers, err := s.Epochs()
	if err != nil {
		t.Fatal(err)
	}
	if len(numbers) != benchmark.RetainEpochs || numbers[0] != extra+1 {
		t.Errorf("%d epochs from %d, want %d from %d", len(numbers), numbers[0], benchmark.RetainEpochs, extra+1)
	}
	if _, err := s.Epoch(1); !errors.Is(err, benchmark.ErrUnknown) {
		t.Errorf("Epoch(1) = %v, want ErrUnknown", err)
	}
	if _, err := s.Pack("00"); !errors.Is(err, benchmark.ErrUnknown) {
		t.Errorf("the pack of a removed epoch: %v, want ErrUnknown", err)
	}
	if _, err := s.Pack("03"); err != nil {
		t.Errorf("the pack of a kept epoch: %v", err)
	}
}

func TestSecondOpenIsLockedOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openStore(t, dir)
	if _, err := benchmark.OpenStore(dir); !errors.Is(err, benchmark.ErrLocked) {
		t.Errorf("second OpenStore = %v, want ErrLocked", err)
	}
}

func TestWhatCannotBeAStoreIsUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "odd", "assay.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{path, filepath.Join(dir, "odd")} {
		_, err := benchmark.OpenStore(dir)
		var usage *intent.UsageFault
		if !errors.As(err, &usage) {
			t.Errorf("OpenStore(%s) = %v, want a usage fault", filepath.Base(dir), err)
		}
	}
}

// A broken file is an error of one kind, wherever it breaks, and never a crash
// or another epoch.
func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	build := func(t *testing.T) string {
		dir := t.TempDir()
		s := openStore(t, dir)
		for range 20 {
			commit(t, s, epochOf("aa", "ann", "bob", "cat"), map[string][]byte{"ann": []byte("state of ann")})
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	use := func(dir string) error {
		s, err := benchmark.OpenStore(dir)
		if err != nil {
			return err
		}
		defer s.Close()
		var errs []error
		numbers, err := s.Epochs()
		errs = append(errs, err)
		for _, n := range numbers {
			_, err := s.Epoch(n)
			errs = append(errs, err)
		}
		_, err = s.State("ann", benchmark.RoleCandidate)
		_, perr := s.Pack("aa")
		return errors.Join(append(errs, err, perr)...)
	}

	t.Run("blob", func(t *testing.T) {
		t.Parallel()
		dir := build(t)
		files, err := os.ReadDir(filepath.Join(dir, "blobs"))
		if err != nil || len(files) != 1 {
			t.Fatal(len(files), err)
		}
		blob := filepath.Join(dir, "blobs", files[0].Name())
		for name, b := range map[string][]byte{"another byte": []byte("state of bob"), "one byte less": []byte("state of an"), "nothing": nil} {
			if err := os.WriteFile(blob, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := use(dir); !errors.Is(err, benchmark.ErrDamaged) {
				t.Errorf("%s: %v, want ErrDamaged", name, err)
			}
		}
		if err := os.Remove(blob); err != nil {
			t.Fatal(err)
		}
		if err := use(dir); !errors.Is(err, benchmark.ErrDamaged) {
			t.Errorf("gone: %v, want ErrDamaged", err)
		}
	})

	t.Run("records", func(t *testing.T) {
		t.Parallel()
		dir := build(t)
		path := filepath.Join(dir, "assay.db")
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := use(dir); err != nil {
			t.Fatalf("before any damage: %v", err)
		}
		check := func(name string, b []byte) {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := use(dir); err != nil && !errors.Is(err, benchmark.ErrDamaged) && !errors.Is(err, benchmark.ErrUnknown) {
				t.Fatalf("%s: %v, want ErrDamaged or nothing noticed", name, err)
			}
		}
		for _, n := range []int{1, 100, 4096, 8192, 12288, len(whole) / 2, len(whole) - 4096} {
			check(fmt.Sprint("cut to ", n), whole[:n])
		}
		for i := 0; i < len(whole); i += 4001 {
			b := slices.Clone(whole)
			b[i] ^= 0x55
			check(fmt.Sprint("byte ", i), b)
		}
		b := slices.Clone(whole)
		for i := bytes.Index(b, []byte(`"value":"7"`)); i >= 0; i = bytes.Index(b, []byte(`"value":"7"`)) {
			copy(b[i:], `"value":"9"`)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := use(dir); !errors.Is(err, benchmark.ErrDamaged) {
			t.Errorf("values that were changed: %v, want ErrDamaged", err)
		}
	})
}

func TestBusyWhileAnEpochRuns(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	p := prepare(t, e, decode(t, marshal(t, standardFile(t))))
	store := openStore(t, t.TempDir())
	var inner error
	_, err := benchmark.RunEpoch(t.Context(), p, []benchmark.Entrant{{Miner: "ann", Module: good(t)}}, 1, store, benchmark.Progress{
		Ended: func(benchmark.Entrant, *benchmark.Session) {
			_, inner = benchmark.RunEpoch(t.Context(), p, []benchmark.Entrant{{Miner: "bob", Module: good(t)}}, 1, store, benchmark.Progress{})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(inner, benchmark.ErrBusy) {
		t.Errorf("an epoch inside an epoch on one store: %v, want ErrBusy", inner)
	}
}

// Readers beside a writer see whole epochs and whole states.
func TestStoreUnderConcurrentUse(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir())
	commit(t, s, epochOf("aa", "ann"), map[string][]byte{"ann": stateAfter(1)})
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				numbers, err := s.Epochs()
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.Epoch(numbers[len(numbers)-1]); err != nil {
					t.Error(err)
				}
				if _, err := s.Pack("aa"); err != nil {
					t.Error(err)
				}
				if b, err := s.State("ann", benchmark.RoleCandidate); err != nil || len(b) != len(stateAfter(1)) {
					t.Errorf("state of %d bytes, %v", len(b), err)
				}
			}
		})
	}
	for i := range 30 {
		commit(t, s, epochOf("aa", "ann"), map[string][]byte{"ann": stateAfter(uint64(i + 2))})
	}
	close(done)
	readers.Wait()
}
