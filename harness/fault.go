package harness

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// A fault is what a solver did wrong, and in which phase.
type fault struct {
	phase  Phase // empty: before a phase was reached
	cause  intent.Cause
	detail string // valid UTF-8, at most MessageBytes
}

// where is the detail, led by the phase. The plan is what a row is about, so its
// phase is left out.
func (f *fault) where() string {
	switch {
	case f.phase == "" || f.phase == PhasePlan:
		return f.detail
	case f.detail == "":
		return string(f.phase)
	}
	return clip(string(f.phase) + ": " + f.detail)
}

// text is phase, cause and detail in one line that is safe to print.
func (f *fault) text() string {
	if f.phase == "" {
		return Explain(f.cause, f.detail)
	}
	return string(f.phase) + ": " + Explain(f.cause, f.detail)
}

// unstarted is the fault every row of a session has that never started.
func (f *fault) unstarted() *intent.MinerFault {
	return &intent.MinerFault{Cause: intent.CauseSessionEnded, Detail: f.text()}
}

// answered says what a status other than 0 means.
func answered(p Phase, r sandbox.Result) *fault {
	switch r.Status {
	case statusOK:
		return nil
	case statusFailed:
		return &fault{p, intent.CauseSolverError, message(r.Output)}
	case statusNotImplemented:
		return &fault{p, intent.CauseNotImplemented, message(r.Output)}
	}
	return &fault{p, intent.CauseBadOutput, fmt.Sprintf("status %d is none of 0, 1 and 2", r.Status)}
}

func badOutput(p Phase, err error) *fault {
	return &fault{p, intent.CauseBadOutput, clip(err.Error())}
}

// byWall reports whether a clock decided: no number of such a call repeats.
func (f *fault) byWall() bool { return f.cause == intent.CauseStalled }

// final reports whether no further call of the session will be made.
func (f *fault) final() bool {
	return f.cause == intent.CauseStalled || f.cause == intent.CauseSessionFuel
}

// message makes a solver's text storable: valid UTF-8, clipped. It is still a
// guest's text: print it quoted.
func message(b []byte) string {
	return clip(strings.ToValidUTF8(string(b[:min(len(b), MessageBytes+utf8.UTFMax)]), "\ufffd"))
}

// clip cuts valid text to at most [MessageBytes], between runes.
func clip(s string) string {
	if len(s) <= MessageBytes {
		return s
	}
	cut := MessageBytes
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// Explain renders a cause and its detail as one line that is safe to print. A
// message of the solver's is quoted. What the core says about a guest quotes the
// guest's part already and stays as it is, unless something in it slipped
// through.
func Explain(c intent.Cause, detail string) string {
	if detail == "" {
		return string(c)
	}
	quoted := intent.Quoted(detail, intent.MaxQuotedRunes)
	switch c {
	case intent.CauseSolverError, intent.CauseNotImplemented, intent.CauseRPCBudget:
		return string(c) + ": " + quoted
	}
	plain := strings.NewReplacer(`"`, "", `\`, "").Replace(detail)
	if intent.Quoted(plain, intent.MaxQuotedRunes) == `"`+plain+`"` {
		return string(c) + ": " + detail
	}
	return string(c) + ": " + quoted
}
