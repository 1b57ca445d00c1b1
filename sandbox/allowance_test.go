package sandbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// A handClock moves only when it is told to.
type handClock struct{ now time.Time }

func (c *handClock) read() time.Time { return c.now }

// reader makes one read a call; the test moves the clock in it.
func reader(t *testing.T, e *sandbox.Engine) *sandbox.Module {
	t.Helper()
	return compile(t, e, guest(wt.Answer{RPC: &wt.RPC{Chain: 1}}))
}

// An allowance counts what passes inside of calls, of any instance, and nothing
// else. Once it is spent no call begins.
func TestAllowance(t *testing.T) {
	for _, tt := range []struct {
		name        string
		interpreter bool
		calls       int // before 10 s are spent by calls of 4.99 s
		ends        error
	}{
		{"compiled", false, 2, &sandbox.Fault{Cause: sandbox.CauseStalled, Detail: "the session's time is spent"}},
		{"interpreted", true, 2 * sandbox.InterpreterWalls, sandbox.ErrWall},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &handClock{}
			m := reader(t, newEngine(t, sandbox.Config{Interpreter: tt.interpreter, Clock: c.read}))
			env := sandbox.Env{Allowance: m.Allow(10*time.Second, 1<<40)}
			call := plan()
			call.Read = func(context.Context, uint64, []byte) (sandbox.Reply, error) {
				c.now = c.now.Add(4990 * time.Millisecond)
				return sandbox.Reply{}, nil
			}
			i := instantiate(t, m, env)
			for n := range tt.calls {
				c.now = c.now.Add(time.Hour) // the host is busy
				if n == 1 {
					i = instantiate(t, m, env)
				}
				if err := env.Allowance.Err(); err != nil {
					t.Fatalf("before call %d: %v", n, err)
				}
				if _, err := i.Call(t.Context(), call); err != nil {
					t.Fatalf("call %d: %v", n, err)
				}
			}
			_, called := i.Call(t.Context(), call)
			_, instantiated := m.Instantiate(t.Context(), env)
			for what, err := range map[string]error{"Err": env.Allowance.Err(), "Call": called, "Instantiate": instantiated} {
				var fault *sandbox.Fault
				if !errors.Is(err, tt.ends) && (!errors.As(err, &fault) || fault.Error() != tt.ends.Error()) {
					t.Errorf("%s() = %v, want %v", what, err, tt.ends)
				}
			}
			if i.Alive() {
				t.Error("the instance is alive")
			}
		})
	}
}

// A guest that runs until its allowance ends has spent it, whatever the clock
// says.
func TestAllowanceStopsACall(t *testing.T) {
	c := &handClock{}
	m := compile(t, newEngine(t, sandbox.Config{Clock: c.read}), guest(wt.Answer{Act: wt.Spin}))
	env := sandbox.Env{Allowance: m.Allow(time.Second, 1<<40)}
	i := instantiate(t, m, env)
	if _, err := i.Call(t.Context(), plan()); causeOf(err) != sandbox.CauseStalled || env.Allowance.Err() == nil {
		t.Errorf("Call() = %v, want a timeout; Err() = %v", err, env.Allowance.Err())
	}
}
