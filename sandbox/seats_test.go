package sandbox_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// No more guests run at once than there are processors, so that how many wait
// doesn't reach a wall limit: each of these would have its processor for a
// fraction of the time it needs.
func TestGuestsTakeTurns(t *testing.T) {
	m := reader(t, newEngine(t, sandbox.Config{}))
	var running, most atomic.Int64
	call := plan()
	call.Wall = 10 * time.Second
	call.Read = func(context.Context, uint64, []byte) (sandbox.Reply, error) {
		now := running.Add(1)
		defer running.Add(-1)
		for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		return sandbox.Reply{}, nil
	}
	var all sync.WaitGroup
	for range 8 * runtime.GOMAXPROCS(0) {
		i := instantiate(t, m, sandbox.Env{})
		all.Go(func() {
			if _, err := i.Call(t.Context(), call); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := most.Load(); got < 1 || got > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d guests ran at once on %d processors", got, runtime.GOMAXPROCS(0))
	}
}

// Who waits for a processor may give up, and the instance lives.
func TestWhoWaitsMayGiveUp(t *testing.T) {
	e := newEngine(t, sandbox.Config{})
	spinner := compile(t, e, guest(wt.Answer{Act: wt.Spin}))
	waiting := instantiate(t, compile(t, e, guest(wt.Answer{})), sandbox.Env{})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		i := instantiate(t, spinner, sandbox.Env{})
		all.Go(func() { _, _ = i.Call(ctx, plan()) })
	}
	late, giveUp := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer giveUp()
	for late.Err() == nil { // until every processor is taken
		if _, err := waiting.Call(late, plan()); err != nil && late.Err() == nil {
			t.Fatal(err)
		}
	}
	if !waiting.Alive() {
		t.Error("the instance that waited is dead")
	}
	cancel()
	all.Wait()
	if _, err := waiting.Call(t.Context(), plan()); err != nil {
		t.Error(err)
	}
}
