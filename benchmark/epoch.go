package benchmark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// Progress is told how an epoch goes. Any function may be nil; they are called
// one at a time, from several goroutines. They must not call back into the
// epoch.
type Progress struct {
	Admitted func(e Entrant, refused string)         // refused is quoted, "" = it runs
	Row      func(e Entrant, done, of int, r Record) // one intent is decided; a re-run starts again at 1
	Ended    func(e Entrant, s *Session)
}

// RunEpoch runs every entrant over a prepared pack, workers at a time, and
// decides the epoch. Where there are fewer entrants, each has its share of the
// workers for the intents of an isolated pack. A nil store means that nothing is remembered: every solver
// starts without state.
//
// The result depends on the pack, the modules, the stored states and the roles
// only, not on workers or on the order of entrants. A module that is refused
// admission gets a row with cause refused for every intent. A session that the
// validator fails at is run again, alone, after the others; see [Session.Fault].
//
// Errors: an [intent.UsageFault] (the same module or the same miner twice in one
// role among them, two champions, more than [scoring.MaxBars] bars), those of [Store], an [intent.InfraFault], ctx's. With an
// error nothing was stored: an epoch is committed whole, at its end.
func RunEpoch(ctx context.Context, p *Prepared, entrants []Entrant, workers int, store *Store, progress Progress) (*Epoch, error) {
	identities, err := p.checkEntrants(entrants, workers)
	if err != nil {
		return nil, &intent.UsageFault{Err: err}
	}
	if store != nil {
		end, err := store.begin()
		if err != nil {
			return nil, err
		}
		defer end()
	}
	r := &epochRun{Prepared: p, store: store, workers: workers, progress: progress}
	r.share = max(1, workers/len(entrants))
	for i, e := range entrants {
		e.Role = cmp.Or(e.Role, RoleCandidate)
		r.jobs = append(r.jobs, &job{Entrant: e, identity: identities[i]})
	}
	defer r.close()
	e, err := r.epoch(ctx)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("epoch interrupted: %w", ctx.Err())
	}
	if err != nil {
		return nil, err
	}
	if store == nil {
		return e, nil
	}
	file, err := p.pack.Encode()
	if err != nil {
		return nil, err
	}
	if err := store.commit(e, file); err != nil {
		return nil, err
	}
	return e, nil
}

// A job is one entrant under way.
type job struct {
	Entrant
	program  *harness.Program
	identity string           // see [harness.Source]
	refusal  *sandbox.Refusal // nil = admitted
	session  *Session
	err      error // the validator's fault at the last attempt
}

type epochRun struct {
	*Prepared
	store    *Store
	workers  int
	progress Progress
	jobs     []*job
	share    int        // how many of the workers a session has
	mu       sync.Mutex // progress functions run under it
}

func (r *epochRun) epoch(ctx context.Context) (*Epoch, error) {
	if err := r.each(ctx, r.admit); err != nil {
		return nil, err
	}
	if err := r.each(ctx, r.attempt); err != nil {
		return nil, err
	}
	// What the validator failed at is tried once more, one by one, with
	// nothing beside it.
	for _, j := range r.jobs {
		if j.err == nil {
			continue
		}
		r.share = 1
		if err := r.again(ctx, j); err != nil {
			return nil, err
		}
	}
	return r.decide()
}

// each runs f for every job, at most workers at a time. The first error, which
// is the epoch's, stops the rest.
func (r *epochRun) each(ctx context.Context, f func(context.Context, *job) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.workers)
	for _, j := range r.jobs {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(ctx, j)
		})
	}
	return g.Wait()
}

// admit compiles a program.
func (r *epochRun) admit(ctx context.Context, j *job) error {
	err := r.compile(ctx, j)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	j.err = err
	refused := ""
	if j.refusal != nil {
		refused = quoted(j.refusal.Error())
	}
	r.tell(func(p Progress) {
		if p.Admitted != nil {
			p.Admitted(j.Entrant, refused)
		}
	})
	return nil
}

func (r *epochRun) compile(ctx context.Context, j *job) (err error) {
	defer recovered(&err)
	p, err := harness.Compile(ctx, r.engine, j.source())
	if errors.As(err, &j.refusal) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	j.program = p
	return nil
}

// close gives up the programs of sessions that did not come to their end.
func (r *epochRun) close() {
	for _, j := range r.jobs {
		if j.program != nil {
			j.program.Close()
		}
	}
}

// attempt is the first run of a job. Its error ends the epoch; a fault at this
// one session stays in the job.
func (r *epochRun) attempt(ctx context.Context, j *job) error {
	if j.err != nil {
		return nil // not compiled: there is nothing to run yet
	}
	if err := r.run(ctx, j); err != nil || j.err != nil {
		return err
	}
	return r.finish(j)
}

func (r *epochRun) run(ctx context.Context, j *job) error {
	state, err := r.restore(j)
	if err != nil {
		return r.unrestored(j, err)
	}
	if j.program == nil {
		return r.without(j, state)
	}
	done := 0
	j.session, j.err = RunSession(ctx, r.Prepared, j.program, state, j.Role, r.share, func(rec Record) {
		done++
		r.tell(func(p Progress) {
			if p.Row != nil {
				p.Row(j.Entrant, done, len(r.cases), rec)
			}
		})
	})
	j.session.Miner = j.Miner
	return ctx.Err()
}

// without makes the session of a program that cannot be run: refused, or not
// compiled.
func (r *epochRun) without(j *job, state []byte) error {
	s, err := r.newSession(j.identity, state, j.Role)
	if err != nil {
		return err
	}
	s.Miner = j.Miner
	if j.refusal != nil {
		s.StateNote = "kept: the module was refused"
		(&run{Prepared: r.Prepared, Session: s}).fill(intent.CauseRefused, j.refusal.Error())
	}
	j.session = s
	return nil
}

func (r *epochRun) restore(j *job) ([]byte, error) {
	if r.store == nil {
		return nil, nil
	}
	return r.store.State(j.Miner, j.Role)
}

// unrestored makes the session of a solver whose state cannot be read. That is
// the validator's fault at this one session; the state's name is known, and stays
// what the store refers to.
func (r *epochRun) unrestored(j *job, fault error) error {
	hash, size := "", 0
	if ref, err := r.store.stateRef(j.Miner, j.Role); err == nil && ref != nil {
		hash, size = ref.Hash, ref.Size
	}
	s, err := r.sessionOf(j.identity, hash, size, j.Role)
	if err != nil {
		return err
	}
	s.Miner = j.Miner
	j.session, j.err = s, &intent.InfraFault{Err: fault}
	return nil
}

// again is the second and last attempt at a session the validator failed at.
// Rows of the first must repeat. What is left after a second failure is void.
func (r *epochRun) again(ctx context.Context, j *job) error {
	first := j.session
	j.err = nil
	if j.program == nil {
		j.err = r.compile(ctx, j)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := r.run(ctx, j); err != nil {
		return err
	}
	if first != nil {
		j.compare(first)
	}
	if j.err != nil {
		s := j.session
		s.Fault = quoted(j.err.Error())
		s.state, s.StateOut, s.StateOutBytes = nil, "", 0
		s.StateNote = "kept: the session is void"
		s.Adoptable, s.NotAdoptable = false, quoted("the validator failed at it")
		(&run{Prepared: r.Prepared, Session: s}).fill(intent.CauseInfra, "")
	}
	return r.finish(j)
}

// compare holds the second attempt against the rows of the first, and keeps
// whichever came further.
func (j *job) compare(first *Session) {
	second := j.session
	for i := range min(len(first.Records), len(second.Records)) {
		a, b := first.Records[i].Row, second.Records[i].Row
		if a.PlanHash != b.PlanHash {
			second.Records = second.Records[:i]
			j.err = &intent.InfraFault{Err: fmt.Errorf("intent %s: a second run planned %q, the first %q", a.IntentID, b.PlanHash, a.PlanHash)}
			return
		}
	}
	if len(first.Records) > len(second.Records) {
		second.Records = first.Records
	}
}

// finish persists a session's state, which nothing refers to until the epoch is
// committed, and reports the session.
func (r *epochRun) finish(j *job) error {
	s := j.session
	if s.StateOut != "" && r.store != nil {
		if _, err := r.store.blobs.put(s.state); err != nil {
			s.Fault = quoted("state not written: " + err.Error())
			s.StateOut, s.StateOutBytes = "", 0
			s.StateNote = "kept: the validator could not write the new one"
		}
	}
	s.state = nil
	if j.program != nil {
		j.program.Close()
	}
	r.tell(func(p Progress) {
		if p.Ended != nil {
			p.Ended(j.Entrant, s)
		}
	})
	return nil
}

// decide makes the epoch of its sessions.
func (r *epochRun) decide() (*Epoch, error) {
	e := &Epoch{
		Schema:   RowSchema,
		Pack:     r.digest,
		PackName: r.pack.Name,
		Dropped:  append([]DroppedApp{}, r.dropped...),
	}
	for _, j := range r.jobs {
		e.Sessions = append(e.Sessions, j.session)
	}
	slices.SortFunc(e.Sessions, func(a, b *Session) int { return cmp.Compare(a.ID, b.ID) })
	var err error
	if e.RowsDigest, err = RowsDigest(e.Pack, e.rows()); err != nil {
		return nil, &intent.InfraFault{Err: err}
	}
	if e.Solvers, err = rank(e.Sessions); err != nil {
		return nil, &intent.InfraFault{Err: err}
	}
	if e.Decision, err = Decide(e.Sessions, r.shares()); err != nil {
		return nil, &intent.InfraFault{Err: err}
	}
	return e, nil
}

func (r *epochRun) tell(f func(Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r.progress)
}

// recovered turns a panic into the validator's own fault.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = &intent.InfraFault{Err: fmt.Errorf("panic: %v", v)}
	}
}
