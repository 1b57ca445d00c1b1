package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// A guest that is put back to where it was goes on as it went on: the same
// answers, fuel and bytes of memory. 20 random points of a random session in
// every language; each in a fresh instance, in one that is dead, and in one that
// has gone elsewhere.
func TestCheckpointsGoOn(t *testing.T) {
	const calls, points, after = 40, 20, 5
	seed := randomSeed(t)
	for _, s := range languages(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			m := s.on(t, sandbox.Config{})
			r := rand.New(rand.NewPCG(seed, 0))
			prepare := len(s.Steps) - 4
			repertoire := s.Steps[prepare : prepare+3]
			steps := slices.Clone(s.Steps[:prepare])
			for range calls + after {
				steps = append(steps, repertoire[r.IntN(len(repertoire))])
			}
			at := r.Perm(calls)[:points]

			env := sandbox.Env{Time: 1_700_000_000, Seed: [32]byte{1}, Wall: hour, Fuel: endless}
			call := func(i *sandbox.Instance, s step) (string, error) {
				r, err := i.Call(context.Background(), s.call(reads(t, m.Reads)))
				return m.end(s.Export, r, err), err
			}
			i := instantiate(t, m.module, env)
			var ends []string
			checkpoints := map[int]*sandbox.Checkpoint{}
			for k, s := range steps {
				if n := k - prepare; slices.Contains(at, n) {
					c, err := i.Checkpoint()
					if err != nil {
						t.Fatal(err)
					}
					checkpoints[k] = c
				}
				end, err := call(i, s)
				if err != nil {
					t.Fatal(end)
				}
				ends = append(ends, end)
			}
			if len(checkpoints) != points {
				t.Fatalf("%d checkpoints", len(checkpoints))
			}
			i.Close(context.Background())

			old := i
			for _, k := range slices.Sorted(maps.Keys(checkpoints)) {
				c := checkpoints[k]
				i, err := c.Resume(t.Context(), env, old)
				if err != nil {
					t.Fatal(err)
				}
				for n := k; n < k+after; n++ {
					if end, _ := call(i, steps[n]); end != ends[n] {
						t.Errorf("call %d after the checkpoint before call %d (-first +resumed):\n%s", n, k, cmp.Diff(ends[n], end))
						break
					}
				}
				// The next begins in a fresh instance, this one or a dead one.
				switch k % 3 {
				case 0:
					i.Close(context.Background())
					old = nil
				case 1:
					old = i
				case 2:
					c := steps[k].call(nil)
					c.Fuel = 1
					if _, err := i.Call(context.Background(), c); causeOf(err) != sandbox.CauseFuel {
						t.Errorf("with fuel of 1: %v", err)
					}
					old = i
				}
			}
			if old != nil {
				old.Close(context.Background())
			}
		})
	}
}

// randomSeed is another each time unless ASSAY_SEED says one; it is logged.
func randomSeed(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv("ASSAY_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("ASSAY_SEED=%d", seed)
	return seed
}

// What a guest did that is in neither memory nor numeric globals can't be put
// back: modules that can do it are refused checkpoints, with what it is.
func TestWhatIsNotCheckpointable(t *testing.T) {
	i32 := func(n uint64) wasm.Instr { return wasm.Instr{Op: wasm.OpI32Const, Imm: n} }
	op := func(o wasm.Op) wasm.Instr { return wasm.Instr{Op: o} }
	null := wasm.Instr{Op: wasm.OpRefNull, Imm: uint64(wasm.FuncRef)}
	for _, tt := range []struct {
		name   string
		body   []wasm.Instr
		change func(*wasm.Module)
		says   string // empty = it is checkpointable
	}{
		{name: "table.set", body: []wasm.Instr{i32(0), null, op(wasm.OpTableSet)}, says: "function 0 uses table.set"},
		{name: "table.grow", body: []wasm.Instr{null, i32(0), op(wasm.OpTableGrow), op(wasm.OpDrop)}, says: "function 0 uses table.grow"},
		{name: "table.fill", body: []wasm.Instr{i32(0), null, i32(0), op(wasm.OpTableFill)}, says: "function 0 uses table.fill"},
		{name: "table.copy", body: []wasm.Instr{i32(0), i32(0), i32(0), op(wasm.OpTableCopy)}, says: "function 0 uses table.copy"},
		{name: "table.init", body: []wasm.Instr{i32(0), i32(0), i32(0), op(wasm.OpTableInit)}, says: "function 0 uses table.init"},
		{name: "elem.drop", body: []wasm.Instr{op(wasm.OpElemDrop)}, says: "function 0 uses elem.drop"},
		{name: "memory.init", body: []wasm.Instr{i32(0), i32(0), i32(0), op(wasm.OpMemoryInit)}, says: "function 0 uses memory.init"},
		{name: "data.drop", body: []wasm.Instr{op(wasm.OpDataDrop)}, says: "function 0 uses data.drop"},
		{name: "a start section", change: func(m *wasm.Module) {
			m.Types = append(m.Types, wasm.FuncType{})
			m.Funcs = append(m.Funcs, 1)
			m.Codes = append(m.Codes, wasm.Code{Body: []byte{byte(wasm.OpEnd)}})
			start := uint32(1)
			m.Start = &start
		}, says: "it has a start section"},
		{name: "a global that is a reference", change: func(m *wasm.Module) {
			init := append(wasm.AppendInstr(nil, &null), byte(wasm.OpEnd))
			m.Globals = []wasm.Global{{GlobalType: wasm.GlobalType{Type: wasm.FuncRef, Mutable: true}, Init: init}}
		}, says: "global 0 is a mutable reference"},

		{name: "a constant reference", change: func(m *wasm.Module) {
			init := append(wasm.AppendInstr(nil, &null), byte(wasm.OpEnd))
			m.Globals = []wasm.Global{{GlobalType: wasm.GlobalType{Type: wasm.FuncRef}, Init: init}}
		}},
		{name: "table.get", body: []wasm.Instr{i32(0), op(wasm.OpTableGet), op(wasm.OpDrop)}},
		{name: "table.size", body: []wasm.Instr{op(wasm.OpTableSize), op(wasm.OpDrop)}},
		{name: "memory.fill", body: []wasm.Instr{i32(0), i32(0), i32(0), op(wasm.OpMemoryFill)}},
		{name: "memory.copy", body: []wasm.Instr{i32(0), i32(0), i32(0), op(wasm.OpMemoryCopy)}},
		{name: "memory.grow", body: []wasm.Instr{i32(1), op(wasm.OpMemoryGrow), op(wasm.OpDrop)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var body []byte
			for _, in := range append(tt.body, i32(0), op(wasm.OpEnd)) {
				body = wasm.AppendInstr(body, &in)
			}
			one, count := []wasm.ValType{wasm.I32}, uint32(1)
			m := &wasm.Module{
				Types:     []wasm.FuncType{{Params: one, Results: one}},
				Funcs:     []uint32{0},
				Tables:    []wasm.Table{{Elem: wasm.FuncRef, Limits: wasm.Limits{Min: 1}}},
				Memories:  []wasm.Limits{{Min: 1}},
				Exports:   []wasm.Export{{Name: "run", Kind: wasm.KindFunc}, {Name: "memory", Kind: wasm.KindMemory}},
				Elems:     []wasm.Elem{{Mode: wasm.ElemPassive, Type: wasm.FuncRef, Funcs: []uint32{0}}},
				DataCount: &count,
				Codes:     []wasm.Code{{Body: body}},
				Datas:     []wasm.Data{{Passive: true, Bytes: []byte("data")}},
			}
			if tt.change != nil {
				tt.change(m)
			}
			i := newProbeInstance(t, newEngine(t, sandbox.Config{}), m.Encode(), sandbox.Env{})
			if _, err := i.Call(t.Context(), run()); err != nil {
				t.Fatal(err)
			}
			_, err := i.Checkpoint()
			switch {
			case tt.says == "" && err != nil:
				t.Errorf("Checkpoint() = %v", err)
			case tt.says != "" && (!errors.Is(err, sandbox.ErrNotCheckpointable) || err.Error() != fmt.Sprintf("%v: %s", sandbox.ErrNotCheckpointable, tt.says)):
				t.Errorf("Checkpoint() = %v, want %s", err, tt.says)
			}
		})
	}
}

// Copying costs an eighth of the bytes, each way, and isn't done without.
func TestCheckpointsArePaid(t *testing.T) {
	const pages, copied = 4, 4 << 16 / 8
	m, err := newEngine(t, sandbox.Config{}).Compile(t.Context(), growing(pages), probeProfile)
	if err != nil {
		t.Fatal(err)
	}
	i := instantiate(t, m, sandbox.Env{Allowance: m.Allow(hour, 1<<30)})
	if _, err := i.Call(t.Context(), run()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		fuel uint64
		left uint64
		err  string
	}{
		{"more than enough", copied + 5, 5, ""},
		{"enough", copied, 0, ""},
		{"one too little", copied - 1, 0, sandbox.CauseSessionFuel},
		{"nothing", 0, 0, sandbox.CauseSessionFuel},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := i.Checkpoint() // on the allowance that i has
			if err != nil {
				t.Fatal(err)
			}
			a := m.Allow(hour, tt.fuel)
			again, err := c.Resume(t.Context(), sandbox.Env{Allowance: a}, nil)
			if causeOf(err) != tt.err || (err == nil) != (tt.err == "") || a.Fuel() != tt.left {
				t.Fatalf("Resume() = %v, %d left; want %q, %d", err, a.Fuel(), tt.err, tt.left)
			}
			if err != nil {
				return
			}
			defer again.Close(context.Background())
			// None of its own is left for another.
			if _, err := again.Checkpoint(); causeOf(err) != sandbox.CauseSessionFuel {
				t.Errorf("Checkpoint() = %v", err)
			}
		})
	}
}

// growing is a guest that grows to so many pages and counts its calls there.
func growing(pages uint32) []byte {
	p := newProbe()
	const last = 65536 - 4 // of the second page
	count := wt.Seq(wt.I32Const(65536), wt.I32Load(last))
	return p.run(
		wt.MemorySize, wt.I32Const(1), wt.I32Eq, wt.If(wt.I32Const(int32(pages-1)), wt.MemoryGrow, wt.Drop),
		wt.I32Const(65536), count, wt.I32Const(1), wt.I32Add, wt.I32Store(last), count)
}

// Any number of goroutines resume from one checkpoint.
func TestResumeIsConcurrent(t *testing.T) {
	m, err := newEngine(t, sandbox.Config{}).Compile(t.Context(), growing(3), probeProfile)
	if err != nil {
		t.Fatal(err)
	}
	i := instantiate(t, m, sandbox.Env{})
	first, err := i.Call(t.Context(), run())
	if err != nil {
		t.Fatal(err)
	}
	c, err := i.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	want, err := i.Call(t.Context(), run())
	if err != nil || want.Status == first.Status {
		t.Fatalf("status %d again, %v", want.Status, err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			var old *sandbox.Instance
			for range 50 {
				again, err := c.Resume(context.Background(), sandbox.Env{}, old)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := again.Call(context.Background(), run()); err != nil || got.Status != want.Status {
					t.Errorf("status %d, want %d, %v", got.Status, want.Status, err)
				}
				old = again
			}
			old.Close(context.Background())
		})
	}
	all.Wait()
}

// An instance is put back in place if it lives, is of the module, and has no more
// memory than the checkpoint. Otherwise it is closed and there is a fresh one.
func TestWhatIsPutBackInPlace(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	m, err := e.Compile(t.Context(), growing(3), probeProfile)
	if err != nil {
		t.Fatal(err)
	}
	other, err := e.Compile(t.Context(), growing(2), probeProfile)
	if err != nil {
		t.Fatal(err)
	}
	// A guest has one page, and three after the first of its calls, which it counts.
	after := func(m *sandbox.Module, calls int) *sandbox.Instance {
		i := instantiate(t, m, sandbox.Env{})
		for range calls {
			if _, err := i.Call(t.Context(), run()); err != nil {
				t.Fatal(err)
			}
		}
		return i
	}
	for _, tt := range []struct {
		name    string
		calls   int // before the checkpoint
		old     func() *sandbox.Instance
		inPlace bool
	}{
		{"where it is", 2, func() *sandbox.Instance { return after(m, 2) }, true},
		{"with as much memory", 1, func() *sandbox.Instance { return after(m, 5) }, true},
		{"with less memory", 2, func() *sandbox.Instance { return after(m, 0) }, true},
		{"with more memory", 0, func() *sandbox.Instance { return after(m, 1) }, false},
		{"dead", 2, func() *sandbox.Instance {
			i := after(m, 2)
			c := run()
			c.Fuel = 1
			if _, err := i.Call(t.Context(), c); causeOf(err) != sandbox.CauseFuel {
				t.Fatal(err)
			}
			return i
		}, false},
		{"closed", 2, func() *sandbox.Instance {
			i := after(m, 2)
			i.Close(context.Background())
			return i
		}, false},
		{"of another module", 2, func() *sandbox.Instance { return after(other, 2) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := after(m, tt.calls).Checkpoint()
			if err != nil {
				t.Fatal(err)
			}
			old := tt.old()
			i, err := c.Resume(t.Context(), sandbox.Env{}, old)
			if err != nil {
				t.Fatal(err)
			}
			defer i.Close(context.Background())
			if (i == old) != tt.inPlace {
				t.Errorf("in place: %v", i == old)
			}
			r, err := i.Call(t.Context(), run())
			if err != nil || int(r.Status) != tt.calls+1 || r.Usage.PeakPages != 3 {
				t.Errorf("call %d counts %d, has %d pages, %v", tt.calls+1, r.Status, r.Usage.PeakPages, err)
			}
			if _, err := old.Call(t.Context(), run()); !tt.inPlace && !errors.Is(err, sandbox.ErrDead) {
				t.Errorf("the old one's Call() = %v", err)
			}
		})
	}
}
