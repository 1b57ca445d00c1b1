package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
	"github.com/subnet112/assay/sandbox/wasmtest/hostile"
)

// A lab is an engine with a live solver and the host's collector at work beside
// whatever else runs in it.
type lab struct {
	engine  *sandbox.Engine
	modules map[string]*sandbox.Module // of the guests that are shared
	pauses  pauses                     // how long runtime.GC() took
	runs    atomic.Int64               // of the live solver
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{engine: newEngine(t, sandbox.Config{}), modules: map[string]*sandbox.Module{}}
	m := compile(t, l.engine, liveSolver())
	alone := make([]sandbox.Result, 3)
	for k := range alone {
		r, err := live(t.Context(), m, k)
		if err != nil {
			t.Fatal(err)
		}
		alone[k] = r
	}
	ctx, stop := context.WithCancel(context.Background())
	var beside sync.WaitGroup
	beside.Go(func() { l.collect(ctx) })
	beside.Go(func() {
		if err := l.live(ctx, m, alone); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		beside.Wait()
	})
	return l
}

func (l *lab) collect(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		runtime.GC()
		l.pauses.add(time.Since(began))
		time.Sleep(2 * time.Millisecond)
	}
}

// pauses are times that one goroutine adds and another takes.
type pauses struct {
	mu   sync.Mutex
	list []time.Duration
}

func (p *pauses) add(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, d)
}

// take empties the list.
func (p *pauses) take() (median, most time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.list = nil }()
	if len(p.list) == 0 {
		return 0, 0
	}
	slices.Sort(p.list)
	return p.list[len(p.list)/2], p.list[len(p.list)-1]
}

func (l *lab) live(ctx context.Context, m *sandbox.Module, alone []sandbox.Result) error {
	for k := 0; ctx.Err() == nil; k = (k + 1) % len(alone) {
		got, err := live(context.Background(), m, k)
		if err != nil {
			return fmt.Errorf("the live solver: %w", err)
		}
		if diff := cmp.Diff(alone[k], got); diff != "" {
			return fmt.Errorf("the live solver, intent %d (-alone +beside):\n%s", k, diff)
		}
		l.runs.Add(1)
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// live runs a fresh instance of the live solver on its k-th input.
func live(ctx context.Context, m *sandbox.Module, k int) (sandbox.Result, error) {
	i, err := m.Instantiate(ctx, sandbox.Env{Time: 1_700_000_000})
	if err != nil {
		return sandbox.Result{}, err
	}
	defer i.Close(ctx)
	c := plan()
	c.Input = []byte(strings.Repeat(fmt.Sprint("intent ", k, "; "), 100))
	return i.Call(ctx, c)
}

// liveSolver outputs its input after many rounds of mixing it into a memory of
// its own.
func liveSolver() []byte {
	p := &probe{}
	input := p.Import("assay", "input", valueTypes("ii"), valueTypes("i"))
	output := p.Import("assay", "output", valueTypes("ii"), nil)
	log := p.Import("assay", "log", valueTypes("iii"), nil)
	p.Memory(4, 8)
	p.Export("memory", wt.KindMemory, 0)
	i32, zero := []byte{wt.I32}, wt.I32Const(0)
	p.Func("solver_abi", nil, i32, nil, wt.I32Const(1))
	p.Func("solver_metadata", i32, i32, nil, zero)
	p.Func("solver_initialize", i32, i32, nil, zero)
	// Local 1 goes through the first 64 KiB a word at a time, again and again;
	// 2 is a sum.
	at := wt.Seq(wt.LocalGet(1), wt.I32Const(0xfffc), wt.I32And)
	p.Func("solver_generate_plan", i32, i32, []byte{wt.I32, wt.I32},
		zero, wt.I32Const(4096), wt.Call(input), wt.LocalSet(2),
		wt.I32Const(2), wt.MemoryGrow, wt.Drop,
		wt.Loop(
			at, wt.LocalGet(2), at, wt.I32Load(0), wt.I32Add, wt.I32Const(1664525), wt.I32Mul, wt.LocalTee(2), wt.I32Store(0),
			wt.LocalGet(1), wt.I32Const(4), wt.I32Add, wt.LocalTee(1), wt.I32Const(1_000_000), wt.I32LtU, wt.BrIf(0),
		),
		wt.I32Const(1), zero, wt.I32Const(16), wt.Call(log),
		zero, wt.I32Const(8192), wt.Call(output), zero)
	return p.Bytes()
}

// moduleKey names the module of guests that share one.
func moduleKey(g hostile.Guest) string {
	switch {
	case g.Go:
		return "go"
	case g.Script != "":
		return "engine"
	}
	return ""
}

func hostileProfile(g hostile.Guest) sandbox.Profile {
	p := profile()
	p.MemoryPages = 0
	if g.Script != "" {
		p.Exports = append([]sandbox.Export{{Name: "js_load"}}, p.Exports...)
		p.KnownFrames = true
	}
	return p
}

// bytes makes the module, unless the guest shares one that was compiled already.
func (l *lab) bytes(t *testing.T, g hostile.Guest) (wasm []byte) {
	t.Helper()
	var err error
	switch key := moduleKey(g); {
	case l.modules[key] != nil:
	case key == "go":
		wasm, err = hostile.BuildGo(t.TempDir())
	case key == "engine":
		wasm, err = os.ReadFile("../scoring/engine/quickjs.wasm")
	default:
		wasm = g.Wasm()
	}
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

func (l *lab) compile(g hostile.Guest, wasm []byte) (*sandbox.Module, error) {
	key := moduleKey(g)
	if m := l.modules[key]; m != nil {
		return m, nil
	}
	m, err := l.engine.Compile(context.Background(), wasm, hostileProfile(g))
	if key != "" && err == nil {
		l.modules[key] = m
	}
	return m, err
}
