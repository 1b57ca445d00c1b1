package benchmark_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/subnet112/assay/benchmark"
)

// Four sessions, one trapping in the middle, one spending its restarts, one
// keeping state, have the same rows whoever runs them and however, in whichever
// order, and beside others that take the processor.
func TestRowsAreTheSameForAnyWorkers(t *testing.T) {
	if how := os.Getenv(envChild); how != "" {
		printEpoch(t, how)
		return
	}
	t.Parallel()
	var want []byte
	for _, procs := range []string{"1", "2"} {
		for _, how := range []string{"1", "2", "8", "1 reversed", "8 reversed", "2 loaded", "8 loaded"} {
			cmd := child(t, how, "GOMAXPROCS="+procs)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("GOMAXPROCS %s, workers %s: %v\n%s", procs, how, err, out)
			}
			_, got, ok := bytes.Cut(out, []byte("epoch: "))
			if !ok {
				t.Fatalf("GOMAXPROCS %s, workers %s: no epoch in %q", procs, how, out)
			}
			got, _, _ = bytes.Cut(got, []byte("\n"))
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("GOMAXPROCS %s, workers %s: epoch differs:\n%s\nwant\n%s", procs, how, got, want)
			}
		}
	}
}

// printEpoch runs the quartet with an empty store and prints all that came of
// it, not the digest alone: what people see must repeat as well.
func printEpoch(t *testing.T, how string) {
	number, loaded := strings.CutSuffix(how, " loaded")
	number, reversed := strings.CutSuffix(number, " reversed")
	workers, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	entrants := quartet(t)
	if reversed {
		slices.Reverse(entrants)
	}
	if loaded {
		for range 4 * runtime.GOMAXPROCS(0) {
			go func() {
				for t.Context().Err() == nil {
				}
			}()
		}
	}
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	e := runEpoch(t, p, entrants, workers, openStore(t, t.TempDir()))
	fmt.Printf("epoch: %s\n", marshal(t, e))
}

// A process that is killed at any moment leaves a store that holds every epoch
// it said was committed, each whole, with the state of the last.
func TestKillLeavesTheStoreWhole(t *testing.T) {
	if dir := os.Getenv(envChild); dir != "" {
		commitForever(t, dir)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	said := 0
	for range 12 {
		said = max(said, killAfter(t, dir, said+1+random.IntN(4), random.IntN(200)))
		s, err := benchmark.OpenStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		numbers, err := s.Epochs()
		if err != nil {
			t.Fatal(err)
		}
		newest := 0
		if len(numbers) > 0 {
			newest = int(numbers[len(numbers)-1])
		}
		// One more may be there: committed, and killed before it was said.
		if newest < said || newest > said+1 {
			t.Fatalf("epoch %d is the newest, %d were said to be committed", newest, said)
		}
		if len(numbers) != min(newest, benchmark.RetainEpochs) {
			t.Fatalf("%d epochs are kept of %d, want the last %d", len(numbers), newest, benchmark.RetainEpochs)
		}
		said = newest
		for _, n := range numbers {
			e, err := s.Epoch(n)
			if err != nil {
				t.Fatal(err)
			}
			if len(e.Sessions) != 2 || len(e.Sessions[0].Records) != 2 || len(e.Sessions[1].Records) != 2 {
				t.Errorf("epoch %d is not whole", n)
			}
		}
		if said > 0 {
			b, err := s.State("ann", benchmark.RoleCandidate)
			if err != nil || !bytes.Equal(b, stateAfter(uint64(said))) {
				t.Errorf("state after %d epochs: %d bytes, %v", said, len(b), err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if said < 12 {
		t.Errorf("%d epochs in 12 lives of the process", said)
	}
}

// killAfter starts a process that commits epochs, kills it when it has said
// that number lines is committed and this one then spun a little, and returns
// the last number it said.
func killAfter(t *testing.T, dir string, number, spins int) int {
	t.Helper()
	cmd := child(t, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := 0
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "committed "))
		if err != nil {
			continue // not ours
		}
		if last = n; n >= number {
			break
		}
	}
	for range spins { // a different moment of the next commit each time
		_ = stateAfter(uint64(last))[:1]
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	for lines.Scan() {
		if n, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "committed ")); err == nil {
			last = n
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the process ended by itself")
	}
	return last
}

func stateAfter(epoch uint64) []byte {
	return bytes.Repeat([]byte{byte(epoch), byte(epoch >> 8), 3}, 100_000)
}

func commitForever(t *testing.T, dir string) {
	s := openStore(t, dir)
	numbers, err := s.Epochs()
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(1)
	if len(numbers) > 0 {
		next += numbers[len(numbers)-1]
	}
	for n := next; ; n++ {
		commit(t, s, epochOf("aa", "ann", "bob"), map[string][]byte{"ann": stateAfter(n)})
		fmt.Printf("committed %d\n", n)
	}
}
