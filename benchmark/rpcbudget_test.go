package benchmark_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// reader is a solver that makes so many reads for every plan, whatever they are
// answered, and then plans the same, or traps if it has no plan.
func reader(t testing.TB, name string, reads int, answer file) []byte {
	t.Helper()
	const (
		at      = 64 // address of the first constant
		request = `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`
	)
	var m wasmtest.Module
	next := int32(at)
	constant := func(b []byte) []byte {
		m.Data(next, b)
		push := wasmtest.Seq(wasmtest.I32Const(next), wasmtest.I32Const(int32(len(b))))
		next += int32(len(b))
		return push
	}
	i32 := []byte{wasmtest.I32}
	output := m.Import("assay", "output", []byte{wasmtest.I32, wasmtest.I32}, nil)
	rpc := m.Import("assay", "rpc", []byte{wasmtest.I64, wasmtest.I32, wasmtest.I32}, i32)

	last := wasmtest.Unreachable
	if answer != nil {
		last = wasmtest.Seq(constant(marshal(t, answer)), wasmtest.Call(output), wasmtest.I32Const(0))
	}
	about := constant(marshal(t, file{"name": name, "version": "1.0.0", "author": "tests", "description": ""}))
	m.Func("solver_abi", nil, i32, nil, wasmtest.I32Const(1))
	m.Func("solver_initialize", i32, i32, nil, wasmtest.I32Const(0))
	m.Func(metadata, i32, i32, nil, about, wasmtest.Call(output), wasmtest.I32Const(0))
	m.Func(plan, i32, i32, i32,
		wasmtest.I32Const(int32(reads)), wasmtest.LocalSet(1),
		wasmtest.Block(wasmtest.Loop(
			wasmtest.LocalGet(1), wasmtest.I32Eqz, wasmtest.BrIf(1),
			wasmtest.I64Const(1), constant([]byte(request)), wasmtest.Call(rpc), wasmtest.Drop,
			wasmtest.LocalGet(1), wasmtest.I32Const(1), wasmtest.I32Sub, wasmtest.LocalSet(1),
			wasmtest.Br(0),
		)),
		last)
	m.Memory(1, -1)
	m.Export("memory", wasmtest.KindMemory, 0)
	return m.Bytes()
}

// One read beyond the budget names what a plan fails by, wherever it fails. It
// takes nothing from a plan that is good in spite of it, and it explains no death
// of an instance.
func TestReadsBeyondTheBudgetNameAFailure(t *testing.T) {
	t.Parallel()
	calling := func(target, data string) file {
		f := planTo(target, "0")
		item(f["interactions"], 0)["call_data"] = data
		return f
	}
	const pairing = "0x0000000000000000000000000000000000000008" // fails on input that is no pair of points

	budget := harness.DefaultLimits().Read.Requests
	p := prepare(t, newEngine(t), decode(t, edit(t, func(f file) {
		f["cases"] = f["cases"].([]any)[:1]
		config := object(item(f["apps"], 0)["config"])
		config["max_gas"], config["score_threshold"] = 100_000, 0.5
	})))
	for _, tt := range []struct {
		name           string
		plan           file
		within, beyond intent.Cause
	}{
		{"a plan that reverts", calling(pairing, "0x00"), intent.CauseReverted, intent.CauseRPCBudget},
		{"a plan that needs more gas than it may use", calling(receiver, "0x"+strings.Repeat("01", 10_000)), intent.CauseOutOfGas, intent.CauseRPCBudget},
		{"a plan that delivers too little", tipPlan("99"), intent.CauseMinOutput, intent.CauseRPCBudget},
		{"a plan that the scorer refuses", tipPlan("100"), intent.CauseScorerVeto, intent.CauseRPCBudget},
		{"a plan that spends too much", planTo(receiver, "1001"), intent.CauseOverspent, intent.CauseRPCBudget},
		{"a plan that leaves the snapshot", planTo(stranger, "900"), intent.CauseStateMissing, intent.CauseRPCBudget},
		{"a plan that breaks a rule", tipPlan("-1"), intent.CauseInvalidPlan, intent.CauseRPCBudget},
		{"a plan that is good", tipPlan("900"), intent.CauseNone, intent.CauseNone},
		{"no plan, a trap", nil, intent.CauseTrap, intent.CauseTrap},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for reads, want := range map[int]intent.Cause{budget: tt.within, budget + 1: tt.beyond} {
				miner := fmt.Sprint(reads)
				e := runEpoch(t, p, []benchmark.Entrant{{Miner: miner, Module: reader(t, miner, reads, tt.plan)}}, 1, nil)
				r := sessionOf(t, e, miner).Records[0]
				checkRow(t, r.Row)
				if r.Row.Cause != want {
					t.Errorf("%d reads of %d: cause %q (%s), want %q", reads, budget, r.Row.Cause, r.Detail, want)
				}
				if r.Row.Reads.Requests != budget {
					t.Errorf("%d reads of %d: the row counts %d", reads, budget, r.Row.Reads.Requests)
				}
				if want == intent.CauseRPCBudget && !strings.Contains(r.Detail, string(tt.within)) {
					t.Errorf("detail %q does not say that the plan is %s", r.Detail, tt.within)
				}
				if want == intent.CauseNone && r.Row.Value != item(tt.plan["interactions"], 0)["value"] {
					t.Errorf("%d reads of %d: value %q of plan %v", reads, budget, r.Row.Value, tt.plan)
				}
			}
		})
	}
}
