package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
	"github.com/subnet112/assay/sandbox/wasmtest/hostile"
)

// The figures that hostile guests are held to. Times are asserted at ten times
// as much, for hosts that do other things as well.
const (
	stopLatency = 200 * time.Millisecond // past a wall limit
	pauseLimit  = 50 * time.Millisecond  // of runtime.GC() beside a guest
	peakLimit   = 2 << 30                // bytes of the whole test
)

// hostileWall is the limit that endless guests are stopped at.
const hostileWall = 100 * time.Millisecond

// Every hostile guest is refused, for its reason, or comes to its end, while a
// live solver beside it does what it does alone and the host's collector gets
// its turn. What would go on for ever ends by fuel, and without that by the wall
// limit.
func TestHostileGuests(t *testing.T) {
	resetPeak(t)
	l := newLab(t)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "guest\tend\tdetail\tfuel\tMfuel/s\twall stop\tGC, half\tat most")
	for _, g := range hostile.All() {
		if testing.Short() && (g.Large || g.Go) {
			continue
		}
		t.Run(g.Name, func(t *testing.T) {
			l.pauses.take()
			r := l.hold(t, g)
			median, most := l.pauses.take()
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", g.Name, r.end, cut(r.detail, 60), r.spent(), r.rate(), r.late, ms(median), ms(most))
			// Half of them: whatever else the host does makes some take long.
			if median > 10*pauseLimit {
				t.Errorf("half of the runtime.GC() took more than %v", median)
			}
		})
	}
	w.Flush()
	t.Logf("\n%s", &table)
	t.Logf("the live solver ran %d times beside them", l.runs.Load())
	if peak, ok := peakBytes(); ok {
		t.Logf("peak resident memory %d MiB", peak>>20)
		if peak >= peakLimit {
			t.Errorf("peak resident memory is %d bytes, limit %d", peak, peakLimit)
		}
	}
}

// A row is what became of a guest.
type row struct {
	end, detail string
	usage       sandbox.Usage
	took        time.Duration
	late        string
}

func (r row) spent() string {
	if r.usage.Fuel == 0 {
		return ""
	}
	return fmt.Sprint(r.usage.Fuel)
}

func (r row) rate() string {
	if r.usage.Fuel < 1_000_000 {
		return ""
	}
	return fmt.Sprintf("%.0f", float64(r.usage.Fuel)/1e6/r.took.Seconds())
}

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

// hold lets a guest do its harm, and asserts its end.
func (l *lab) hold(t *testing.T, g hostile.Guest) row {
	began := time.Now()
	m, err := l.module(t, g)
	if g.End.Reason != "" || err != nil {
		took := time.Since(began)
		var refusal *sandbox.Refusal
		switch {
		case !errors.As(err, &refusal):
			t.Errorf("admitted, or %v", err)
			return row{end: "admitted"}
		case refusal.Reason != g.End.Reason || g.End.Reason == "" || !strings.Contains(refusal.Detail, g.End.Detail):
			t.Errorf("refused for %s: %s", refusal.Reason, refusal.Detail)
		case took > 10*time.Second:
			t.Errorf("it took %v", took)
		}
		return row{end: "refused: " + string(refusal.Reason), detail: refusal.Detail}
	}
	if l.modules[moduleKey(g)] == nil {
		defer m.Close()
	}

	c := plan()
	c.Input, c.Fuel, c.Wall = []byte(g.Input), g.Fuel, hostile.Wall
	if g.Fuel == 0 {
		c.Fuel = hostile.DefaultFuel
	}
	r := l.run(t, g, m, c)
	r.assert(t, g, g.End)
	if g.Endless() && !testing.Short() {
		c.Fuel, c.Wall = 1<<60, hostileWall
		stalled, late := l.run(t, g, m, c), time.Duration(0)
		for range 3 {
			// What else the host does may keep the processor from the guest, and from
			// the calibration guest, then it says so by ErrWall.
			if late = stalled.took - hostileWall; late < stopLatency && !errors.Is(stalled.err, sandbox.ErrWall) {
				break
			}
			stalled = l.run(t, g, m, c)
		}
		stalled.assert(t, g, hostile.End{Cause: sandbox.CauseStalled, Detail: fmt.Sprint("stopped after ", hostileWall)})
		if late > 10*stopLatency {
			t.Errorf("stopped %v after its wall limit", late)
		}
		r.late = "+" + ms(late)
	}
	return r.row
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

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
	}
	return p
}

func (l *lab) module(t *testing.T, g hostile.Guest) (*sandbox.Module, error) {
	t.Helper()
	key := moduleKey(g)
	if m := l.modules[key]; m != nil {
		return m, nil
	}
	var wasm []byte
	var err error
	switch key {
	case "go":
		wasm, err = hostile.BuildGo(t.TempDir())
	case "engine":
		wasm, err = os.ReadFile("../scoring/engine/quickjs.wasm")
	default:
		wasm = g.Wasm()
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.engine.Compile(t.Context(), wasm, hostileProfile(g))
	if key != "" && err == nil {
		l.modules[key] = m
	}
	return m, err
}

// An outcome is what one instance of a guest came to.
type outcome struct {
	row
	result sandbox.Result
	err    error
}

// run makes an instance, prepares it and makes the call, or has the instantiation
// under the call's limits.
func (l *lab) run(t *testing.T, g hostile.Guest, m *sandbox.Module, c sandbox.Call) (o outcome) {
	t.Helper()
	env := sandbox.Env{Time: 1_700_000_000}
	if g.Start && g.Script == "" {
		env.Fuel, env.Wall = c.Fuel, c.Wall
		env.Allowance = m.Allow(time.Hour, 1<<60)
	}
	began := time.Now()
	i, err := m.Instantiate(t.Context(), env)
	if g.Start && g.Script == "" {
		o.took = time.Since(began)
		o.err, o.usage.Fuel = err, 1<<60-env.Allowance.Fuel()
		if err == nil {
			i.Close(context.Background())
		}
		return o
	}
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close(context.Background())

	if g.Script != "" {
		load := c
		load.Export = "js_load"
		load.Input, err = json.Marshal(map[string]any{"time": 1_700_000_000, "seed": strings.Repeat("0123456789abcdef", 4), "source": g.Script})
		if err != nil {
			t.Fatal(err)
		}
		if !g.Start {
			load.Fuel, load.Wall = endless, hostile.Wall
		}
		began := time.Now()
		r, err := i.Call(t.Context(), load)
		if g.Start {
			return outcome{row{usage: r.Usage, took: time.Since(began)}, r, err}
		}
		if err != nil || r.Status != 0 {
			t.Fatalf("js_load: status %d %q, %v", r.Status, r.Output, err)
		}
		c.Input = []byte(`{"intent_id":"i","intent":{},"state":{},"snapshot":null}`)
	}
	prepare := c
	prepare.Export, prepare.Input, prepare.Fuel, prepare.Wall = "solver_initialize", []byte("{}"), endless, hostile.Wall
	if r, err := i.Call(t.Context(), prepare); err != nil || r.Status != 0 {
		t.Fatalf("solver_initialize: status %d %q, %v", r.Status, r.Output, err)
	}
	if g.Reads {
		reads := 0
		c.Read = func(context.Context, uint64, []byte) (sandbox.Reply, error) {
			if reads++; reads > 5000 {
				return sandbox.Reply{Status: sandbox.ReadBudget}, nil
			}
			return sandbox.Reply{Body: []byte(`{"jsonrpc":"2.0","id":1,"result":"0x1"}`)}, nil
		}
	}
	began = time.Now()
	r, err := i.Call(t.Context(), c)
	return outcome{row{usage: r.Usage, took: time.Since(began)}, r, err}
}

// assert compares an outcome with what it must be, and names it.
func (o *outcome) assert(t *testing.T, g hostile.Guest, want hostile.End) {
	t.Helper()
	var fault *sandbox.Fault
	switch {
	case errors.As(o.err, &fault):
		o.end, o.detail = fault.Cause, fault.Detail
		if fault.Cause != want.Cause || !strings.Contains(fault.Detail, want.Detail) {
			t.Errorf("ends by %v, want %s: …%s…", fault, want.Cause, want.Detail)
		}
	case o.err != nil:
		t.Errorf("ends by %v, want %s", o.err, want.Cause)
	case want.Cause != "":
		t.Errorf("answers %d %q, want %s", o.result.Status, cut(string(o.result.Output), 200), want.Cause)
	default:
		o.end, o.detail = fmt.Sprint("status ", o.result.Status), cut(string(o.result.Output), 60)
		same := string(o.result.Output) == want.Output
		if g.Script != "" {
			same = strings.Contains(string(o.result.Output), want.Output)
		}
		if o.result.Status != want.Status || !same {
			t.Errorf("answers %d %q, want %d %q", o.result.Status, o.result.Output, want.Status, want.Output)
		}
	}
}

// cut is the beginning of a text, on one line.
func cut(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "…"
	}
	if strconv.CanBackquote(s) {
		return s
	}
	return strconv.Quote(s)
}
