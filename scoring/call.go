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

// A program is an app's code, evaluated once. Every call goes on from there.
type program struct {
	scorer *Scorer
	source string
	loaded *sandbox.Checkpoint    // where its evaluation ended
	idle   chan *sandbox.Instance // to be put back there, at most idleInstances
}

// idleInstances is how many instances an app keeps between calls.
const idleInstances = 4

// kinds are what typeof says about the exports of a module.
type kinds struct {
	Score         string `json:"score"`
	Validate      string `json:"validate"`
	ShouldTrigger string `json:"shouldTrigger"`
	Config        string `json:"config"`
	Manifest      string `json:"manifest"`
}

// load evaluates the code in an instance and keeps where that ended. The kinds are
// nil with a failure or an error.
func (p *program) load(ctx context.Context) (*kinds, *failure, error) {
	// Not canonical JSON: the source is the app's, whatever characters it holds,
	// and its bytes stand in the definition's digest.
	input, err := json.Marshal(struct {
		Source string `json:"source"`
		Time   uint64 `json:"time"`
		Seed   string `json:"seed"`
	}{p.source, 0, hex.EncodeToString(make([]byte, 32))})
	if err != nil {
		return nil, nil, infra(fmt.Errorf("encode source: %w", err))
	}
	instance, err := p.scorer.module.Instantiate(ctx, sandbox.Env{})
	if err != nil {
		// The engine is ours: that it does not start is nobody else's doing.
		return nil, nil, infra(fmt.Errorf("start scorer engine: %w", err))
	}
	defer func() { p.release(ctx, instance) }()
	output, failed, err := p.scorer.invoke(ctx, instance, sandbox.Call{Export: exportLoad, Input: input})
	if err != nil || failed != nil {
		return nil, failed, err
	}
	k := new(kinds)
	if err := json.Unmarshal(output, k); err != nil {
		// A program that overwrites what its own loading needs gets here.
		return nil, &failure{detail: "its exports cannot be read"}, nil
	}
	if p.loaded, err = instance.Checkpoint(); err != nil {
		return nil, nil, infra(fmt.Errorf("checkpoint scorer: %w", err))
	}
	return k, nil, nil
}

// call runs one export as the first after the code was loaded, whatever calls there
// were before.
func (p *program) call(ctx context.Context, c sandbox.Call) ([]byte, *failure, error) {
	var old *sandbox.Instance
	select {
	case old = <-p.idle:
	default:
	}
	instance, err := p.loaded.Resume(ctx, sandbox.Env{}, old)
	if err != nil {
		return nil, nil, infra(fmt.Errorf("scorer: %w", err))
	}
	defer p.release(ctx, instance)
	return p.scorer.invoke(ctx, instance, c)
}

// release keeps an instance for the next call, or closes it.
func (p *program) release(ctx context.Context, i *sandbox.Instance) {
	if i.Alive() {
		select {
		case p.idle <- i:
			return
		default:
		}
	}
	i.Close(ctx)
}

// invoke makes one call within the scorer's limits.
func (s *Scorer) invoke(ctx context.Context, i *sandbox.Instance, c sandbox.Call) ([]byte, *failure, error) {
	c.OutputLimit, c.ReadOut = s.limits.ResultBytes, s.limits.ReadBytes
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
		if fault.Cause == sandbox.CauseStalled {
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
