package harness_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// The session's own time ends the call that is running and every later one, and
// saves nothing.
func TestSessionTime(t *testing.T) {
	t.Parallel()
	p := &puppet{act: but(harness.PhasePlan, opSpin, "")}
	o := p.options()
	// The opening takes milliseconds; the guest then loops until the end.
	o.Limits = withSession(2 * time.Second)
	s := open(t, compile(t, puppetModule()), o)
	for i, want := range []harness.Answer{
		{IntentID: p.task().IntentID, Cause: intent.CauseStalled, Phase: harness.PhasePlan},
		{IntentID: p.task().IntentID, Cause: intent.CauseSessionEnded},
		{IntentID: p.task().IntentID, Cause: intent.CauseSessionEnded},
	} {
		a := run(t, s, p.task())
		a.Detail = ""
		if diff := cmp.Diff(want, a); diff != "" {
			t.Errorf("row %d (-want +got):\n%s", i, diff)
		}
	}
	if !strings.HasPrefix(s.Stalled(), "generate_plan: stalled") {
		t.Errorf("stalled %q, want in generate_plan", s.Stalled())
	}
	if f := finish(t, s); f.Saved {
		t.Errorf("Finish() = %+v, want nothing saved", f)
	}
	if s.Restarts() != 0 {
		t.Errorf("%d restarts in a session that is over", s.Restarts())
	}
}

// What the host does between two calls is not the session's time: here every
// plan takes 25 s of its 900, and the host an hour after it. On the interpreter
// they are 45,000.
func TestSessionTimeIsTheGuests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		config sandbox.Config
		plans  int
	}{
		{name: "compiled", config: sandbox.Config{}, plans: 35},
		{name: "interpreted", config: sandbox.Config{Interpreter: true}, plans: 36*sandbox.InterpreterWalls - 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var now time.Time
			tt.config.Clock = func() time.Time { return now }
			p := &puppet{}
			p.act = func(phase harness.Phase, input []byte) (byte, []byte) {
				if phase == harness.PhasePlan {
					now = now.Add(25 * time.Second)
				}
				return obedient(phase, input)
			}
			s := open(t, compileOn(t, tt.config, puppetModule()), p.options())
			for i := range tt.plans {
				if a := run(t, s, p.task()); a.Cause != intent.CauseNone {
					t.Fatalf("row %d: %s", i, harness.Explain(a.Cause, a.Detail))
				}
				now = now.Add(time.Hour)
			}
			a, err := s.Run(t.Context(), p.task())
			if tt.config.Interpreter {
				// The solver may be fast enough where it is compiled.
				if !isInfra(err) || !errors.Is(err, sandbox.ErrWall) {
					t.Errorf("the next Run() = %+v, %v, want an infra fault", a, err)
				}
				return
			}
			if err != nil || a.Cause != intent.CauseStalled || a.Detail != "the session's time is spent" {
				t.Errorf("the next Run() = %+v, %v, want it stalled", a, err)
			}
			if a := run(t, s, p.task()); a.Cause != intent.CauseSessionEnded {
				t.Errorf("the one after it: %s, want the session ended", harness.Explain(a.Cause, a.Detail))
			}
		})
	}
}

// A solver written with the SDK passes screening and gives the same answers in
// two sessions, to the last number.
func TestGoSolver(t *testing.T) {
	t.Parallel()
	wasm := buildGuest(t, "../solvers/reference/fallback")
	task := func(app, owner string) harness.Task {
		d := intent.Definition{AppID: app, Name: "Swap", Version: "1.0.0", IntentType: "swap", Config: intent.DefaultConfig()}
		d.Config.SupportedChains = []uint64{1}
		state := intent.State{ChainID: 1, Nonce: 7, Owner: owner}
		return harness.Task{
			Intent: d, State: state, IntentID: "i_0000000000000001", AskQuote: true,
			Rules: intent.PlanRules{AppID: app, IntentID: "i_0000000000000001", ChainID: 1, Nonce: 7, Time: 1_700_000_000},
		}
	}
	tasks := []harness.Task{
		task("swap-001", "0x00000000000000000000000000000000000000a1"),
		task("limit-001", "0x00000000000000000000000000000000000000a2"),
		task("multi-001", "0x00000000000000000000000000000000000000a3"),
	}
	tasks[1].AskTrigger = true
	market := intent.EmptyMarket(1)
	market.BlockNumber, market.Timestamp = 18_500_000, 1_700_000_000
	o := harness.Options{
		Init:   intent.InitConfig{ChainIDs: []uint64{1}, RPCURLs: map[string]string{"1": "assay://chain/1"}, TimeoutPerPlanMS: 30_000, SupportedProtocols: []string{}},
		Market: []intent.MarketSnapshot{market},
		Count:  len(tasks),
		Time:   1_700_000_000,
	}
	e := engine(t)
	sc, err := harness.Screen(t.Context(), e, harness.Source{Code: wasm}, harness.ScreenOptions{Options: o, Smoke: tasks})
	if err != nil || !sc.Passed {
		t.Fatalf("Screen() = %+v, %v, want it passed", sc, err)
	}
	m, err := harness.Compile(t.Context(), e, harness.Source{Code: wasm})
	if err != nil {
		t.Fatal(err)
	}
	var sessions [2][]harness.Answer
	for i := range sessions {
		s := open(t, m, o)
		for _, task := range tasks {
			sessions[i] = append(sessions[i], run(t, s, task))
		}
		if len(s.Notes()) != 0 {
			t.Errorf("notes %q", s.Notes())
		}
	}
	if diff := cmp.Diff(sessions[0], sessions[1]); diff != "" {
		t.Errorf("two sessions differ:\n%s", diff)
	}
	for _, a := range sessions[0] {
		if a.Cause != intent.CauseNone || a.Plan == nil {
			t.Errorf("row: %s, want a plan", harness.Explain(a.Cause, a.Detail))
		}
		if a.Usage.HostCalls == 0 || a.Usage.PeakPages == 0 {
			t.Errorf("usage %+v of a Go guest", a.Usage)
		}
	}
}

func buildGuest(t *testing.T, dir string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "solver.wasm")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", dir, err, strings.TrimSpace(string(b)))
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// What a session costs beside its guest: open, one plan, finish.
func BenchmarkSession(b *testing.B) {
	m := compile(b, wasmtest.Solver(wasmtest.Options{Answers: map[string]wasmtest.Answer{
		"solver_metadata":      {Output: []byte(goodMetadata)},
		"solver_generate_plan": {Output: []byte(goodPlan)},
	}}))
	task := (&puppet{}).task()
	b.ReportAllocs()
	for b.Loop() {
		session(b, m, harness.Options{}, task)
	}
}

// keeper serializes exactly what it restored.
func keeper() []byte {
	const base, room = 64 << 10, 50 << 20
	var m wasmtest.Module
	i32 := []byte{wasmtest.I32}
	input := m.Import("assay", "input", []byte{wasmtest.I32, wasmtest.I32}, i32)
	output := m.Import("assay", "output", []byte{wasmtest.I32, wasmtest.I32}, nil)
	length := m.Global(0)
	c, get, set := wasmtest.I32Const, wasmtest.GlobalGet, wasmtest.GlobalSet
	say := func(export string, at int32, text string) {
		m.Data(at, []byte(text))
		m.Func(export, i32, i32, nil, c(at), c(int32(len(text))), wasmtest.Call(output), c(0))
	}
	m.Func("solver_abi", nil, i32, nil, c(1))
	say("solver_initialize", 0, "")
	say("solver_metadata", 1024, goodMetadata)
	say("solver_generate_plan", 2048, goodPlan)
	m.Func("solver_restore_state", i32, i32, nil,
		c(base), c(room), wasmtest.Call(input), set(length), c(0))
	m.Func("solver_serialize_state", i32, i32, nil,
		c(base), get(length), wasmtest.Call(output), c(0))
	m.Memory((base+room)/(64<<10), -1)
	m.Export("memory", wasmtest.KindMemory, 0)
	return m.Bytes()
}

// 50 MiB restored and serialized again, the most a session moves.
func BenchmarkLargestState(b *testing.B) {
	m := compile(b, keeper())
	task := (&puppet{}).task()
	state := bytes.Repeat([]byte("learned "), 50<<20/8)
	b.SetBytes(2 * int64(len(state)))
	b.ReportAllocs()
	for b.Loop() {
		if f := session(b, m, harness.Options{State: state}, task); !bytes.Equal(f.State, state) {
			b.Fatalf("%d bytes of state, note %q", len(f.State), f.Note)
		}
	}
}

func session(b *testing.B, m *harness.Program, o harness.Options, task harness.Task) harness.Final {
	s, err := harness.Open(b.Context(), m, o)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(context.WithoutCancel(b.Context()))
	if a, err := s.Run(b.Context(), task); err != nil || a.Cause != intent.CauseNone {
		b.Fatal(a, err)
	}
	f, err := s.Finish(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	return f
}
