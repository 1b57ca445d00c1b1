package harness_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// A puppet that was told to read answers with a status that tells what the host
// said to its two reads: 16 + 4·first + second, where 0 is a reply.
const (
	served   = 0
	unknown  = 1
	budget   = 2
	tooLarge = 3
)

func status(first, second int) string {
	return fmt.Sprintf("status %d is none of 0, 1 and 2", 16+4*first+second)
}

func TestReadLimits(t *testing.T) {
	t.Parallel()
	// The puppet's own steering read costs one request and its reply: an op and
	// the request it is to make.
	const steering = 1
	request := strings.Repeat("r", 100)
	for _, tt := range []struct {
		name   string
		limits func(*harness.Limits)
		reply  int // bytes
		used   harness.Cost
		err    error
		first  int
		second int
		over   bool
		tally  harness.Cost // without the steering read
	}{
		{name: "within every limit", reply: 10, used: harness.Cost{Requests: 1, Gas: 7, Bytes: 10}, tally: harness.Cost{Requests: 2, Gas: 14, Bytes: 20}},
		{name: "requests run out", limits: func(l *harness.Limits) { l.Read.Requests = steering + 1 }, reply: 1, second: budget, over: true, tally: harness.Cost{Requests: 1, Bytes: 1}},
		{name: "a batch counts each member", limits: func(l *harness.Limits) { l.Read.Requests = steering + 3 }, reply: 1, used: harness.Cost{Requests: 2}, second: budget, over: true, tally: harness.Cost{Requests: 3, Bytes: 2}},
		{name: "gas runs out", limits: func(l *harness.Limits) { l.Read.Gas = 10 }, reply: 1, used: harness.Cost{Gas: 6}, second: budget, over: true, tally: harness.Cost{Requests: 2, Gas: 10, Bytes: 2}},
		{name: "reply bytes run out", limits: func(l *harness.Limits) { l.Read.Bytes = 101 + 15 }, reply: 10, second: budget, over: true, tally: harness.Cost{Requests: 2, Bytes: 15}},
		{name: "over budget lasts until the call ends", err: harness.ErrBudget, first: budget, second: budget, over: true},
		{name: "an unknown chain", err: fmt.Errorf("chain 5: %w", harness.ErrUnknownChain), first: unknown, second: unknown, tally: harness.Cost{Requests: 2}},
		{name: "a reply too large", err: harness.ErrTooLarge, first: tooLarge, second: tooLarge, tally: harness.Cost{Requests: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &puppet{act: but(harness.PhasePlan, opRead, request)}
			p.world = func(context.Context, uint64, []byte, harness.Cost) ([]byte, harness.Cost, error) {
				return make([]byte, tt.reply), tt.used, tt.err
			}
			o := p.options()
			o.Limits = harness.DefaultLimits()
			if tt.limits != nil {
				tt.limits(&o.Limits)
			}
			s := open(t, compile(t, puppetModule()), o)
			a := run(t, s, p.task())
			if want := status(tt.first, tt.second); a.Cause != intent.CauseBadOutput || a.Detail != want {
				t.Errorf("answer %s, want %s", harness.Explain(a.Cause, a.Detail), want)
			}
			if a.Reads.OverBudget != tt.over {
				t.Errorf("over budget: %v, want %v", a.Reads.OverBudget, tt.over)
			}
			want := tt.tally
			want.Requests += steering
			want.Bytes += 1 + len(request)
			if diff := cmp.Diff(want, a.Reads.Cost); diff != "" {
				t.Errorf("cost (-want +got):\n%s", diff)
			}
		})
	}
}

// reader makes one read in generate_plan and returns status 1 if it is refused.
func reader(request string) []byte {
	return wasmtest.Solver(wasmtest.Options{Answers: map[string]wasmtest.Answer{
		"solver_metadata":      {Output: []byte(goodMetadata)},
		"solver_generate_plan": {Output: []byte(goodPlan), RPC: &wasmtest.RPC{Chain: world, Request: request}},
	}})
}

// A solver that fails after its budget is spent failed for that reason.
func TestFailureOverBudget(t *testing.T) {
	t.Parallel()
	p := &puppet{world: func(context.Context, uint64, []byte, harness.Cost) ([]byte, harness.Cost, error) {
		return nil, harness.Cost{}, harness.ErrBudget
	}}
	s := open(t, compile(t, reader("{}")), p.options())
	if a := run(t, s, p.task()); a.Cause != intent.CauseRPCBudget || !a.Reads.OverBudget {
		t.Errorf("answer %s, want rpc_budget", harness.Explain(a.Cause, a.Detail))
	}
}

// What the other calls of a row overspent is no excuse for its plan.
func TestOverBudgetIsThePlansOwn(t *testing.T) {
	t.Parallel()
	for _, phase := range []harness.Phase{harness.PhaseTrigger, harness.PhaseQuote} {
		p := &puppet{act: but(phase, opRead, "{}"), world: func(context.Context, uint64, []byte, harness.Cost) ([]byte, harness.Cost, error) {
			return nil, harness.Cost{}, harness.ErrBudget
		}}
		s := open(t, compile(t, puppetModule()), p.options())
		task := p.task()
		task.AskTrigger = phase == harness.PhaseTrigger
		task.AskQuote = true
		if a := run(t, s, task); a.Reads.OverBudget {
			t.Errorf("%s was over budget, and the plan is told to be", phase)
		}
	}
}

// Without reads no chain is known, rather than every chain empty.
func TestNoReads(t *testing.T) {
	t.Parallel()
	s := open(t, compile(t, reader("{}")), harness.Options{})
	task := (&puppet{}).task()
	task.Reads = nil
	a := run(t, s, task)
	if a.Cause != intent.CauseSolverError || a.Reads.Requests != 1 {
		t.Errorf("answer %s after %d requests, want solver_error after 1", harness.Explain(a.Cause, a.Detail), a.Reads.Requests)
	}
}

// The digest is the documented chain, over everything that was asked and said.
func TestReadDigest(t *testing.T) {
	t.Parallel()
	p := &puppet{world: func(context.Context, uint64, []byte, harness.Cost) ([]byte, harness.Cost, error) {
		return []byte("reply"), harness.Cost{}, nil
	}}
	s := open(t, compile(t, reader("request")), p.options())
	h := sha256.New()
	h.Write(make([]byte, 32))
	for _, part := range []any{uint64(world), int64(0), uint64(7), []byte("request"), uint64(5), []byte("reply")} {
		if err := binary.Write(h, binary.BigEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	a := run(t, s, p.task())
	if got, want := hex.EncodeToString(a.Reads.Digest[:]), hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	if b := run(t, s, p.task()); b.Reads.Digest != a.Reads.Digest {
		t.Error("equal reads of two rows have different digests")
	}
}

// Budgets are a call's: what check_trigger spent, generate_plan still has.
func TestBudgetIsPerCall(t *testing.T) {
	t.Parallel()
	p := &puppet{act: obedient}
	o := p.options()
	o.Limits = harness.DefaultLimits()
	o.Limits.Read.Requests = 1 // the steering read
	s := open(t, compile(t, puppetModule()), o)
	task := p.task()
	task.AskTrigger, task.AskQuote = true, true
	if a := run(t, s, task); a.Cause != intent.CauseNone || a.Quote == nil || a.Reads.Requests != 3 {
		t.Errorf("answer %+v, want a plan and a quote after 3 requests", a)
	}
}
