package harness_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// phases are the chain ids, counted from 100, under which a puppet reports.
var phases = []harness.Phase{
	harness.PhaseInitialize, harness.PhaseMetadata, harness.PhaseRestore, harness.PhaseMarket, harness.PhaseStart,
	harness.PhaseTrigger, harness.PhasePlan, harness.PhaseQuote, harness.PhaseEnd, harness.PhaseSerialize,
}

const (
	firstPhase = 100 // chain id of phases[0]
	world      = 1   // the chain a puppet reads from when told to
)

// What a puppet can be told to do. Any other value is the status it returns
// after putting the payload out.
const (
	opTrap       = 64 + iota
	opSpin       // logs the payload, then loops for ever
	opBadPointer // gives output a range outside its memory
	opExit       // proc_exit
	opLog        // logs the payload, puts it out, status 0
	opRead       // reads twice with the payload as request; status 16 + 4·(−first) + (−second), lengths as 0
)

// A puppet is a guest that asks the test what to do: every export sends its
// input as a read of chain firstPhase+i, and the reply is an op and a payload.
type puppet struct {
	act   func(p harness.Phase, input []byte) (op byte, payload []byte)
	world harness.Reads // serves opRead
	calls []string      // phases in order of calls
}

func (p *puppet) reads(ctx context.Context, chain uint64, req []byte, left harness.Cost) ([]byte, harness.Cost, error) {
	if chain == world {
		return p.world(ctx, chain, req, left)
	}
	phase := phases[chain-firstPhase]
	p.calls = append(p.calls, string(phase))
	op, payload := p.act(phase, req)
	return append([]byte{op}, payload...), harness.Cost{Requests: 1}, nil
}

// obedient answers every phase as a good solver would.
func obedient(p harness.Phase, _ []byte) (byte, []byte) {
	switch p {
	case harness.PhaseMetadata:
		return 0, []byte(goodMetadata)
	case harness.PhaseTrigger:
		return 0, []byte(`{"trigger":true}`)
	case harness.PhasePlan:
		return 0, []byte(goodPlan)
	case harness.PhaseQuote:
		return 0, []byte(goodQuote)
	case harness.PhaseSerialize:
		return 0, []byte("learned")
	}
	return 0, nil
}

// but answers like obedient, except in one phase.
func but(phase harness.Phase, op byte, payload string) func(harness.Phase, []byte) (byte, []byte) {
	return func(p harness.Phase, input []byte) (byte, []byte) {
		if p == phase {
			return op, []byte(payload)
		}
		return obedient(p, input)
	}
}

const (
	goodMetadata = `{"name":"puppet","version":"1.2.3","author":"tests","description":"does as it is told"}`
	goodPlan     = `{"intent_id":"app","interactions":[{"target":"0x00000000000000000000000000000000000000aa","value":"0","call_data":"0x","chain_id":1}],"deadline":2000,"nonce":1}`
	goodQuote    = `{"estimated_output":"42"}`
)

// checkpoints in puppetModule's omit makes a module that can't be checkpointed.
const checkpoints = "checkpoints"

// puppetModule assembles the guest, without the exports in omit.
func puppetModule(omit ...string) []byte {
	const base, room = 64 << 10, 8 << 20
	var m wasmtest.Module
	i32 := []byte{wasmtest.I32}
	input := m.Import("assay", "input", []byte{wasmtest.I32, wasmtest.I32}, i32)
	output := m.Import("assay", "output", []byte{wasmtest.I32, wasmtest.I32}, nil)
	rpc := m.Import("assay", "rpc", []byte{wasmtest.I64, wasmtest.I32, wasmtest.I32}, i32)
	rpcRead := m.Import("assay", "rpc_read", []byte{wasmtest.I32, wasmtest.I32}, i32)
	log := m.Import("assay", "log", []byte{wasmtest.I32, wasmtest.I32, wasmtest.I32}, nil)
	exit := m.Import("wasi_snapshot_preview1", "proc_exit", i32, nil)

	const length, got, op, second = 1, 2, 3, 4 // locals
	c, get, set, tee, call := wasmtest.I32Const, wasmtest.LocalGet, wasmtest.LocalSet, wasmtest.LocalTee, wasmtest.Call
	and := []byte{0x71}
	payload := wasmtest.Seq(c(base+1), get(length), c(1), wasmtest.I32Sub)
	when := func(which int32, body ...[]byte) []byte {
		return wasmtest.Seq(get(op), c(which), wasmtest.I32Eq, wasmtest.If(body...))
	}
	// refusal is max(0, −n) of the local n: what the host refused, 0 for a length.
	refusal := func(n uint32) []byte {
		return wasmtest.Seq(get(n), c(0), wasmtest.I32LtS, c(0), get(n), wasmtest.I32Sub, wasmtest.I32Mul)
	}
	m.Func("solver_abi", nil, i32, nil, c(1))
	if slices.Contains(omit, checkpoints) {
		m.Start(m.Func("", nil, nil, nil))
	}
	for i, phase := range phases {
		name := "solver_" + string(phase)
		if slices.Contains(omit, string(phase)) {
			continue
		}
		m.Func(name, i32, i32, []byte{wasmtest.I32, wasmtest.I32, wasmtest.I32, wasmtest.I32},
			wasmtest.Block(wasmtest.Loop(
				c(base), get(length), wasmtest.I32Add, c(room), get(length), wasmtest.I32Sub, call(input),
				tee(got), wasmtest.I32Eqz, wasmtest.BrIf(1),
				get(length), get(got), wasmtest.I32Add, set(length), wasmtest.Br(0),
			)),
			wasmtest.I64Const(int64(firstPhase+i)), c(base), get(length), call(rpc), set(got),
			get(got), c(0), wasmtest.I32LtS, wasmtest.If(c(1), wasmtest.Return),
			c(base), c(room), call(rpcRead), set(length),
			c(base), wasmtest.I32Load(0), c(255), and, set(op),
			when(opTrap, wasmtest.Unreachable),
			when(opSpin, c(1), payload, call(log), wasmtest.Loop(wasmtest.Br(0))),
			when(opBadPointer, c(-16), c(32), call(output)),
			when(opExit, c(3), call(exit)),
			when(opLog, c(1), payload, call(log), c(0), set(op)),
			when(opRead,
				wasmtest.I64Const(world), payload, call(rpc), set(got),
				wasmtest.I64Const(world), payload, call(rpc), set(second),
				c(16), refusal(got), c(4), wasmtest.I32Mul, wasmtest.I32Add, refusal(second), wasmtest.I32Add, wasmtest.Return,
			),
			payload, call(output), get(op),
		)
	}
	m.Memory((base+room)/(64<<10), -1)
	m.Export("memory", wasmtest.KindMemory, 0)
	return m.Bytes()
}

// compile admits a guest on an engine of its own.
func compile(t testing.TB, wasm []byte) *harness.Program {
	t.Helper()
	return compileOn(t, sandbox.Config{}, wasm)
}

func compileOn(t testing.TB, c sandbox.Config, wasm []byte) *harness.Program {
	t.Helper()
	m, err := harness.Compile(t.Context(), engineOf(t, c), harness.Source{Code: wasm})
	if err != nil {
		t.Fatalf("Compile() = %v", err)
	}
	return m
}

func engine(t testing.TB) *sandbox.Engine {
	t.Helper()
	return engineOf(t, sandbox.Config{})
}

func engineOf(t testing.TB, c sandbox.Config) *sandbox.Engine {
	t.Helper()
	e, err := sandbox.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(context.WithoutCancel(t.Context())) })
	return e
}

// options are a session's, with every read going to the puppet.
func (p *puppet) options() harness.Options {
	return harness.Options{
		Init:  intent.InitConfig{ChainIDs: []uint64{1}, RPCURLs: map[string]string{"1": "assay://chain/1"}, TimeoutPerPlanMS: 30_000, SupportedProtocols: []string{}},
		Count: 1,
		Time:  1000,
		Reads: p.reads,
	}
}

// task is an intent that goodPlan answers.
func (p *puppet) task() harness.Task {
	return harness.Task{
		Intent:   intent.Definition{AppID: "app", Name: "App", Version: "1.0.0", JSCode: "secret", SolidityCode: "secret", Config: intent.DefaultConfig()},
		State:    intent.State{ChainID: 1, Nonce: 1, RawParams: map[string]any{"amount": "5"}, Control: map[string]any{"_f": "swap"}},
		IntentID: "i_0000000000000001",
		Rules:    intent.PlanRules{AppID: "app", IntentID: "i_0000000000000001", ChainID: 1, Nonce: 1, Time: 1000},
		Reads:    p.reads,
	}
}

// open starts a session that must start.
func open(t testing.TB, m *harness.Program, o harness.Options) *harness.Solver {
	t.Helper()
	s, err := harness.Open(t.Context(), m, o)
	if err != nil {
		t.Fatalf("Open() = %v", err)
	}
	t.Cleanup(func() { s.Close(context.WithoutCancel(t.Context())) })
	return s
}

func run(t testing.TB, s *harness.Solver, task harness.Task) harness.Answer {
	t.Helper()
	a, err := s.Run(t.Context(), task)
	if err != nil {
		t.Fatalf("Run() = %v", err)
	}
	return a
}

func finish(t testing.TB, s *harness.Solver) harness.Final {
	t.Helper()
	f, err := s.Finish(t.Context(), nil)
	if err != nil {
		t.Fatalf("Finish() = %v", err)
	}
	return f
}

// short makes the wall of one phase so short that a test may wait for it. No call
// that a test wants to succeed is made under a short wall.
func short(phase harness.Phase) harness.Limits {
	const wall = 30 * time.Millisecond
	l := harness.DefaultLimits()
	if phase == "load" {
		l.Load.Wall = wall
		return l
	}
	c := map[harness.Phase]*harness.CallLimit{
		harness.PhaseInitialize: &l.Initialize, harness.PhaseRestore: &l.Restore, harness.PhaseTrigger: &l.Trigger,
		harness.PhasePlan: &l.Plan, harness.PhaseQuote: &l.Quote, harness.PhaseEnd: &l.End, harness.PhaseSerialize: &l.Serialize,
	}[phase]
	c.Wall = wall
	return l
}

func isInfra(err error) bool {
	var f *intent.InfraFault
	return errors.As(err, &f)
}
