package benchmark

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// A Session is one solver over one pack: a [Record] for every intent, by intent
// id.
type Session struct {
	ID            string   `json:"id"` // see [SessionID]
	Miner         string   `json:"miner"`
	Role          Role     `json:"role"`
	Module        string   `json:"module"`
	Name          string   `json:"name"`     // the solver's claim, quoted; "" = it never said
	Version       string   `json:"version"`  // the same
	StateIn       string   `json:"state_in"` // SHA-256, "" = none
	StateInBytes  int      `json:"state_in_bytes"`
	StateOut      string   `json:"state_out"` // SHA-256 of what is kept for next time, "" = what was kept before stays
	StateOutBytes int      `json:"state_out_bytes"`
	StateNote     string   `json:"state_note"`    // what became of the state, for people
	Adoptable     bool     `json:"adoptable"`     // its rows may decide about the solver
	NotAdoptable  string   `json:"not_adoptable"` // why they may not, quoted, "" = they may
	Restarts      int      `json:"restarts"`
	Notes         []string `json:"notes"`           // failures that cost nothing, quoted
	Fault         string   `json:"fault,omitempty"` // what the validator failed at, quoted: void rows or a state not kept; "" = nothing
	Records       []Record `json:"records,omitempty"`

	// Log is what the solver logged, at most [sandbox.SessionLogBytes], as it
	// wrote it, with "?" for what is not UTF-8. It is in no digest and no store.
	Log string `json:"log,omitempty"`

	state []byte // to keep; nil with StateOut empty
}

// RunSession runs one solver over a prepared pack: it opens the solver with the
// state it kept, puts every intent to it, executes and scores its plans, tells
// it the scores and takes its new state.
//
// Whatever the solver does, the session has a row for every intent. The error
// is ctx's or an [intent.InfraFault]; the session then holds the rows made
// before it. A panic is such a fault too. state is not copied and must stay as
// it is until RunSession returns; empty is none. workers is how many intents of
// an isolated pack are run at the same time; rows do not depend on it. each, which
// may be nil, is called with every record in the order of the rows.
func RunSession(ctx context.Context, p *Prepared, program *harness.Program, state []byte, role Role, workers int, each func(Record)) (s *Session, err error) {
	identity := program.Identity()
	if s, err = p.newSession(hex.EncodeToString(identity[:]), state, role); err != nil {
		return s, err
	}
	r := &run{Prepared: p, Session: s, each: each}
	defer func() {
		if v := recover(); v != nil {
			err = &intent.InfraFault{Err: fmt.Errorf("panic: %v\n%s", v, debug.Stack())}
		}
	}()
	if err := r.session(ctx, program, state, workers); err != nil {
		return s, asInfra(ctx, err)
	}
	return s, nil
}

// newSession is a session without rows.
func (p *Prepared) newSession(module string, state []byte, role Role) (*Session, error) {
	if len(state) == 0 {
		return p.sessionOf(module, "", 0, role)
	}
	return p.sessionOf(module, hexSum(state), len(state), role)
}

// sessionOf is newSession for a state of which hash and size are known.
func (p *Prepared) sessionOf(module, stateIn string, size int, role Role) (*Session, error) {
	s := &Session{Role: role, Module: module, StateIn: stateIn, StateInBytes: size, Adoptable: true, Notes: []string{}}
	var err error
	if s.ID, err = SessionID(p.digest, module, stateIn, role); err != nil {
		return s, &intent.InfraFault{Err: err}
	}
	return s, nil
}

// run is a session under way.
type run struct {
	*Prepared
	*Session
	each    func(Record)
	results []intent.Result // what the solver is told of its rows
	log     func() []byte   // what was logged so far
}

func (r *run) session(ctx context.Context, program *harness.Program, state []byte, workers int) error {
	o := r.options()
	o.State = state
	solver, err := harness.Open(ctx, program, o)
	var never *intent.MinerFault
	if err != nil && !errors.As(err, &never) {
		return err
	}
	r.log = solver.Log
	defer func() {
		r.setLog(r.log())
		solver.Close(context.WithoutCancel(ctx))
	}()
	if never != nil {
		r.StateNote = "kept: the solver never started"
		r.stalled(solver.Stalled())
		r.fill(never.Cause, never.Detail)
		return nil
	}
	meta := solver.Metadata()
	r.Name, r.Version = intent.Quoted(meta.Name, harness.MaxNameRunes), intent.Quoted(meta.Version, harness.MaxNameRunes)

	if r.pack.Isolation == harness.IsolationIntent {
		err = r.isolated(ctx, solver, workers)
	} else {
		err = r.batch(ctx, solver)
	}
	if err != nil {
		return err
	}
	final := harness.Final{Note: string(intent.CauseStalled)}
	if r.Adoptable {
		if final, err = solver.Finish(ctx, r.results); err != nil {
			return err
		}
	}
	if r.Adoptable {
		r.stalled(solver.Stalled())
	}
	r.Restarts = solver.Restarts()
	for _, n := range solver.Notes() {
		r.Notes = append(r.Notes, quoted(n))
	}
	r.keep(solver.StateRefused(), final)
	return nil
}

// batch puts the intents to one solver, one after the other.
func (r *run) batch(ctx context.Context, solver *harness.Solver) error {
	for _, c := range r.cases {
		a, err := r.ask(ctx, solver, c)
		if err != nil {
			return err
		}
		if r.decide(a); a.stalled != "" {
			break
		}
	}
	return nil
}

// decide adds a row, and all that are left if it was the session's last.
func (r *run) decide(a asked) {
	r.add(a.rec)
	r.results = append(r.results, a.rec.told())
	if a.stalled != "" {
		why := "intent " + a.rec.Row.IntentID + ": " + a.stalled
		r.stalled(why)
		r.fill(intent.CauseSessionEnded, why)
	}
}

// stalled notes what a clock ended, "" for nothing: another host may not repeat
// it, so the session decides nothing.
func (s *Session) stalled(what string) {
	if what != "" {
		s.Adoptable, s.NotAdoptable = false, quoted(what)
	}
}

// fuelPerMS is how much fuel solvers are told to be a millisecond: there is no
// other time that is the same on every host.
const fuelPerMS = 1_000_000

// told is what the solver learns of a row at the end.
func (rec *Record) told() intent.Result {
	return intent.Result{IntentID: rec.Row.IntentID, Score: scoring.Told(rec.Row.Score), ElapsedMS: rec.Row.fuel() / fuelPerMS}
}

// setLog keeps a log as text. What is not UTF-8 is replaced by a character as
// short as it can be: the log gets no longer.
func (s *Session) setLog(log []byte) { s.Log = strings.ToValidUTF8(string(log), "?") }

// add appends one record.
func (r *run) add(rec Record) {
	r.Records = append(r.Records, rec)
	if r.each != nil {
		r.each(rec)
	}
}

// fill gives every intent that has no row yet a row with this cause.
func (r *run) fill(cause intent.Cause, detail string) {
	for _, c := range r.cases[len(r.Records):] {
		rec := r.record(c)
		rec.Row.Cause, rec.Detail = cause, quotedOrNone(detail)
		if cause != intent.CauseInfra {
			rec.Row.Score, rec.Row.PlanScore = "0", "0"
		}
		r.add(rec)
	}
}

// record is a record with its ids and nothing else.
func (r *run) record(c *prepared) Record {
	return Record{App: c.task.Intent.AppID, Best: c.best, Row: Row{
		Session:  r.ID,
		Module:   r.Module,
		StateIn:  r.StateIn,
		IntentID: c.id,
		Deltas:   []Delta{},
		Fuel:     []CallFuel{},
		Notes:    []string{},
	}}
}

// asked is what came of one intent.
type asked struct {
	rec     Record
	log     []byte // what the solver logged
	stalled string // what a clock ended, "" = nothing: no further intent may be asked
}

// ask puts one intent to the solver and scores the answer.
func (r *run) ask(ctx context.Context, solver *harness.Solver, c *prepared) (asked, error) {
	a, err := solver.Run(ctx, c.task)
	if err != nil {
		return asked{}, err
	}
	rec, err := r.score(ctx, solver, c, a)
	if err != nil {
		return asked{}, err
	}
	stalled := solver.Stalled()
	if stalled == "" && rec.Row.Cause == intent.CauseStalled {
		stalled = "scorer: stalled"
	}
	return asked{rec, a.Log, stalled}, nil
}

// score makes a row of an answer: it executes the plan and scores what it did.
func (r *run) score(ctx context.Context, solver *harness.Solver, c *prepared, a harness.Answer) (_ Record, err error) {
	rec := r.record(c)
	row := &rec.Row
	rec.HostCalls = a.Usage.HostCalls
	row.setAnswer(a)
	if solver.StateRefused() != "" {
		row.Notes = append(row.Notes, harness.NoteStateRefused)
	}
	switch a.QuoteCause {
	case intent.CauseNone, intent.CauseNotImplemented:
	case intent.CauseStalled:
		// A clock decided: another host may not repeat it, and the row stands.
	default:
		row.Notes = append(row.Notes, "quote: "+string(a.QuoteCause))
	}

	v := verdict{score: scoring.Score{Cause: a.Cause, Score: "0", Reason: quotedOrNone(a.Detail)}}
	switch {
	case a.Plan != nil:
		if v, err = c.judge(ctx, r.pack.Seed, *a.Plan); err != nil {
			return Record{}, err
		}
		if err := row.setOutcome(v.outcome); err != nil {
			return Record{}, err
		}
	case a.Cause == intent.CauseNone: // rightly declined
		v.score.Value, v.score.Credited, v.score.Score = "1", "1", "1"
	}
	row.setScore(v.score)
	rec.Detail = v.score.Reason
	if a.Reads.OverBudget && overBudget(row.Cause) {
		rec.Detail = string(row.Cause) + " after reads beyond the budget"
		row.Cause = intent.CauseRPCBudget
	}
	switch {
	case row.Cause != intent.CauseNone:
		row.Score = "0"
	case c.task.Truth != nil && a.Plan != nil:
		row.Score = scoring.Composite(true, row.PlanScore)
	}
	return rec, nil
}

// NoteSaved is the StateNote of a session whose state is kept for next time.
const NoteSaved = "saved"

// keep decides what becomes of the state.
func (r *run) keep(refused string, final harness.Final) {
	valued := 0
	for _, rec := range r.Records {
		if rec.Row.Cause == intent.CauseNone {
			valued++
		}
	}
	switch {
	case refused != "":
		r.StateNote = "kept: the solver refused it: " + quoted(refused)
	case r.Role == RoleBar:
		r.StateNote = "kept: a bar's state is never saved"
	case final.Note == harness.NoteNotImplemented:
		r.StateNote = "none: the solver keeps no state"
	case !final.Saved:
		r.StateNote = "kept: " + quoted(final.Note)
	case valued == 0:
		r.StateNote = "kept: no row has a value"
	default:
		r.state = final.State
		if r.state == nil {
			r.state = []byte{}
		}
		r.StateOut, r.StateOutBytes = hexSum(r.state), len(r.state)
		r.StateNote = NoteSaved
	}
}

// setAnswer copies into the row what the solver's calls did.
func (r *Row) setAnswer(a harness.Answer) {
	r.Triggered = a.Triggered
	if a.Plan != nil {
		r.PlanHash = hex.EncodeToString(a.PlanHash[:])
	}
	for _, c := range a.Usage.Calls {
		r.Fuel = append(r.Fuel, CallFuel{Call: string(c.Phase), Fuel: c.Fuel})
	}
	r.PeakPages = a.Usage.PeakPages
	r.Reads = Reads{Requests: a.Reads.Requests, Gas: a.Reads.Gas, Digest: hexOrNone(a.Reads.Digest)}
	r.Log = hexOrNone(a.LogDigest)
}

func (r *Row) setScore(s scoring.Score) {
	r.Cause = s.Cause
	r.PlanScore, r.Score = s.Score, s.Score
	r.Value, r.Credited = s.Value, s.Credited
	r.AboveOracle, r.ByScorer = s.AboveOracle, s.ByScorer
	r.Notes = append(r.Notes, s.Notes...)
}

// hexOrNone prints a digest, "" for the zero digest of nothing.
func hexOrNone(d [32]byte) string {
	if d == [32]byte{} {
		return ""
	}
	return hex.EncodeToString(d[:])
}

func quotedOrNone(s string) string {
	if s == "" {
		return ""
	}
	return quoted(s)
}
