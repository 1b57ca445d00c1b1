package scoring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// An Input is everything a score depends on besides the app. It is not changed.
type Input struct {
	Plan    intent.Plan
	State   intent.State
	Outcome *chain.Outcome // of executing Plan; nil only where no plan was executed
	After   *chain.View    // what ethCall reads: the state after the plan; nil: no chain is known
	Context chain.Context  // the pinned block
	Seed    [32]byte       // of Math.random; the same for every solver of an intent
	Encoded []byte         // State by EncodeState, where many plans are scored for one intent; nil: it is encoded anew
	Best    string         // the best known value, a decimal of at least 1, or the validator is at fault; "" = no cap
}

// Notes of a score. They are constants because they stand in the digest of an
// epoch's rows, where no text of a guest's or of a library's may be; what the
// scorer said in its own words is in [Score].Reason, which does not.
const (
	NoteOutputMalformed = "metadata.raw_output ignored: malformed"
	NoteOutputAbove     = "metadata.raw_output ignored: above the measured value"
	NoteBreakdown       = "breakdown: entries omitted"
)

// A Score is what a plan is worth, or why it is worth nothing. Texts are one line
// each, safe to print, text of the app or the chain quoted in them.
type Score struct {
	Cause       intent.Cause      // why there is no value; CauseNone: there is one
	Value       string            // what the plan delivered, at least 1; "" = none
	Credited    string            // Value, at most 105 % of Input.Best; "" = none
	Score       string            // what the scorer said, clamped to [0,1]; "0" where it was not asked
	Reason      string            // why there is no value
	Notes       []string          // what was ignored: Note constants of this package, and no other text
	AboveOracle bool              // Credited is less than Value
	ByScorer    bool              // Value is the scorer's word: the manifest declares none
	Breakdown   map[string]string // the scorer's, decimals; keys are guest text; nil = none
}

// Score scores an executed plan. A plan that failed, or delivered less than the
// intent's minimum, keeps that cause and the scorer is not asked. The error is an
// *[intent.AppFault] if the intent lacks what the manifest promises, else an
// *[intent.InfraFault].
func (a *App) Score(ctx context.Context, in Input) (Score, error) {
	s := Score{Score: "0"}
	if in.Outcome == nil {
		return s, infra(fmt.Errorf("score app %q: no outcome", a.definition.AppID))
	}
	if in.Outcome.Cause != intent.CauseNone {
		return s.none(in.Outcome.Cause, in.Outcome.Detail), nil
	}
	m, err := newMeasure(a.definition, in.State)
	if err != nil {
		return s, a.fault(err)
	}
	var value *big.Int
	if s.ByScorer = m == nil; !s.ByScorer {
		var short string
		if value, short, err = m.value(in.Outcome); err != nil {
			return s, infra(err)
		}
		if short != "" {
			return s.none(intent.CauseMinOutput, short), nil
		}
	}
	said, failed, err := a.ask(ctx, in)
	if err != nil {
		return s, err
	}
	if failed != nil {
		return s.none(failed.cause(), failed.detail), nil
	}
	s.Score, s.Breakdown, s.Notes = formatDecimal(said.score), said.breakdown, said.notes
	if reason := said.veto(a.threshold); reason != "" {
		return s.none(intent.CauseScorerVeto, reason), nil
	}
	if s.ByScorer {
		return s.byScorer(said, in.Best)
	}
	return s.byCore(value, said, in.Best)
}

// none takes the value away.
func (s Score) none(cause intent.Cause, reason string) Score {
	s.Cause, s.Reason = cause, reason
	return s
}

// veto says why a result takes the value away, "" if it does not.
func (r *result) veto(threshold *big.Int) string {
	switch {
	case !r.valid:
		return r.reason
	case r.score.Cmp(threshold) < 0:
		return "score " + formatDecimal(r.score) + " is below the threshold " + formatDecimal(threshold)
	}
	return ""
}

// byCore lets the scorer lower the measured value, and no more.
func (s Score) byCore(value *big.Int, said result, best string) (Score, error) {
	output, problem := said.output()
	switch {
	case problem == outputAbsent:
	case problem != "":
		s.Notes = append(s.Notes, NoteOutputMalformed)
	case output.Cmp(value) > 0:
		s.Notes = append(s.Notes, NoteOutputAbove)
	default:
		value = output
	}
	return s.worth(value, best)
}

// byScorer takes the scorer's word for the value.
func (s Score) byScorer(said result, best string) (Score, error) {
	output, problem := said.output()
	if problem != "" {
		return s.none(intent.CauseScorerFailed, "metadata.raw_output: "+problem), nil
	}
	return s.worth(output, best)
}

// worth sets the value. Zero is none: adoption compares positive amounts.
func (s Score) worth(value *big.Int, best string) (Score, error) {
	if value.Sign() == 0 {
		return s.none(intent.CauseScorerVeto, "metadata.raw_output is 0"), nil
	}
	credited, above, err := credit(value, best)
	if err != nil {
		return s, infra(err)
	}
	s.Value, s.Credited, s.AboveOracle = value.String(), credited.String(), above
	return s, nil
}

// ask runs the app's score function and reads its result.
func (a *App) ask(ctx context.Context, in Input) (result, *failure, error) {
	output, failed, err := a.call(ctx, exportScore, in)
	if failed != nil || err != nil {
		return result{}, failed, err
	}
	said, err := parseResult(output)
	if err != nil {
		return result{}, &failure{detail: intent.Quoted(err.Error(), reasonRunes)}, nil
	}
	return said, nil, nil
}

// call makes one call with the input in.
func (a *App) call(ctx context.Context, export string, in Input) ([]byte, *failure, error) {
	input, ofPlan, err := a.request(in)
	if err != nil {
		if ofPlan {
			return nil, &failure{detail: "the plan has no canonical form: " + err.Error()}, nil
		}
		return nil, nil, a.fault(fmt.Errorf("state: %w", err))
	}
	return a.program.call(ctx, sandbox.Call{
		Export: export,
		Input:  input,
		Seed:   in.Seed,
		Read:   a.program.scorer.limits.reads(in.After, in.State.ChainID),
	})
}

// A Verdict is what an app's validate says about a plan.
type Verdict struct {
	Valid  bool
	Reason string // why not; one safe line
}

// Validate asks the app's code whether a plan looks right, before or after it was
// executed; Input.Outcome may be nil. Code without validate finds every plan
// valid; code that fails finds it invalid. Errors are as of [App.Score].
func (a *App) Validate(ctx context.Context, in Input) (Verdict, error) {
	if !a.validates {
		return Verdict{Valid: true}, nil
	}
	output, failed, err := a.call(ctx, exportValidate, in)
	if err != nil {
		return Verdict{}, err
	}
	if failed != nil {
		return Verdict{Reason: failed.detail}, nil
	}
	return parseVerdict(output), nil
}

// parseVerdict reads a boolean, or an object with valid and optionally reason.
func parseVerdict(b []byte) Verdict {
	valid, reason := json.RawMessage(b), json.RawMessage(nil)
	if kindOf(b) == "object" {
		fields := map[string]json.RawMessage{}
		if err := json.Unmarshal(b, &fields); err != nil {
			return Verdict{Reason: "validate returned no JSON"}
		}
		valid, reason = fields["valid"], fields["reason"]
	}
	switch {
	case string(valid) == "true":
		return Verdict{Valid: true}
	case string(valid) != "false":
		return Verdict{Reason: "validate returned neither true nor false"}
	case kindOf(reason) == "string":
		return Verdict{Reason: textOf(reason)}
	}
	return Verdict{Reason: "invalid without a reason"}
}

// ShouldTrigger asks the app's code whether an auto-triggered intent is due.
// Code without shouldTrigger, or whose shouldTrigger fails, says no; where a wall
// limit stopped it nobody knows, which is an [intent.InfraFault]. Of the input it
// uses everything but Plan and Best; Outcome is normally nil and After the view of
// the pinned state. Other errors are as of [App.Score].
func (a *App) ShouldTrigger(ctx context.Context, in Input) (bool, error) {
	if !a.triggers {
		return false, nil
	}
	output, failed, err := a.call(ctx, exportShouldTrigger, in)
	if failed != nil && failed.late {
		err = infra(errors.New(failed.detail))
	}
	if failed != nil || err != nil {
		return false, err
	}
	var answer struct {
		Trigger bool `json:"trigger"`
	}
	if err := json.Unmarshal(output, &answer); err != nil {
		return false, nil // the code bent what its answer goes through
	}
	return answer.Trigger, nil
}
