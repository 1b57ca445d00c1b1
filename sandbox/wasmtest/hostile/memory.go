package hostile

import (
	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

const (
	mib      = 1 << 20
	allPages = sandbox.DefaultMemoryPages
	osPage   = 4096
)

// memories are guests that make the host move, find and give memory.
func memories() []Guest {
	chase := func(size int32) func() []byte { return func() []byte { return chaser(size) } }
	return []Guest{
		{Name: "200 fills of 250 MB in a straight line", Large: true, End: Spent, Wasm: func() []byte {
			return solver(allPages).plan(nil, repeat(200, wt.I32Const(0), wt.I32Const(1), wt.I32Const(250_000_000), wt.MemoryFill))
		}},
		{Name: "copies of 256 MiB onto themselves", Large: true, End: Spent, Wasm: func() []byte {
			return solver(allPages).plan(nil, repeat(200, wt.I32Const(1), wt.I32Const(0), wt.I32Const(256*mib-1), wt.MemoryCopy))
		}},
		{Name: "memory.init of 1 MiB again and again", End: Spent, Wasm: func() []byte {
			b := solver(16)
			b.PassiveData(make([]byte, mib))
			return b.plan(nil, forever(wt.I32Const(0), wt.I32Const(0), wt.I32Const(mib), wt.MemoryInit(0)))
		}},
		{Name: "first touch of 511 MiB by a fill", Large: true, End: Spent, Wasm: func() []byte {
			return solver(allPages).plan(nil, wt.I32Const(0), wt.I32Const(1), wt.I32Const(511*mib), wt.MemoryFill, forever())
		}},
		{Name: "first touch of 512 MiB, two pages by a store", Large: true, End: Spent, Wasm: func() []byte { return touch(osPage) }},
		{Name: "first touch of 512 MiB, two huge pages by a store", Large: true, End: Spent, Wasm: func() []byte { return touch(2 * mib) }},
		{Name: "stores a page apart, over 512 MiB", Large: true, End: Spent, Wasm: func() []byte {
			b := solver(allPages)
			body := ops()
			for i := range uint32(256) {
				body = append(body, ops(wt.LocalGet(1), wt.I32Const(1), wt.I32Store(i*osPage))...)
			}
			// Each time a word further, so that no line is in a cache.
			return b.plan(i32, forever(body, add(1, mib+4), wt.LocalGet(1), wt.I32Const(511*mib-1), wt.I32And, wt.LocalSet(1)))
		}},
		{Name: "pointer chase over 1 MiB", End: Spent, Wasm: chase(mib)},
		{Name: "pointer chase over 64 MiB", Large: true, Fuel: 10_000_000, End: Spent, Wasm: chase(64 * mib)},
		{Name: "pointer chase over 512 MiB", Large: true, Fuel: 5_000_000, End: Spent, Wasm: chase(512 * mib)},
		{Name: "memory.grow to the cap", End: fault(sandbox.CauseMemory, "with 8,192 of 8,192 pages"), Wasm: func() []byte {
			return solver(0).plan(nil, until(wt.I32Const(1), wt.MemoryGrow, wt.I32Const(-1), notEqual), wt.Unreachable)
		}},
		{Name: "memory.grow to the cap, each page touched", Large: true, End: fault(sandbox.CauseMemory, "with 8,192 of 8,192 pages"), Wasm: func() []byte {
			// A store beyond the end traps once nothing more is given.
			var touch []byte
			for i := range uint32(pageBytes / osPage) {
				touch = append(touch, ops(wt.LocalGet(1), wt.I32Const(1), wt.I32Store(i*osPage))...)
			}
			return solver(0).plan(i32, forever(wt.I32Const(1), wt.MemoryGrow, wt.Drop, touch, add(1, pageBytes)))
		}},
		{Name: "memory.grow by what can't be, again and again", Fuel: 10_000_000_000, End: Spent, Wasm: func() []byte {
			return solver(1).plan(nil, forever(wt.I32Const(65536), wt.MemoryGrow, wt.Drop))
		}},
		{Name: "memory.grow by nothing, again and again", End: Spent, Wasm: func() []byte {
			return solver(1).plan(nil, forever(repeat(100, wt.I32Const(0), wt.MemoryGrow, wt.Drop)))
		}},
		{Name: "table.grow to the cap", End: fault(sandbox.CauseTrap, "unreachable"), Wasm: func() []byte {
			b := solver(1)
			b.Table(0, -1)
			return b.plan(nil, until(wt.RefNull, wt.I32Const(1), wt.TableGrow, wt.I32Const(-1), notEqual), wt.Unreachable)
		}},
		{Name: "table.grow by what can't be, again and again", Fuel: 200_000_000_000, End: Spent, Wasm: func() []byte {
			b := solver(1)
			b.Table(0, -1)
			return b.plan(nil, forever(wt.RefNull, wt.I32Const(-1), wt.TableGrow, wt.Drop))
		}},
		{Name: "table.fill of all there is, again and again", End: Spent, Wasm: func() []byte {
			b := solver(1)
			b.Table(100_000, 100_000)
			return b.plan(nil, forever(wt.I32Const(0), wt.RefNull, wt.I32Const(100_000), wt.TableFill))
		}},
		{Name: "memory of 4 GiB", End: refused(sandbox.ReasonMemory, "65,536 pages, limit 8,192"), Wasm: func() []byte { return solver(65536).idle() }},
		{Name: "table of 10 million", End: refused(sandbox.ReasonSize, "table of 10,000,000 elements, limit 100,000"), Wasm: func() []byte {
			b := solver(1)
			b.Table(10_000_000, -1)
			return b.idle()
		}},
		{Name: "data beyond the memory", Start: true, End: fault(sandbox.CauseTrap, "out of bounds memory access"), Wasm: func() []byte {
			b := solver(1)
			b.Data(pageBytes-1, []byte("ab"))
			return b.idle()
		}},
	}
}

// touch touches every page of a size. Nothing touches more memory for less fuel:
// each store lies across the border of two pages, and there are no loops.
func touch(page int32) []byte {
	const each = 1024 // stores of one function
	b := solver(allPages)
	var stores, calls []byte
	next := func() {
		calls = append(calls, wt.Call(b.Func("", nil, nil, nil, stores))...)
		stores = nil
	}
	for p := int32(1); p < 512*mib/page; p += 2 {
		stores = append(stores, ops(wt.I32Const(p*page-4), wt.I64Const(1), wt.I64Store(0))...)
		if p/2%each == each-1 {
			next()
		}
	}
	next()
	return b.plan(nil, calls, forever())
}

// notEqual is i32.ne.
var notEqual = []byte{0x47}

// chaser fills a memory with one cycle through all its cache lines, in an order
// that nothing can predict, and follows it.
func chaser(size int32) []byte {
	// A linear congruence modulo a power of two has one cycle if it adds an odd
	// number and multiplies by one more than a multiple of four.
	const line = 64
	lines := size / line
	next := ops(wt.LocalGet(1), wt.I32Const(1664525), wt.I32Mul, wt.I32Const(1013904223), wt.I32Add, wt.I32Const(lines-1), wt.I32And)
	fill := until(
		wt.LocalGet(1), wt.I32Const(6), wt.I32Shl, next, wt.I32Const(6), wt.I32Shl, wt.I32Store(0),
		add(1, 1), wt.LocalGet(1), wt.I32Const(lines), notEqual,
	)
	return solver(uint32(size/pageBytes)).prepared(fill, i32, forever(wt.LocalGet(1), repeat(1000, wt.I32Load(0)), wt.LocalSet(1)))
}
