package benchmark_test

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// A place is where an epoch spends its time.
type place int

const (
	inGuest     place = iota // compiled code of solvers and scorers
	inScorer                 // the rest of asking a scorer: its input, its instance, its answer
	inEVM                    // transactions and calls: of plans, of reads and of measurements
	inAdmission              // once a module and epoch: rewriting it, loading its compiled code
	inHost                   // what is ours: encoding, checking, hashing, copying, storing
	inRuntime                // Go's collector and scheduler, whoever made them work
	places
)

func (p place) String() string {
	return [...]string{"guests and scorers", "asking scorers", "evm", "admission", "host", "runtime"}[p]
}

// placeOf reads a stack, the innermost function first. The EVM comes before all,
// for guests and scorers call it through the host; the host comes before the guest
// that called it.
func placeOf(stack []string) place {
	const ours = "github.com/subnet112/assay/"
	host, guest := false, false
	for _, f := range stack {
		switch {
		case strings.HasPrefix(f, "github.com/ethereum/go-ethereum/core/vm.(*EVM)."),
			strings.HasPrefix(f, "github.com/ethereum/go-ethereum/core.ApplyMessage"):
			return inEVM
		case strings.HasPrefix(f, ours+"scoring.(*App).ask"), strings.HasPrefix(f, ours+"scoring.(*program)."):
			return inScorer
		case strings.HasPrefix(f, "github.com/tetratelabs/wazero/internal/engine/wazevo.(*callEngine)"):
			guest = guest || !host
		case strings.HasPrefix(f, ours+"harness.Compile"), strings.HasPrefix(f, ours+"harness.Source.Identity"), strings.HasPrefix(f, ours+"sandbox.(*Engine).compile"):
			return inAdmission
		case strings.HasPrefix(f, ours):
			host = true
		case f == "runtime._ExternalCode", f == "": // code that no Go compiler made
			return inGuest
		}
	}
	switch {
	case guest:
		return inGuest
	case host:
		return inHost
	}
	return inRuntime
}

// measured skips a test of time where something else would be measured.
func measured(t testing.TB) {
	t.Helper()
	if race {
		t.Skip("skipped: the race detector takes most of the time")
	}
}

// profiled runs f under the CPU profiler and returns the time by place.
func profiled(t testing.TB, f func()) (shares, *profile.Profile) {
	t.Helper()
	var buf bytes.Buffer
	if err := pprof.StartCPUProfile(&buf); err != nil {
		t.Skipf("skipped: another profile is under way: %v", err)
	}
	f()
	pprof.StopCPUProfile()
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	var sum shares
	for _, s := range p.Sample {
		sum[placeOf(stackOf(s))] += time.Duration(s.Value[1])
	}
	t.Log(sum)
	return sum, p
}

func stackOf(s *profile.Sample) []string {
	var stack []string
	for _, l := range s.Location {
		if len(l.Line) == 0 {
			stack = append(stack, "")
		}
		for _, line := range l.Line {
			stack = append(stack, line.Function.Name)
		}
	}
	return stack
}

// shares is processor time by place.
type shares [places]time.Duration

func (s shares) total() (sum time.Duration) {
	for _, d := range s {
		sum += d
	}
	return sum
}

// outside is what neither guests nor scorers nor the EVM took.
func (s shares) outside() time.Duration { return s[inHost] + s[inRuntime] }

func (s shares) String() string {
	var b strings.Builder
	for p, d := range s {
		fmt.Fprintf(&b, "%s %.1f%%, ", place(p), 100*float64(d)/float64(max(s.total(), 1)))
	}
	return b.String() + s.total().String()
}
