package benchmark

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/scoring"
)

// A Prepared is a pack that is ready to run: worlds built, scorers loaded, apps
// tested. It is immutable: any number of sessions may use one at a time.
type Prepared struct {
	pack    *Pack
	digest  string
	engine  *sandbox.Engine
	worlds  map[uint64]*chain.World
	bare    map[uint64]*chain.View
	cases   []*prepared // by intent id
	smoke   []harness.Task
	dropped []DroppedApp
}

// prepared is one intent, ready to be asked and scored.
type prepared struct {
	id     string
	app    *scoring.App
	funded *chain.Funded
	world  *chain.World
	task   harness.Task
	scored []byte // the state as scorers see it
	best   string
}

// A DroppedApp failed its own known-good plan. Its intents are in no row.
type DroppedApp struct {
	App     string   `json:"app"`
	Reason  string   `json:"reason"` // quoted where it came from an app or a chain
	Intents []string `json:"intents"`
}

// A SnapshotError says that a pack's chain cannot be built: its snapshot is not
// there, or another one is.
type SnapshotError struct {
	ChainID  uint64
	Snapshot string // content hash the pack names
	Reason   string
}

func (e *SnapshotError) Error() string {
	return fmt.Sprintf("snapshot %s of chain %d: %s", e.Snapshot, e.ChainID, e.Reason)
}

// Prepare builds a pack's worlds from snapshots, which are keyed by content
// hash, loads the apps' scorers into engine and runs the self-tests. An app that
// fails leaves the pack; see [Prepared.Dropped]. Errors are a [*SnapshotError],
// an [intent.UsageFault], an [intent.InfraFault], ctx's, or an
// [intent.AppFault] when no app is left.
func Prepare(ctx context.Context, p *Pack, snapshots map[common.Hash]*chain.Snapshot, engine *sandbox.Engine) (*Prepared, error) {
	pack, err := p.settled()
	if err != nil {
		return nil, &intent.UsageFault{Err: err}
	}
	out := &Prepared{pack: pack, engine: engine, worlds: map[uint64]*chain.World{}, bare: map[uint64]*chain.View{}}
	if out.digest, err = pack.Digest(); err != nil {
		return nil, err
	}
	for _, ref := range pack.Chains {
		if err := out.pin(ref, snapshots[ref.Snapshot]); err != nil {
			return nil, err
		}
	}
	scorer, err := scoring.New(ctx, engine)
	if err != nil {
		return nil, infra(ctx, fmt.Errorf("start scorer: %w", err))
	}
	var faults []error
	for _, d := range pack.Apps {
		err := out.admit(ctx, scorer, d)
		var fault *intent.AppFault
		switch {
		case err == nil:
		case errors.As(err, &fault):
			faults = append(faults, fault)
			out.drop(fault)
		default:
			return nil, err
		}
	}
	if len(out.cases) == 0 {
		return nil, fmt.Errorf("no app of the pack passed its self-test: %w", errors.Join(faults...))
	}
	slices.SortFunc(out.cases, func(a, b *prepared) int { return cmp.Compare(a.id, b.id) })
	return out, nil
}

// Pack returns the pack. It is not to be changed.
func (p *Prepared) Pack() *Pack { return p.pack }

// Intents is how many rows every session yields.
func (p *Prepared) Intents() int { return len(p.cases) }

// Dropped lists the apps that failed their self-test, by app id. The result is
// not to be changed.
func (p *Prepared) Dropped() []DroppedApp { return p.dropped }

// pin builds one chain's world.
func (p *Prepared) pin(ref ChainRef, s *chain.Snapshot) error {
	fail := func(reason string) error {
		return &SnapshotError{ChainID: ref.ChainID, Snapshot: hex.EncodeToString(ref.Snapshot[:]), Reason: reason}
	}
	if s == nil {
		return fail("missing")
	}
	w, err := chain.NewWorld(s)
	if err != nil {
		return fail(err.Error())
	}
	block := w.Context()
	switch {
	case w.Hash() != ref.Snapshot:
		return fail("the file given is " + hex.EncodeToString(w.Hash().Bytes()))
	case w.ChainID() != ref.ChainID:
		return fail(fmt.Sprintf("is of chain %d", w.ChainID()))
	case block.Time <= uint64(p.pack.Close.Unix()):
		return &intent.UsageFault{Err: fmt.Errorf("chain %d is pinned at %d, not after the close at %d", ref.ChainID, block.Time, p.pack.Close.Unix())}
	case ref.Market != nil && (ref.Market.BlockNumber != block.Number || ref.Market.Timestamp != block.Time):
		return &intent.UsageFault{Err: fmt.Errorf("market of chain %d: block %d at %d, pinned is block %d at %d",
			ref.ChainID, ref.Market.BlockNumber, ref.Market.Timestamp, block.Number, block.Time)}
	}
	p.worlds[ref.ChainID], p.bare[ref.ChainID] = w, w.View()
	return nil
}

// admit loads one app, runs its self-tests and adds its intents.
func (p *Prepared) admit(ctx context.Context, scorer *scoring.Scorer, d intent.Definition) error {
	app, err := scorer.Load(ctx, d)
	if err != nil {
		return p.appFault(ctx, d.AppID, err)
	}
	for i, t := range p.pack.SelfTests {
		if t.App != d.AppID {
			continue
		}
		if err := p.selfTest(ctx, d, app, t); err != nil {
			return p.appFault(ctx, d.AppID, fmt.Errorf("self_tests[%d]: %w", i, err))
		}
	}
	var cases []*prepared
	for _, c := range p.pack.Cases {
		if c.App != d.AppID {
			continue
		}
		ready, err := p.ready(ctx, d, app, c)
		if err != nil {
			return p.intentFault(ctx, fmt.Sprintf("intent %s, nonce %d", c.ID, c.State.Nonce), err)
		}
		cases = append(cases, ready)
	}
	var smoke []harness.Task
	for i, s := range p.pack.Smoke {
		if s.App != d.AppID {
			continue
		}
		ready, err := p.ready(ctx, d, app, Case{App: s.App, State: s.State})
		if err != nil {
			return p.intentFault(ctx, fmt.Sprintf("smoke[%d]", i), err)
		}
		smoke = append(smoke, ready.task)
	}
	p.cases = append(p.cases, cases...)
	p.smoke = append(p.smoke, smoke...)
	return nil
}

// ready makes the task of one intent: who may spend what, and what the solver
// reads while it plans.
func (p *Prepared) ready(ctx context.Context, d intent.Definition, app *scoring.App, c Case) (*prepared, error) {
	id, err := intent.Key(d, c.State)
	if err != nil {
		return nil, err
	}
	order, err := chain.NewOrder(d, c.State)
	if err != nil {
		return nil, err
	}
	// An intent that cannot be measured must be known before solvers plan for it.
	if _, err := scoring.Minimum(d, c.State); err != nil {
		return nil, err
	}
	// What solvers and scorers see besides: derived from the intent, in no digest.
	state := c.State
	state.SyncExtra()
	state.TypedContext = intent.BuildContext(d, state)
	world := p.worlds[c.State.ChainID]
	funded, err := world.Fund(ctx, order)
	if err != nil {
		return nil, err
	}
	ready := &prepared{
		id:     id,
		app:    app,
		funded: funded,
		world:  world,
		best:   c.Best,
		task: harness.Task{
			Intent:   d,
			State:    state,
			IntentID: id,
			Rules: intent.PlanRules{
				AppID:    d.AppID,
				IntentID: id,
				ChainID:  c.State.ChainID,
				Nonce:    c.State.Nonce,
				Time:     world.Context().Time,
			},
			Reads:      p.reads(c.State.ChainID, funded.View()),
			AskTrigger: d.Config.TriggerType == intent.TriggerAuto,
			Truth:      c.Truth,
			AskQuote:   d.Manifest != nil && len(d.Manifest.Quote) > 0,
		},
	}
	if ready.scored, err = scoring.EncodeState(state); err != nil {
		return nil, &intent.AppFault{AppID: d.AppID, Err: fmt.Errorf("state: %w", err)}
	}
	return ready, ready.task.Encode()
}

// selfTest puts a known-good plan through what every solver's plan goes through.
func (p *Prepared) selfTest(ctx context.Context, d intent.Definition, app *scoring.App, t SelfTest) error {
	c, err := p.ready(ctx, d, app, Case{App: t.App, State: t.State})
	if err != nil {
		return err
	}
	if err := t.Plan.Validate(c.task.Rules); err != nil {
		return fmt.Errorf("known-good plan: %w", err)
	}
	v, err := c.judge(ctx, p.pack.Seed, t.Plan)
	if err != nil {
		return err
	}
	if v.score.Cause != intent.CauseNone {
		return fmt.Errorf("known-good plan: %w", &intent.MinerFault{Cause: v.score.Cause, Detail: v.score.Reason})
	}
	return nil
}

// appFault decides whose fault err is while an app is tested. What would be the
// validator's in an epoch, a hole in the snapshot, is the app's here: the
// snapshot does not serve it.
func (p *Prepared) appFault(ctx context.Context, app string, err error) error {
	var (
		fault   *intent.AppFault
		missing *chain.MissingError
		broken  *intent.InfraFault
	)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &fault):
		return &intent.AppFault{AppID: app, Err: fault.Err}
	case errors.As(err, &missing):
		return &intent.AppFault{AppID: app, Err: missing}
	case errors.As(err, &broken):
		return err
	}
	return &intent.AppFault{AppID: app, Err: err}
}

// intentFault is appFault for an intent: one that cannot be funded or measured,
// or that lacks what its app's manifest names, makes the pack unusable. Solvers
// would find it by chance, in the middle of an epoch.
func (p *Prepared) intentFault(ctx context.Context, which string, err error) error {
	var (
		fault   *intent.AppFault
		missing *chain.MissingError
	)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &fault):
		return &intent.UsageFault{Err: fmt.Errorf("pack: %s: app %s: %w", which, quoted(fault.AppID), fault.Err)}
	case errors.As(err, &missing):
		return &intent.UsageFault{Err: fmt.Errorf("pack: %s: %w", which, missing)}
	}
	return err
}

func (p *Prepared) drop(fault *intent.AppFault) {
	d := DroppedApp{App: fault.AppID, Reason: quoted(fault.Err.Error()), Intents: []string{}}
	for _, c := range p.pack.Cases {
		if c.App == fault.AppID {
			d.Intents = append(d.Intents, c.ID)
		}
	}
	p.dropped = append(p.dropped, d)
}

// reads serves a solver from the pinned worlds. own is the chain whose view
// has the intent's grant in it; a nil view means none.
func (p *Prepared) reads(own uint64, funded *chain.View) harness.Reads {
	return func(ctx context.Context, id uint64, req []byte, left harness.Cost) ([]byte, harness.Cost, error) {
		view := p.bare[id]
		if id == own && funded != nil {
			view = funded
		}
		if view == nil {
			return nil, harness.Cost{}, harness.ErrUnknownChain
		}
		reply, used, err := view.Serve(ctx, req, chain.Cost(left))
		switch {
		case errors.Is(err, chain.ErrBudget):
			err = harness.ErrBudget
		case errors.Is(err, chain.ErrTooLarge):
			err = harness.ErrTooLarge
		}
		return reply, harness.Cost(used), err
	}
}

// options is what a session over this pack starts with. Its clock is the latest
// pinned time, so that a deadline counted from it has not passed on any chain.
func (p *Prepared) options() harness.Options {
	o := harness.Options{
		Init: intent.InitConfig{
			RPCURLs:            map[string]string{},
			TimeoutPerPlanMS:   uint64(p.pack.Limits.Plan.Wall.Milliseconds()),
			SupportedProtocols: []string{},
		},
		Count:  len(p.cases),
		Seed:   p.pack.Seed,
		Reads:  p.reads(0, nil),
		Limits: p.pack.Limits,

		Isolation: p.pack.Isolation,
	}
	for _, ref := range p.pack.Chains {
		o.Init.ChainIDs = append(o.Init.ChainIDs, ref.ChainID)
		id := strconv.FormatUint(ref.ChainID, 10)
		o.Init.RPCURLs[id] = "assay://chain/" + id
		o.Time = max(o.Time, p.worlds[ref.ChainID].Context().Time)
		if ref.Market != nil {
			o.Market = append(o.Market, *ref.Market)
		}
	}
	return o
}

// Screen runs [harness.Screen] on a solver with the pack's smoke intents. All of
// them have to be left: an [intent.AppFault] says that one's app was dropped.
func (p *Prepared) Screen(ctx context.Context, code []byte, script bool) (*harness.Screening, error) {
	for _, s := range p.pack.Smoke {
		if slices.ContainsFunc(p.dropped, func(d DroppedApp) bool { return d.App == s.App }) {
			return nil, fmt.Errorf("screen: %w", &intent.AppFault{
				AppID: s.App,
				Err:   fmt.Errorf("%d of %d smoke intents are left", len(p.smoke), len(p.pack.Smoke)),
			})
		}
	}
	return harness.Screen(ctx, p.engine, source(code, script), harness.ScreenOptions{Options: p.options(), Smoke: p.smoke})
}

// infra marks err as the validator's own, unless ctx ended.
func infra(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var fault *intent.InfraFault
	if errors.As(err, &fault) {
		return err
	}
	return &intent.InfraFault{Err: err}
}
