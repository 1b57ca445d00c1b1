package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest/hostile"
)

// The figures that hostile guests are held to. Times are asserted at ten times
// as much, for hosts that do other things as well.
const (
	stopLatency = 200 * time.Millisecond // past a wall limit
	pauseLimit  = 50 * time.Millisecond  // of runtime.GC() beside a guest
	refusalTime = 500 * time.Millisecond // of a module
	peakLimit   = 2 << 30                // bytes of the whole test
)

// hostileWall is the limit that endless guests are stopped at.
const hostileWall = 100 * time.Millisecond

// Every hostile guest is refused, for its reason, or comes to its end, while a
// live solver beside it does what it does alone and the host's collector gets
// its turn. What would go on for ever ends by fuel, and without that by the wall
// limit. ASSAY_SOAK=1 also gives them the limits of generate_plan, which takes
// minutes.
func TestHostileGuests(t *testing.T) {
	resetPeak(t)
	l := newLab(t)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "guest\tend\tdetail\ttook\tfuel\tMfuel/s\twall stop\tGC, half\tat most\t10 G, 30 s")
	limit := 10 * pauseLimit
	if underRaceDetector() { // which keeps several words for each
		limit *= 10
	}
	for _, g := range hostile.All() {
		if testing.Short() && (g.Large || g.Go) {
			continue
		}
		t.Run(g.Name, func(t *testing.T) {
			l.pauses.take()
			r := l.hold(t, g)
			median, most := l.pauses.take()
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", g.Name, r.end, cut(r.detail, 60), ms(r.took), r.spent(), r.rate(), r.late, ms(median), ms(most), r.full)
			// A guest that holds up the collector does so every time; what else the
			// host does, now and then.
			for again := 0; most > limit; again++ {
				if again == 2 {
					t.Fatalf("runtime.GC() took %v, and more than %v three times", most, limit)
				}
				l.pauses.take()
				l.hold(t, g)
				_, most = l.pauses.take()
			}
		})
	}
	w.Flush()
	t.Logf("\n%s", &table)
	t.Logf("the live solver ran %d times beside them", l.runs.Load())
	if peak, ok := peakBytes(); ok {
		t.Logf("peak resident memory %d MiB", peak>>20)
		if peak >= peakLimit {
			t.Errorf("peak resident memory is %d bytes, limit %d", peak, peakLimit)
		}
	}
}

// A row is what became of a guest.
type row struct {
	end, detail string
	usage       sandbox.Usage
	took        time.Duration
	late        string
	full        string // under the limits of generate_plan
}

func (r row) spent() string {
	if r.usage.Fuel == 0 {
		return ""
	}
	return fmt.Sprint(r.usage.Fuel)
}

func (r row) rate() string {
	if r.usage.Fuel < 1_000_000 {
		return ""
	}
	return fmt.Sprintf("%.0f", float64(r.usage.Fuel)/1e6/r.took.Seconds())
}

// hold lets a guest do its harm, and asserts its end.
func (l *lab) hold(t *testing.T, g hostile.Guest) row {
	wasm := l.bytes(t, g)
	began := time.Now()
	m, err := l.compile(g, wasm)
	if g.End.Reason != "" || err != nil {
		r := row{end: "admitted", took: time.Since(began)}
		var refusal *sandbox.Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("admitted, or %v", err)
			return r
		}
		r.end, r.detail = "refused: "+string(refusal.Reason), refusal.Detail
		if refusal.Reason != g.End.Reason || !strings.Contains(refusal.Detail, g.End.Detail) {
			t.Errorf("refused for %s: %s", refusal.Reason, refusal.Detail)
		}
		if r.took > 10*refusalTime {
			t.Errorf("it took %v", r.took)
		}
		return r
	}
	if l.modules[moduleKey(g)] == nil {
		defer m.Close()
	}

	c := plan()
	c.Input, c.Fuel, c.Wall = []byte(g.Input), g.Fuel, hostile.Wall
	if g.Fuel == 0 {
		c.Fuel = hostile.DefaultFuel
	}
	r := l.run(t, g, m, c)
	r.assert(t, g, g.End)
	if g.Reads == hostile.Chain && r.usage.Reads > 3 {
		t.Errorf("made %d reads: none of them took its gas", r.usage.Reads)
	}
	if g.Endless() && !testing.Short() {
		c.Fuel, c.Wall = 1<<60, hostileWall
		var stalled outcome
		for n := 0; n == 0 || n < 4 && (stalled.took > hostileWall+stopLatency || errors.Is(stalled.err, sandbox.ErrWall)); n++ {
			// What else the host does may keep the processor from the guest, and from
			// the calibration guest, which then says so by ErrWall.
			stalled = l.run(t, g, m, c)
		}
		late := stalled.took - hostileWall
		stalled.assert(t, g, hostile.End{Cause: sandbox.CauseStalled, Detail: fmt.Sprint("stopped after ", hostileWall)})
		if late > 10*stopLatency {
			t.Errorf("stopped %v after its wall limit", late)
		}
		r.late = "+" + ms(late)
	}
	if g.Endless() && os.Getenv("ASSAY_SOAK") != "" {
		r.full = l.inFull(t, g, m, c)
	}
	return r.row
}

// inFull gives an endless guest what generate_plan has, and says what its end was,
// and when. Some of them are done within that.
func (l *lab) inFull(t *testing.T, g hostile.Guest, m *sandbox.Module, c sandbox.Call) string {
	t.Helper()
	c.Fuel, c.Wall = 10_000_000_000, 30*time.Second
	o := l.run(t, g, m, c)
	end := "answers"
	if o.err != nil {
		if end = causeOf(o.err); end != sandbox.CauseFuel && end != sandbox.CauseStalled {
			t.Errorf("ends by %v", o.err)
		}
	}
	if o.took > c.Wall+10*stopLatency {
		t.Errorf("ends after %v", o.took)
	}
	return fmt.Sprintf("%s %.2f s", end, o.took.Seconds())
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

// An outcome is what one instance of a guest came to.
type outcome struct {
	row
	result sandbox.Result
	err    error
}

// run makes an instance, prepares it and makes the call, or has the instantiation
// under the call's limits.
func (l *lab) run(t *testing.T, g hostile.Guest, m *sandbox.Module, c sandbox.Call) (o outcome) {
	t.Helper()
	env := sandbox.Env{Time: 1_700_000_000}
	if g.Start && g.Script == "" {
		env.Fuel, env.Wall = c.Fuel, c.Wall
		env.Allowance = m.Allow(time.Hour, 1<<60)
	}
	began := time.Now()
	i, err := m.Instantiate(t.Context(), env)
	if g.Start && g.Script == "" {
		o.took = time.Since(began)
		o.err, o.usage.Fuel = err, 1<<60-env.Allowance.Fuel()
		if err == nil {
			i.Close(context.Background())
		}
		return o
	}
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close(context.Background())

	if g.Script != "" {
		load := c
		load.Export = "js_load"
		load.Input, err = json.Marshal(map[string]any{"time": 1_700_000_000, "seed": strings.Repeat("0123456789abcdef", 4), "source": g.Script})
		if err != nil {
			t.Fatal(err)
		}
		if !g.Start {
			load.Fuel, load.Wall = endless, hostile.Wall
		}
		began := time.Now()
		r, err := i.Call(t.Context(), load)
		if g.Start {
			return outcome{row{usage: r.Usage, took: time.Since(began)}, r, err}
		}
		if err != nil || r.Status != 0 {
			t.Fatalf("js_load: status %d %q, %v", r.Status, r.Output, err)
		}
		c.Input = []byte(`{"intent_id":"i","intent":{},"state":{},"snapshot":null}`)
	}
	prepare := c
	prepare.Export, prepare.Input, prepare.Fuel, prepare.Wall = "solver_initialize", []byte("{}"), endless, hostile.Wall
	if r, err := i.Call(t.Context(), prepare); err != nil || r.Status != 0 {
		t.Fatalf("solver_initialize: status %d %q, %v", r.Status, r.Output, err)
	}
	c.Read = reads(t, g.Reads)
	began = time.Now()
	r, err := i.Call(t.Context(), c)
	return outcome{row{usage: r.Usage, took: time.Since(began)}, r, err}
}

// assert compares an outcome with what it must be, and names it.
func (o *outcome) assert(t *testing.T, g hostile.Guest, want hostile.End) {
	t.Helper()
	var fault *sandbox.Fault
	switch {
	case errors.As(o.err, &fault):
		o.end, o.detail = fault.Cause, fault.Detail
		if fault.Cause != want.Cause || !strings.Contains(fault.Detail, want.Detail) {
			t.Errorf("ends by %v, want %s: …%s…", fault, want.Cause, want.Detail)
		}
	case o.err != nil:
		t.Errorf("ends by %v, want %s", o.err, want.Cause)
	case want.Cause != "":
		t.Errorf("answers %d %q, want %s", o.result.Status, cut(string(o.result.Output), 200), want.Cause)
	default:
		o.end, o.detail = fmt.Sprint("status ", o.result.Status), cut(string(o.result.Output), 60)
		same := string(o.result.Output) == want.Output
		if g.Script != "" {
			same = strings.Contains(string(o.result.Output), want.Output)
		}
		if o.result.Status != want.Status || !same {
			t.Errorf("answers %d %q, want %d %q", o.result.Status, o.result.Output, want.Status, want.Output)
		}
	}
}

// cut is the beginning of a text, on one line.
func cut(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "…"
	}
	if strconv.CanBackquote(s) {
		return s
	}
	return strconv.Quote(s)
}
