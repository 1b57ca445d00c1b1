package benchmark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// A verdict is what a plan did and what that is worth.
type verdict struct {
	outcome *chain.Outcome
	score   scoring.Score // its Cause and Reason are the row's
}

// judge executes a valid plan and scores what it did. It is the only way to a
// value: self-test and epoch call it alike. Errors are the core's, never the
// plan's.
func (c *prepared) judge(ctx context.Context, seed [32]byte, plan intent.Plan) (verdict, error) {
	outcome, after, err := c.funded.Execute(ctx, plan)
	if err != nil {
		return verdict{}, fmt.Errorf("execute %s: %w", c.id, err)
	}
	score, err := c.app.Score(ctx, scoring.Input{
		Plan:    plan,
		State:   c.task.State,
		Encoded: c.scored,
		Outcome: outcome,
		After:   after,
		Context: c.world.Context(),
		Seed:    scorerSeed(seed, c.id),
		Best:    c.best,
	})
	if err != nil {
		return verdict{}, fmt.Errorf("score %s: %w", c.id, err)
	}
	return verdict{outcome: outcome, score: score}, nil
}

// scorerSeed is the randomness of one intent's scorer: the same for every
// solver.
func scorerSeed(pack [32]byte, intentID string) [32]byte {
	return sha256.Sum256(append(append([]byte("assay:scorer:v1"), pack[:]...), intentID...))
}

// overBudget renames what a plan died of when its solver had planned half blind:
// the reads it was refused explain the failure better than the revert they led
// to. A death of the instance keeps its own name, for it costs a restart.
func overBudget(cause intent.Cause) bool {
	switch cause {
	case intent.CauseInvalidPlan, intent.CauseReverted, intent.CauseOutOfGas, intent.CauseStateMissing,
		intent.CauseOverspent, intent.CauseMinOutput, intent.CauseOnchainGate, intent.CauseScorerVeto:
		return true
	}
	return false
}

// setOutcome copies into the row what executing the plan did.
func (r *Row) setOutcome(o *chain.Outcome) error {
	r.GasUsed, r.GasMetered = o.GasUsed, o.GasMetered
	r.Success = o.Cause == intent.CauseNone
	if o.Revert != nil {
		r.Revert = &Revert{Index: o.Revert.Index}
		if len(o.Revert.Data) > 0 {
			r.Revert.Data = hexSum(o.Revert.Data)
		}
	}
	for _, d := range o.Deltas {
		if d.Amount.Sign() != 0 {
			r.Deltas = append(r.Deltas, Delta{address(d.Account[:]), address(d.Token[:]), d.Amount.String()})
		}
	}
	type transfer struct {
		Token  string `json:"token"`
		From   string `json:"from"`
		To     string `json:"to"`
		Amount string `json:"amount"`
	}
	transfers := make([]transfer, 0, len(o.Transfers))
	for _, t := range o.Transfers {
		transfers = append(transfers, transfer{address(t.Token[:]), address(t.From[:]), address(t.To[:]), t.Amount.String()})
	}
	var err error
	r.Transfers, err = digest(transfers)
	return err
}

func address(b []byte) string { return "0x" + hex.EncodeToString(b) }

// asInfra marks err as the validator's own. An app's fault is one too by now:
// its self-test passed.
func asInfra(ctx context.Context, err error) error {
	var app *intent.AppFault
	if ctx.Err() == nil && errors.As(err, &app) {
		return &intent.InfraFault{Err: err}
	}
	return infra(ctx, err)
}
