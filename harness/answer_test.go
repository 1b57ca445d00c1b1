package harness_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	with := func(old, new string) string {
		if !strings.Contains(goodPlan, old) {
			t.Fatalf("the plan has no %s", old)
		}
		return strings.Replace(goodPlan, old, new, 1)
	}
	for _, tt := range []struct {
		name   string
		op     byte
		output string
		cause  intent.Cause
		detail string
		dies   bool
	}{
		{name: "a valid plan", output: goodPlan},
		{name: "the solver fails", op: 1, output: "no route", cause: intent.CauseSolverError, detail: "no route"},
		{name: "the message is not UTF-8", op: 1, output: "a\xff\xfeb", cause: intent.CauseSolverError, detail: "a\ufffdb"},
		{name: "not implemented", op: 2, cause: intent.CauseNotImplemented},
		{name: "a status that is none", op: 9, cause: intent.CauseBadOutput, detail: "status 9 is none of 0, 1 and 2"},
		{name: "nothing", cause: intent.CauseBadOutput},
		{name: "null", output: "null", cause: intent.CauseBadOutput},
		{name: "invalid UTF-8", output: with("app", "a\xffp"), cause: intent.CauseBadOutput},
		{name: "10,000 nested arrays", output: with(`"nonce":1`, `"nonce":1,"metadata":{"a":`+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)+`}`), cause: intent.CauseBadOutput},
		{name: "an unknown field", output: with(`"nonce":1`, `"nonce":1,"score":1`), cause: intent.CauseBadOutput},
		{name: "a plan for another chain", output: with(`"chain_id":1`, `"chain_id":8453`), cause: intent.CauseInvalidPlan},
		{name: "a value of -1", output: with(`"value":"0"`, `"value":"-1"`), cause: intent.CauseInvalidPlan},
		{name: "a value of 2^256", output: with(`"value":"0"`, `"value":"115792089237316195423570985008687907853269984665640564039457584007913129639936"`), cause: intent.CauseInvalidPlan},
		{name: "a deadline at the pinned time", output: with(`"deadline":2000`, `"deadline":1000`), cause: intent.CauseInvalidPlan},
		{name: "the nonce of another intent", output: with(`"nonce":1`, `"nonce":2`), cause: intent.CauseInvalidPlan},
		{name: "a plan of another intent", output: with(`"intent_id":"app"`, `"intent_id":"other"`), cause: intent.CauseInvalidPlan},
		{name: "a trap", op: opTrap, cause: intent.CauseTrap, dies: true},
		{name: "a bad pointer", op: opBadPointer, cause: intent.CauseBadPointer, dies: true},
		{name: "an exit", op: opExit, cause: intent.CauseExit, dies: true},
		{name: "more output than a plan may have", output: strings.Repeat(" ", 1<<20+1), cause: intent.CauseOutput, dies: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &puppet{act: but(harness.PhasePlan, tt.op, tt.output)}
			s := open(t, compile(t, puppetModule()), p.options())
			a := run(t, s, p.task())
			if a.Cause != tt.cause || tt.detail != "" && a.Detail != tt.detail {
				t.Errorf("Run() = %s, want cause %q, detail %q", harness.Explain(a.Cause, a.Detail), tt.cause, tt.detail)
			}
			if got, want := a.Plan != nil, tt.cause == intent.CauseNone; got != want {
				t.Errorf("a plan: %v, want %v", got, want)
			}
			if got, want := a.PlanHash != [32]byte{}, a.Plan != nil; got != want {
				t.Errorf("a plan hash: %v, want %v", got, want)
			}
			if tt.cause != intent.CauseNone && a.Phase != harness.PhasePlan {
				t.Errorf("phase %q, want generate_plan", a.Phase)
			}
			// The next row is untouched, and only a death costs a restart.
			p.act = obedient
			if next := run(t, s, p.task()); next.Cause != intent.CauseNone {
				t.Errorf("next row: %s", harness.Explain(next.Cause, next.Detail))
			}
			if got := s.Restarts() == 1; got != tt.dies {
				t.Errorf("%d restarts, dies: %v", s.Restarts(), tt.dies)
			}
		})
	}
}

// A message has at most 4 KiB, cut between runes.
func TestMessageIsClipped(t *testing.T) {
	t.Parallel()
	p := &puppet{act: but(harness.PhasePlan, 1, "x"+strings.Repeat("é", 3000))}
	s := open(t, compile(t, puppetModule()), p.options())
	a := run(t, s, p.task())
	if want := "x" + strings.Repeat("é", 2047); a.Detail != want {
		t.Errorf("detail of %d bytes, want %d", len(a.Detail), len(want))
	}
}

func TestTrigger(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	plans := []string{"check_trigger", "generate_plan"}
	declines := []string{"check_trigger"}
	for _, tt := range []struct {
		name      string
		truth     *bool
		op        byte
		output    string
		triggered *bool
		cause     intent.Cause
		calls     []string
	}{
		{name: "rightly triggered", truth: &yes, output: `{"trigger":true}`, triggered: &yes, calls: plans},
		{name: "rightly declined", truth: &no, output: `{"trigger":false}`, triggered: &no, calls: declines},
		{name: "missed", truth: &yes, output: `{"trigger":false}`, triggered: &no, cause: intent.CauseNotTriggered, calls: declines},
		{name: "false alarm", truth: &no, output: `{"trigger":true}`, triggered: &yes, cause: intent.CauseFalseTrigger, calls: declines},
		{name: "truth unknown, triggered", output: `{"trigger":true}`, triggered: &yes, calls: plans},
		{name: "truth unknown, declined", output: `{"trigger":false}`, triggered: &no, calls: plans},
		{name: "not implemented declines", truth: &no, op: 2, triggered: &no, calls: declines},
		{name: "a failure is no decision", truth: &no, op: 1, output: "?", cause: intent.CauseSolverError, calls: declines},
		{name: "a trap is no decision", truth: &no, op: opTrap, cause: intent.CauseTrap, calls: declines},
		{name: "a bare bool", truth: &no, output: "false", cause: intent.CauseBadOutput, calls: declines},
		{name: "a number", truth: &no, output: `{"trigger":0}`, cause: intent.CauseBadOutput, calls: declines},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &puppet{act: but(harness.PhaseTrigger, tt.op, tt.output)}
			s := open(t, compile(t, puppetModule()), p.options())
			p.calls = nil
			task := p.task()
			task.AskTrigger, task.Truth = true, tt.truth
			a := run(t, s, task)
			if diff := cmp.Diff(tt.triggered, a.Triggered); diff != "" {
				t.Errorf("triggered (-want +got):\n%s", diff)
			}
			if a.Cause != tt.cause {
				t.Errorf("cause %s, want %q", harness.Explain(a.Cause, a.Detail), tt.cause)
			}
			if diff := cmp.Diff(tt.calls, p.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if tt.cause != intent.CauseNone && a.Phase != harness.PhaseTrigger {
				t.Errorf("phase %q, want check_trigger", a.Phase)
			}
		})
	}
}

// A quote never touches the row, and a death in it costs no more than a restart.
func TestQuote(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		op     byte
		output string
		cause  intent.Cause
		dies   bool
	}{
		{name: "a quote", output: goodQuote},
		{name: "not implemented", op: 2, cause: intent.CauseNotImplemented},
		{name: "a failure", op: 1, output: "no", cause: intent.CauseSolverError},
		{name: "no JSON", output: "42", cause: intent.CauseBadOutput},
		{name: "a trap", op: opTrap, cause: intent.CauseTrap, dies: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &puppet{act: but(harness.PhaseQuote, tt.op, tt.output)}
			s := open(t, compile(t, puppetModule()), p.options())
			task := p.task()
			task.AskQuote = true
			a := run(t, s, task)
			if a.Cause != intent.CauseNone || a.Plan == nil {
				t.Errorf("row: %s, want a plan", harness.Explain(a.Cause, a.Detail))
			}
			if a.QuoteCause != tt.cause || (a.Quote != nil) != (tt.cause == intent.CauseNone) {
				t.Errorf("quote %+v, %q, want %q", a.Quote, a.QuoteCause, tt.cause)
			}
			run(t, s, p.task())
			if got := s.Restarts() == 1; got != tt.dies {
				t.Errorf("%d restarts, dies: %v", s.Restarts(), tt.dies)
			}
		})
	}
	t.Run("is not asked of an instance that died", func(t *testing.T) {
		t.Parallel()
		p := &puppet{act: but(harness.PhasePlan, opTrap, "")}
		s := open(t, compile(t, puppetModule()), p.options())
		task := p.task()
		task.AskQuote = true
		if a := run(t, s, task); a.Quote != nil || a.QuoteCause != intent.CauseNone {
			t.Errorf("quote %+v, %q, want none", a.Quote, a.QuoteCause)
		}
	})
}

// Guests of the classes that the sandbox names end as that cause, on their row.
func TestHostileGuests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		act   wasmtest.Act
		cause intent.Cause
	}{
		{"allocates without end", wasmtest.Allocate, intent.CauseMemory},
		{"floods its log", wasmtest.FloodLog, intent.CauseLog},
		{"recurses without end", wasmtest.Recurse, intent.CauseDepth},
		{"divides by zero", wasmtest.DivideZero, intent.CauseTrap},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := compile(t, wasmtest.Solver(wasmtest.Options{Answers: map[string]wasmtest.Answer{
				"solver_metadata":      {Output: []byte(goodMetadata)},
				"solver_generate_plan": {Act: tt.act, On: 2, Output: []byte(goodPlan)},
			}}))
			p := &puppet{}
			s := open(t, m, p.options())
			var got []intent.Cause
			for range 3 {
				got = append(got, run(t, s, p.task()).Cause)
			}
			if diff := cmp.Diff([]intent.Cause{"", tt.cause, ""}, got); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
}

// Explain prints any detail on one line of printable characters.
func TestExplainIsPrintable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cause := rapid.SampledFrom([]intent.Cause{intent.CauseSolverError, intent.CauseBadOutput, intent.CauseTrap, intent.CauseSessionEnded}).Draw(t, "cause")
		detail := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "detail")
		line := harness.Explain(cause, detail)
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' || r == '\u2028' }) {
			t.Fatalf("Explain(%q, %q) = %q", cause, detail, line)
		}
		if n := utf8.RuneCountInString(line); n > 300 {
			t.Fatalf("%d runes", n)
		}
	})
}
