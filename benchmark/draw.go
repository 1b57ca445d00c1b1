package benchmark

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/benchmark/oracle"
	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/scoring"
)

// A Drawing says what the intents of an epoch are drawn from, and how.
type Drawing struct {
	Base    *Pack // chains, apps with their scenarios, self-tests, smoke intents; its cases are history
	Network string
	Epoch   uint64
	Size    int                         // intents wanted, 1 to [MaxCases]
	HeldOut uint                        // share of them that is held out, in basis points
	Allowed map[uint64][]common.Address // by chain: tokens and pools that history may name; nil = no history is drawn

	Reference Entrant // an intent that it does not serve is not drawn
}

// A Drawn is a pack that was drawn, and what was not admitted to it.
type Drawn struct {
	Pack    *Pack
	Refused []Refused
}

// A Refused is a candidate that is not in the pack.
type Refused struct {
	Source string `json:"source"` // "app:scenario@chain", or "history:" and the intent's id
	Reason string `json:"reason"` // quoted where it came from an app, a chain or a guest
}

// ErrTooFew means that a draw found fewer intents than were asked for.
var ErrTooFew = errors.New("too few intents are left to draw from")

// Thousandths of an amount that a draw multiplies it by.
const (
	leastFactor = 500
	mostFactor  = 1500
)

// A candidate is an intent that may be drawn.
type candidate struct {
	source string
	app    intent.Definition
	state  intent.State
	shape  string
	truth  *bool
}

// Draw makes a pack of intents that nobody could prepare for: the scenarios of the
// base's apps, and its history where that names allowed tokens and pools only, one of
// each shape, in an order and with amounts that the seed decides, as far as the
// reference solver serves them from the snapshots. Where a chain's market names its
// pools, the oracle says what is the best of each. Equal inputs give equal packs,
// whatever order they were written in.
//
// Errors are those of [Prepare], and an [intent.UsageFault] with [ErrTooFew]: the
// result then says what was refused and has no pack.
func Draw(ctx context.Context, d Drawing, snapshots map[common.Hash]*chain.Snapshot, engine *sandbox.Engine) (*Drawn, error) {
	base, err := d.Base.settled()
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return nil, &intent.UsageFault{Err: err}
	}
	pins, err := base.pins(snapshots)
	if err != nil {
		return nil, err
	}
	w := &drawer{Drawing: d, snapshots: snapshots, engine: engine, oracles: map[uint64]*oracle.Oracle{}, out: &Drawn{Refused: []Refused{}}}
	w.pack = *base
	w.pack.Seed, w.pack.Cases, w.pack.Isolation = DrawSeed(d.Network, d.Epoch, pins), nil, harness.IsolationIntent
	if err := w.run(ctx, base); err != nil {
		return nil, err
	}
	slices.SortFunc(w.out.Refused, func(a, b Refused) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Reason, b.Reason))
	})
	if len(w.pack.Cases) < d.Size {
		return w.out, &intent.UsageFault{Err: fmt.Errorf("%w: %d of %d", ErrTooFew, len(w.pack.Cases), d.Size)}
	}
	w.pack.Isolation = base.Isolation
	if w.out.Pack, err = w.pack.settled(); err != nil {
		return nil, &intent.UsageFault{Err: err}
	}
	w.holdOut()
	return w.out, nil
}

func (d *Drawing) check() error {
	switch {
	case d.Size < 1 || d.Size > MaxCases:
		return fmt.Errorf("size %d, want 1 to %d", d.Size, MaxCases)
	case d.HeldOut > 10_000:
		return fmt.Errorf("held-out share of %d basis points, want at most 10000", d.HeldOut)
	case d.Network == "" || len(d.Network) > maxNameRunes:
		return fmt.Errorf("network %s, want 1 to %d bytes", quoted(d.Network), maxNameRunes)
	}
	return nil
}

// pins are the blocks that a pack's chains are pinned to.
func (p *Pack) pins(snapshots map[common.Hash]*chain.Snapshot) ([]Pin, error) {
	var out []Pin
	for _, ref := range p.Chains {
		s := snapshots[ref.Snapshot]
		if s == nil {
			return nil, &SnapshotError{ChainID: ref.ChainID, Snapshot: hex.EncodeToString(ref.Snapshot[:]), Reason: "missing"}
		}
		i := slices.IndexFunc(s.BlockHashes, func(h chain.BlockHash) bool { return h.Number == s.Context.Number-1 })
		if i < 0 {
			return nil, &SnapshotError{ChainID: ref.ChainID, Snapshot: hex.EncodeToString(ref.Snapshot[:]), Reason: "does not say the pinned block's hash"}
		}
		out = append(out, Pin{ref.ChainID, s.BlockHashes[i].Hash})
	}
	return out, nil
}

// A drawer is a draw under way. Its pack has what was admitted so far.
type drawer struct {
	Drawing
	pack      Pack
	snapshots map[common.Hash]*chain.Snapshot
	engine    *sandbox.Engine
	oracles   map[uint64]*oracle.Oracle // by chain; nil where the market names no pools
	out       *Drawn
}

func (w *drawer) lot() lot { return lot(w.pack.Seed) }

func (w *drawer) refuse(c candidate, reason string) {
	w.out.Refused = append(w.out.Refused, Refused{Source: c.source, Reason: reason})
}

// run goes through the candidates in the seed's order until the pack is full.
func (w *drawer) run(ctx context.Context, base *Pack) error {
	all, err := w.candidates(base)
	if err != nil {
		return err
	}
	program, err := harness.Compile(ctx, w.engine, w.Reference.source())
	if err != nil {
		var refusal *sandbox.Refusal
		if errors.As(err, &refusal) {
			return &intent.UsageFault{Err: fmt.Errorf("reference solver: %w", refusal)}
		}
		return infra(ctx, err)
	}
	defer program.Close()
	for len(all) > 0 && len(w.pack.Cases) < w.Size {
		n := min(len(all), max(w.Size-len(w.pack.Cases), 4))
		if err := w.admit(ctx, program, all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// candidates are the scenarios and the history, one of each shape, perturbed and in
// the seed's order. Of several with one shape a scenario is taken before history, and
// then whichever comes first by name.
func (w *drawer) candidates(base *Pack) ([]candidate, error) {
	var all []candidate
	for _, d := range base.Apps {
		if d.Manifest == nil {
			continue
		}
		for _, s := range d.Manifest.Scenarios {
			for _, ref := range base.Chains {
				if !slices.Contains(d.ScenarioChains(s), ref.ChainID) {
					continue
				}
				c := candidate{source: fmt.Sprintf("%s:%s@%d", d.AppID, s.Name, ref.ChainID), app: d}
				owner := w.lot().hash("owner", c.source)
				var err error
				if c.state, err = d.Scenario(s, ref.ChainID, 1, common.BytesToAddress(owner[:20]).Hex()); err != nil {
					return nil, &intent.UsageFault{Err: fmt.Errorf("%s: %w", quoted(c.source), err)}
				}
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.source, b.source) })
	all = append(all, w.history(base)...)
	seen := map[string]string{}
	var out []candidate
	for _, c := range all {
		shape, err := shapeOf(c.app.AppID, c.state)
		if err != nil {
			return nil, &intent.UsageFault{Err: fmt.Errorf("%s: %w", quoted(c.source), err)}
		}
		if first, ok := seen[shape]; ok {
			w.refuse(c, "has the shape of "+quoted(first))
			continue
		}
		seen[shape], c.shape = c.source, shape
		c.state = perturb(c.app, c.state, leastFactor+w.lot().below(mostFactor-leastFactor+1, "factor", shape))
		out = append(out, c)
	}
	shuffle(w.lot(), "order", out, func(c candidate) string { return c.shape })
	for i := range out {
		out[i].state.Nonce = uint64(i) + 1 // of the draw's own, so that nobody knows the ids
	}
	return out, nil
}

// history are the base's cases, by intent id.
func (w *drawer) history(base *Pack) []candidate {
	if w.Allowed == nil {
		return nil
	}
	var out []candidate
	for _, past := range base.Cases {
		d, _ := base.app(past.App)
		c := candidate{source: "history:" + past.ID, app: d, state: past.State}
		if name := foreign(d, c.state, w.Allowed[c.state.ChainID]); name != "" {
			w.refuse(c, "not allowed: "+name)
			continue
		}
		out = append(out, c)
	}
	return out
}

// holdOut marks the share of the cases that is held out.
func (w *drawer) holdOut() {
	order := make([]*Case, len(w.out.Pack.Cases))
	for i := range w.out.Pack.Cases {
		order[i] = &w.out.Pack.Cases[i]
	}
	shuffle(w.lot(), "held out", order, func(c *Case) string { return c.ID })
	for _, c := range order[:len(order)*int(w.HeldOut)/10_000] {
		c.HeldOut = true
	}
}

// admit adds the candidates to the pack that the reference solver serves, as long as
// there is room.
func (w *drawer) admit(ctx context.Context, program *harness.Program, some []candidate) error {
	trial := w.pack
	trial.Cases = nil
	for _, c := range some {
		trial.Cases = append(trial.Cases, Case{App: c.app.AppID, State: c.state, Truth: c.truth})
	}
	p, err := Prepare(ctx, &trial, w.snapshots, w.engine)
	if err == nil {
		var asked bool
		if asked, err = p.due(ctx, some); asked && err == nil {
			return w.admit(ctx, program, some)
		}
	}
	var (
		usage  *intent.UsageFault
		broken *intent.AppFault
	)
	switch {
	case errors.As(err, &usage) && len(some) > 1:
		// One of them cannot be funded or measured: find out which.
		half := len(some) / 2
		if err := w.admit(ctx, program, some[:half]); err != nil {
			return err
		}
		return w.admit(ctx, program, some[half:])
	case errors.As(err, &usage):
		w.refuse(some[0], quoted(usage.Error()))
		return nil
	case errors.As(err, &broken):
		for _, c := range some {
			w.refuse(c, "its app leaves the pack: "+quoted(broken.Error()))
		}
		return nil
	case err != nil:
		return err
	}
	return w.serve(ctx, p, program, some)
}

// serve runs the reference solver over candidates.
func (w *drawer) serve(ctx context.Context, p *Prepared, program *harness.Program, some []candidate) error {
	s, err := RunSession(ctx, p, program, nil, RoleCandidate, 1, nil)
	if err != nil {
		return err
	}
	rows := map[string]Record{}
	for _, r := range s.Records {
		rows[r.Row.IntentID] = r
	}
	for _, c := range some {
		id, err := intent.Key(c.app, c.state)
		if err != nil {
			return &intent.UsageFault{Err: err}
		}
		r, ok := rows[id]
		switch {
		case len(w.pack.Cases) == w.Size:
			return nil
		case !ok:
			i := slices.IndexFunc(p.dropped, func(d DroppedApp) bool { return d.App == c.app.AppID })
			w.refuse(c, "its app leaves the pack: "+p.dropped[i].Reason)
			continue
		case r.Row.Cause == intent.CauseInfra:
			return &intent.InfraFault{Err: fmt.Errorf("%s: the reference solver's row is void: %s", c.source, r.Detail)}
		case r.Row.Cause != intent.CauseNone:
			w.refuse(c, "not served by the reference solver: "+string(r.Row.Cause)+": "+r.Detail)
			continue
		}
		admitted := Case{ID: id, App: c.app.AppID, State: c.state, Truth: c.truth}
		if admitted.Best, err = w.best(ctx, p.worlds[c.state.ChainID], c); err != nil {
			return err
		}
		w.pack.Cases = append(w.pack.Cases, admitted)
	}
	return nil
}

// due asks the apps of candidates with a trigger whether they are due, and says
// whether there was any left to ask.
func (p *Prepared) due(ctx context.Context, some []candidate) (asked bool, err error) {
	for i := range some {
		c := &some[i]
		if c.app.Config.TriggerType != intent.TriggerAuto || c.truth != nil {
			continue
		}
		id, err := intent.Key(c.app, c.state)
		if err != nil {
			return false, err
		}
		j := slices.IndexFunc(p.cases, func(r *prepared) bool { return r.id == id })
		if j < 0 {
			continue // its app was dropped
		}
		r := p.cases[j]
		truth, err := r.app.ShouldTrigger(ctx, scoring.Input{
			State: r.task.State, After: r.funded.View(), Context: r.world.Context(), Seed: scorerSeed(p.pack.Seed, id),
		})
		if err != nil {
			return false, err
		}
		c.truth, asked = &truth, true
	}
	return asked, nil
}

// best is the best of an intent by the oracle of its chain, "" without one.
func (w *drawer) best(ctx context.Context, world *chain.World, c candidate) (string, error) {
	id := c.state.ChainID
	o, ok := w.oracles[id]
	if !ok {
		i := slices.IndexFunc(w.pack.Chains, func(ref ChainRef) bool { return ref.ChainID == id })
		if m := w.pack.Chains[i].Market; m != nil && len(m.PoolStates) > 0 {
			var err error
			if o, err = oracle.Open(ctx, world, *m); err != nil {
				return "", infra(ctx, fmt.Errorf("oracle of chain %d: %w", id, err))
			}
		}
		w.oracles[id] = o
	}
	if o == nil {
		return "", nil
	}
	best, err := o.Credit(ctx, c.app, c.state, c.truth)
	if err != nil {
		return "", infra(ctx, err)
	}
	return best, nil
}
