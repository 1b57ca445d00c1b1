package scoring

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// An App scores plans for the intents of one definition. Any number of
// goroutines may use it.
type App struct {
	definition intent.Definition
	program    program
	threshold  *big.Int // scaled
	validates  bool     // exports validate
	triggers   bool     // exports shouldTrigger
}

// Load evaluates an app's code and checks that it can score and that its config
// and manifest, where it exports them, say what the definition says. The error is
// an *[intent.AppFault] for the app, an *[intent.InfraFault] for the validator.
func (s *Scorer) Load(ctx context.Context, d intent.Definition) (*App, error) {
	a := &App{definition: d, program: program{scorer: s, source: d.JSCode, idle: make(chan *sandbox.Instance, idleInstances)}}
	if err := a.load(ctx); err != nil {
		var broken *intent.InfraFault
		if errors.As(err, &broken) {
			return nil, err
		}
		return nil, a.fault(err)
	}
	return a, nil
}

// fault blames the app.
func (a *App) fault(err error) error {
	return &intent.AppFault{AppID: a.definition.AppID, Err: err}
}

func (a *App) load(ctx context.Context) error {
	threshold, ok := parseDecimal(string(a.definition.Config.ScoreThreshold))
	if !ok || threshold.Sign() < 0 || threshold.Cmp(one) > 0 {
		return errors.New("config.score_threshold: no decimal in [0,1]")
	}
	a.threshold = threshold
	if err := a.definition.Validate(); err != nil {
		return err
	}
	exports, failed, err := a.program.load(ctx)
	switch {
	case err != nil:
		return err
	case failed != nil:
		return fmt.Errorf("js_code does not load: %s", failed.detail)
	}
	if exports.Score != "function" {
		return errors.New("js_code: missing required export: score()")
	}
	a.validates, a.triggers = exports.Validate == "function", exports.ShouldTrigger == "function"
	return a.agree(ctx)
}
