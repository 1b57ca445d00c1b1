package sandbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// profile is the solver ABI's, with a memory limit that tests reach quickly.
func profile() sandbox.Profile {
	p := sandbox.Profile{Name: "solver", ABI: "solver_abi", WASI: true, MemoryPages: 64}
	for _, name := range wasmtest.Exports {
		optional := name != "solver_metadata" && name != "solver_initialize" && name != "solver_generate_plan"
		p.Exports = append(p.Exports, sandbox.Export{Name: name, Optional: optional})
	}
	return p
}

func newEngine(t testing.TB, c sandbox.Config) *sandbox.Engine {
	t.Helper()
	e, err := sandbox.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func compile(t testing.TB, e *sandbox.Engine, wasm []byte) *sandbox.Module {
	t.Helper()
	m, err := e.Compile(context.Background(), wasm, profile())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func instantiate(t testing.TB, m *sandbox.Module, env sandbox.Env) *sandbox.Instance {
	t.Helper()
	i, err := m.Instantiate(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close(context.Background()) })
	return i
}

// plan is a call of the export that tests use, with room for everything.
func plan() sandbox.Call {
	return sandbox.Call{Export: "solver_generate_plan", Wall: time.Minute, Fuel: endless, OutputLimit: 1 << 20, ReadOut: 1 << 20}
}

// guest makes a solver whose generate_plan behaves so.
func guest(a wasmtest.Answer) []byte {
	return wasmtest.Solver(wasmtest.Options{Answers: map[string]wasmtest.Answer{"solver_generate_plan": a}})
}

func causeOf(err error) string {
	var fault *sandbox.Fault
	if errors.As(err, &fault) {
		return fault.Cause
	}
	return ""
}

func TestCallReturnsStatusAndOutput(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	i := instantiate(t, compile(t, e, guest(wasmtest.Answer{Status: 2, Output: []byte("answer"), Act: wasmtest.Echo})), sandbox.Env{})
	c := plan()
	c.Input = []byte("question ")
	got, err := i.Call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != 2 || string(got.Output) != "question answer" {
		t.Errorf("Call() = %d, %q", got.Status, got.Output)
	}
}

// endless is fuel for minutes.
const endless = 1 << 50
