package scoring

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// Statuses of an export, as of the solver ABI.
const (
	statusOK             = 0
	statusNotImplemented = 2 // any other: it failed, the output is its message
)

// reasonRunes is how much text of a guest a reason shows.
const reasonRunes = 200

// A failure is what an app's code did instead of answering: a throw, a promise
// that never settled, a limit it ran into. It is a value, not an error: whose
// fault it is depends on who asked.
type failure struct {
	absent bool   // the module does not export what was asked for
	late   bool   // a wall stopped it: on another host its fuel might have
	detail string // one safe line
}

// cause is why a plan has no value when the scorer did this. What a clock
// decided has the one cause that says so, not that of a scorer that failed: rows
// with it are the ones that another host may not repeat.
func (f *failure) cause() intent.Cause {
	if f.late {
		return intent.CauseStalled
	}
	return intent.CauseScorerFailed
}

// A program is an app's code with what its calls need.
type program struct {
	scorer *Scorer
	source string
}

// kinds are what typeof says about the exports of a module.
type kinds struct {
	Score         string `json:"score"`
	Validate      string `json:"validate"`
	ShouldTrigger string `json:"shouldTrigger"`
	Config        string `json:"config"`
	Manifest      string `json:"manifest"`
}

// load starts an instance and evaluates the code in it. The caller closes the
// instance, which is nil with a failure or an error.
func (p *program) load(ctx context.Context) (*sandbox.Instance, *kinds, *failure, error) {
	// Not canonical JSON: the source is the app's, whatever characters it holds,
	// and its bytes stand in the definition's digest.
	input, err := json.Marshal(struct {
		Source string `json:"source"`
		Time   uint64 `json:"time"`
		Seed   string `json:"seed"`
	}{p.source, 0, hex.EncodeToString(make([]byte, 32))})
	if err != nil {
		return nil, nil, nil, infra(fmt.Errorf("encode source: %w", err))
	}
	instance, err := p.scorer.module.Instantiate(ctx, sandbox.Env{})
	if err != nil {
		// The engine is ours: that it does not start is nobody else's doing.
		return nil, nil, nil, infra(fmt.Errorf("start scorer engine: %w", err))
	}
	output, failed, err := p.scorer.invoke(ctx, instance, sandbox.Call{Export: exportLoad, Input: input})
	if err != nil || failed != nil {
		instance.Close(ctx)
		return nil, nil, failed, err
	}
	k := new(kinds)
	if err := json.Unmarshal(output, k); err != nil {
		instance.Close(ctx)
		// A program that overwrites what its own loading needs gets here.
		return nil, nil, &failure{detail: "its exports cannot be read"}, nil
	}
	return instance, k, nil, nil
}

// call runs one export in a fresh instance.
func (p *program) call(ctx context.Context, c sandbox.Call) ([]byte, *failure, error) {
	instance, _, failed, err := p.load(ctx)
	if err != nil || failed != nil {
		return nil, failed, err
	}
	defer instance.Close(ctx)
	return p.scorer.invoke(ctx, instance, c)
}

// invoke makes one call within the scorer's limits.
func (s *Scorer) invoke(ctx context.Context, i *sandbox.Instance, c sandbox.Call) ([]byte, *failure, error) {
	c.OutputLimit, c.ReadOut, c.Fuel = s.limits.ResultBytes, s.limits.ReadBytes, 2_000_000_000
	c.Wall, c.Fuel = s.limits.Wall, s.limits.Fuel
	if c.Export == exportLoad {
		c.Wall, c.Fuel = s.limits.LoadWall, s.limits.LoadFuel
	}
	result, err := i.Call(ctx, c)
	var fault *sandbox.Fault
	switch {
	case ctx.Err() != nil:
		// Whatever the guest did meanwhile, the answer is not wanted any more,
		// and a fault may be the end of ctx in disguise.
		return nil, nil, infra(context.Cause(ctx))
	case errors.As(err, &fault):
		if fault.Cause == sandbox.CauseStalled || fault.Cause == "timeout" {
			return nil, &failure{late: true, detail: fmt.Sprintf("the app's scorer was stopped after %v", c.Wall)}, nil
		}
		return nil, &failure{detail: fault.Error()}, nil
	case err != nil:
		return nil, nil, infra(fmt.Errorf("%s: %w", c.Export, err))
	}
	switch result.Status {
	case statusOK:
		return result.Output, nil, nil
	case statusNotImplemented:
		return nil, &failure{absent: true, detail: "not exported"}, nil
	default:
		return nil, &failure{detail: intent.Quoted(string(result.Output), reasonRunes)}, nil
	}
}

// readStatus sorts the errors of [chain.View.Serve].
func readStatus(err error) (sandbox.ReadStatus, error) {
	switch {
	case err == nil:
		return sandbox.ReadOK, nil
	case errors.Is(err, chain.ErrBudget):
		return sandbox.ReadBudget, nil
	case errors.Is(err, chain.ErrTooLarge):
		return sandbox.ReadTooLarge, nil
	}
	return 0, err
}
