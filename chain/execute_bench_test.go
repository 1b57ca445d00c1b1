package chain_test

import (
	"testing"
	"time"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// BenchmarkExecuteSwap is what scoring one plan costs: funding, measuring and
// executing an approval and a Uniswap V3 swap.
func BenchmarkExecuteSwap(b *testing.B) {
	w, k := fixtureWorld(b), knownPlans(b)[0]
	b.ReportAllocs()
	for b.Loop() {
		run(b, w, k)
	}
}

// BenchmarkExecuteFunded takes turns between a plan for an order that is funded
// anew and one for an order that is funded: what plans for one order save.
func BenchmarkExecuteFunded(b *testing.B) {
	w, k := fixtureWorld(b), knownPlans(b)[0]
	f, err := w.Fund(b.Context(), k.order)
	if err != nil {
		b.Fatal(err)
	}
	var anew, funded time.Duration
	for b.Loop() {
		start := time.Now()
		run(b, w, k)
		middle := time.Now()
		if out, _, err := f.Execute(b.Context(), k.Plan); err != nil || out.Cause != intent.CauseNone {
			b.Fatal(out, err)
		}
		anew += middle.Sub(start)
		funded += time.Since(middle)
	}
	b.ReportMetric(float64(anew)/float64(funded), "anew/funded")
}

// BenchmarkExecuteTraced runs the same plan in turns without and with a tracer,
// for tracing has no price of its own, only a ratio to not tracing.
func BenchmarkExecuteTraced(b *testing.B) {
	w, k := fixtureWorld(b), knownPlans(b)[0]
	var plain, traced time.Duration
	opcodes := 0
	hooks := countOpcodes(&opcodes)
	for b.Loop() {
		start := time.Now()
		run(b, w, k)
		middle := time.Now()
		if _, _, err := w.ExecuteTraced(b.Context(), k.order, k.Plan, hooks); err != nil {
			b.Fatal(err)
		}
		plain += middle.Sub(start)
		traced += time.Since(middle)
	}
	b.ReportMetric(float64(traced)/float64(plain), "traced/untraced")
}

// BenchmarkFund is the share of an execution that slot discovery takes for an
// owner who has nothing.
func BenchmarkFund(b *testing.B) {
	w, k := fixtureWorld(b), knownPlans(b)[0]
	for b.Loop() {
		if _, err := w.FundedView(b.Context(), k.order); err != nil {
			b.Fatal(err)
		}
	}
}

func run(b *testing.B, w *chain.World, k knownPlan) {
	b.Helper()
	out, _, err := w.Execute(b.Context(), k.order, k.Plan)
	if err != nil || out.Cause != intent.CauseNone {
		b.Fatal(out, err)
	}
}
