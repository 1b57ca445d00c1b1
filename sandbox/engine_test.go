package sandbox_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// Modules that differ in custom sections only are compiled once, however many
// ask at once, and keep their own hashes and names.
func TestCompileOncePerIdentity(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	modules := make([]*sandbox.Module, 16)
	var wg sync.WaitGroup
	for n := range modules {
		wg.Go(func() {
			m, err := e.Compile(context.Background(), wt.Solver(wt.Options{Comment: fmt.Sprint(n % 4)}), profile())
			if err != nil {
				t.Error(err)
			}
			modules[n] = m
		})
	}
	wg.Wait()
	hashes := map[[32]byte]bool{}
	for n, m := range modules {
		if !m.SharesCode(modules[0]) || m.Identity() != modules[0].Identity() {
			t.Errorf("module %d was compiled for itself", n)
		}
		hashes[m.SHA256()] = true
		if wasm := wt.Solver(wt.Options{Comment: fmt.Sprint(n % 4)}); m.SHA256() != sha256.Sum256(wasm) || m.Size() != len(wasm) {
			t.Errorf("module %d has hash %x and %d bytes", n, m.SHA256(), m.Size())
		}
	}
	if len(hashes) != 4 {
		t.Errorf("%d hashes, want 4", len(hashes))
	}
	if other := compile(t, e, guest(wt.Answer{Status: 1})); other.SharesCode(modules[0]) {
		t.Error("another module shares the code")
	}
}

func TestHasKnowsOnlyTheProfilesExports(t *testing.T) {
	e := newEngine(t, sandbox.Config{Interpreter: true})
	m := compile(t, e, wt.Solver(wt.Options{Omit: []string{"solver_quote"}}))
	got := map[string]bool{}
	for _, name := range []string{"solver_generate_plan", "solver_quote", "solver_abi", "memory", "nothing"} {
		got[name] = m.Has(name)
	}
	want := map[string]bool{"solver_generate_plan": true, "solver_quote": false, "solver_abi": false, "memory": false, "nothing": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Has() (-want +got):\n%s", diff)
	}
}

// A profile's limit holds though another profile compiled the module first.
func TestMemoryLimitIsTheProfiles(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		p := &probe{}
		p.Memory(1, -1)
		p.Export("memory", wt.KindMemory, 0)
		// The status is what growing by the input's length gives.
		wasm := p.run(wt.LocalGet(0), wt.MemoryGrow)
		for _, tt := range []struct {
			limit uint32
			grow  int
			want  int32
		}{{8, 7, 1}, {8, 8, -1}, {4, 3, 1}, {4, 4, -1}, {0, 8191, 1}, {0, 8192, -1}, {65536, 65536, -1}} {
			prof := probeProfile
			prof.MemoryPages = tt.limit
			m, err := e.Compile(t.Context(), wasm, prof)
			if err != nil {
				t.Fatal(err)
			}
			c := run()
			c.Input = make([]byte, tt.grow)
			if got, err := instantiate(t, m, sandbox.Env{}).Call(t.Context(), c); err != nil || got.Status != tt.want {
				t.Errorf("limit %d: grow(%d) = %d, %v; want %d", tt.limit, tt.grow, got.Status, err, tt.want)
			}
		}
	})
}

// Growing keeps what is in memory, and gives zeros.
func TestMemoryGrows(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		p := newProbe("assay.output")
		p.Data(65530, []byte("kept"))
		wasm := p.run(wt.I32Const(2), wt.MemoryGrow, wt.Drop, p.out(65530, 131078), wt.I32Const(0))
		got := callProbe(t, e, wasm, sandbox.Env{}, run())
		want := make([]byte, 131078)
		copy(want, "kept")
		if !bytes.Equal(got.Output, want) {
			t.Error("memory differs after it grew")
		}
	})
}

func TestPortableMemory(t *testing.T) {
	lengths, kept := sandbox.GrowPortably(1<<20, 65536, 131072, 131072, 1<<20)
	if diff := cmp.Diff([]int{65536, 131072, 131072, 1 << 20}, lengths); diff != "" || !kept {
		t.Errorf("kept %v, lengths (-want +got):\n%s", kept, diff)
	}
}

// Whatever becomes of instances, their memory is given back.
func TestNoMemoryLeaks(t *testing.T) {
	before := sandbox.Reservations()
	e, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	trapping := compile(t, e, guest(wt.Answer{Act: wt.Trap}))
	failing := compile(t, e, wt.Solver(wt.Options{Start: wt.Trap}))
	other := compile(t, e, wt.Solver(wt.Options{ABI: 3}))
	for n := range 10 {
		i, err := trapping.Instantiate(t.Context(), sandbox.Env{})
		if err != nil {
			t.Fatal(err)
		}
		switch n % 3 {
		case 0:
			i.Close(t.Context())
			i.Close(t.Context())
		case 1:
			_, _ = i.Call(t.Context(), plan())
			i.Close(t.Context())
		case 2: // left to Engine.Close
		}
		if _, err := failing.Instantiate(t.Context(), sandbox.Env{}); err == nil {
			t.Fatal("a guest that traps was instantiated")
		}
		if _, err := other.Instantiate(t.Context(), sandbox.Env{}); err == nil {
			t.Fatal("a guest of another ABI was instantiated")
		}
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if held := sandbox.Reservations() - before; held != 0 {
		t.Errorf("%d memories are held", held)
	}
}

// Code lives as long as a module or an instance of its identity, and no longer.
func TestCodeIsFreedWithItsLastUser(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		wasm := guest(wt.Answer{Output: []byte("x")})
		one, two := compile(t, e, wasm), compile(t, e, wasm)
		live, err := one.Instantiate(t.Context(), sandbox.Env{})
		if err != nil {
			t.Fatal(err)
		}
		works := func(i *sandbox.Instance) {
			t.Helper()
			if r, err := i.Call(t.Context(), plan()); err != nil || string(r.Output) != "x" {
				t.Errorf("Call() = %q, %v", r.Output, err)
			}
		}
		one.Close()
		one.Close()
		if _, err := one.Instantiate(t.Context(), sandbox.Env{}); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("Instantiate() of a closed module = %v, want ErrClosed", err)
		}
		works(live)
		gone := instantiate(t, two, sandbox.Env{})
		works(gone)
		gone.Close(t.Context())
		gone.Close(t.Context())
		two.Close()
		works(live)
		if n := e.Compiled(); n != 1 {
			t.Errorf("%d identities are held by an instance, want 1", n)
		}
		live.Close(t.Context())
		if n := e.Compiled(); n != 0 {
			t.Errorf("%d identities are held by nobody", n)
		}
	})
}

// A compilation that nobody waits for any more is not kept.
func TestAbandonedCompilationIsFreed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	ctx, cancel := context.WithCancel(t.Context())
	returned, compiled := make(chan struct{}), make(chan struct{})
	e := newEngine(t, sandbox.Config{CacheDir: dir, Notice: func(sandbox.Notice) {
		cancel() // in the midst of compiling
		<-returned
		close(compiled)
	}})
	if err := os.Remove(dir); err != nil { // for a notice
		t.Fatal(err)
	}
	_, err := e.Compile(ctx, guest(wt.Answer{}), profile())
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Compile() = %v, want that it was canceled", err)
	}
	close(returned)
	<-compiled
	for e.Compiled() != 0 { // until go test's own limit
		time.Sleep(time.Millisecond)
	}
}

// However instances and compilations end, nothing is held when all is closed.
func TestNoCodeLeaks(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		ended, cancel := context.WithCancel(t.Context())
		for n := range int32(20) {
			m := compile(t, e, guest(wt.Answer{Act: wt.Trap, Status: n}))
			i, err := m.Instantiate(t.Context(), sandbox.Env{})
			if err != nil {
				t.Fatal(err)
			}
			m.Close()
			if _, err := i.Call(t.Context(), plan()); causeOf(err) != sandbox.CauseTrap {
				t.Errorf("Call() = %v, want a trap", err)
			}
			i.Close(t.Context()) // dead and freed already
		}
		failing := compile(t, e, wt.Solver(wt.Options{Start: wt.Trap}))
		if _, err := failing.Instantiate(t.Context(), sandbox.Env{}); causeOf(err) != sandbox.CauseTrap {
			t.Errorf("Instantiate() = %v, want a trap", err)
		}
		failing.Close()
		p := newProbe()
		if _, err := e.Compile(t.Context(), p.run(wt.I64Const(1)), probeProfile); err == nil {
			t.Error("an invalid module was compiled")
		}
		cancel()
		if _, err := e.Compile(ended, guest(wt.Answer{}), profile()); !errors.Is(err, context.Canceled) {
			t.Errorf("Compile() = %v, want that it was canceled", err)
		}
		if n := e.Compiled(); n != 0 {
			t.Errorf("the code of %d identities is held", n)
		}
	})
}

// Close ends what runs, and nothing begins after it.
func TestClose(t *testing.T) {
	e, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := newProbe("assay.rpc")
	wasm := p.run(wt.I64Const(1), i32s(0, 0), p.call["assay.rpc"], wt.Drop, wt.Loop(wt.Br(0)), wt.I32Const(0))
	m, err := e.Compile(t.Context(), wasm, probeProfile)
	if err != nil {
		t.Fatal(err)
	}
	idle, err := m.Instantiate(t.Context(), sandbox.Env{})
	if err != nil {
		t.Fatal(err)
	}
	running, err := m.Instantiate(t.Context(), sandbox.Env{})
	if err != nil {
		t.Fatal(err)
	}
	began, ended := make(chan struct{}), make(chan error)
	c := run()
	c.Read = func(context.Context, uint64, []byte) (sandbox.Reply, error) {
		close(began)
		return sandbox.Reply{}, nil
	}
	go func() { _, err := running.Call(context.Background(), c); ended <- err }()
	<-began
	closed := make(chan error)
	go func() { closed <- e.Close(context.Background()) }()
	if err := <-ended; !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("the running Call() = %v, want ErrClosed", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close() = %v", err)
	}
	if _, err := idle.Call(t.Context(), run()); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("Call() = %v, want ErrClosed", err)
	}
	if _, err := m.Instantiate(t.Context(), sandbox.Env{}); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("Instantiate() = %v, want ErrClosed", err)
	}
	if _, err := e.Compile(t.Context(), wasm, probeProfile); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("Compile() = %v, want ErrClosed", err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Errorf("the second Close() = %v", err)
	}
	idle.Close(t.Context())
}

// Many instances of few modules at once give what each gives alone.
func TestHammer(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	var session sandbox.Log
	guests := []wt.Answer{{Act: wt.Echo, Output: []byte("-")}, {Act: wt.Trap}, {Act: wt.Allocate}, {Act: wt.FloodLog}, {Act: wt.Exit}, {Status: 3, Pad: 200_000}}
	causes := []string{"", sandbox.CauseTrap, sandbox.CauseMemory, sandbox.CauseLog, sandbox.CauseExit, ""}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for n := range 30 {
				k := (worker + n) % len(guests)
				m, err := e.Compile(context.Background(), guest(guests[k]), profile())
				if err != nil {
					t.Error(err)
					return
				}
				i, err := m.Instantiate(context.Background(), sandbox.Env{Log: &session})
				if err != nil {
					t.Error(err)
					return
				}
				c := plan()
				c.Input = bytes.Repeat([]byte{byte(n)}, n)
				got, err := i.Call(context.Background(), c)
				if causeOf(err) != causes[k] {
					t.Errorf("guest %d: %v", k, err)
				}
				if k == 0 && string(got.Output) != string(c.Input)+"-" {
					t.Errorf("echo of %q is %q", c.Input, got.Output)
				}
				_ = session.Bytes()
				i.Close(context.Background())
				m.Close() // the code may be freed while another worker asks for it
			}
		})
	}
	wg.Wait()
	if n := e.Compiled(); n != 0 {
		t.Errorf("the code of %d identities is held", n)
	}
}

// One instance may be shared: its calls run one after the other.
func TestCallsOfOneInstanceQueue(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	i := instantiate(t, compile(t, e, wt.Solver(wt.Options{Stateful: true, Answers: map[string]wt.Answer{"solver_generate_plan": {Act: wt.Remember}}})), sandbox.Env{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				if _, err := i.Call(context.Background(), plan()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	c := plan()
	c.Export = "solver_serialize_state"
	if got, err := i.Call(t.Context(), c); err != nil || !slices.Equal(u64s(got.Output), []uint64{200}) {
		t.Errorf("counter %v, %v; want 200", u64s(got.Output), err)
	}
}
