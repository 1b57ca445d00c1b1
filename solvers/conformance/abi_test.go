package conformance_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// A row tells a guest what to do in one call and says what must come of it.
type row struct {
	name   string
	script string // what the call does
	export string // without "solver_"; empty = serialize_state, whose answer is bytes in every language
	input  string // of the call; empty = a canonical one, with the script in it if the call has a place for it
	size   int    // of the buffer that input is pulled with; 0 = the guest's own

	limit   int    // bytes of output; 0 = 1 MiB, none = 0
	fuel    uint64 // 0 = plenty
	readOut int    // bytes of replies; 0 = 1 MiB
	serve   map[string]sandbox.Reply
	broken  error // what every read fails with

	status int32
	output string
	cause  string // why the instance is dead; then there is no output
	detail string // part of the cause's text
	host   bool   // the call ends with the host's own error
	log    string
	talks  bool                       // language runtimes log why they end the program: log is not looked at
	asked  []string                   // "chain request" in order; nil = not looked at
	holds  func(sandbox.Usage) string // what is wrong with the usage

	cannot map[string]string // guests that have no way to do it, and why
}

// Why a guest can't do something.
const (
	engineReads    = "the engine pulls the input, whole"
	engineOutputs  = "the engine gives the answer away when the call has ended, in one piece"
	engineAsks     = "rpc sends one well-formed request and reads its reply whole"
	engineStatuses = "a script returns or throws; only a function that isn't there is not implemented"
	engineTraps    = "what a script does wrong is an error, which it is told of"
	noExit         = "a script has no way to end the program"
	noStdout       = "the engine has no standard output, console is the log"
	clockStands    = "a script's clock stands still at the pinned time"
)

const none = -1

func cannotJS(why string) map[string]string { return map[string]string{"js": why} }

// A recorder is the chains of a test. It answers by method what it was given,
// else with the method's name as the result.
type recorder struct {
	row   row
	mu    sync.Mutex
	asked []string
}

func (r *recorder) read(_ context.Context, chain uint64, req []byte) (sandbox.Reply, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := string(req)
	if len(text) > 100 {
		text = fmt.Sprintf("%d bytes", len(text))
	}
	r.asked = append(r.asked, fmt.Sprintf("%d %s", chain, text))
	if r.row.broken != nil {
		return sandbox.Reply{}, r.row.broken
	}
	if chain != 1 {
		return sandbox.Reply{Status: sandbox.ReadUnknownChain}, nil
	}
	for match, reply := range r.row.serve {
		if strings.Contains(string(req), match) {
			return reply, nil
		}
	}
	return sandbox.Reply{Body: []byte(`{"jsonrpc":"2.0","id":1,"result":"0x1"}`)}, nil
}

// An outcome is what one run of a row gave, long texts abridged.
type outcome struct {
	Status      int32
	Output, Log string
	Usage       sandbox.Usage
	Err         string
	Fault       sandbox.Fault
	Asked       []string
}

func quotedStrings(texts ...string) string {
	b, err := intent.Canonical(texts)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// initialize sends scripts for later calls.
func initialize(t *testing.T, i *sandbox.Instance, scripts ...string) {
	t.Helper()
	input := `{"chain_ids":[1],"rpc_urls":{"1":"assay://chain/1"},"supported_protocols":` + quotedStrings(scripts...) + `,"timeout_per_plan_ms":30000}`
	r, err := i.Call(t.Context(), sandbox.Call{Export: "solver_initialize", Input: []byte(input), Wall: wall, Fuel: plenty, OutputLimit: 1 << 16})
	if err != nil || r.Status != 0 {
		t.Fatalf("initialize: status %d %q, %v", r.Status, r.Output, err)
	}
}

func orDefault[T comparable](v, otherwise T) T {
	if zero := *new(T); v == zero {
		return otherwise
	}
	return v
}

// play runs a row in a fresh instance.
func (g guest) play(t *testing.T, r row) outcome {
	t.Helper()
	export := orDefault(r.export, "serialize_state")
	scripts := []string{export + " " + r.script}
	if r.size > 0 {
		scripts = append(scripts, fmt.Sprintf("input %d", r.size))
	}
	i := g.instantiate(t)
	initialize(t, i, scripts...)
	rec := &recorder{row: r}
	result, err := i.Call(t.Context(), sandbox.Call{
		Export: "solver_" + export, Input: []byte(r.input), Wall: wall, Fuel: orDefault(r.fuel, plenty), Seed: seed,
		OutputLimit: max(orDefault(r.limit, 1<<20), 0), Read: rec.read, ReadOut: orDefault(r.readOut, 1<<20),
	})
	if alive := i.Alive(); alive != (err == nil) {
		t.Errorf("alive %t after the error %v", alive, err)
	}
	i.Close(context.Background())
	o := outcome{
		Status: result.Status, Output: abridged(string(result.Output)), Log: abridged(string(result.Log)),
		Usage: result.Usage, Asked: rec.asked,
	}
	if fault := (*sandbox.Fault)(nil); errors.As(err, &fault) {
		o.Fault = *fault
	} else if err != nil {
		o.Err = err.Error()
	}
	return o
}

// The interpreter is slow: without ASSAY_SOAK=1 it is asked only what costs little
// fuel, and of a script, whose loading alone costs a second, every eighth row. Under
// the race detector it would take minutes.
const cheap = 20_000_000

var soak = os.Getenv("ASSAY_SOAK") != ""

// TestABI asks every guest every row: what must come of it comes of it, the same
// in two instances and on both engines, to the last unit of fuel.
func TestABI(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		for n, r := range rows {
			t.Run(r.name, func(t *testing.T) {
				if why, ok := r.cannot[g.name]; ok {
					t.Skipf("%s has no way to do this: %s", g.name, why)
				}
				got := g.play(t, r)
				r.judge(t, got)
				if diff := cmp.Diff(got, g.play(t, r)); diff != "" {
					t.Errorf("a second instance (-first +second)\n%s", diff)
				}
				if race || !soak && (got.Usage.Fuel > cheap || g.script && n%8 != 0) {
					return
				}
				interpreted := g
				interpreted.interpreted = true
				if diff := cmp.Diff(got, interpreted.play(t, r)); diff != "" {
					t.Errorf("the interpreter (-compiled +interpreted)\n%s", diff)
				}
			})
		}
	})
}

// judge compares what came of a row with what had to.
func (r row) judge(t *testing.T, got outcome) {
	t.Helper()
	if got.Fault.Cause != r.cause || !strings.Contains(got.Fault.Detail, r.detail) {
		t.Errorf("fault %q %q, want %q %q", got.Fault.Cause, got.Fault.Detail, r.cause, r.detail)
	}
	if (got.Err != "") != r.host {
		t.Errorf("error %q, want one: %t", got.Err, r.host)
	}
	if got.Status != r.status {
		t.Errorf("status %d, want %d", got.Status, r.status)
	}
	if diff := cmp.Diff(abridged(r.output), got.Output); diff != "" {
		t.Errorf("output (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(abridged(r.log), got.Log); !r.talks && diff != "" {
		t.Errorf("log (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(r.asked, got.Asked); r.asked != nil && diff != "" {
		t.Errorf("asked (-want +got)\n%s", diff)
	}
	if r.holds != nil {
		if wrong := r.holds(got.Usage); wrong != "" {
			t.Errorf("usage %+v: %s", got.Usage, wrong)
		}
	}
}

// abridged keeps a failure of a long text readable: its ends and a sum of all.
func abridged(s string) string {
	if len(s) <= 2000 {
		return s
	}
	return fmt.Sprintf("%q … %d bytes, SHA-256 %x … %q", s[:100], len(s), sha256.Sum256([]byte(s)), s[len(s)-100:])
}
