package chain_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/core/tracing"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

func countOpcodes(n *int) *tracing.Hooks {
	return &tracing.Hooks{OnOpcode: func(uint64, byte, uint64, uint64, tracing.OpContext, []byte, int, error) { *n++ }}
}

// outcomeBytes is an outcome as bytes: struct fields in order, slices in theirs.
func outcomeBytes(t testing.TB, out *chain.Outcome) []byte {
	t.Helper()
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	childEnv = "ASSAY_TEST_EXECUTE_CHILD"
	childTag = "outcome digest "
	runs     = 250 // in each of four processes
)

// 1,000 runs of one plan give the same bytes, in four processes, on one and on
// two processors, while other plans run beside on the same world.
func TestExecuteIsDeterministic(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		fmt.Println(childTag + repeat(t))
		return
	}
	digests := map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, processors := range []string{"1", "2", "1", "2"} {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestExecuteIsDeterministic$", "-test.v")
			cmd.Env = append(os.Environ(), childEnv+"=1", "GOMAXPROCS="+processors)
			text, err := cmd.CombinedOutput()
			_, digest, found := strings.Cut(string(text), childTag)
			if err != nil || !found {
				t.Errorf("child: %v\n%s", err, text)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			digests[strings.Fields(digest)[0]]++
		})
	}
	wg.Wait()
	if len(digests) != 1 {
		t.Errorf("digests of four processes: %v, want one", digests)
	}
}

// repeat runs one plan many times beside others and returns its digest.
func repeat(t *testing.T) string {
	w := fixtureWorld(t)
	plans := knownPlans(t)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	for i := range 2 {
		wg.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				k := plans[n%len(plans)]
				k.order.MaxGas = uint64(50_000 + n%7*40_000) // some run out of gas
				_, _, err := w.Execute(ctx, k.order, k.Plan)
				if err != nil && ctx.Err() == nil {
					t.Errorf("beside: %v", err)
					return
				}
			}
		})
	}
	want := ""
	for range runs {
		out, _ := execute(t, w, plans[0].order, plans[0].Plan)
		if out.Cause != intent.CauseNone {
			t.Fatalf("%s: %s", out.Cause, out.Detail)
		}
		sum := sha256.Sum256(outcomeBytes(t, out))
		got := hex.EncodeToString(sum[:])
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("digest %s, and %s before", got, want)
		}
	}
	return want
}

// Goroutines that share a world, funding, executing and reading what was left
// behind, each get what they would get alone.
func TestWorldIsShared(t *testing.T) {
	t.Parallel()
	w := fixtureWorld(t)
	plans := knownPlans(t)
	want := make([]string, len(plans))
	for i, k := range plans {
		out, _ := execute(t, w, k.order, k.Plan)
		want[i] = string(outcomeBytes(t, out))
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for n := range 4 {
				i := (g + n) % len(plans)
				k := plans[i]
				out, after, err := w.Execute(t.Context(), k.order, k.Plan)
				if err != nil {
					t.Error(err)
					return
				}
				if got := string(outcomeBytes(t, out)); got != want[i] {
					t.Errorf("plan %d\n got %s\nwant %s", i, got, want[i])
				}
				before, err := w.FundedView(t.Context(), k.order)
				if err != nil {
					t.Error(err)
					return
				}
				token, receiver := k.address("output_token"), k.address("receiver")
				gained := balanceOf(t, after, token, receiver)
				gained.Sub(gained, balanceOf(t, before, token, receiver))
				if gained.Cmp(out.Delta(receiver, token)) != 0 {
					t.Errorf("plan %d: views differ by %s", i, gained)
				}
			}
		})
	}
	wg.Wait()
}
