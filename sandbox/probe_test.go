package sandbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// importTypes are the signatures that guests are built against, written down
// from DESIGN §4 and the WASI preview 1 document.
var importTypes = map[string][2]string{
	"assay.input":              {"ii", "i"},
	"assay.output":             {"ii", ""},
	"assay.rpc":                {"Iii", "i"},
	"assay.rpc_read":           {"ii", "i"},
	"assay.log":                {"iii", ""},
	"wasi.args_get":            {"ii", "i"},
	"wasi.args_sizes_get":      {"ii", "i"},
	"wasi.environ_get":         {"ii", "i"},
	"wasi.environ_sizes_get":   {"ii", "i"},
	"wasi.clock_time_get":      {"iIi", "i"},
	"wasi.random_get":          {"ii", "i"},
	"wasi.fd_write":            {"iiii", "i"},
	"wasi.fd_read":             {"iiii", "i"},
	"wasi.fd_close":            {"i", "i"},
	"wasi.fd_fdstat_get":       {"ii", "i"},
	"wasi.fd_fdstat_set_flags": {"ii", "i"},
	"wasi.fd_seek":             {"iIii", "i"},
	"wasi.fd_prestat_get":      {"ii", "i"},
	"wasi.fd_prestat_dir_name": {"iii", "i"},
	"wasi.poll_oneoff":         {"iiii", "i"},
	"wasi.sched_yield":         {"", "i"},
	"wasi.proc_exit":           {"i", ""},
}

func valueTypes(s string) (types []byte) {
	for _, c := range s {
		types = append(types, map[rune]byte{'i': wt.I32, 'I': wt.I64}[c])
	}
	return types
}

// A probe is a guest with one page of memory and one export, run(i32) -> i32,
// whose body a test writes. Local 0 is the input's length, 1 and 2 are i32s.
type probe struct {
	wt.Module
	call map[string][]byte // a call of each import
}

func newProbe(imports ...string) *probe {
	p := &probe{call: map[string][]byte{}}
	p.Memory(1, 4)
	p.Export("memory", wt.KindMemory, 0)
	for _, name := range imports {
		t := importTypes[name]
		module, short := "assay", name[len("assay."):]
		if name[:5] == "wasi." {
			module, short = "wasi_snapshot_preview1", name[len("wasi."):]
		}
		p.call[name] = wt.Call(p.Import(module, short, valueTypes(t[0]), valueTypes(t[1])))
	}
	return p
}

func (p *probe) run(body ...[]byte) []byte {
	p.Func("run", []byte{wt.I32}, []byte{wt.I32}, []byte{wt.I32, wt.I32}, body...)
	return p.Bytes()
}

// out outputs a range of memory.
func (p *probe) out(ptr, n int32) []byte {
	return wt.Seq(wt.I32Const(ptr), wt.I32Const(n), p.call["assay.output"])
}

var probeProfile = sandbox.Profile{Name: "probe", Exports: []sandbox.Export{{Name: "run"}}, WASI: true, MemoryPages: 16}

func newProbeInstance(t testing.TB, e *sandbox.Engine, wasm []byte, env sandbox.Env) *sandbox.Instance {
	t.Helper()
	m, err := e.Compile(context.Background(), wasm, probeProfile)
	if err != nil {
		t.Fatal(err)
	}
	return instantiate(t, m, env)
}

func run() sandbox.Call {
	return sandbox.Call{Export: "run", Wall: time.Minute, Fuel: endless, OutputLimit: 1 << 20, ReadOut: 1 << 20}
}

// engines runs a test on the compiler and on the interpreter.
func engines(t *testing.T, test func(*testing.T, *sandbox.Engine)) {
	for name, interpreter := range map[string]bool{"compiler": false, "interpreter": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newEngine(t, sandbox.Config{Interpreter: interpreter}))
		})
	}
}
