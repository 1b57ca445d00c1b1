package benchmark_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// stateBytes is a state that does not compress, the nth of its size.
func stateBytes(size int, n uint64) []byte {
	b := make([]byte, size)
	chacha := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)})
	_, _ = chacha.Read(b)
	return b
}

// BenchmarkStateAsFile and BenchmarkStateInBolt are the two ways a state could
// be kept. Each iteration replaces the state of one miner by another of its
// size and reads it back; see docs/rationale/0002.
func BenchmarkStateAsFile(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20, stateLimit} {
		b.Run(fmt.Sprint(size>>10, "KiB"), func(b *testing.B) {
			dir := b.TempDir()
			s := openStore(b, dir)
			states := [][]byte{stateBytes(size, 1), stateBytes(size, 2)}
			b.SetBytes(int64(size))
			n := 0
			for b.Loop() {
				commit(b, s, epochOf("aa", "ann"), map[string][]byte{"ann": states[n%2]})
				if _, err := s.State("ann", benchmark.RoleCandidate); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64(diskBytes(b, dir))/float64(size), "disk/state")
		})
	}
}

func BenchmarkStateInBolt(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20, stateLimit} {
		b.Run(fmt.Sprint(size>>10, "KiB"), func(b *testing.B) {
			dir := b.TempDir()
			s := openStore(b, dir)
			db, err := bbolt.Open(filepath.Join(dir, "states.db"), 0o600, &bbolt.Options{Timeout: time.Second, FreelistType: bbolt.FreelistMapType})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			states := [][]byte{stateBytes(size, 1), stateBytes(size, 2)}
			b.SetBytes(int64(size))
			n := 0
			for b.Loop() {
				if err := putChunked(db, states[n%2]); err != nil {
					b.Fatal(err)
				}
				commit(b, s, epochOf("aa", "ann"), nil)
				if err := getChunked(db, states[n%2]); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64(diskBytes(b, dir))/float64(size), "disk/state")
		})
	}
}

// diskBytes is what the files of a folder take.
func diskBytes(t testing.TB, dir string) int64 {
	t.Helper()
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// chunk is the size of one value: small enough that bbolt finds free pages for
// it among those of the state before.
const chunk = 256 << 10

func putChunked(db *bbolt.DB, state []byte) error {
	name := sha256.Sum256(state)
	return db.Update(func(tx *bbolt.Tx) error {
		err := tx.ForEach(func(old []byte, _ *bbolt.Bucket) error { return tx.DeleteBucket(old) })
		if err != nil {
			return err
		}
		b, err := tx.CreateBucket(name[:])
		if err != nil {
			return err
		}
		b.FillPercent = 1
		for i := 0; i*chunk < len(state); i++ {
			if err := b.Put(binary.BigEndian.AppendUint32(nil, uint32(i)), state[i*chunk:min(len(state), (i+1)*chunk)]); err != nil {
				return err
			}
		}
		return nil
	})
}

func getChunked(db *bbolt.DB, state []byte) error {
	name := sha256.Sum256(state)
	got := make([]byte, 0, len(state))
	err := db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(name[:]).ForEach(func(_, v []byte) error {
			got = append(got, v...)
			return nil
		})
	})
	if err != nil {
		return err
	}
	if sha256.Sum256(got) != name {
		return errors.New("read back something else")
	}
	return nil
}

// hoarder takes whatever state it gets and gives one of the largest size.
func hoarder(t testing.TB) []byte {
	return guest(t, "hoarder", func(o *wasmtest.Options) {
		o.Omit = nil
		o.Answers[restore] = wasmtest.Answer{Act: wasmtest.Echo, Status: 0}
		o.Answers[serialize] = wasmtest.Answer{Pad: stateLimit}
	})
}

// stateBudget is how long 50 MiB may take to be restored, serialized and
// persisted. The test below allows ten times as much: it is there to catch a
// hang or a wrong order of growth on any machine, the benchmark to measure.
const stateBudget = 2 * time.Second

// BenchmarkLargestState is one session of one intent whose solver reads 50 MiB
// of state and gives 50 MiB back, and the commit of both.
func BenchmarkLargestState(b *testing.B) {
	run := largestState(b)
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(stateBudget.Milliseconds()), "budget-ms")
}

// It runs alone, for what runs beside it would be measured with it.
func TestTheLargestStateDoesNotHang(t *testing.T) {
	run := largestState(t)
	start := time.Now()
	run()
	if took := time.Since(start); took > 10*stateBudget {
		t.Errorf("50 MiB restored, serialized and persisted in %v, budget %v", took, stateBudget)
	}
}

// largestState returns one run, after a first one that made the state.
func largestState(t testing.TB) func() {
	t.Helper()
	f := standardFile(t)
	f["cases"] = f["cases"].([]any)[:1]
	pack := decode(t, marshal(t, f))
	pack.Limits.Restore.OutputBytes = 2 * stateLimit // it echoes what it reads
	p := prepare(t, newEngine(t), pack)
	store := openStore(t, t.TempDir())
	entrants := []benchmark.Entrant{{Miner: "hoarder", Module: hoarder(t)}}
	run := func() *benchmark.Session { return sessionOf(t, runEpoch(t, p, entrants, 1, store), "hoarder") }
	run()
	return func() {
		if s := run(); s.StateInBytes != stateLimit || s.StateOutBytes != stateLimit {
			t.Fatalf("state in %d, out %d bytes: %s", s.StateInBytes, s.StateOutBytes, s.StateNote)
		}
	}
}
