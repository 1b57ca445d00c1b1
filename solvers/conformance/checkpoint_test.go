package conformance_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
)

// Every toolchain makes guests that can be put back, and what is put back goes on
// as if nothing had been: same answers, same fuel.
func TestCheckpoint(t *testing.T) {
	const learn = "on_benchmark_end state;fill 70000;mix 1000;keep"
	const tell = "serialize_state clock;say  ;recurse 100;grow 2;state"
	type seen struct {
		Output string
		Usage  sandbox.Usage
	}
	eachGuest(t, func(t *testing.T, g guest) {
		if err := g.module(t).Checkpointable(); err != nil {
			t.Fatal(err)
		}
		next := func(i *sandbox.Instance, export string) seen {
			r, err := i.Call(t.Context(), sandbox.Call{Export: "solver_" + export, Wall: wall, Fuel: plenty, Seed: seed, OutputLimit: largest, Input: []byte("[]")})
			if err != nil || r.Status != 0 {
				t.Fatalf("%s: status %d %.100q, %v", export, r.Status, r.Output, err)
			}
			return seen{abridged(string(r.Output)), r.Usage}
		}
		i := g.instantiate(t)
		initialize(t, i, learn, tell)
		next(i, "on_benchmark_end")
		next(i, "serialize_state")
		c, err := i.Checkpoint()
		if err != nil {
			t.Fatal(err)
		}
		goOn := func(i *sandbox.Instance) []seen {
			return []seen{next(i, "on_benchmark_end"), next(i, "serialize_state"), next(i, "on_benchmark_end"), next(i, "serialize_state")}
		}
		want := goOn(i)
		for name, old := range map[string]*sandbox.Instance{"in place": i, "in a fresh instance": nil} {
			again, err := c.Resume(t.Context(), sandbox.Env{Time: pinned, Seed: seed}, old)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, goOn(again)); diff != "" {
				t.Errorf("%s (-first +resumed)\n%s", name, diff)
			}
			again.Close(context.Background())
		}
	})
}
