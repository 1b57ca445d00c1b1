package harness

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// Options says what a session starts with.
type Options struct {
	Init   intent.InitConfig
	State  []byte                  // as serialize_state gave it; empty = none. Not copied: leave it alone until Close
	Market []intent.MarketSnapshot // at most one per chain, in any order
	Count  int                     // intents to come, for on_benchmark_start
	Time   uint64                  // unix seconds; the guest's clock starts here
	Seed   [32]byte                // the pack's
	Reads  Reads                   // the bare worlds, for the calls before the batch; nil: no chain is known
	Limits Limits                  // zero: DefaultLimits

	Isolation Isolation // "" = IsolationBatch
}

// A Solver is one program in one session. It is not safe for concurrent use, and
// its answers depend on the order of its tasks, unless they are isolated.
type Solver struct {
	program *Program
	limits  Limits
	seed    [32]byte
	start   uint64 // unix seconds
	reads   Reads
	log     sandbox.Log
	inst    *sandbox.Instance // dead after a fault
	stalled string            // the fault that ended the session, "" = none did

	isolation Isolation
	allowance *sandbox.Allowance  // of the instance that is made next
	base      *sandbox.Allowance  // what every task of an isolated session starts with
	point     *sandbox.Checkpoint // where the opening ended; nil: it has to be repeated

	load   []byte // input of js_load, nil = no script
	init   []byte // input of initialize
	state  []byte // nil once an instance died of it
	market []market
	count  []byte // input of on_benchmark_start

	meta     intent.Metadata
	refused  string
	restarts int
	notes    []string
}

// A market is one chain's snapshot on its way to the solver.
type market struct {
	snapshot intent.MarketSnapshot
	input    []byte
	taken    bool // by set_market of the live instance: requests carry null
}

// Open starts a session: an instance, initialize, metadata, restore_state,
// set_market and on_benchmark_start. A script is loaded into the instance first.
//
// A *intent.MinerFault means that the solver never started. Its cause is
// session_ended and its detail names the phase and the true cause; every row of
// the session has both. The solver that comes with it is closed, and only what it
// said so far can be read: log, metadata, notes. A *intent.UsageFault names what is wrong with o. Any
// other error is the host's. ctx bounds the opening only. The caller closes the
// solver.
func Open(ctx context.Context, p *Program, o Options) (*Solver, error) {
	s, err := newSolver(p, o)
	if err != nil {
		return nil, err
	}
	f, err := s.open(ctx)
	if f == nil && err == nil {
		f, err = s.settle()
	}
	if err != nil {
		s.Close(ctx)
		return nil, err
	}
	if f != nil {
		s.Close(ctx)
		return s, f.unstarted()
	}
	return s, nil
}

func newSolver(p *Program, o Options) (*Solver, error) {
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits()
	}
	if err := o.Limits.Validate(); err != nil {
		return nil, &intent.UsageFault{Err: err}
	}
	if o.Isolation = cmp.Or(o.Isolation, IsolationBatch); !o.Isolation.Valid() {
		return nil, &intent.UsageFault{Err: fmt.Errorf("no isolation %s", intent.Quoted(string(o.Isolation), 20))}
	}
	s := &Solver{
		program: p,
		limits:  o.Limits,
		seed:    o.Seed,
		start:   o.Time,
		reads:   o.Reads,
		state:   o.State,

		isolation: o.Isolation,
	}
	var err error
	if p.script {
		if s.load, err = p.loading(s.start, s.loadSeed()); err != nil {
			return nil, &intent.InfraFault{Err: fmt.Errorf("encode script: %w", err)}
		}
	}
	if s.init, err = canonical("initialize", o.Init); err != nil {
		return nil, err
	}
	if s.count, err = canonical("on_benchmark_start", map[string]int{"intent_count": o.Count}); err != nil {
		return nil, err
	}
	for _, snapshot := range o.Market {
		input, err := canonical("market of chain "+strconv.FormatUint(snapshot.ChainID, 10), snapshot)
		if err != nil {
			return nil, err
		}
		s.market = append(s.market, market{snapshot: snapshot, input: input})
	}
	slices.SortFunc(s.market, func(a, b market) int { return cmp.Compare(a.snapshot.ChainID, b.snapshot.ChainID) })
	for i := 1; i < len(s.market); i++ {
		if id := s.market[i].snapshot.ChainID; id == s.market[i-1].snapshot.ChainID {
			return nil, &intent.UsageFault{Err: fmt.Errorf("two markets of chain %d", id)}
		}
	}
	fuel := s.limits.SessionFuel + s.limits.SessionFuelPerIntent*uint64(max(o.Count, 0))
	s.allowance = p.module.Allow(s.limits.Session, fuel)
	if s.base = s.allowance; p.module.Checkpointable() != nil {
		s.base = s.allowance.Fork() // the opening, which is repeated, draws on it as it did
	}
	return s, nil
}

func (s *Solver) loadSeed() [32]byte { return seed(s.seed, phaseLoad, "") }

// canonical encodes what the host gives to a guest. What cannot be encoded is
// the pack's fault, and the pack is the caller's.
func canonical(what string, v any) ([]byte, error) {
	b, err := intent.Canonical(v)
	if err != nil {
		return nil, &intent.InfraFault{Err: fmt.Errorf("encode %s: %w", what, err)}
	}
	return b, nil
}

// open takes the session to where tasks can be asked.
func (s *Solver) open(ctx context.Context) (*fault, error) {
	if f, err := s.boot(ctx); f != nil || err != nil {
		return f, err
	}
	return s.prepare(ctx)
}

// boot replaces the instance by a new, initialized one and asks who it is.
func (s *Solver) boot(ctx context.Context) (*fault, error) {
	if f, err := s.fresh(ctx); f != nil || err != nil {
		return f, err
	}
	out, f, err := s.do(ctx, call{phase: PhaseMetadata, reads: s.reads}, &tally{})
	if err != nil {
		return nil, err
	}
	if f != nil {
		return f, nil
	}
	if s.meta, err = intent.DecodeMetadata(out); err != nil {
		return badOutput(PhaseMetadata, err), nil
	}
	return nil, nil
}

// fresh replaces the instance by a new, initialized one.
func (s *Solver) fresh(ctx context.Context) (*fault, error) {
	s.discard(ctx)
	inst, err := s.program.module.Instantiate(ctx, s.env())
	f, err := s.judge(phaseLoad, err)
	if err != nil {
		return nil, err
	}
	if f != nil {
		return f, nil
	}
	s.inst = inst
	calls := []call{{phase: PhaseInitialize, input: s.init, reads: s.reads}}
	if s.load != nil {
		calls = append([]call{{phase: phaseLoad, input: s.load}}, calls...)
	}
	for _, c := range calls {
		_, f, err := s.do(ctx, c, &tally{})
		if err != nil {
			return nil, err
		}
		if f != nil {
			s.discard(ctx)
			return f, nil
		}
	}
	return nil, nil
}

// prepare gives an initialized instance what it is to know.
func (s *Solver) prepare(ctx context.Context) (*fault, error) {
	if f, err := s.restore(ctx); f != nil || err != nil {
		return f, err
	}
	for i := range s.market {
		m := &s.market[i]
		id := strconv.FormatUint(m.snapshot.ChainID, 10)
		f, err := s.tell(ctx, call{phase: PhaseMarket, subject: id, input: m.input, reads: s.reads})
		if err != nil {
			return nil, err
		}
		if s.ends(f) {
			return f, nil
		}
		m.taken = f == nil
	}
	f, err := s.tell(ctx, call{phase: PhaseStart, input: s.count, reads: s.reads})
	if err != nil {
		return nil, err
	}
	if s.ends(f) {
		return f, nil
	}
	return nil, nil
}

// ends reports whether a fault leaves no instance to go on with.
func (s *Solver) ends(f *fault) bool { return f != nil && !s.inst.Alive() }

// tell makes a call whose failure, as long as the instance lives, is only noted.
func (s *Solver) tell(ctx context.Context, c call) (*fault, error) {
	_, f, err := s.do(ctx, c, &tally{})
	if err != nil || f == nil {
		return nil, err
	}
	if f.cause != intent.CauseNotImplemented {
		s.note(f.text())
	}
	return f, nil
}

// restore offers the incoming state. A death in it is answered by a fresh
// instance without state, for as long as there are restarts. A message is heard
// out every time: what came before it may have left its mark.
func (s *Solver) restore(ctx context.Context) (*fault, error) {
	if len(s.state) == 0 {
		return nil, nil
	}
	_, f, err := s.do(ctx, call{phase: PhaseRestore, input: s.state, reads: s.reads}, &tally{})
	if err != nil || f == nil || f.cause == intent.CauseNotImplemented {
		return nil, err
	}
	if f.final() {
		return f, nil
	}
	s.refused = f.text()
	if s.inst.Alive() {
		return nil, nil
	}
	s.state = nil
	if s.restarts == s.limits.Restarts {
		return f, nil
	}
	s.restarts++
	return s.boot(ctx)
}

// revive makes an instance ready for a task: it replaces a dead one, and that of
// an isolated session always.
func (s *Solver) revive(ctx context.Context) (*fault, error) {
	if s.stalled != "" {
		return s.ended(), nil
	}
	if s.isolation == IsolationIntent {
		f, err := s.rewind(ctx)
		if f != nil {
			s.discard(ctx)
		}
		return f, err
	}
	if f, err := s.judge("", s.allowance.Err()); f != nil || err != nil {
		return f, err
	}
	if s.alive() {
		return nil, nil
	}
	if s.restarts == s.limits.Restarts {
		return &fault{"", intent.CauseSessionRestarts, fmt.Sprintf("all %d restarts are spent", s.limits.Restarts)}, nil
	}
	s.restarts++
	f, err := s.again(ctx)
	if f != nil {
		s.discard(ctx)
	}
	return f, err
}

func (s *Solver) alive() bool { return s.inst != nil && s.inst.Alive() }

func (s *Solver) discard(ctx context.Context) {
	if s.inst != nil {
		s.inst.Close(ctx)
		s.inst = nil
	}
}

// note keeps a remark once, in the order of first appearance.
func (s *Solver) note(n string) {
	if !slices.Contains(s.notes, n) {
		s.notes = append(s.notes, n)
	}
}

// Metadata is what the solver says about itself. It is a claim: nothing is
// stored under the name in it.
func (s *Solver) Metadata() intent.Metadata { return s.meta }

// StateRefused says why the solver did not take the state it was given: phase,
// cause and message in one line, safe to print. Empty: it took it, or there was
// none.
func (s *Solver) StateRefused() string { return s.refused }

// Stalled says which call a wall limit stopped on a host that is fast enough:
// phase, cause and message in one line, safe to print. That call was the session's
// last. Another host may have let it pass, so nothing may be decided by such a
// session. Empty: none was.
func (s *Solver) Stalled() string { return s.stalled }

// Restarts is how many instances were made after the first because one had died;
// an isolated session has one of each task, which are not among them.
func (s *Solver) Restarts() int { return s.restarts }

// Notes are failures of set_market, on_benchmark_start and on_benchmark_end
// that cost nothing, each once: phase, cause and message, safe to print.
func (s *Solver) Notes() []string { return slices.Clone(s.notes) }

// Log returns a copy of what the solver logged so far, at most
// [sandbox.SessionLogBytes]: a guest's text, print it quoted.
func (s *Solver) Log() []byte { return s.log.Bytes() }

// Close frees the instance. The solver must not be used afterwards; closing
// twice is harmless.
func (s *Solver) Close(ctx context.Context) {
	s.discard(ctx)
}
