package sandbox_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// Errors of the WASI preview 1 document.
const (
	success = 0
	badF    = 8
	inval   = 28
	notSup  = 58
	sPipe   = 70
)

// i32s pushes constants.
func i32s(values ...int32) (code []byte) {
	for _, v := range values {
		code = append(code, wt.I32Const(v)...)
	}
	return code
}

// callProbe runs a body once and returns its result.
func callProbe(t *testing.T, e *sandbox.Engine, wasm []byte, env sandbox.Env, c sandbox.Call) sandbox.Result {
	t.Helper()
	got, err := newProbeInstance(t, e, wasm, env).Call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestDescriptors(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		for _, tt := range []struct {
			name string
			call string
			args []byte
			want int32
		}{
			{"standard output may be closed", "wasi.fd_close", i32s(1), success},
			{"no file is open", "wasi.fd_close", i32s(3), badF},
			{"negative descriptors are large ones", "wasi.fd_close", i32s(-1), badF},
			{"flags of standard error are taken", "wasi.fd_fdstat_set_flags", i32s(2, 4), success},
			{"flags of a file", "wasi.fd_fdstat_set_flags", i32s(3, 4), badF},
			{"status of a file", "wasi.fd_fdstat_get", i32s(3, 0), badF},
			{"a stream has no position", "wasi.fd_seek", wt.Seq(i32s(1), wt.I64Const(0), i32s(0, 0)), sPipe},
			{"neither has a file", "wasi.fd_seek", wt.Seq(i32s(3), wt.I64Const(0), i32s(0, 0)), badF},
			{"no directory is preopened", "wasi.fd_prestat_get", i32s(3, 0), badF},
			{"nor has a name", "wasi.fd_prestat_dir_name", i32s(3, 0, 5), badF},
			{"standard input is at its end", "wasi.fd_read", i32s(0, 0, 0, 0), success},
			{"a file can't be read", "wasi.fd_read", i32s(3, 0, 0, 0), badF},
			{"standard output can't be read", "wasi.fd_read", i32s(1, 0, 0, 0), badF},
			{"standard input can't be written", "wasi.fd_write", i32s(0, 0, 0, 0), badF},
			{"a file can't be written", "wasi.fd_write", i32s(3, 0, 0, 0), badF},
			{"nothing is written", "wasi.fd_write", i32s(1, 0, 0, 0), success},
			{"1,024 buffers", "wasi.fd_write", i32s(1, 0, 1024, 16384), success},
			{"1,025 buffers", "wasi.fd_write", i32s(1, 0, 1025, 16384), inval},
			{"2^32-1 buffers", "wasi.fd_write", i32s(1, 0, -1, 16384), inval},
			{"an unknown clock", "wasi.clock_time_get", wt.Seq(i32s(2), wt.I64Const(0), i32s(0)), inval},
			{"yielding is nothing", "wasi.sched_yield", nil, success},
			{"no arguments", "wasi.args_get", i32s(0, 0), success},
			{"no environment", "wasi.environ_get", i32s(0, 0), success},
			{"polling nothing", "wasi.poll_oneoff", i32s(0, 0, 0, 0), inval},
			{"polling 1,025", "wasi.poll_oneoff", i32s(0, 0, 1025, 0), inval},
		} {
			t.Run(tt.name, func(t *testing.T) {
				p := newProbe(tt.call)
				if got := callProbe(t, e, p.run(tt.args, p.call[tt.call]), sandbox.Env{}, run()); got.Status != tt.want {
					t.Errorf("%s = %d, want %d", tt.call, got.Status, tt.want)
				}
			})
		}
	})
}

func TestNoArgumentsAndNoEnvironment(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	for _, name := range []string{"wasi.args_sizes_get", "wasi.environ_sizes_get"} {
		p := newProbe(name, "assay.output")
		p.Data(0, bytes.Repeat([]byte{0xff}, 12))
		got := callProbe(t, e, p.run(i32s(0, 4), p.call[name], wt.Drop, p.out(0, 12), wt.I32Const(0)), sandbox.Env{}, run())
		if want := append(make([]byte, 8), 0xff, 0xff, 0xff, 0xff); !bytes.Equal(got.Output, want) {
			t.Errorf("%s wrote %x, want %x", name, got.Output, want)
		}
	}
}

func TestStandardOutputIsACharacterDevice(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	p := newProbe("wasi.fd_fdstat_get", "assay.output")
	p.Data(0, bytes.Repeat([]byte{0xff}, 24))
	got := callProbe(t, e, p.run(i32s(1, 0), p.call["wasi.fd_fdstat_get"], wt.Drop, p.out(0, 24), wt.I32Const(0)), sandbox.Env{}, run())
	want := make([]byte, 24)
	want[0] = 2      // filetype character_device
	want[8] = 1 << 6 // right to fd_write
	if !bytes.Equal(got.Output, want) {
		t.Errorf("fdstat %x, want %x", got.Output, want)
	}
}

// readClock is a call of clock_time_get that outputs what it gave.
func readClock(p *probe, clock int32) []byte {
	return wt.Seq(i32s(clock), wt.I64Const(0), i32s(0), p.call["wasi.clock_time_get"], wt.Drop, p.out(0, 8))
}

func u64s(b []byte) (values []uint64) {
	for ; len(b) >= 8; b = b[8:] {
		values = append(values, binary.LittleEndian.Uint64(b))
	}
	return values
}

// Time passes by reading it, one microsecond each, through an instance's life.
func TestClock(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		p := newProbe("wasi.clock_time_get", "assay.output")
		i := newProbeInstance(t, e, p.run(readClock(p, 1), readClock(p, 0), readClock(p, 1), wt.I32Const(0)), sandbox.Env{Time: 1_700_000_000})
		for n, want := range [][]uint64{
			{1_000, 1_700_000_000_000_002_000, 3_000},
			{4_000, 1_700_000_000_000_005_000, 6_000},
		} {
			got, err := i.Call(t.Context(), run())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, u64s(got.Output)); diff != "" {
				t.Errorf("call %d (-want +got):\n%s", n, diff)
			}
			if got.Usage.VirtualNS != 3_000 {
				t.Errorf("call %d: %d ns passed", n, got.Usage.VirtualNS)
			}
		}
	})
}

// clock is a subscription to a clock; flags 1 means an absolute time.
func clock(userdata uint64, id uint32, timeout uint64, flags uint16) []byte {
	b := make([]byte, 48)
	binary.LittleEndian.PutUint64(b, userdata)
	binary.LittleEndian.PutUint32(b[16:], id)
	binary.LittleEndian.PutUint64(b[24:], timeout)
	binary.LittleEndian.PutUint16(b[40:], flags)
	return b
}

func descriptor(userdata uint64, kind byte, fd uint32) []byte {
	b := make([]byte, 48)
	binary.LittleEndian.PutUint64(b, userdata)
	b[8] = kind
	binary.LittleEndian.PutUint32(b[16:], fd)
	return b
}

func TestPoll(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	type event struct {
		userdata uint64
		errno    uint16
		kind     byte
	}
	const second = 1_000_000_000
	for _, tt := range []struct {
		name   string
		subs   [][]byte
		events []event
		passed uint64
	}{
		{"sleeping takes no time of the host's", [][]byte{clock(7, 1, 3600*second, 0)}, []event{{7, 0, 0}}, 3600 * second},
		{"the first clock that is due ends it", [][]byte{clock(1, 1, 9, 0), clock(2, 0, 5, 0), clock(3, 1, 5, 0)}, []event{{2, 0, 0}, {3, 0, 0}}, 5},
		{"an absolute time to come", [][]byte{clock(1, 1, 500, 1)}, []event{{1, 0, 0}}, 500},
		{"an absolute time of the day", [][]byte{clock(1, 0, 1000*second+7, 1)}, []event{{1, 0, 0}}, 7},
		{"an absolute time gone by", [][]byte{clock(1, 0, 5, 1)}, []event{{1, 0, 0}}, 0},
		{"an unknown clock", [][]byte{clock(1, 9, 5, 0), clock(2, 1, 5, 0)}, []event{{1, inval, 0}}, 0},
		{"a descriptor", [][]byte{clock(1, 1, 5, 0), descriptor(2, 1, 0), descriptor(3, 2, 1)}, []event{{2, notSup, 1}, {3, notSup, 2}}, 0},
		{"for ever", [][]byte{clock(1, 1, math.MaxUint64, 0)}, []event{{1, 0, 0}}, math.MaxInt64 / 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProbe("wasi.poll_oneoff", "assay.output")
			p.Data(0, bytes.Join(tt.subs, nil))
			n := int32(len(tt.subs))
			wasm := p.run(i32s(0, 1000, n, 900), p.call["wasi.poll_oneoff"], p.out(1000, 32*n), i32s(900), wt.I32Load(0), []byte{0x6a})
			got := callProbe(t, e, wasm, sandbox.Env{Time: 1000}, run())
			if int(got.Status) != len(tt.events) { // errno 0 + number of events
				t.Fatalf("%d events, want %d", got.Status, len(tt.events))
			}
			var events []event
			for k := range tt.events {
				b := got.Output[32*k:]
				events = append(events, event{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint16(b[8:]), b[10]})
			}
			if diff := cmp.Diff(tt.events, events, cmp.AllowUnexported(event{})); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if got.Usage.VirtualNS != tt.passed {
				t.Errorf("%d ns passed, want %d", got.Usage.VirtualNS, tt.passed)
			}
		})
	}
}

// The clock never overflows, whatever a guest sleeps and whenever it starts.
func TestClockStopsBeforeItOverflows(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	p := newProbe("wasi.poll_oneoff", "wasi.clock_time_get", "assay.output")
	p.Data(100, clock(1, 1, math.MaxUint64, 0))
	sleep := wt.Seq(i32s(100, 1000, 1, 900), p.call["wasi.poll_oneoff"], wt.Drop)
	got := callProbe(t, e, p.run(readClock(p, 0), sleep, sleep, readClock(p, 0), wt.I32Const(0)), sandbox.Env{Time: math.MaxUint64}, run())
	times := u64s(got.Output)
	if len(times) != 2 || times[0] > times[1] || times[1] > math.MaxInt64 {
		t.Errorf("times %d", times)
	}
}

// Randomness is the seed's stream, from its beginning in every call.
func TestRandomIsTheSeedsStream(t *testing.T) {
	engines(t, func(t *testing.T, e *sandbox.Engine) {
		p := newProbe("wasi.random_get", "assay.output")
		wasm := p.run(
			i32s(0, 5), p.call["wasi.random_get"], wt.Drop, p.out(0, 5),
			i32s(0, 1000), p.call["wasi.random_get"], wt.Drop, p.out(0, 1000), wt.I32Const(0))
		i := newProbeInstance(t, e, wasm, sandbox.Env{})
		for _, seed := range [][32]byte{{}, {1}, {1}, {31: 1}} {
			c := run()
			c.Seed = seed
			got, err := i.Call(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]byte, 1005)
			stream := rand.NewChaCha8(seed)
			_, _ = stream.Read(want[:5])
			_, _ = stream.Read(want[5:])
			if !bytes.Equal(got.Output, want) {
				t.Errorf("seed %x: %x…, want %x…", seed, got.Output[:8], want[:8])
			}
		}
	})
}

// While a guest is instantiated its randomness is the environment's.
func TestRandomWhileInstantiating(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	p := newProbe("wasi.random_get", "assay.output")
	p.Func("_initialize", nil, nil, nil, i32s(0, 32), p.call["wasi.random_get"], wt.Drop)
	seed := [32]byte{9}
	got := callProbe(t, e, p.run(p.out(0, 32), wt.I32Const(0)), sandbox.Env{Seed: seed}, run())
	want := make([]byte, 32)
	_, _ = rand.NewChaCha8(seed).Read(want)
	if !bytes.Equal(got.Output, want) {
		t.Errorf("random bytes %x, want %x", got.Output, want)
	}
}
