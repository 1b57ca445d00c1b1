//go:build linux

package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/meter"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// largest are modules at each of the static limits: what is admitted must
// compile in under half of what a child process may take.
var largest = map[string]func() []byte{
	"functions": func() []byte {
		m := largeModule()
		for range sandbox.MaxFunctions - 1 {
			m.Func("", nil, nil, nil, bytes.Repeat(wt.Seq(wt.I32Const(1), wt.Drop), 170))
		}
		return m.Bytes()
	},
	"types": func() []byte {
		m := largeModule()
		for i := range sandbox.MaxTypes - 2 {
			m.Type(bytes.Repeat([]byte{wt.I32}, 600+i%400), bytes.Repeat([]byte{wt.I64}, i/400))
		}
		return m.Bytes()
	},
	"globals": func() []byte {
		m := largeModule()
		for range sandbox.MaxGlobals {
			m.Global(1)
		}
		return m.Bytes()
	},
	"exports": func() []byte {
		m := largeModule()
		for i := range sandbox.MaxExports - 2 {
			m.Export(fmt.Sprintf("%01000d", i), wt.KindFunc, 0)
		}
		return m.Bytes()
	},
	"data segments": func() []byte {
		m := largeModule()
		for i := range sandbox.MaxDataSegments {
			m.Data(int32(i%60_000), bytes.Repeat([]byte{1}, 100))
		}
		return m.Bytes()
	},
	"elements": func() []byte {
		m := largeModule()
		m.Table(sandbox.MaxTableElements, -1)
		m.Elem(0, make([]uint32, sandbox.MaxTableElements)...)
		return m.Bytes()
	},
	"locals in all": func() []byte {
		m := largeModule()
		for range sandbox.MaxLocalsTotal / sandbox.MaxLocals {
			var body []byte
			for i := range uint32(sandbox.MaxLocals) {
				body = wt.Seq(body, wt.LocalGet(i), wt.I32Const(1), wt.I32Add, wt.LocalSet((i*7+1)%sandbox.MaxLocals))
			}
			m.Func("", nil, nil, bytes.Repeat([]byte{wt.I32}, sandbox.MaxLocals), bytes.Repeat(body, 3))
		}
		return m.Bytes()
	},
	"nesting": func() []byte {
		m := largeModule()
		for range meter.MaxNestingSquare / (meter.MaxNesting * meter.MaxNesting) {
			m.Func("", nil, nil, nil, bytes.Repeat([]byte{0x02, 0x40}, meter.MaxNesting), bytes.Repeat(wt.End, meter.MaxNesting))
		}
		return m.Bytes()
	},
	"nesting of loops": func() []byte {
		m := largeModule()
		const deep = 2500 // a loop is six points of control
		for range meter.MaxNestingSquare / (meter.MaxNesting * meter.MaxNesting) {
			m.Func("", nil, nil, nil, bytes.Repeat([]byte{0x03, 0x40}, deep), bytes.Repeat(wt.End, deep))
		}
		return m.Bytes()
	},
	"nesting, many functions": func() []byte {
		m := largeModule()
		const deep = 1024 // three points of control each, 77 thousand units of work
		for range 280 {
			m.Func("", nil, nil, []byte{wt.I32}, bytes.Repeat([]byte{0x02, 0x40}, deep), bytes.Repeat(wt.Seq(wt.LocalGet(0), wt.BrIf(0), wt.End), deep))
		}
		return m.Bytes()
	},
	"br_table": func() []byte {
		m := largeModule()
		table := wt.Seq(wt.I32Const(0), []byte{0x0e}, wt.U32(meter.MaxBrTable), make([]byte, meter.MaxBrTable+1))
		for range meter.MaxBrTables / meter.MaxBrTable {
			m.Func("", nil, nil, nil, table)
		}
		return m.Bytes()
	},
	"br_table over blocks": func() []byte {
		m := largeModule()
		const blocks = 4096
		for range meter.MaxNestingSquare/(blocks*blocks) - 1 {
			body := slices.Concat(bytes.Repeat([]byte{0x02, 0x40}, blocks), wt.I32Const(0), []byte{0x0e}, wt.U32(blocks))
			for i := range uint32(blocks + 1) {
				body = append(body, wt.U32(i)...)
			}
			body = append(body, wt.End...)
			m.Func("", nil, nil, nil, body, bytes.Repeat(wt.Seq(wt.I32Const(1), wt.Drop, wt.End), blocks-1))
		}
		return m.Bytes()
	},
}

// bodies fill functions of the largest size with one thing; each module has as
// many as fit.
var bodies = map[string]func() []byte{
	"arithmetic":     func() []byte { return wt.Seq(wt.LocalGet(0), wt.I32Const(1), wt.I32Add, wt.LocalSet(0)) },
	"constants":      func() []byte { return wt.Seq(wt.I32Const(1), wt.Drop) },
	"roots":          func() []byte { return wt.Seq(wt.LocalGet(1), bytes.Repeat([]byte{0x9f, 0x9a}, 1000), wt.LocalSet(1)) },
	"loads":          func() []byte { return wt.Seq(wt.LocalGet(0), bytes.Repeat(wt.I32Load(0), 1000), wt.LocalSet(0)) },
	"stores":         func() []byte { return wt.Seq(wt.LocalGet(0), wt.LocalGet(0), wt.I32Store(0)) },
	"calls":          func() []byte { return wt.Call(0) },
	"branches":       func() []byte { return wt.Seq(wt.LocalGet(0), wt.BrIf(0)) },
	"ifs":            func() []byte { return wt.Seq(wt.LocalGet(0), wt.If()) },
	"loops":          func() []byte { return wt.Loop() },
	"blocks":         func() []byte { return wt.Block() },
	"memory.grow":    func() []byte { return wt.Seq(wt.LocalGet(0), bytes.Repeat(wt.MemoryGrow, 1000), wt.LocalSet(0)) },
	"memory.fill":    func() []byte { return wt.Seq(wt.LocalGet(0), wt.LocalGet(0), wt.LocalGet(0), wt.MemoryFill) },
	"globals":        func() []byte { return wt.Seq(wt.GlobalGet(0), wt.GlobalSet(0)) },
	"indirect calls": func() []byte { return wt.Seq(wt.I32Const(0), []byte{0x11, 0, 0}) },
	"operands": func() []byte {
		return wt.Seq(bytes.Repeat(wt.LocalGet(0), 1000), bytes.Repeat(wt.I32Add, 999), wt.LocalSet(0))
	},
	"divisions": func() []byte {
		return wt.Seq(wt.LocalGet(0), bytes.Repeat(wt.Seq(wt.LocalGet(0), wt.I32DivS), 1000), wt.LocalSet(0))
	},
	"many parameters": func() []byte { return wt.Seq(bytes.Repeat(wt.LocalGet(0), 1000), wt.Call(1)) },
}

func largeModule() *wt.Module {
	m := &wt.Module{}
	m.Memory(1, -1)
	m.Export("memory", wt.KindMemory, 0)
	m.Func("", nil, nil, nil)
	return m
}

func filled(unit []byte, size, functions int) []byte {
	m := largeModule()
	m.Table(1, -1)
	m.Global(0)
	m.Func("", bytes.Repeat([]byte{wt.I32}, 1000), nil, nil)
	body := bytes.Repeat(unit, size/len(unit))
	for range functions {
		m.Func("", nil, nil, []byte{wt.I32, wt.F64}, body)
	}
	return m.Bytes()
}

// largestModule makes a module by its name: a kind, or a body's, alone or as
// often as the limits admit.
func largestModule(t *testing.T, name string) []byte {
	if body, ok := strings.CutPrefix(name, "one body of "); ok {
		return mostFilled(t, bodies[body](), sandbox.MaxBodyBytes-64)
	}
	if body, ok := strings.CutPrefix(name, "bodies of "); ok {
		return mostFilled(t, bodies[body](), sandbox.DefaultModuleBytes-64<<10)
	}
	if build := repeated[name]; build != nil {
		e := newEngine(t, sandbox.Config{Interpreter: true})
		each := len(build(2)) - len(build(1))
		return build(sort.Search(sandbox.DefaultModuleBytes/each, func(n int) bool {
			_, err := e.Check(build(n+1), sandbox.Profile{Name: "large"})
			return err != nil
		}))
	}
	return largest[name]()
}

// repeated are modules of n functions, as many as are admitted.
var repeated = map[string]func(n int) []byte{
	"loops over variables": func(n int) []byte {
		m := largeModule()
		var body []byte
		for range 20 {
			body = append(body, 0x03, 0x40)
			for v := range uint32(800) {
				body = wt.Seq(body, wt.LocalGet(v+1), wt.I64Const(1), []byte{0x7c}, wt.LocalSet(v+1))
			}
			body = wt.Seq(body, wt.LocalGet(0), wt.BrIf(0), wt.End)
		}
		for range n {
			m.Func("", []byte{wt.I32}, nil, bytes.Repeat([]byte{wt.I64}, 800), body)
		}
		return m.Bytes()
	},
	"ways that meet": func(n int) []byte {
		m := largeModule()
		const ways, variables = 300, 300
		body := bytes.Repeat([]byte{0x02, 0x40}, ways)
		for way := range uint32(ways) {
			v := way%variables + 1
			body = wt.Seq(body, wt.LocalGet(v), wt.I64Const(1), []byte{0x7c}, wt.LocalSet(v), wt.LocalGet(0), wt.BrIf(uint32(ways)-1-way))
		}
		for way := range uint32(ways) {
			body = wt.Seq(body, wt.End, wt.LocalGet(1), wt.LocalGet(way%variables+1), []byte{0x85}, wt.LocalSet(1))
		}
		for range n {
			m.Func("", []byte{wt.I32}, nil, bytes.Repeat([]byte{wt.I64}, variables), body)
		}
		return m.Bytes()
	},
	"calls of many values": func(n int) []byte {
		m := largeModule()
		many := bytes.Repeat([]byte{wt.I32}, 1000)
		f := m.Func("", many, many, nil, func() (body []byte) {
			for v := range uint32(1000) {
				body = append(body, wt.LocalGet(v)...)
			}
			return body
		}())
		for range n {
			m.Func("", nil, nil, nil, bytes.Repeat(wt.I32Const(1), 1000), bytes.Repeat(wt.Call(f), 500), bytes.Repeat(wt.Drop, 1000))
		}
		return m.Bytes()
	},
	"memory.init of many segments": func(n int) []byte {
		m := largeModule()
		for i := range uint32(20 * n) {
			m.PassiveData([]byte{1})
			m.Func("", nil, nil, nil, wt.I32Const(0), wt.I32Const(0), wt.I32Const(1), []byte{0xfc, 8}, wt.U32(i), []byte{0})
		}
		return m.Bytes()
	},
	"targets of br_table": func(n int) []byte {
		m := largeModule()
		table := wt.Seq(wt.I32Const(0), []byte{0x0e}, wt.U32(4000), make([]byte, 4001))
		for range n {
			m.Func("", nil, nil, nil, wt.Block(table), wt.Block(table), wt.Block(table), wt.Block(table))
		}
		return m.Bytes()
	},
}

// mostFilled finds the largest function that is admitted, and how many of them are.
func mostFilled(t *testing.T, unit []byte, most int) []byte {
	e := newEngine(t, sandbox.Config{Interpreter: true})
	admits := func(size, functions int) bool {
		_, err := e.Check(filled(unit, size, functions), sandbox.Profile{Name: "large"})
		return err == nil
	}
	size := sort.Search(sandbox.MaxBodyBytes-64, func(size int) bool { return !admits(size, 1) }) - 1
	functions := 1
	if most > sandbox.MaxBodyBytes {
		functions = sort.Search(most/max(size, 1), func(n int) bool { return !admits(size, n+1) })
	}
	return filled(unit, size, functions)
}

// TestLargestModules compiles each in a process of its own. It takes long:
// ASSAY_SOAK=1 runs it.
func TestLargestModules(t *testing.T) {
	if name := os.Getenv("ASSAY_LARGEST"); name != "" {
		compileLargest(t, name)
		return
	}
	if os.Getenv("ASSAY_SOAK") == "" {
		t.Skip("set ASSAY_SOAK=1: compiles for minutes")
	}
	var names []string
	for name := range largest {
		names = append(names, name)
	}
	for name := range repeated {
		names = append(names, name)
	}
	for name := range bodies {
		names = append(names, "one body of "+name, "bodies of "+name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLargestModules$", "-test.v")
			child.Env = append(os.Environ(), "ASSAY_LARGEST="+name, "GOMEMLIMIT=1800MiB")
			began := time.Now()
			kill := time.AfterFunc(8*time.Minute, func() { _ = child.Process.Kill() })
			out, err := child.CombinedOutput()
			kill.Stop()
			rss := peakRSS(child.ProcessState)
			if err != nil {
				t.Fatalf("%v after %v\n%s", err, time.Since(began).Round(time.Second), out[max(0, len(out)-500):])
			}
			var size int
			var cpu time.Duration
			if _, err := fmt.Sscanf(firstLine(out, "largest:"), "largest: %d bytes %d cpu_ns", &size, &cpu); err != nil {
				t.Fatal(err)
			}
			t.Logf("%-32s %10d bytes %8v cpu %6d MiB", name, size, cpu.Round(time.Millisecond), rss>>20)
			if cpu > sandbox.CompileCPU/2 || rss > sandbox.CompileMemory/2 {
				t.Errorf("more than half of %v and %d MiB", sandbox.CompileCPU, sandbox.CompileMemory>>20)
			}
		})
	}
}

func firstLine(out []byte, with string) string {
	for line := range strings.Lines(string(out)) {
		if i := strings.Index(line, with); i >= 0 {
			return strings.TrimSpace(line[i:])
		}
	}
	return ""
}

func compileLargest(t *testing.T, name string) {
	module := largestModule(t, name)
	var before syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	e := newEngine(t, sandbox.Config{})
	began := time.Now()
	m, err := e.Compile(t.Context(), module, sandbox.Profile{Name: "large"})
	var refused *sandbox.Refusal
	switch {
	case errors.As(err, &refused):
		t.Fatalf("refused: %v", refused)
	case err != nil:
		t.Fatal(err)
	}
	m.Close()
	var after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	cpu := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	fmt.Printf("largest: %d bytes %d cpu_ns in %v\n", len(module), cpu, time.Since(began).Round(time.Millisecond))
}
