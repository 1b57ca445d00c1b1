package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// goGuest builds testdata/goguest with the Go toolchain.
func goGuest(t testing.TB) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "guest.wasm")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, "./testdata/goguest")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the guest: %v\n%s", err, text)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// A guest built by the Go toolchain lives in the sandbox.
func TestGoGuest(t *testing.T) {
	wasm := goGuest(t)
	tight, wide := profile(), profile()
	tight.MemoryPages, wide.MemoryPages = 512, 0
	on := func(interpreter bool, p sandbox.Profile) *sandbox.Module {
		m, err := newEngine(t, sandbox.Config{Interpreter: interpreter}).Compile(t.Context(), wasm, p)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	compiled := on(false, tight)

	// What it sees is the same in every instance and on both engines.
	t.Run("sees no host", func(t *testing.T) {
		var first sandbox.Result
		for n, m := range []*sandbox.Module{compiled, compiled, on(true, tight)} {
			i := instantiate(t, m, sandbox.Env{Time: 1_700_000_000, Seed: [32]byte{1}})
			c := plan()
			c.Input = []byte(`{"a":1,"b":20,"c":300,"d":4000,"e":50000}`)
			c.Seed = [32]byte{2}
			got, err := i.Call(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				first = got
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Errorf("result %d (-first +got):\n%s", n, diff)
			}
		}
		if string(first.Log) != "thinking\n" {
			t.Errorf("log %q", first.Log)
		}
		var got map[string]any
		if err := json.Unmarshal(first.Output, &got); err != nil {
			t.Fatal(err)
		}
		delete(got, "random")
		delete(got, "first")
		want := map[string]any{"sum": 54321.0, "hours": 1.0, "year": 2023.0, "files": 0.0, "cpus": 1.0}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
	})

	for _, tt := range []struct {
		name, export, cause string
		log                 string // in it
	}{
		{"panics", "solver_quote", sandbox.CauseTrap, "assignment to entry in nil map"},
		{"runs out of memory", "solver_set_market", sandbox.CauseMemory, "out of memory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := plan()
			c.Export = tt.export
			got, err := instantiate(t, compiled, sandbox.Env{}).Call(t.Context(), c)
			if causeOf(err) != tt.cause || !strings.Contains(string(got.Log), tt.log) {
				t.Errorf("Call() = %v, want %s; log %q", err, tt.cause, got.Log)
			}
		})
	}
}

// The largest state goes in and comes out whole.
func TestStateOfFiftyMiB(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	state := make([]byte, 50<<20)
	for k := range state {
		state[k] = byte(k * k >> 8)
	}
	m, err := e.Compile(t.Context(), keeper(), keeperProfile)
	if err != nil {
		t.Fatal(err)
	}
	if got := throughState(t, instantiate(t, m, sandbox.Env{}), state); !bytes.Equal(got, state) {
		t.Errorf("%d bytes came out, or others", len(got))
	}
}

var keeperProfile = sandbox.Profile{Name: "keeper", Exports: []sandbox.Export{{Name: "restore"}, {Name: "serialize"}}}

// keeper is a guest that keeps its input as its state and outputs it, 64 KiB at
// a time, growing by what it needs.
func keeper() []byte {
	p := &probe{}
	input := p.Import("assay", "input", valueTypes("ii"), valueTypes("i"))
	output := p.Import("assay", "output", valueTypes("ii"), nil)
	p.Memory(0, -1)
	p.Export("memory", wt.KindMemory, 0)
	size := p.Global(0)
	i32, status := []byte{wt.I32}, wt.I32Const(0)
	p.Func("restore", i32, i32, i32,
		wt.Block(wt.Loop(
			wt.I32Const(1), wt.MemoryGrow, wt.Drop,
			wt.GlobalGet(size), wt.I32Const(65536), wt.Call(input), wt.LocalTee(1), wt.I32Eqz, wt.BrIf(1),
			wt.GlobalGet(size), wt.LocalGet(1), wt.I32Add, wt.GlobalSet(size), wt.Br(0),
		)), status)
	p.Func("serialize", i32, i32, i32,
		wt.Block(wt.Loop(
			wt.LocalGet(1), wt.GlobalGet(size), wt.I32Eq, wt.BrIf(1),
			wt.LocalGet(1), wt.I32Const(65536), wt.Call(output),
			wt.LocalGet(1), wt.I32Const(65536), wt.I32Add, wt.LocalSet(1), wt.Br(0),
		)), status)
	return p.Bytes()
}

// throughState restores a state and serializes it.
func throughState(t testing.TB, i *sandbox.Instance, state []byte) []byte {
	t.Helper()
	c := run()
	c.Export, c.Input = "restore", state
	if _, err := i.Call(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	c.Export, c.Input, c.OutputLimit = "serialize", nil, len(state)
	got, err := i.Call(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return got.Output
}
