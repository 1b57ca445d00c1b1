package harness

import (
	"context"

	"github.com/subnet112/assay/intent"
)

// A Final is how a session ended. Nothing in it touches a score.
type Final struct {
	// State is what the solver wants to find next time, exactly as it gave it.
	// Valid only if Saved; empty then means that it has none, and what was
	// stored before goes.
	State []byte
	Saved bool

	// Note says why nothing was saved: "state_refused", "no_instance",
	// "not_implemented", or phase, cause and message. One line, safe to print.
	Note string
}

// Reasons of [Final].Note that are not a phase's.
const (
	NoteStateRefused   = "state_refused"   // the incoming state was refused: it is kept
	NoteNoInstance     = "no_instance"     // the last instance died
	NoteNotImplemented = "not_implemented" // the solver keeps no state
)

// Finish ends a session: on_benchmark_end with the results in the order of the
// rows, then serialize_state, both on the last live instance, or in an isolated
// session where the opening ended. The error is the host's. Call it once, after
// the last task.
func (s *Solver) Finish(ctx context.Context, results []intent.Result) (Final, error) {
	if s.isolation == IsolationIntent {
		if f, err := s.revive(ctx); err != nil {
			return Final{}, err
		} else if f != nil {
			return Final{Note: f.text()}, nil
		}
	}
	if !s.alive() {
		return Final{Note: NoteNoInstance}, nil
	}
	if results == nil {
		results = []intent.Result{}
	}
	input, err := canonical("results", results)
	if err != nil {
		return Final{}, err
	}
	f, err := s.tell(ctx, call{phase: PhaseEnd, input: input, reads: s.reads})
	if err != nil {
		return Final{}, err
	}
	if s.ends(f) {
		return Final{Note: f.text()}, nil
	}
	if s.refused != "" {
		return Final{Note: NoteStateRefused}, nil
	}
	return s.serialize(ctx)
}

func (s *Solver) serialize(ctx context.Context) (Final, error) {
	out, f, err := s.do(ctx, call{phase: PhaseSerialize, reads: s.reads}, &tally{})
	switch {
	case err != nil:
		return Final{}, err
	case f == nil:
		return Final{State: out, Saved: true}, nil
	case f.cause == intent.CauseNotImplemented:
		return Final{Note: NoteNotImplemented}, nil
	}
	return Final{Note: f.text()}, nil
}
