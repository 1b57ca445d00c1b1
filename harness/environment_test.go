package harness_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// gambler logs 16 random bytes and the clock, then gives up on the intent.
func gambler(seconds string) []byte {
	var m wasmtest.Module
	i32 := []byte{wasmtest.I32}
	const wasi = "wasi_snapshot_preview1"
	output := m.Import("assay", "output", []byte{wasmtest.I32, wasmtest.I32}, nil)
	log := m.Import("assay", "log", []byte{wasmtest.I32, wasmtest.I32, wasmtest.I32}, nil)
	random := m.Import(wasi, "random_get", []byte{wasmtest.I32, wasmtest.I32}, i32)
	clock := m.Import(wasi, "clock_time_get", []byte{wasmtest.I32, wasmtest.I64, wasmtest.I32}, i32)
	c := wasmtest.I32Const
	m.Data(1024, []byte(goodMetadata))
	m.Data(4096, []byte(seconds)) // tells two modules apart
	m.Func("solver_abi", nil, i32, nil, c(1))
	m.Func("solver_initialize", i32, i32, nil, c(0))
	m.Func("solver_metadata", i32, i32, nil, c(1024), c(int32(len(goodMetadata))), wasmtest.Call(output), c(0))
	m.Func("solver_generate_plan", i32, i32, nil,
		c(0), c(16), wasmtest.Call(random), wasmtest.Drop,
		c(0), wasmtest.I64Const(1), c(16), wasmtest.Call(clock), wasmtest.Drop,
		c(1), c(0), c(24), wasmtest.Call(log),
		c(1))
	m.Memory(1, -1)
	m.Export("memory", wasmtest.KindMemory, 0)
	return m.Bytes()
}

// Randomness follows from the pack's seed, the phase and the intent, and from
// nothing else: not from the module, not from what was asked before.
func TestRandomness(t *testing.T) {
	t.Parallel()
	p := &puppet{}
	draw := func(module string, pack byte, intents ...string) []byte {
		s := open(t, compile(t, gambler(module)), harness.Options{Time: 1000, Seed: [32]byte{pack}})
		for _, id := range intents {
			task := p.task()
			task.IntentID = id
			run(t, s, task)
		}
		log := s.Log()
		line := log[len(log)-len("I ")-24-len("\n"):]
		return line[2:18]
	}
	// The documented derivation, and the documented stream.
	h := sha256.New()
	h.Write([]byte("assay:call:v1"))
	h.Write(append([]byte{7}, make([]byte, 31)...))
	for _, part := range []string{"generate_plan", "i_a"} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	want := make([]byte, 16)
	if _, err := rand.NewChaCha8([32]byte(h.Sum(nil))).Read(want); err != nil {
		t.Fatal(err)
	}
	if got := draw("one", 7, "i_a"); !bytes.Equal(got, want) {
		t.Errorf("drew %x, want %x", got, want)
	}
	if got := draw("another", 7, "i_b", "i_a"); !bytes.Equal(got, want) {
		t.Errorf("another module, asked another intent before, drew %x, want %x", got, want)
	}
	if got := draw("one", 8, "i_a"); bytes.Equal(got, want) {
		t.Error("another pack draws the same")
	}
	if got := draw("one", 7, "i_b"); bytes.Equal(got, want) {
		t.Error("another intent draws the same")
	}
}

// The guest's clock starts at the session's time, in nanoseconds.
func TestClock(t *testing.T) {
	t.Parallel()
	s := open(t, compile(t, gambler("")), harness.Options{Time: 1_700_000_000})
	run(t, s, (&puppet{}).task())
	log := s.Log()
	const second = 1_000_000_000
	if got := binary.LittleEndian.Uint64(log[2+16:]); got/second != 1_700_000_000 {
		t.Errorf("clock at %d ns, want 1,700,000,000 s", got)
	}
}

// A session keeps 1 MiB of log; who wrote more still answers, and each row's
// digest covers what its own calls wrote.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	line := goodPlan + string(bytes.Repeat([]byte(" "), 60<<10))
	p := &puppet{act: but(harness.PhasePlan, opLog, line)}
	s := open(t, compile(t, puppetModule()), p.options())
	want := sha256.Sum256(append(make([]byte, 32), "I "+line+"\n"...))
	for i := range 20 {
		a := run(t, s, p.task())
		if a.Cause != intent.CauseNone || a.LogDigest != want {
			t.Fatalf("row %d: %s, log digest %x, want %x", i, harness.Explain(a.Cause, a.Detail), a.LogDigest, want)
		}
	}
	if n := len(s.Log()); n != sandbox.SessionLogBytes {
		t.Errorf("log of %d bytes, want %d", n, sandbox.SessionLogBytes)
	}
}
