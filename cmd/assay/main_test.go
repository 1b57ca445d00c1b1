package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/subnet112/assay/fixtures"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){"assay": main, "assay-alone": alone})
}

// tidy removes what tests share when all of them are done.
type tidy struct{ m *testing.M }

func (t tidy) Run() int {
	code := t.m.Run()
	os.RemoveAll(shared.dir)
	return code
}

// shared holds what is dear to make: the compiled solvers and the sandbox's
// cache of them.
var shared = struct {
	sync.Once
	dir string
	err error
}{}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup:               prepareScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitcode,
			"columns":  columnsOf,
			"document": document,
		},
	})
}

// prepareScript gives every script the reference solvers, hostile guests, the fixture
// snapshot and pack, and one cache.
func prepareScript(env *testscript.Env) error {
	shared.Do(func() { shared.dir, shared.err = buildSolvers() })
	if shared.err != nil {
		return shared.err
	}
	env.Setenv("SOLVERS", shared.dir)
	env.Setenv("XDG_CACHE_HOME", filepath.Join(shared.dir, "cache"))
	env.Setenv("HOME", shared.dir)
	block, err := cancunBlock()
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"fixture.snap":   fixtures.Snapshot(),
		"pack.json":      fixtures.Pack(),
		"elsewhere.json": snapshotHash.ReplaceAll(fixtures.Pack(), []byte(`"snapshot": "`+strings.Repeat("0", 64)+`"`)),
		"block.json":     block,
	}
	maps.Copy(files, hostile())
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

var snapshotHash = regexp.MustCompile(`"snapshot": ?"[0-9a-f]{64}"`)

// cancunBlock is a block as a node returns it, without transactions.
func cancunBlock() ([]byte, error) {
	zero := uint64(0)
	header, err := json.Marshal(&types.Header{
		ParentHash: common.Hash{1}, Difficulty: new(big.Int), Number: big.NewInt(19_426_600), GasLimit: 30_000_000,
		Time: 1_710_400_000, BaseFee: big.NewInt(11), WithdrawalsHash: &common.Hash{}, BlobGasUsed: &zero,
		ExcessBlobGas: &zero, ParentBeaconRoot: &common.Hash{},
	})
	return bytes.Replace(header, []byte("{"), []byte(`{"size":"0x1","transactions":[],`), 1), err
}

func buildSolvers() (string, error) {
	dir, err := os.MkdirTemp("", "assay-solvers-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"router", "swap", "fallback"} {
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-buildmode=c-shared",
			"-o", filepath.Join(dir, name+".wasm"), "../../solvers/reference/"+name)
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
}

// hostile makes the guests that scripts throw at assay.
func hostile() map[string][]byte {
	metadata := wasmtest.Answer{Output: []byte(`{"name":"guest","version":"1.0.0","author":"","description":""}`)}
	guest := func(name string, edit func(*wasmtest.Options)) []byte {
		o := wasmtest.Options{Comment: name, Answers: map[string]wasmtest.Answer{"solver_metadata": metadata}}
		if edit != nil {
			edit(&o)
		}
		return wasmtest.Solver(o)
	}
	plan := func(name string, a wasmtest.Answer) []byte {
		return guest(name, func(o *wasmtest.Options) { o.Answers["solver_generate_plan"] = a })
	}
	whole := guest("whole", nil)
	return map[string][]byte{
		"truncated.wasm": whole[:len(whole)/2],
		"nomemory.wasm":  guest("nomemory", func(o *wasmtest.Options) { o.Omit = []string{"memory"} }),
		"import.wasm":    guest("import", func(o *wasmtest.Options) { o.Extra = [2]string{"env", "fetch\x1b[31m"} }),
		"trap.wasm":      plan("trap", wasmtest.Answer{Act: wasmtest.Trap, On: 2}),
		"traps.wasm":     plan("traps", wasmtest.Answer{Act: wasmtest.Trap}),
		"allocate.wasm":  plan("allocate", wasmtest.Answer{Act: wasmtest.Allocate}),
		"recurse.wasm":   plan("recurse", wasmtest.Answer{Act: wasmtest.Recurse}),
		"exit.wasm":      plan("exit", wasmtest.Answer{Act: wasmtest.Exit}),
		"pointer.wasm":   plan("pointer", wasmtest.Answer{Act: wasmtest.BadPointer}),
		"flood.wasm":     plan("flood", wasmtest.Answer{Act: wasmtest.FloodLog}),
		"output.wasm":    plan("output", wasmtest.Answer{Pad: 2 << 20}),
		"utf8.wasm":      plan("utf8", wasmtest.Answer{Output: []byte("{\"intent_id\":\"\xff\xfe\"}")}),
		"logger.wasm":    plan("logger", wasmtest.Answer{Log: []byte("hello \x1b[31m\n")}),
		"nested.wasm":    plan("nested", wasmtest.Answer{Output: []byte(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000))}),
		"escapes.wasm":   plan("escapes", wasmtest.Answer{Status: 1, Output: []byte("\x1b]0;owned\x07\u202egnp\r\n")}),
		"unversioned.wasm": guest("unversioned", func(o *wasmtest.Options) {
			o.Answers["solver_metadata"] = wasmtest.Answer{Output: []byte(`{"name":"\u001b[31mred","version":"one","author":"","description":""}`)}
		}),
		"keeper.wasm": guest("keeper", func(o *wasmtest.Options) { o.Stateful = true }),
		"burn.wasm":   burn(metadata.Output),
		"empty.wasm":  {},
		"text.wasm":   []byte("not a module\n"),
	}
}

// burn is a guest whose ninth plan reads, with the dearest request there may be,
// until its fuel is spent: what costs a lot of fuel and little time on any engine.
func burn(metadata []byte) []byte {
	var m wasmtest.Module
	i32 := []byte{wasmtest.I32}
	output := m.Import("assay", "output", []byte{wasmtest.I32, wasmtest.I32}, nil)
	rpc := m.Import("assay", "rpc", []byte{wasmtest.I64, wasmtest.I32, wasmtest.I32}, i32)
	plans := m.Global(0)
	m.Data(0, metadata)
	m.Func("solver_abi", nil, i32, nil, wasmtest.I32Const(1))
	m.Func("solver_initialize", i32, i32, nil, wasmtest.I32Const(0))
	m.Func("solver_metadata", i32, i32, nil, wasmtest.I32Const(0), wasmtest.I32Const(int32(len(metadata))), wasmtest.Call(output), wasmtest.I32Const(0))
	m.Func("solver_generate_plan", i32, i32, nil,
		wasmtest.GlobalGet(plans), wasmtest.I32Const(1), wasmtest.I32Add, wasmtest.GlobalSet(plans),
		wasmtest.GlobalGet(plans), wasmtest.I32Const(-9), wasmtest.I32Add, wasmtest.I32Eqz,
		wasmtest.If(wasmtest.Loop(
			wasmtest.I64Const(77), wasmtest.I32Const(0), wasmtest.I32Const(1<<20), wasmtest.Call(rpc), wasmtest.Drop,
			wasmtest.Br(0),
		)),
		wasmtest.I32Const(2))
	m.Memory(16, -1)
	m.Export("memory", wasmtest.KindMemory, 0)
	return m.Bytes()
}

// exitcode N command args... runs a command that has to end with status N.
func exitcode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit status %d, want %d", code, want)
	}
}

// columns N FILE holds every line of a file to N columns, and the whole to
// characters that drive no terminal.
func columnsOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: columns N file")
	}
	limit, err := strconv.Atoi(args[0])
	ts.Check(err)
	text := ts.ReadFile(args[1])
	if text == "" {
		ts.Fatalf("%s is empty", args[1])
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > limit {
			ts.Fatalf("%d columns, want at most %d: %s", n, limit, line)
		}
		if strings.ContainsAny(line, "\x1b\r\x07\u202e") {
			ts.Fatalf("a control character: %q", line)
		}
	}
}

// document FILE KEY VALUE... holds a file to one JSON document, and dotted keys
// of it to values. A value @NAME names a variable, which is compared
// if it is set and set if it is not.
func document(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args)%2 != 1 {
		ts.Fatalf("usage: document file [key value]...")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("%s holds more than one document", args[0])
	}
	for i := 1; i < len(args); i += 2 {
		got := fmt.Sprint(lookup(doc, args[i]))
		name, isVariable := strings.CutPrefix(args[i+1], "@")
		want := args[i+1]
		if isVariable {
			if want = ts.Getenv(name); want == "" {
				ts.Setenv(name, got)
				continue
			}
		}
		if got != want {
			ts.Fatalf("%s: %s is %s, want %s", args[0], args[i], got, want)
		}
	}
}

func lookup(doc any, key string) any {
	for part := range strings.SplitSeq(key, ".") {
		switch v := doc.(type) {
		case map[string]any:
			doc = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				return nil
			}
			doc = v[i]
		default:
			return nil
		}
	}
	return doc
}

// A cancelled run ends as an interruption, prints one line and leaves no state.
func TestInterruptedBenchExits130(t *testing.T) {
	shared.Do(func() { shared.dir, shared.err = buildSolvers() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, talk strings.Builder
	s := streams{out: &out, err: &talk, cacheDir: func() (string, error) { return filepath.Join(shared.dir, "cache"), nil }}
	code := run(ctx, []string{"bench", filepath.Join(shared.dir, "swap.wasm")}, s)
	if code != exitInterrupted || out.Len() > 0 {
		t.Errorf("run() = %d with output %q, want %d and none", code, out.String(), exitInterrupted)
	}
	if !strings.HasPrefix(talk.String(), "assay: error: ") || strings.Count(talk.String(), "\n") != 1 {
		t.Errorf("talk %q, want one line of error", talk.String())
	}
}

// The README shows what bench prints, but for what depends on the Go version that
// built the solvers: the digest of their rows and their memory.
func TestReadmeShowsWhatBenchPrints(t *testing.T) {
	shared.Do(func() { shared.dir, shared.err = buildSolvers() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sample, found := strings.Cut(string(readme), "\n    pack  ")
	sample, _, found2 := strings.Cut("    pack  "+sample, "\n       …")
	if !found || !found2 {
		t.Fatal("README.md has no sample of what bench prints")
	}
	var out strings.Builder
	s := streams{out: &out, err: io.Discard, cacheDir: func() (string, error) { return filepath.Join(shared.dir, "cache"), nil }}
	args := []string{"bench", "--state", t.TempDir(), filepath.Join(shared.dir, "router.wasm"), filepath.Join(shared.dir, "swap.wasm"), filepath.Join(shared.dir, "fallback.wasm")}
	if code := run(t.Context(), args, s); code != exitOK {
		t.Fatalf("bench exited %d", code)
	}
	printed := strings.Split(out.String(), "\n")
	for i, want := range strings.Split(sample, "\n") {
		want = strings.TrimPrefix(want, "    ")
		if strings.HasPrefix(want, "rows_digest  ") || strings.HasPrefix(want, "   gas ") {
			continue
		}
		if printed[i] != want {
			t.Errorf("line %d: README has %q, bench prints %q", i+1, want, printed[i])
		}
	}
}
