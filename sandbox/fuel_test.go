package sandbox_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// Spent fuel ends a call with the cause of whichever limit it was, on any engine
// at the same point.
func TestFuel(t *testing.T) {
	const limit = 1_000_000
	for _, tt := range []struct {
		name      string
		fuel      uint64
		allowance uint64
		cause     string
	}{
		{"the call's own", limit, 1 << 40, sandbox.CauseFuel},
		{"the call's own, without a session", limit, 0, sandbox.CauseFuel},
		{"the session's", 1 << 40, limit, sandbox.CauseSessionFuel},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var spent [2]uint64
			for n, interpreter := range []bool{false, true} {
				m := compile(t, newEngine(t, sandbox.Config{Interpreter: interpreter}), guest(wt.Answer{Act: wt.Spin}))
				env := sandbox.Env{}
				if tt.allowance > 0 {
					env.Allowance = m.Allow(time.Hour, 1<<40)
				}
				i := instantiate(t, m, env)
				if tt.allowance == limit {
					env.Allowance.Spend(env.Allowance.Fuel() - limit)
				}
				c := plan()
				c.Fuel = tt.fuel
				got, err := i.Call(t.Context(), c)
				var fault *sandbox.Fault
				if !errors.As(err, &fault) || *fault != (sandbox.Fault{Cause: tt.cause, Detail: "all 1,000,000 are spent"}) {
					t.Errorf("Call() = %v", err)
				}
				if i.Alive() {
					t.Error("the instance is alive")
				}
				if spent[n] = got.Usage.Fuel; spent[n] < limit || spent[n] > limit+100 {
					t.Errorf("spent %d of %d", spent[n], limit)
				}
				if tt.allowance == limit {
					if err := env.Allowance.Err(); causeOf(err) != sandbox.CauseSessionFuel {
						t.Errorf("the allowance has %v", err)
					}
				}
			}
			if spent[0] != spent[1] {
				t.Errorf("compiled it spends %d, interpreted %d", spent[0], spent[1])
			}
		})
	}
}

// Consecutive instances draw on one allowance, and a fork draws on its own.
func TestAllowanceCountsFuel(t *testing.T) {
	m := compile(t, newEngine(t, sandbox.Config{}), guest(wt.Answer{Act: wt.Echo}))
	a := m.Allow(time.Hour, 1<<40)
	i := instantiate(t, m, sandbox.Env{Allowance: a})
	before := a.Fuel()
	got, err := i.Call(t.Context(), plan())
	if err != nil {
		t.Fatal(err)
	}
	if took := before - a.Fuel(); got.Usage.Fuel == 0 || took != got.Usage.Fuel {
		t.Errorf("the call spent %d, the allowance lost %d", got.Usage.Fuel, took)
	}
	fork, left := a.Fork(), a.Fuel()
	j := instantiate(t, m, sandbox.Env{Allowance: fork})
	if _, err := j.Call(t.Context(), plan()); err != nil {
		t.Fatal(err)
	}
	if a.Fuel() != left || fork.Fuel() >= left {
		t.Errorf("the allowance has %d of %d left, its fork %d", a.Fuel(), left, fork.Fuel())
	}
}

// Host calls pay for themselves and for the bytes they move, before the work.
func TestHostCallsPay(t *testing.T) {
	const consts, call = 1, 4
	for _, tt := range []struct {
		name string
		make func(p *probe) []byte
		uses string
		fuel uint64
	}{
		{"input", func(p *probe) []byte {
			return wt.Seq(wt.I32Const(0), wt.I32Const(50_000), p.call["assay.input"], wt.Drop)
		}, "assay.input", 2*consts + call + 1 + 200 + 40_000}, // what there is, not what fits
		{"output", func(p *probe) []byte { return p.out(0, 60_000) }, "assay.output", 2*consts + call + 200 + 60_000},
		{"log", func(p *probe) []byte {
			return wt.Seq(wt.I32Const(1), wt.I32Const(0), wt.I32Const(1000), p.call["assay.log"])
		}, "assay.log", 3*consts + call + 200 + 2 + 1000 + 1},
		{"rpc", func(p *probe) []byte {
			return wt.Seq(wt.I64Const(1), wt.I32Const(0), wt.I32Const(30), p.call["assay.rpc"], wt.Drop)
		}, "assay.rpc", 3*consts + call + 1 + 2000 + 10*30 + 5 + 777},
		{"random_get", func(p *probe) []byte {
			return wt.Seq(wt.I32Const(0), wt.I32Const(65_000), p.call["wasi.random_get"], wt.Drop)
		}, "wasi.random_get", 2*consts + call + 1 + 200 + 65_000},
		{"sched_yield", func(p *probe) []byte { return wt.Seq(p.call["wasi.sched_yield"], wt.Drop) }, "wasi.sched_yield", call + 1 + 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			engines(t, func(t *testing.T, e *sandbox.Engine) {
				p := newProbe(tt.uses)
				i := newProbeInstance(t, e, p.run(tt.make(p), wt.I32Const(0)), sandbox.Env{})
				c := run()
				c.Input = make([]byte, 40_000)
				c.Read = func(context.Context, uint64, []byte) (sandbox.Reply, error) {
					return sandbox.Reply{Body: []byte("reply"), Fuel: 777}, nil
				}
				got, err := i.Call(t.Context(), c)
				if want := tt.fuel + consts; err != nil || got.Usage.Fuel != want { // the status is a constant
					t.Fatalf("spent %d, %v, want %d", got.Usage.Fuel, err, want)
				}
				// A unit less, and the same call isn't made.
				c.Fuel = tt.fuel - 1
				if _, err := i.Call(t.Context(), c); causeOf(err) != sandbox.CauseFuel {
					t.Errorf("with %d: %v", c.Fuel, err)
				}
			})
		})
	}
}

// Who is to blame for a wall stop is for the calibration guest to say.
func TestWallStopOnASlowHost(t *testing.T) {
	var readings atomic.Int64
	slow := func() time.Time { return time.Unix(0, readings.Add(int64(time.Second))) } // every look takes a second
	e := newEngine(t, sandbox.Config{Clock: slow})
	i := instantiate(t, compile(t, e, guest(wt.Answer{Act: wt.Spin})), sandbox.Env{})
	if _, err := i.Call(t.Context(), plan()); !errors.Is(err, sandbox.ErrWall) || causeOf(err) != "" {
		t.Errorf("Call() = %v, want ErrWall", err)
	}
	if i.Alive() {
		t.Error("the instance is alive")
	}
}

// The host's collector gets its turn while a guest spins.
func TestGuestDoesNotHoldUpTheHost(t *testing.T) {
	i := instantiate(t, compile(t, newEngine(t, sandbox.Config{}), guest(wt.Answer{Act: wt.Spin})), sandbox.Env{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = i.Call(ctx, plan())
	}()
	worst := time.Duration(0)
	for range 20 {
		began := time.Now()
		runtime.GC()
		worst = max(worst, time.Since(began))
	}
	cancel()
	<-done
	t.Logf("runtime.GC() took at most %v", worst)
	if worst > 10*50*time.Millisecond {
		t.Errorf("runtime.GC() took %v", worst)
	}
}
