package meter_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/subnet112/assay/sandbox/meter"
	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

func rewrite(t testing.TB, module []byte, o meter.Options) *meter.Module {
	t.Helper()
	m, err := wasm.Decode(module, wasm.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := meter.Rewrite(m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A run is a module in a runtime without any limit of its own; refill ends it
// when granted fuel is spent.
type run struct {
	t       testing.TB
	module  api.Module
	granted int64 // left to grant
	slice   int64
	refills int
}

var errSpent, errDeep = errors.New("fuel is spent"), errors.New("too deep")

func start(t testing.TB, module []byte, interpreter bool) *run {
	t.Helper()
	config := wazero.NewRuntimeConfigCompiler()
	if interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	rt := wazero.NewRuntimeWithConfig(t.Context(), config)
	t.Cleanup(func() { rt.Close(context.Background()) })
	r := &run{t: t}
	_, err := rt.NewHostModuleBuilder(meter.ImportModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, _ []uint64) { r.refill(m) }), nil, nil).
		Export(meter.ImportName).Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.module, err = rt.Instantiate(t.Context(), module); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *run) refill(m api.Module) {
	r.refills++
	if int32(m.ExportedGlobal(meter.DepthGlobal).Get()) < 0 {
		panic(errDeep)
	}
	fuel := m.ExportedGlobal(meter.FuelGlobal).(api.MutableGlobal)
	left := int64(fuel.Get())
	if left >= 0 {
		r.t.Errorf("refill with %d left", left)
	}
	take := min(r.granted, -left+r.slice)
	r.granted -= take
	fuel.Set(uint64(left + take))
	if left+take < 0 {
		panic(errSpent)
	}
}

// call runs an export with a budget and gives its results and the fuel it spent.
func (r *run) call(name string, budget, slice int64, args ...uint64) ([]uint64, int64, error) {
	fuel := r.module.ExportedGlobal(meter.FuelGlobal).(api.MutableGlobal)
	fuel.Set(0)
	r.module.ExportedGlobal(meter.DepthGlobal).(api.MutableGlobal).Set(meter.DepthSlots)
	r.granted, r.slice, r.refills = budget, slice, 0
	results, err := r.module.ExportedFunction(name).Call(r.t.Context(), args...)
	return results, budget - r.granted - int64(fuel.Get()), err
}

func onBoth(t *testing.T, module []byte, test func(t *testing.T, r *run)) {
	for name, interpreter := range map[string]bool{"compiler": false, "interpreter": true} {
		t.Run(name, func(t *testing.T) { test(t, start(t, module, interpreter)) })
	}
}

// What a guest spends is the sum of the costs of what it executes, whatever the
// slices.
func TestFuelIsTheSumOfCosts(t *testing.T) {
	for _, tt := range []struct {
		name string
		body [][]byte
		fuel int64 // by costs.go
	}{
		{"nothing", nil, 0},
		{"straight line", [][]byte{wt.I32Const(1), wt.I32Const(2), wt.I32Add, wt.Drop}, 4},
		{"a division", [][]byte{wt.I32Const(1), wt.I32Const(2), wt.I32DivS, wt.Drop}, 1 + 1 + 8 + 1},
		{"a load", [][]byte{wt.I32Const(0), wt.I32Load(0), wt.Drop}, 1 + 2 + 1},
		{"structure is free", [][]byte{wt.Block(wt.Nop, wt.Block())}, 0},
		{"the branch that is taken", [][]byte{wt.I32Const(1), wt.If(wt.I32Const(1), wt.Drop)}, 1 + 1 + 2},
		{"not the branch that isn't", [][]byte{wt.I32Const(0), wt.If(wt.I32Const(1), wt.Drop)}, 1 + 1},
		{"not what a branch skips", [][]byte{wt.Block(wt.I32Const(1), wt.BrIf(0), wt.I32Const(1), wt.Drop), wt.Nop}, 1 + 1},
		{"what follows a block", [][]byte{wt.Block(wt.I32Const(1), wt.BrIf(0), wt.I32Const(1), wt.Drop), wt.I32Const(1), wt.Drop}, 1 + 1 + 2},
		{"nothing after a return", [][]byte{wt.Return, wt.I32Const(1), wt.Drop}, 1},
		// get, const, sub, tee, br_if: ten times.
		{"a loop", [][]byte{wt.I32Const(10), wt.LocalSet(0), wt.Loop(wt.LocalGet(0), wt.I32Const(1), wt.I32Sub, wt.LocalTee(0), wt.BrIf(0))}, 2 + 10*5},
		{"memory.grow by the page", [][]byte{wt.I32Const(3), wt.MemoryGrow, wt.Drop}, 1 + 50 + 1 + 3*8192},
		// Pieces of 64 KiB cost an eighth of their bytes and one.
		{"memory.fill by the piece", [][]byte{wt.I32Const(0), wt.I32Const(7), wt.I32Const(100_000), wt.MemoryFill}, 3 + 20 + (65536/8 + 1) + (34464/8 + 1)},
	} {
		m := &wt.Module{}
		m.Memory(2, -1)
		m.Func("f", nil, nil, []byte{wt.I32}, tt.body...)
		t.Run(tt.name, func(t *testing.T) {
			onBoth(t, rewrite(t, m.Bytes(), meter.Options{}).Bytes, func(t *testing.T, r *run) {
				for _, slice := range []int64{0, 1, 3, 1000, 1 << 40} {
					_, fuel, err := r.call("f", 1<<40, slice)
					if err != nil || fuel != tt.fuel {
						t.Errorf("slices of %d: spent %d, %v, want %d", slice, fuel, err, tt.fuel)
					}
				}
			})
		})
	}
}

// A guest ends at the same test with the same fuel spent, whatever the slices.
func TestCutOffDoesNotDependOnSlices(t *testing.T) {
	m := &wt.Module{}
	m.Memory(1, -1)
	// Counts in memory for ever.
	m.Func("f", nil, nil, nil, wt.Loop(
		wt.I32Const(0), wt.I32Const(0), wt.I64Load(0), wt.I64Const(1), []byte{0x7c}, wt.I64Store(0), wt.Br(0)))
	code := rewrite(t, m.Bytes(), meter.Options{}).Bytes
	onBoth(t, code, func(t *testing.T, r *run) {
		for _, budget := range []int64{0, 1, 8, 9, 10, 99_991} {
			var counts, spent []int64
			for _, slice := range []int64{0, 1, 7, 1 << 40} {
				r.module.Memory().Write(0, make([]byte, 8))
				_, fuel, err := r.call("f", budget, slice)
				if !errors.Is(err, errSpent) {
					t.Fatalf("budget %d: %v", budget, err)
				}
				n, _ := r.module.Memory().ReadUint64Le(0)
				counts, spent = append(counts, int64(n)), append(spent, fuel)
			}
			// One turn costs 1+1+2+1+1+2+1; the one that would go beyond isn't begun.
			const turn = 9
			for i := range counts {
				if counts[i] != budget/turn || spent[i] != (budget/turn+1)*turn {
					t.Errorf("budget %d: counted %v, spent %v", budget, counts, spent)
					break
				}
			}
		}
	})
}

// Frames of the least size nest 1,872 deep, on both engines, and the leaf below
// them isn't counted.
func TestDepth(t *testing.T) {
	m := &wt.Module{}
	m.Memory(1, -1)
	m.Func("f", []byte{wt.I32}, []byte{wt.I32}, nil,
		wt.LocalGet(0), wt.I32Eqz, wt.If(wt.I32Const(1), wt.Return),
		wt.LocalGet(0), wt.I32Const(1), wt.I32Sub, wt.Call(0), wt.I32Const(1), wt.I32Add)
	onBoth(t, rewrite(t, m.Bytes(), meter.Options{}).Bytes, func(t *testing.T, r *run) {
		const most = meter.DepthSlots / meter.MinFrame
		if got, _, err := r.call("f", 1<<40, 1<<40, most-1); err != nil || got[0] != most {
			t.Errorf("%d frames: %v, %v", most, got, err)
		}
		if _, _, err := r.call("f", 1<<40, 1<<40, most); !errors.Is(err, errDeep) {
			t.Errorf("%d frames: %v", most+1, err)
		}
		if _, _, err := r.call("f", 1<<40, 1<<40, 5); err != nil {
			t.Errorf("after it: %v", err)
		}
	})
}

// Every float instruction that can make a NaN makes the canonical one.
func TestNaNIsCanonical(t *testing.T) {
	const odd64, odd32 = 0xfff8_0000_0000_1234, 0xffc0_1234
	type op struct {
		code   byte
		binary bool
	}
	for _, kind := range []struct {
		typ       byte
		ops       []op
		odd, want uint64
	}{
		{wt.F64, []op{{0x9b, false}, {0x9c, false}, {0x9d, false}, {0x9e, false}, {0x9f, false}, {0xa0, true}, {0xa1, true}, {0xa2, true}, {0xa3, true}, {0xa4, true}, {0xa5, true}}, odd64, 0x7ff8_0000_0000_0000},
		{wt.F32, []op{{0x8d, false}, {0x8e, false}, {0x8f, false}, {0x90, false}, {0x91, false}, {0x92, true}, {0x93, true}, {0x94, true}, {0x95, true}, {0x96, true}, {0x97, true}}, odd32, 0x7fc0_0000},
	} {
		for _, o := range kind.ops {
			m := &wt.Module{}
			m.Memory(1, -1)
			body := [][]byte{wt.LocalGet(0)}
			if o.binary {
				body = append(body, wt.LocalGet(1))
			}
			m.Func("f", []byte{kind.typ, kind.typ}, []byte{kind.typ}, nil, append(body, []byte{o.code})...)
			for _, interpreter := range []bool{false, true} {
				got, _, err := start(t, rewrite(t, m.Bytes(), meter.Options{}).Bytes, interpreter).call("f", 1<<40, 1<<40, kind.odd, 0)
				if err != nil || got[0] != kind.want {
					t.Errorf("0x%02x, interpreter %v: %#x, %v", o.code, interpreter, got, err)
				}
			}
		}
	}
}

// Limits refuse with the function, the value and the limit.
func TestLimits(t *testing.T) {
	nested := func(n int) []byte {
		return append([]byte(strings.Repeat("\x02\x40", n)), strings.Repeat("\x0b", n)...)
	}
	table := func(n int) []byte {
		b := append(wt.I32Const(0), 0x0e)
		b = append(b, wt.U32(uint32(n))...)
		return append(b, make([]byte, n+1)...)
	}
	height := func(n int) []byte {
		return append([]byte(strings.Repeat("\x41\x00", n)), strings.Repeat("\x1a", n)...)
	}
	// A load is 20 units of work; the constant, the drop and the end are one each.
	// After every 1,000 loads is a test, in which three variables of the compiler
	// meet: 12 units.
	loads := func(n int) []byte {
		return wt.Seq(wt.I32Const(0), []byte(strings.Repeat(string(wt.I32Load(0)), n)), wt.Drop)
	}
	many := func(n int, body []byte) (out [][]byte) {
		for range n {
			out = append(out, body)
		}
		return out
	}
	for _, tt := range []struct {
		name  string
		funcs [][]byte
		says  string
	}{
		{"nesting at the limit", many(1, nested(meter.MaxNesting)), ""},
		{"nesting", many(1, nested(meter.MaxNesting+1)), "function 0 nests blocks 16,385 deep, limit 16,384"},
		{"the squares of nesting at the limit", many(2, nested(meter.MaxNesting)), ""},
		{"the squares of nesting", many(3, nested(meter.MaxNesting)), "blocks nest too deep in all: with function 2 the sum of squares is 805,306,368, limit 536,870,912"},
		{"br_table at the limit", many(1, table(meter.MaxBrTable)), ""},
		{"br_table", many(1, table(meter.MaxBrTable+1)), "function 0 has a br_table of 16,385 targets, limit 16,384"},
		{"all br_tables", many(31, table(meter.MaxBrTable)), "the br_tables up to function 30 have 507,904 targets in all, limit 500,000"},
		{"operand stack at the limit", many(1, height(meter.MaxOperands)), ""},
		{"operand stack", many(1, height(meter.MaxOperands+1)), "function 0 has more than 1,024 operands on its stack"},
		{"work of a function at the limit", many(1, loads(109_800)), ""},
		{"work of a function", many(1, loads(109_950)), "function 0 is too much for the compiler: 2,200,311 units of work, limit 2,200,000"},
		{"work in all", many(11, loads(109_800)), "the code up to function 10 is too much for the compiler: 24,170,421 units of work, limit 22,000,000"},
		// Blocks and their ends, and the square of their number by 128.
		{"branching at the limit", many(1, bytes.Repeat([]byte{0x02, 0x40, 0x0b}, 52_500)), ""},
		{"branching", many(1, bytes.Repeat([]byte{0x02, 0x40, 0x0b}, 53_000)), "the code up to function 0 is too much for the compiler: 22,051,313 units of work, limit 22,000,000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &wt.Module{}
			for _, body := range tt.funcs {
				m.Func("", nil, nil, nil, body)
			}
			decoded, err := wasm.Decode(m.Bytes(), wasm.Bounds{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = meter.Rewrite(decoded, meter.Options{})
			var refused *meter.Error
			switch {
			case tt.says == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.says != "" && (!errors.As(err, &refused) || !refused.Size || refused.Detail != tt.says):
				t.Errorf("Rewrite() = %v, want %s", err, tt.says)
			}
		})
	}
}

// A guest can name nothing that the rewrite adds.
func TestAddedThingsCannotBeNamed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		build func(m *wt.Module)
		says  string
	}{
		{"the fuel global", func(m *wt.Module) { m.Func("", nil, nil, nil, wt.GlobalGet(0), wt.Drop) }, "function 0: global 0 of 0"},
		{"the import", func(m *wt.Module) { m.Func("", nil, nil, nil, wt.Call(1)) }, "function 0: function 1 of 1"},
		{"a local", func(m *wt.Module) { m.Func("", nil, nil, nil, wt.Loop(wt.LocalGet(0), wt.Drop)) }, "function 0: local 0 of 0"},
		{"a type", func(m *wt.Module) {
			m.Func("", nil, nil, nil, wt.I32Const(0), wt.MemoryGrow, wt.Drop, wt.I32Const(0), []byte{0x11}, wt.U32(1), []byte{0})
		}, "function 0: type 1 of 1"},
		{"an export", func(m *wt.Module) { m.Export("f", wt.KindGlobal, 0) }, ""},
		{"the names", func(m *wt.Module) { m.Func("assay:fuel", nil, nil, nil) }, `export "assay:fuel": names that begin with "assay:" are the sandbox's own`},
		{"the import by name", func(m *wt.Module) { m.Import("assay", "refill", nil, nil) }, "import assay.refill is the sandbox's own"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &wt.Module{}
			m.Memory(1, -1)
			tt.build(m)
			decoded, err := wasm.Decode(m.Bytes(), wasm.Bounds{})
			if err == nil {
				_, err = meter.Rewrite(decoded, meter.Options{})
			}
			if err == nil || tt.says != "" && err.Error() != tt.says {
				t.Errorf("Rewrite() = %v, want %s", err, tt.says)
			}
		})
	}
}

// Padded numbers are legal, behind a prefix too.
func TestPaddedPrefix(t *testing.T) {
	m := &wt.Module{}
	m.Memory(1, -1)
	m.Table(3, -1)
	padded := func(sub byte, rest ...byte) []byte { return append([]byte{0xfc, sub | 0x80, 0x80, 0}, rest...) }
	m.Func("f", nil, []byte{wt.I32}, nil,
		[]byte{0x44, 0, 0, 0, 0, 0, 0, 0x45, 0x40}, padded(2), // 42 as f64, i32.trunc_sat_f64_s
		padded(16, 0), wt.I32Add, // table.size
		[]byte{0xd0, 0x70}, wt.I32Const(2), padded(15, 0), wt.I32Add, // table.grow gives 3
		wt.I32Const(0), wt.I32Const(0), wt.I32Const(1), padded(10, 0, 0), // memory.copy
		wt.I32Const(0), wt.I32Const(0), wt.I32Const(1), padded(11, 0)) // memory.fill
	onBoth(t, rewrite(t, m.Bytes(), meter.Options{}).Bytes, func(t *testing.T, r *run) {
		if got, _, err := r.call("f", 1<<40, 1<<40); err != nil || got[0] != 42+3+3 {
			t.Errorf("f() = %v, %v", got, err)
		}
	})
}

// However straight-line code is cut by branches, no way through it is long
// without a test: each refill finds little spent since the last.
func TestTestsAreNear(t *testing.T) {
	const most = meter.SegmentFuel + 200 // and what one instruction and one leaf cost
	pad := bytes.Repeat(wt.Seq(wt.I32Const(1), wt.Drop), 400)
	for name, unit := range map[string][]byte{
		"branches that aren't taken": wt.Block(pad, wt.I32Const(0), wt.BrIf(0), pad),
		"branches that are taken":    wt.Seq(pad, wt.Block(wt.I32Const(1), wt.BrIf(0), bytes.Repeat(pad, 4))),
		"tests on the other way":     wt.Seq(pad, wt.I32Const(0), wt.If(bytes.Repeat(pad, 4))),
		"leaves":                     bytes.Repeat(wt.Call(0), 100),
	} {
		t.Run(name, func(t *testing.T) {
			m := &wt.Module{}
			m.Memory(1, -1)
			m.Func("", nil, nil, nil, bytes.Repeat(wt.Seq(wt.I32Const(1), wt.Drop), 30))
			m.Func("f", nil, nil, nil, bytes.Repeat(unit, 50))
			r := start(t, rewrite(t, m.Bytes(), meter.Options{}).Bytes, false)
			if _, fuel, err := r.call("f", 1<<40, 0); err != nil || r.refills < int(fuel/most) {
				t.Errorf("%d refills for %d fuel, %v", r.refills, fuel, err)
			}
		})
	}
}
