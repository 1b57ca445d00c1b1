package benchmark

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/sandbox"
)

// isolated puts the intents to forks of the solver, workers at a time. They are
// handed out in order and become rows in order, so the session is as far as it would
// be with one worker, whatever the others have done beyond.
func (r *run) isolated(ctx context.Context, solver *harness.Solver, workers int) error {
	opening := len(solver.Log())
	b := &board{run: r, done: make([]*asked, len(r.cases))}
	g, ctx := errgroup.WithContext(ctx)
	for range min(max(workers, 1), len(r.cases)) {
		fork := solver.Fork()
		g.Go(func() (err error) {
			defer fork.Close(context.WithoutCancel(ctx))
			defer recovered(&err)
			return b.work(ctx, fork)
		})
	}
	err := g.Wait()
	r.log = func() []byte {
		all := solver.Log()
		all = append(all[:opening:opening], append(b.text, all[opening:]...)...)
		return all[:min(len(all), sandbox.SessionLogBytes)]
	}
	return err
}

// A board is where workers find the next intent and leave what came of it.
type board struct {
	*run
	mu   sync.Mutex
	next int      // the intent to hand out
	over bool     // none is handed out any more
	done []*asked // by intent
	text []byte   // that the rows logged, in order
}

func (b *board) work(ctx context.Context, solver *harness.Solver) error {
	for {
		i, ok := b.take()
		if !ok {
			return nil
		}
		a, err := b.ask(ctx, solver, b.cases[i])
		if err != nil {
			return err
		}
		b.put(i, a)
	}
}

func (b *board) take() (int, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || b.next == len(b.cases) {
		return 0, false
	}
	b.next++
	return b.next - 1, true
}

// put adds the rows up to the first that is still missing, or to one that ends the
// session.
func (b *board) put(i int, a asked) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done[i] = &a
	b.over = b.over || a.stalled != ""
	for n := len(b.Records); n < len(b.done) && b.done[n] != nil; n = len(b.Records) {
		if left := sandbox.SessionLogBytes - len(b.text); left > 0 {
			b.text = append(b.text, b.done[n].log[:min(len(b.done[n].log), left)]...)
		}
		b.decide(*b.done[n])
	}
}
