package sandbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// Every way to misbehave has its cause, the same on both engines, and is the
// instance's last.
func TestFaults(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		solver := func(act wt.Act) []byte { return guest(wt.Answer{Act: act}) }
		body := func(imports []string, build func(*probe) []byte) []byte {
			p := newProbe(imports...)
			return p.run(build(p), wt.I32Const(0))
		}
		for _, tt := range []struct {
			name  string
			wasm  []byte
			fault sandbox.Fault
		}{
			{"unreachable, named by the name section", solver(wt.Trap), sandbox.Fault{Cause: sandbox.CauseTrap, Detail: `unreachable in function 5 "boom"`}},
			{"division by zero, in a function without name", solver(wt.DivideZero), sandbox.Fault{Cause: sandbox.CauseTrap, Detail: `integer divide by zero in function 14`}},
			{"memory that isn't there", solver(wt.Allocate), sandbox.Fault{Cause: sandbox.CauseMemory, Detail: `unreachable in function 14, with 51 of 64 pages`}},
			{"a pointer beyond its memory", solver(wt.BadPointer), sandbox.Fault{Cause: sandbox.CauseBadPointer, Detail: `output: 32 bytes at 4,294,967,280, memory is 196,608`}},
			{"proc_exit", solver(wt.Exit), sandbox.Fault{Cause: sandbox.CauseExit, Detail: `proc_exit(7)`}},
			{"a flood of log", solver(wt.FloodLog), sandbox.Fault{Cause: sandbox.CauseLog, Detail: `more than 65,536 bytes in one call`}},
			{"endless recursion", solver(wt.Recurse), sandbox.Fault{Cause: sandbox.CauseDepth, Detail: `calls nest too deep`}},
			{"output beyond the limit", guest(wt.Answer{Pad: 2 << 20}), sandbox.Fault{Cause: sandbox.CauseOutput, Detail: `more than 1,048,576 bytes`}},
			{"a load beyond its memory", body(nil, func(*probe) []byte {
				return wt.Seq(wt.I32Const(-4), wt.I32Load(0), wt.Drop)
			}), sandbox.Fault{Cause: sandbox.CauseTrap, Detail: `out of bounds memory access in function 0`}},
			{"a call through an empty table", body(nil, func(p *probe) []byte {
				p.Table(1, -1)
				return wt.Seq(wt.I32Const(0), []byte{0x11}, wt.U32(p.Type(nil, nil)), []byte{0})
			}), sandbox.Fault{Cause: sandbox.CauseTrap, Detail: `invalid table access in function 0`}},
			{"a call through a table with another type", body(nil, func(p *probe) []byte {
				p.Table(1, -1)
				p.Elem(0, 0) // run itself
				return wt.Seq(wt.I32Const(0), []byte{0x11}, wt.U32(p.Type(nil, nil)), []byte{0})
			}), sandbox.Fault{Cause: sandbox.CauseTrap, Detail: `indirect call type mismatch in function 0`}},
			{"an integer of NaN", body(nil, func(*probe) []byte {
				return wt.Seq([]byte{0x43, 0, 0, 0xc0, 0x7f, 0xa8}, wt.Drop)
			}), sandbox.Fault{Cause: sandbox.CauseTrap, Detail: `invalid conversion to integer in function 0`}},
			{"the smallest integer divided by -1", body(nil, func(*probe) []byte {
				return wt.Seq(wt.I32Const(-1<<31), wt.I32Const(-1), wt.I32DivS, wt.Drop)
			}), sandbox.Fault{Cause: sandbox.CauseTrap, Detail: `integer overflow in function 0`}},
			{"a trap after a refused grow", body(nil, func(*probe) []byte {
				return wt.Seq(wt.I32Const(3), wt.MemoryGrow, wt.Drop, wt.Unreachable)
			}), sandbox.Fault{Cause: sandbox.CauseMemory, Detail: `unreachable in function 0, with 4 of 4 pages`}},
			{"an exit after memory ran out", body([]string{"wasi.proc_exit"}, func(p *probe) []byte {
				return wt.Seq(wt.I32Const(3), wt.MemoryGrow, wt.Drop, wt.I32Const(2), p.call["wasi.proc_exit"])
			}), sandbox.Fault{Cause: sandbox.CauseMemory, Detail: `proc_exit(2), with 4 of 4 pages`}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				p, c := probeProfile, run()
				if _, err := e.Check(tt.wasm, p); err != nil {
					p, c = profile(), plan()
				}
				m, err := e.Compile(t.Context(), tt.wasm, p)
				if err != nil {
					t.Fatal(err)
				}
				i := instantiate(t, m, sandbox.Env{})
				_, err = i.Call(t.Context(), c)
				var fault *sandbox.Fault
				if !errors.As(err, &fault) {
					t.Fatalf("Call() = %v, want a fault", err)
				}
				if diff := cmp.Diff(&tt.fault, fault); diff != "" {
					t.Errorf("fault (-want +got):\n%s", diff)
				}
				if i.Alive() {
					t.Error("the instance is alive")
				}
				if _, err := i.Call(t.Context(), c); !errors.Is(err, sandbox.ErrDead) {
					t.Errorf("the next Call() = %v, want ErrDead", err)
				}
			})
		}
	})
}

// Each import checks every range it is given, even one that it wouldn't use.
func TestEveryPointerIsChecked(t *testing.T) {
	const ok, far = 64, 65536 - 3 // one page: 3 bytes are left from far
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		for _, tt := range []struct {
			name string
			args []int64 // of the import
		}{
			{"assay.input", []int64{far, 4}},
			{"assay.input", []int64{ok, -1}},
			{"assay.output", []int64{far, 4}},
			{"assay.output", []int64{65537, 0}},
			{"assay.output", []int64{-1, -1}},
			{"assay.rpc", []int64{1, far, 4}},
			{"assay.rpc_read", []int64{far, 4}},
			{"assay.log", []int64{1, far, 4}},
			{"wasi.args_sizes_get", []int64{far, ok}},
			{"wasi.args_sizes_get", []int64{ok, far}},
			{"wasi.environ_sizes_get", []int64{far, ok}},
			{"wasi.environ_sizes_get", []int64{ok, far}},
			{"wasi.clock_time_get", []int64{0, 0, far}},
			{"wasi.random_get", []int64{far, 4}},
			{"wasi.fd_write", []int64{1, far, 1, ok}},
			{"wasi.fd_read", []int64{0, ok, 1, far}},
			{"wasi.fd_write", []int64{1, ok, 0, far}},
			{"wasi.fd_write", []int64{1, 8, 1, ok}}, // the buffer itself: 4 bytes at far
			{"wasi.fd_fdstat_get", []int64{1, far}},
			{"wasi.poll_oneoff", []int64{far, ok, 1, ok}},
			{"wasi.poll_oneoff", []int64{ok, far, 1, ok}},
			{"wasi.poll_oneoff", []int64{ok, ok, 1, far}},
		} {
			p := newProbe(tt.name)
			p.Data(8, []byte{0xfd, 0xff, 0, 0, 4, 0, 0, 0})
			body := []byte{}
			for k, arg := range tt.args {
				if importTypes[tt.name][0][k] == 'I' {
					body = wt.Seq(body, wt.I64Const(arg))
				} else {
					body = wt.Seq(body, wt.I32Const(int32(arg)))
				}
			}
			body = wt.Seq(body, p.call[tt.name])
			if importTypes[tt.name][1] != "" {
				body = wt.Seq(body, wt.Drop)
			}
			i := newProbeInstance(t, e, p.run(body, wt.I32Const(0)), sandbox.Env{})
			if _, err := i.Call(t.Context(), run()); causeOf(err) != sandbox.CauseBadPointer {
				t.Errorf("%s(%v): %v, want a bad pointer", tt.name, tt.args, err)
			}
		}
	})
}

func TestWallLimit(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	m := compile(t, e, guest(wt.Answer{Act: wt.Spin}))

	i := instantiate(t, m, sandbox.Env{})
	c := plan()
	c.Wall = 20 * time.Millisecond
	_, err := i.Call(t.Context(), c)
	var fault *sandbox.Fault
	if !errors.As(err, &fault) || *fault != (sandbox.Fault{Cause: sandbox.CauseStalled, Detail: "stopped after 20ms"}) {
		t.Errorf("Call() = %v, want a timeout", err)
	}
	if _, err := i.Call(t.Context(), c); !errors.Is(err, sandbox.ErrDead) {
		t.Errorf("the next Call() = %v, want ErrDead", err)
	}
}

// Only the wall limit is a timeout: whoever asked may give up, or have a
// deadline of their own, and that says nothing about the guest.
func TestInterruptedCallIsNoTimeout(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		m := compile(t, e, guest(wt.Answer{Act: wt.Spin}))
		mine := errors.New("my reason")
		for _, tt := range []struct {
			name string
			ctx  func() (context.Context, context.CancelFunc)
			want error
		}{
			{"canceled", func() (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(20*time.Millisecond, func() { cancel(mine) })
				return ctx, func() { cancel(nil) }
			}, mine},
			{"deadline", func() (context.Context, context.CancelFunc) {
				return context.WithTimeout(t.Context(), 20*time.Millisecond)
			}, context.DeadlineExceeded},
		} {
			i := instantiate(t, m, sandbox.Env{})
			ctx, cancel := tt.ctx()
			defer cancel()
			if _, err := i.Call(ctx, plan()); !errors.Is(err, tt.want) || causeOf(err) != "" {
				t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
			}
			if i.Alive() {
				t.Errorf("%s: the instance is alive", tt.name)
			}
		}
	})
}

// A read ends with the call's wall limit, and that is the guest's fault.
func TestReadEndsAtTheWallLimit(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	i := instantiate(t, compile(t, e, guest(wt.Answer{RPC: &wt.RPC{Chain: 1}})), sandbox.Env{})
	c := plan()
	c.Wall = 20 * time.Millisecond
	c.Read = func(ctx context.Context, _ uint64, _ []byte) (sandbox.Reply, error) {
		<-ctx.Done()
		return sandbox.Reply{}, ctx.Err()
	}
	if _, err := i.Call(t.Context(), c); causeOf(err) != sandbox.CauseStalled {
		t.Errorf("Call() = %v, want a timeout", err)
	}
}

// After the wall limit no import begins, though the guest makes nothing else.
func TestHostCallsEndAtTheWallLimit(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		p := newProbe("assay.rpc")
		wasm := p.run(wt.I64Const(1), wt.I32Const(0), wt.I32Const(0), p.call["assay.rpc"], wt.Drop,
			wt.I64Const(1), wt.I32Const(0), wt.I32Const(0), p.call["assay.rpc"])
		ctx, cancel := context.WithCancel(t.Context())
		reads := 0
		c := run()
		c.Read = func(context.Context, uint64, []byte) (sandbox.Reply, error) {
			reads++
			cancel()
			return sandbox.Reply{}, nil
		}
		if _, err := newProbeInstance(t, e, wasm, sandbox.Env{}).Call(ctx, c); !errors.Is(err, context.Canceled) || reads != 1 {
			t.Errorf("Call() = %v after %d reads", err, reads)
		}
	})
}

// The interpreter is so slow that its wall limits say nothing about a guest.
func TestWallStopOfTheInterpreterIsNoFault(t *testing.T) {
	e := newEngine(t, sandbox.Config{Interpreter: true})
	i := instantiate(t, compile(t, e, guest(wt.Answer{Act: wt.Spin})), sandbox.Env{})
	c := plan()
	c.Wall = time.Millisecond
	if _, err := i.Call(t.Context(), c); !errors.Is(err, sandbox.ErrWall) || causeOf(err) != "" {
		t.Errorf("Call() = %v, want ErrWall", err)
	}
}

func TestInstantiate(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		with := func(build func(*probe)) []byte {
			p := newProbe("assay.output", "assay.rpc", "assay.log")
			build(p)
			return p.run(wt.I32Const(0))
		}
		for _, tt := range []struct {
			name  string
			wasm  []byte
			cause string
		}{
			{"start function traps", with(func(p *probe) { p.Start(p.Func("", nil, nil, nil, wt.Unreachable)) }), sandbox.CauseTrap},
			{"_initialize traps", with(func(p *probe) { p.Func("_initialize", nil, nil, nil, wt.Unreachable) }), sandbox.CauseTrap},
			{"_initialize outputs", with(func(p *probe) { p.Func("_initialize", nil, nil, nil, p.out(0, 1)) }), sandbox.CauseOutput},
			{"data beyond the memory", with(func(p *probe) { p.Data(65535, []byte("ab")) }), sandbox.CauseTrap},
			{"a bad pointer in the start function", with(func(p *probe) { p.Start(p.Func("", nil, nil, nil, p.out(-1, 1))) }), sandbox.CauseBadPointer},
		} {
			m, err := e.Compile(t.Context(), tt.wasm, probeProfile)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Instantiate(t.Context(), sandbox.Env{}); causeOf(err) != tt.cause {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.cause)
			}
		}
	})
}

func TestInstantiateUnderAWallLimit(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	for name, build := range map[string]func(*probe, []byte){
		"_initialize": func(p *probe, spin []byte) { p.Func("_initialize", nil, nil, nil, spin) },
		"start":       func(p *probe, spin []byte) { p.Start(p.Func("", nil, nil, nil, spin)) },
	} {
		p := newProbe()
		build(p, wt.Loop(wt.Br(0)))
		m, err := e.Compile(t.Context(), p.run(wt.I32Const(0)), probeProfile)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Instantiate(t.Context(), sandbox.Env{Wall: 20 * time.Millisecond}); causeOf(err) != sandbox.CauseStalled {
			t.Errorf("%s: %v, want a timeout", name, err)
		}
	}
}

func TestOtherABIVersionIsRefused(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	_, err := compile(t, e, wt.Solver(wt.Options{ABI: 2})).Instantiate(t.Context(), sandbox.Env{})
	var refusal *sandbox.Refusal
	if !errors.As(err, &refusal) || *refusal != (sandbox.Refusal{Reason: sandbox.ReasonABI, Detail: "solver_abi() = 2, want 1"}) {
		t.Errorf("Instantiate() = %v, want a refusal", err)
	}
}
