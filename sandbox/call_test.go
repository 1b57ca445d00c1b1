package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
	"pgregory.net/rapid"
)

// copyIn is a guest that pulls its input into a buffer of so many bytes, again
// and again, and outputs each piece.
func copyIn(buffer int32) []byte {
	p := newProbe("assay.input", "assay.output")
	return p.run(
		wt.Block(wt.Loop(
			wt.I32Const(0), wt.I32Const(buffer), p.call["assay.input"], wt.LocalTee(1), wt.I32Eqz, wt.BrIf(1),
			wt.I32Const(0), wt.LocalGet(1), p.call["assay.output"],
			wt.Br(0),
		)),
		wt.LocalGet(0)) // the status is the announced length
}

// What a guest pulls in pieces is the input, whatever its buffer's size.
func TestInputArrivesWhole(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	rapid.Check(t, func(t *rapid.T) {
		input := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "input")
		m, err := e.Compile(context.Background(), copyIn(rapid.Int32Range(1, 4096).Draw(t, "buffer")), probeProfile)
		if err != nil {
			t.Fatal(err)
		}
		i, err := m.Instantiate(context.Background(), sandbox.Env{})
		if err != nil {
			t.Fatal(err)
		}
		defer i.Close(context.Background())
		c := run()
		c.Input = input
		got, err := i.Call(context.Background(), c)
		if err != nil || !bytes.Equal(got.Output, input) || int(got.Status) != len(input) {
			t.Errorf("Call() = %d and %d bytes, %v; input %d bytes", got.Status, len(got.Output), err, len(input))
		}
	})
}

func TestOutputLimit(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	m := compile(t, e, guest(wt.Answer{Pad: 100_000}))
	for _, tt := range []struct {
		name  string
		limit int
		cause string
	}{
		{"exactly as much", 100_000, ""},
		{"one byte less", 99_999, sandbox.CauseOutput},
		{"the zero value allows none", 0, sandbox.CauseOutput},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := instantiate(t, m, sandbox.Env{})
			c := plan()
			c.OutputLimit = tt.limit
			got, err := i.Call(t.Context(), c)
			if causeOf(err) != tt.cause || (err == nil) != (tt.cause == "") {
				t.Fatalf("Call() = %v, want cause %q", err, tt.cause)
			}
			if err == nil && !bytes.Equal(got.Output, make([]byte, 100_000)) {
				t.Errorf("output of %d bytes", len(got.Output))
			}
			if err != nil && got.Output != nil {
				t.Error("a call that faulted has output")
			}
		})
	}
}

// rpcTwice asks chain 7 twice and chain 8 once, each time outputting the length
// as it came and the whole reply.
func rpcTwice(p *probe, request int32) []byte {
	p.Data(1000, bytes.Repeat([]byte("q"), 100))
	ask := func(chain int64) []byte {
		return wt.Seq(
			wt.I32Const(0),
			wt.I64Const(chain), wt.I32Const(1000), wt.I32Const(request), p.call["assay.rpc"],
			wt.I32Store(0), p.out(0, 4),
			wt.Block(wt.Loop(
				wt.I32Const(2000), wt.I32Const(3), p.call["assay.rpc_read"], wt.LocalTee(1), wt.I32Eqz, wt.BrIf(1),
				wt.I32Const(2000), wt.LocalGet(1), p.call["assay.output"], wt.Br(0),
			)))
	}
	return p.run(ask(7), ask(7), ask(8), wt.I32Const(0))
}

func TestRPC(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	length := func(n int32) string { return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) }
	type reply struct {
		text   string
		status sandbox.ReadStatus
	}
	for _, tt := range []struct {
		name    string
		request int32
		replies []reply // in the order of calls; more calls are an error
		out     int
		nobody  bool // no ReadFunc
		want    string
	}{
		{name: "each reply replaces the one before", request: 3, out: 100,
			replies: []reply{{"first", 0}, {"", 0}, {"third", 0}},
			want:    length(5) + "first" + length(0) + length(5) + "third"},
		{name: "an unknown chain leaves the others", request: 3, out: 100,
			replies: []reply{{"first", 0}, {"ignored", sandbox.ReadUnknownChain}, {"third", 0}},
			want:    length(5) + "first" + length(-1) + length(5) + "third"},
		{name: "over budget lasts until the call ends", request: 3, out: 100,
			replies: []reply{{"ignored", sandbox.ReadBudget}},
			want:    length(-2) + length(-2) + length(-2)},
		{name: "too large is about one request", request: 3, out: 100,
			replies: []reply{{"", sandbox.ReadTooLarge}, {"second", 0}, {"", sandbox.ReadTooLarge}},
			want:    length(-3) + length(6) + "second" + length(-3)},
		{name: "replies beyond ReadOut are over budget", request: 3, out: 9,
			replies: []reply{{"first", 0}, {"12345", 0}},
			want:    length(5) + "first" + length(-2) + length(-2)},
		{name: "replies up to ReadOut", request: 3, out: 10,
			replies: []reply{{"first", 0}, {"12345", 0}, {"", 0}},
			want:    length(5) + "first" + length(5) + "12345" + length(0)},
		{name: "nobody to ask", request: 3, nobody: true,
			want: length(-1) + length(-1) + length(-1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProbe("assay.output", "assay.rpc", "assay.rpc_read")
			i := newProbeInstance(t, e, rpcTwice(p, tt.request), sandbox.Env{})
			c := run()
			c.ReadOut = tt.out
			var asked []string
			if !tt.nobody {
				c.Read = func(_ context.Context, chain uint64, req []byte) (sandbox.Reply, error) {
					asked = append(asked, fmt.Sprint(chain, string(req)))
					r := tt.replies[len(asked)-1]
					return sandbox.Reply{Body: []byte(r.text), Status: r.status}, nil
				}
			}
			got, err := i.Call(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got.Output)); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"7qqq", "7qqq", "8qqq"}[:len(tt.replies)], asked); len(tt.replies) > 0 && diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if got.Usage.Reads != len(tt.replies) {
				t.Errorf("%d reads, want %d", got.Usage.Reads, len(tt.replies))
			}
		})
	}
}

func TestRequestOfMoreThanAMiBIsTooLarge(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	for _, tt := range []struct {
		bytes  int32
		status int32
	}{{sandbox.RequestLimit, 2}, {sandbox.RequestLimit + 1, int32(sandbox.ReadTooLarge)}} {
		p := &probe{call: map[string][]byte{}}
		rpc := p.Import("assay", "rpc", valueTypes("Iii"), valueTypes("i"))
		p.Memory(17, -1)
		p.Export("memory", wt.KindMemory, 0)
		prof := probeProfile
		prof.MemoryPages = 20
		m, err := e.Compile(t.Context(), p.run(wt.I64Const(1), wt.I32Const(0), wt.I32Const(tt.bytes), wt.Call(rpc)), prof)
		if err != nil {
			t.Fatal(err)
		}
		c := run()
		c.Read = func(context.Context, uint64, []byte) (sandbox.Reply, error) {
			return sandbox.Reply{Body: []byte("ok")}, nil
		}
		if got, err := instantiate(t, m, sandbox.Env{}).Call(t.Context(), c); err != nil || got.Status != tt.status {
			t.Errorf("rpc of %d bytes = %d, %v; want %d", tt.bytes, got.Status, err, tt.status)
		}
	}
}

// A failing or panicking ReadFunc is the host's own fault, not the guest's.
func TestReadErrorIsTheHosts(t *testing.T) {
	broken := errors.New("disk on fire")
	for name, read := range map[string]sandbox.ReadFunc{
		"error": func(context.Context, uint64, []byte) (sandbox.Reply, error) { return sandbox.Reply{}, broken },
		"panic": func(context.Context, uint64, []byte) (sandbox.Reply, error) { panic(broken.Error()) },
		"run-time panic": func(_ context.Context, _ uint64, req []byte) (sandbox.Reply, error) {
			return sandbox.Reply{Body: req[:0:0][len(req):1]}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			engines(t, func(t *testing.T, e *sandbox.Engine) {
				i := instantiate(t, compile(t, e, guest(wt.Answer{RPC: &wt.RPC{Chain: 1}})), sandbox.Env{})
				c := plan()
				c.Read = read
				_, err := i.Call(t.Context(), c)
				if err == nil || causeOf(err) != "" {
					t.Fatalf("Call() = %v, want an error that is no fault", err)
				}
				if name == "error" && !errors.Is(err, broken) || name == "panic" && !strings.Contains(err.Error(), broken.Error()) {
					t.Errorf("Call() = %v, want %v in it", err, broken)
				}
				if _, err := i.Call(t.Context(), c); !errors.Is(err, sandbox.ErrDead) {
					t.Errorf("the next Call() = %v, want ErrDead", err)
				}
			})
		})
	}
}

func TestLog(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	p := newProbe("assay.log", "wasi.fd_write")
	p.Data(0, []byte("hello\x1b[2J"))
	p.Data(100, []byte{0, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0}) // two buffers: hello, ell
	line := func(level, n int32) []byte {
		return wt.Seq(wt.I32Const(level), wt.I32Const(0), wt.I32Const(n), p.call["assay.log"])
	}
	wasm := p.run(
		line(0, 5), line(1, 9), line(2, 0), line(3, 1), line(-1, 1),
		wt.I32Const(2), wt.I32Const(100), wt.I32Const(2), wt.I32Const(200), p.call["wasi.fd_write"], wt.Drop,
		wt.I32Const(200), wt.I32Load(0))
	var session sandbox.Log
	i := newProbeInstance(t, e, wasm, sandbox.Env{Log: &session})
	got, err := i.Call(t.Context(), run())
	if err != nil {
		t.Fatal(err)
	}
	want := "D hello\nI hello\x1b[2J\nW \nE h\n? h\nhelloell"
	if diff := cmp.Diff(want, string(got.Log)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if got.Status != 8 {
		t.Errorf("fd_write wrote %d bytes, want 8", got.Status)
	}
	if diff := cmp.Diff(want, string(session.Bytes())); diff != "" {
		t.Errorf("session's log (-want +got):\n%s", diff)
	}
}

// logs is a guest whose every call logs a line of n bytes, all in all.
func logs(n int32) []byte {
	p := newProbe("assay.log")
	return p.run(wt.I32Const(1), wt.I32Const(0), wt.I32Const(n-3), p.call["assay.log"], wt.I32Const(0))
}

func TestLogOfOneCallIsLimited(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	if got, err := newProbeInstance(t, e, logs(64<<10), sandbox.Env{}).Call(t.Context(), run()); err != nil || len(got.Log) != 64<<10 {
		t.Errorf("64 KiB: %v, %d bytes kept", err, len(got.Log))
	}
	if _, err := newProbeInstance(t, e, logs(64<<10+1), sandbox.Env{}).Call(t.Context(), run()); causeOf(err) != sandbox.CauseLog {
		t.Errorf("64 KiB and a byte: %v, want a fault", err)
	}
}

// A session that talked too much loses log, not intents.
func TestLogOfASessionIsCutOff(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	var session sandbox.Log
	i := newProbeInstance(t, e, logs(60_000), sandbox.Env{Log: &session})
	for n := range 20 {
		if got, err := i.Call(t.Context(), run()); err != nil || len(got.Log) != 60_000 {
			t.Fatalf("call %d: %v, %d bytes", n, err, len(got.Log))
		}
	}
	if kept := len(session.Bytes()); kept != 1<<20 {
		t.Errorf("%d bytes kept", kept)
	}
}

// How much a call has logged when a wall stops it depends on the host, so the
// session's log has nothing of it, unlike that of a call that traps.
func TestLogOfAWallStop(t *testing.T) {
	for name, wall := range map[string]time.Duration{
		"compiled":    200 * time.Millisecond,
		"interpreted": 200 * time.Millisecond / sandbox.InterpreterWalls,
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, sandbox.Config{Interpreter: name == "interpreted"})
			var session sandbox.Log
			for _, tt := range []struct {
				ends []byte
				wall time.Duration
				kept string
			}{
				{wt.Loop(wt.Br(0)), wall, ""},
				{wt.Unreachable, time.Minute, "I \x00\n"},
			} {
				p := newProbe("assay.log")
				wasm := p.run(wt.I32Const(1), wt.I32Const(0), wt.I32Const(1), p.call["assay.log"], tt.ends, wt.I32Const(0))
				c := run()
				c.Wall = tt.wall
				got, err := newProbeInstance(t, e, wasm, sandbox.Env{Log: &session}).Call(t.Context(), c)
				if err == nil || string(got.Log) != "I \x00\n" {
					t.Errorf("Call() = %q, %v", got.Log, err)
				}
				if kept := string(session.Bytes()); kept != tt.kept {
					t.Errorf("after %v the session's log is %q, want %q", err, kept, tt.kept)
				}
			}
		})
	}
}

// Usage is counted, not estimated.
func TestUsage(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		p := newProbe("assay.log", "wasi.clock_time_get", "assay.rpc")
		wasm := p.run(
			wt.I32Const(2), wt.MemoryGrow, wt.Drop,
			wt.I32Const(1), wt.I64Const(0), wt.I32Const(0), p.call["wasi.clock_time_get"], wt.Drop,
			wt.I32Const(1), wt.I64Const(0), wt.I32Const(0), p.call["wasi.clock_time_get"], wt.Drop,
			wt.I64Const(1), wt.I32Const(0), wt.I32Const(0), p.call["assay.rpc"])
		c := run()
		c.Read = func(context.Context, uint64, []byte) (sandbox.Reply, error) { return sandbox.Reply{}, nil }
		got, err := newProbeInstance(t, e, wasm, sandbox.Env{}).Call(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		// The costs of the instructions, of two pages and of the host calls.
		const fuel = (1 + 50 + 2*8192 + 1) + 2*(3+4+1+200) + (3 + 4 + 2000)
		want := sandbox.Usage{Fuel: fuel, PeakPages: 3, HostCalls: 3, Reads: 1, VirtualNS: 2000}
		if diff := cmp.Diff(want, got.Usage); diff != "" {
			t.Errorf("usage (-want +got):\n%s", diff)
		}
	})
}

func TestCallThatNeverBegan(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	i := instantiate(t, compile(t, e, guest(wt.Answer{})), sandbox.Env{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		call func(*sandbox.Call)
	}{
		{"its context had ended", ended, func(*sandbox.Call) {}},
		{"no wall limit", t.Context(), func(c *sandbox.Call) { c.Wall = 0 }},
		{"no fuel", t.Context(), func(c *sandbox.Call) { c.Fuel = 0 }},
		{"an export that isn't the profile's", t.Context(), func(c *sandbox.Call) { c.Export = "solver_abi" }},
		{"an export that isn't there", t.Context(), func(c *sandbox.Call) { c.Export = "solver_guess" }},
	} {
		c := plan()
		tt.call(&c)
		if _, err := i.Call(tt.ctx, c); err == nil || causeOf(err) != "" {
			t.Errorf("%s: %v, want an error that is no fault", tt.name, err)
		}
		if !i.Alive() {
			t.Errorf("%s: the instance is dead", tt.name)
		}
	}
	if _, err := i.Call(t.Context(), plan()); err != nil {
		t.Error(err)
	}
}

// A table grows to what a module may have and no further, whatever maximum it
// declares or leaves out; a maximum below that holds.
func TestTableGrowth(t *testing.T) {
	grow := func(by int32) []byte { // leaves the old size, or -1
		return wt.Seq([]byte{0xd0, 0x70}, wt.I32Const(by), []byte{0xfc, 15, 0})
	}
	const full = sandbox.MaxTableElements
	for _, tt := range []struct {
		name string
		max  int64
		by   int32
		want int32
	}{
		{"no maximum, one too many", -1, full, -1},
		{"no maximum, all there are", -1, full - 1, 1},
		{"a huge maximum, one too many", 1 << 31, full, -1},
		{"a huge maximum, all there are", 1 << 31, full - 1, 1},
		{"its own maximum, one too many", 10, 10, -1},
		{"its own maximum, all there are", 10, 9, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			engines(t, func(t *testing.T, e *sandbox.Engine) {
				p := newProbe()
				p.Table(1, tt.max)
				i := newProbeInstance(t, e, p.run(grow(tt.by)), sandbox.Env{})
				if got, err := i.Call(t.Context(), run()); err != nil || got.Status != tt.want {
					t.Errorf("table.grow gave %d, %v, want %d", got.Status, err, tt.want)
				}
			})
		})
	}
}
