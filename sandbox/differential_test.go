package sandbox_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest/hostile"
)

// A session is a guest and the calls that are made in it, until one fails. It is
// plain data, for another process to run it.
type session struct {
	Name    string
	Module  []byte
	Profile sandbox.Profile
	Fuel    uint64 // of all of it
	Steps   []step
	Reads   hostile.Reads // what serves its reads
	Long    bool          // it takes long and says little that others don't
	Large   bool          // it takes minutes on the interpreter
}

// A step is one call.
type step struct {
	Export string
	Input  []byte
	Fuel   uint64 // 0 = as much as the session has
}

// soak reports whether there is time for everything.
func soak() bool { return os.Getenv("ASSAY_SOAK") == "1" }

// mustHaveAll reports whether what is missing is a failure.
func mustHaveAll() bool { return os.Getenv("CI") == "true" || os.Getenv("ASSAY_ALL") == "1" }

// The compiler and the interpreter end every guest the same: status, answer,
// log, fuel and memory, at its own end and wherever its fuel may end.
func TestEnginesAgree(t *testing.T) {
	seed := randomSeed(t)
	for _, s := range sessions(t, seed) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			compiled, interpreted := s.on(t, sandbox.Config{}), s.on(t, sandbox.Config{Interpreter: true})
			ready := time.Since(began)
			want := compiled.run(t, s.Fuel)
			if diff := cmp.Diff(want, interpreted.run(t, s.Fuel)); diff != "" {
				t.Errorf("to its end (-compiler +interpreter):\n%s", diff)
			}
			once := time.Since(began) - ready
			for _, fuel := range s.cuts(seed, want, s.often()) {
				if diff := cmp.Diff(compiled.run(t, fuel), interpreted.run(t, fuel)); diff != "" {
					t.Errorf("cut off after %d (-compiler +interpreter):\n%s", fuel, diff)
				}
			}
			t.Logf("spent %d, %s; made in %v, run in %v, cut in %v", want.Spent, want.last(), ready, once, time.Since(began)-ready-once)
		})
	}
}

// often is how many times it is cut off.
func (s *session) often() int {
	switch {
	case underRaceDetector(): // which watches every step of the interpreter
		return 1
	case s.Large:
		return 3
	case s.Long && !soak():
		return 5
	}
	return 50
}

// cuts are amounts of fuel that aren't enough.
func (s *session) cuts(seed uint64, whole course, n int) (cuts []uint64) {
	h := fnv.New64()
	fmt.Fprint(h, s.Name)
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	for range n {
		cuts = append(cuts, 1+r.Uint64N(max(whole.Spent, 1)))
	}
	return cuts
}

// A course is what can be seen of a session.
type course struct {
	Spent uint64
	Ends  []string // of each call, and of instantiating
}

func (c course) last() string {
	text, _, _ := strings.Cut(c.Ends[len(c.Ends)-1], "\n")
	return text
}

// A machine runs a session.
type machine struct {
	*session
	module *sandbox.Module
	memory [32]byte // SHA-256 of the memory when the last call ended
}

func (s *session) on(t testing.TB, c sandbox.Config) *machine {
	t.Helper()
	e := newEngine(t, c)
	m := &machine{session: s}
	e.OnEnd(func(memory []byte, _ uint64) { m.memory = sha256.Sum256(memory) })
	var err error
	if m.module, err = e.Compile(t.Context(), s.Module, s.Profile); err != nil {
		t.Fatal(err)
	}
	return m
}

// hour is a wall limit that none of them reaches.
const hour = time.Hour

// run runs the session with so much fuel in all.
func (m *machine) run(t *testing.T, fuel uint64) (c course) {
	t.Helper()
	a := m.module.Allow(hour, fuel)
	defer func() { c.Spent = fuel - a.Fuel() }()
	i, err := m.module.Instantiate(context.Background(), sandbox.Env{
		Time: 1_700_000_000, Seed: [32]byte{1}, Wall: hour, Fuel: endless, Allowance: a,
	})
	seen := func(export string, r sandbox.Result, err error) {
		c.Ends = append(c.Ends, fmt.Sprintf("%s\n%d left", m.end(export, r, err), a.Fuel()))
	}
	seen("instantiate", sandbox.Result{}, err)
	if err != nil {
		return c
	}
	defer i.Close(context.Background())
	read := reads(t, m.Reads)
	for _, s := range m.Steps {
		r, err := i.Call(context.Background(), s.call(read))
		seen(s.Export, r, err)
		if err != nil {
			break
		}
	}
	return c
}

func (s step) call(read sandbox.ReadFunc) sandbox.Call {
	c := sandbox.Call{
		Export: s.Export, Input: s.Input, Wall: hour, Fuel: s.Fuel,
		OutputLimit: 4 << 20, Seed: [32]byte{2}, Read: read, ReadOut: 1 << 20,
	}
	if c.Fuel == 0 {
		c.Fuel = endless
	}
	return c
}

// end is what can be seen at the end of a call.
func (m *machine) end(export string, r sandbox.Result, err error) string {
	return fmt.Sprintf("%s: status %d, error %v\noutput %s\nlog %s\n%+v\nmemory %x",
		export, r.Status, err, abridged(r.Output), abridged(r.Log), r.Usage, m.memory)
}

// abridged is a text, or the hash of a long one.
func abridged(b []byte) string {
	if len(b) > 200 {
		return fmt.Sprintf("%d bytes, %x", len(b), sha256.Sum256(b))
	}
	return strconv.QuoteToASCII(string(b))
}
