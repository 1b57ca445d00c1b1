package benchmark_test

import (
	"encoding/json"
	"testing"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

const (
	plan      = "solver_generate_plan"
	metadata  = "solver_metadata"
	trigger   = "solver_check_trigger"
	serialize = "solver_serialize_state"
	restore   = "solver_restore_state"
)

// guest is a solver that answers every intent with the same plan, after edit
// has changed it.
func guest(t testing.TB, name string, edit func(*wasmtest.Options)) []byte {
	t.Helper()
	o := wasmtest.Options{
		Answers: map[string]wasmtest.Answer{
			metadata: {Output: marshal(t, file{"name": name, "version": "1.0.0", "author": "tests", "description": ""})},
			plan:     {Output: marshal(t, tipPlan("900"))},
			trigger:  {Output: []byte(`{"trigger": true}`)},
		},
		Omit:    []string{serialize},
		Comment: name,
	}
	if edit != nil {
		edit(&o)
	}
	return wasmtest.Solver(o)
}

// planning is a guest that answers with this plan.
func planning(t testing.TB, name string, answer any) []byte {
	t.Helper()
	b, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return raw(t, name, b)
}

func raw(t testing.TB, name string, answer []byte) []byte {
	t.Helper()
	return guest(t, name, func(o *wasmtest.Options) { o.Answers[plan] = wasmtest.Answer{Output: answer} })
}

func good(t testing.TB) []byte { return guest(t, "good", nil) }

// acting is a guest that does something before it plans: on the nth plan of an
// instance, or on each with n = 0.
func acting(t testing.TB, name string, act wasmtest.Act, n int) []byte {
	t.Helper()
	return guest(t, name, func(o *wasmtest.Options) {
		a := o.Answers[plan]
		a.Act, a.On = act, n
		o.Answers[plan] = a
	})
}

// remembering counts the plans it made, over all its sessions.
func remembering(t testing.TB) []byte {
	t.Helper()
	return guest(t, "remembering", func(o *wasmtest.Options) {
		a := o.Answers[plan]
		a.Act = wasmtest.Remember
		o.Answers[plan] = a
		o.Omit, o.Stateful = nil, true
	})
}

// quartet is a solver that traps on its fourth intent, one that spends its
// restarts, one that keeps state, and one that does nothing wrong.
func quartet(t testing.TB) []benchmark.Entrant {
	t.Helper()
	return []benchmark.Entrant{
		{Miner: "trapper", Module: acting(t, "trapper", wasmtest.Trap, 4)},
		{Miner: "crasher", Module: acting(t, "crasher", wasmtest.Trap, 0)},
		{Miner: "learner", Module: remembering(t)},
		{Miner: "good", Module: good(t)},
	}
}
