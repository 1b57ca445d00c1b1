package sandbox

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/subnet112/assay/sandbox/meter"
)

// Slice is how much fuel a guest gets at a time, if its memory is small. Between
// two slices the host looks at the clock, and the guest can't hold up the host's
// garbage collector for longer than a few of them last. What a call spends
// doesn't depend on it, unless it traps: see package meter.
//
// What costs a guest least and the host most is touching memory for the first
// time, two of the system's pages by a store across their border, and then
// loading from it in an order that no cache is made for. So the more memory a
// guest has, the less fuel it gets at a time: LargeSlice from 160 MiB on.
const (
	Slice      = 100_000
	LargeSlice = 5_000

	slicePages = 12_800_000 // of memory, times fuel
)

// slice is how much a guest with so many pages gets at a time.
func slice(pages uint32) uint64 {
	return min(Slice, max(LargeSlice, slicePages/uint64(max(pages, 1))))
}

// CostVersion names the table of what instructions cost, and with it how much
// fuel a guest has spent when. Fuel of different versions can't be compared.
const CostVersion = meter.CostVersion

// Fuel of host calls.
const (
	hostCallFuel = 200  // every call of an import, its results of fixed size included
	rpcFuel      = 2000 // rpc instead
	rpcByteFuel  = 10   // and a byte of its request
	pieceBytes   = 64 << 10
	copyShift    = 3 // a checkpoint's bytes are an eighth of fuel each
)

// A tank is the fuel of one call: what the guest holds in its global, and what it
// gets later.
type tank struct {
	limit  uint64 // in all
	left   uint64 // not in the global yet
	global api.MutableGlobal
	depth  api.MutableGlobal
	what   string // the cause when it is empty
	memory *linearMemory
}

// maxFuel bounds every limit, so that what is left fits an int64.
const maxFuel = 1 << 60

// fill makes the tank of a call: no more than its own limit, nor than what the
// session has left.
func (c *call) fill(limit uint64) {
	c.tank = tank{limit: min(limit, maxFuel), what: CauseFuel, memory: c.instance.memory}
	if a := c.instance.env.Allowance; a != nil {
		if left := a.Fuel(); left < c.tank.limit {
			c.tank.limit, c.tank.what = left, CauseSessionFuel
		}
	}
	c.tank.left = c.tank.limit
}

// open connects the tank to the guest's globals. A fresh instance has no fuel.
func (t *tank) open(guest api.Module) {
	if t.global == nil {
		t.global = guest.ExportedGlobal(meter.FuelGlobal).(api.MutableGlobal)
		t.depth = guest.ExportedGlobal(meter.DepthGlobal).(api.MutableGlobal)
	}
}

// add moves fuel into the global until it isn't negative, a slice more if there
// is. It reports whether the guest may go on.
func (t *tank) add(fuel int64) bool {
	if fuel < 0 {
		take := min(uint64(-fuel)+slice(t.memory.pages()), t.left)
		t.left -= take
		fuel += int64(take)
	}
	t.global.Set(uint64(fuel))
	return fuel >= 0
}

// spent is what the call took so far. It may be above the limit by what the last
// instructions cost.
func (t *tank) spent() uint64 {
	if t.global == nil {
		return 0
	}
	return uint64(int64(t.limit-t.left) - int64(t.global.Get()))
}

// pay charges for what the host is about to do, or ends the call.
func (c *call) pay(fuel uint64) {
	if !c.tank.add(int64(c.tank.global.Get()) - int64(min(fuel, maxFuel))) {
		c.empty()
	}
}

// empty ends a call whose fuel is spent.
func (c *call) empty() {
	c.stop(&Fault{c.tank.what, fmt.Sprintf("all %s are spent", thousands(c.tank.limit))})
	panic(errStopped)
}

// refill is the import that a guest calls when a global is below zero.
func refill(ctx context.Context, c *call, _ api.Module, _ []uint64) {
	if int32(c.tank.depth.Get()) < 0 {
		c.stop(&Fault{CauseDepth, "calls nest too deep"})
		panic(errStopped)
	}
	if !c.tank.add(int64(c.tank.global.Get())) {
		c.empty()
	}
	c.checkTime(ctx)
}

// checkTime ends a call whose wall limit has passed. The host's timers may be
// late, so the clock is read as well.
func (c *call) checkTime(ctx context.Context) {
	if ctx.Err() == nil && c.instance.module.engine.config.Clock().Before(c.deadline) {
		return
	}
	c.expired = true
	panic(errStopped)
}
