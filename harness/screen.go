package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// Stages of screening.
const (
	StageStatic = 1 // sizes, imports, exports, of a script its encoding: nothing is run
	StageStart  = 2 // an instance, initialize, metadata
	StageSmoke  = 3 // a few intents on a real pinned chain, every plan validated
)

// MaxNameRunes is how long a solver's name may be.
const MaxNameRunes = 64

// ScreenOptions says how a module is screened.
type ScreenOptions struct {
	Options        // of the session that stages 2 and 3 run in; State and Isolation are ignored, Count is len(Smoke)
	Smoke   []Task // the intents of stage 3
}

// A Screening is the verdict on one module. It says whether a module can be
// benchmarked, not whether it is any good.
type Screening struct {
	Passed bool
	Stage  int    // the stage that refused the module; 0 if it passed
	Code   string // see [Stage]; empty if it passed
	Detail string // one line, safe to print

	Metadata intent.Metadata // claims, unquoted; zero before stage 2 passed
	Stages   []Stage         // the stages that were run, in order
}

// A Stage is the outcome of one stage.
//
// The code of a refusal is two words joined by a dot: where and what. At stage 1
// they are "module" and the sandbox's reason. At the later ones they are the
// phase (load, initialize, metadata, set_market, on_benchmark_start,
// check_trigger, generate_plan; "session" between two) and the cause as a row
// would have it, or for metadata also "name" and "version".
type Stage struct {
	Stage  int    `json:"stage"`
	Passed bool   `json:"passed"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Screen decides whether a module may enter a benchmark. Local check, admission
// and benchmark all call it: there is no other gate. The error is the host's, or
// a *intent.UsageFault about o, such as no smoke intents; what is wrong with the
// module is in the screening.
func Screen(ctx context.Context, e *sandbox.Engine, source Source, o ScreenOptions) (*Screening, error) {
	if len(o.Smoke) == 0 {
		return nil, &intent.UsageFault{Err: errors.New("screening has no smoke intents")}
	}
	sc := &Screening{}
	p, err := static(ctx, e, source, sc)
	if err != nil || sc.Stage != 0 {
		return sc, err
	}
	defer p.Close()
	o.State, o.Count, o.Isolation = nil, len(o.Smoke), IsolationBatch
	s, err := newSolver(p, o.Options)
	if err != nil {
		return nil, err
	}
	defer s.Close(ctx)
	for _, stage := range []func(context.Context, *Solver, []Task, *Screening) error{started, smoked} {
		if err := stage(ctx, s, o.Smoke, sc); err != nil {
			return nil, err
		}
		if sc.Stage != 0 {
			return sc, nil
		}
	}
	sc.Passed = true
	sc.Detail = sc.Stages[len(sc.Stages)-1].Detail
	return sc, nil
}

// static is stage 1.
func static(ctx context.Context, e *sandbox.Engine, source Source, sc *Screening) (*Program, error) {
	p, err := Compile(ctx, e, source)
	var refusal *sandbox.Refusal
	if errors.As(err, &refusal) {
		sc.refuse(StageStatic, "module."+string(refusal.Reason), refusal.Detail)
		return nil, nil
	}
	if err != nil {
		return nil, &intent.InfraFault{Err: err}
	}
	sc.pass(StageStatic, fmt.Sprintf("%d bytes", p.Size()))
	return p, nil
}

// started is stage 2.
func started(ctx context.Context, s *Solver, _ []Task, sc *Screening) error {
	f, err := s.boot(ctx)
	if f != nil && f.phase == phaseLoad && f.cause == intent.CauseSolverError {
		f, err = s.locate(ctx, f)
	}
	if err != nil {
		return err
	}
	if f != nil {
		sc.fail(StageStart, f)
		return nil
	}
	name, version := s.meta.Name, s.meta.Version
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		sc.refuse(StageStart, "metadata.name", "metadata: the name is empty")
	case n > MaxNameRunes:
		sc.refuse(StageStart, "metadata.name", fmt.Sprintf("metadata: the name has %d characters, limit %d", n, MaxNameRunes))
	case !intent.ValidVersion(version):
		sc.refuse(StageStart, "metadata.version", "metadata: "+intent.Quoted(version, intent.MaxVersionBytes)+" is not a semantic version such as 1.0.0")
	default:
		sc.Metadata = s.meta
		sc.pass(StageStart, intent.Quoted(name, intent.MaxQuotedRunes)+" "+version)
	}
	return nil
}

// locate finds the line and column where a script failed to load, or leaves the
// fault as it is.
func (s *Solver) locate(ctx context.Context, f *fault) (*fault, error) {
	source, err := s.program.locating()
	if err == nil {
		s.load, err = (&Program{source: source}).loading(s.start, s.loadSeed())
	}
	if err != nil {
		return nil, &intent.InfraFault{Err: fmt.Errorf("encode script: %w", err)}
	}
	found, err := s.fresh(ctx)
	if err != nil || found == nil || found.phase != phaseLoad || found.cause != f.cause {
		return f, err
	}
	return found, nil
}

// smoked is stage 3.
func smoked(ctx context.Context, s *Solver, tasks []Task, sc *Screening) error {
	f, err := s.prepare(ctx)
	if f == nil && err == nil {
		f, err = s.settle()
	}
	if err != nil {
		return err
	}
	if f != nil {
		sc.fail(StageSmoke, f)
		return nil
	}
	triggers := 0
	for i, t := range tasks {
		t.Truth = nil // screening judges that there is a decision, not which
		a, err := s.Run(ctx, t)
		if err != nil {
			return err
		}
		if a.Cause != intent.CauseNone {
			sc.refuse(StageSmoke, code(a.Phase, a.Cause),
				fmt.Sprintf("smoke intent %d of %d: %s", i+1, len(tasks), Explain(a.Cause, a.Detail)))
			return nil
		}
		if t.AskTrigger {
			triggers++
		}
	}
	sc.pass(StageSmoke, fmt.Sprintf("%d of %d plans valid, trigger decisions: %d", len(tasks), len(tasks), triggers))
	return nil
}

func (sc *Screening) pass(stage int, detail string) {
	sc.Stages = append(sc.Stages, Stage{Stage: stage, Passed: true, Detail: detail})
}

func (sc *Screening) fail(stage int, f *fault) {
	sc.refuse(stage, code(f.phase, f.cause), f.text())
}

func (sc *Screening) refuse(stage int, code, detail string) {
	sc.Stage, sc.Code, sc.Detail = stage, code, detail
	sc.Stages = append(sc.Stages, Stage{Stage: stage, Code: code, Detail: detail})
}

func code(p Phase, c intent.Cause) string {
	if p == "" {
		p = "session"
	}
	return string(p) + "." + string(c)
}
