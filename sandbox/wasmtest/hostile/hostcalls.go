package hostile

import (
	"fmt"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// A hostType is an import, and which of its parameters are ranges of memory:
// pairs of a pointer and a length.
type hostType struct {
	module, name    string
	params, results []byte
	ranges          [][2]int // a length below zero is -(bytes), fixed
	args            []int64  // that reach the ranges, all of which are good
}

const wasi = "wasi_snapshot_preview1"

// hostTypes are the imports of the assay module that a solver has, and those of
// WASI that take or give memory or end the guest.
var hostTypes = func() map[string]hostType {
	types := map[string]hostType{}
	for _, h := range []hostType{
		{"assay", "input", []byte{wt.I32, wt.I32}, i32, [][2]int{{0, 1}}, []int64{0, 8}},
		{"assay", "output", []byte{wt.I32, wt.I32}, nil, [][2]int{{0, 1}}, []int64{0, 8}},
		{"assay", "rpc", []byte{wt.I64, wt.I32, wt.I32}, i32, [][2]int{{1, 2}}, []int64{1, 0, 8}},
		{"assay", "rpc_read", []byte{wt.I32, wt.I32}, i32, [][2]int{{0, 1}}, []int64{0, 8}},
		{"assay", "log", []byte{wt.I32, wt.I32, wt.I32}, nil, [][2]int{{1, 2}}, []int64{1, 0, 8}},
		{wasi, "args_sizes_get", []byte{wt.I32, wt.I32}, i32, [][2]int{{0, -4}, {1, -4}}, []int64{0, 8}},
		{wasi, "environ_sizes_get", []byte{wt.I32, wt.I32}, i32, [][2]int{{0, -4}, {1, -4}}, []int64{0, 8}},
		{wasi, "clock_time_get", []byte{wt.I32, wt.I64, wt.I32}, i32, [][2]int{{2, -8}}, []int64{0, 0, 8}},
		{wasi, "random_get", []byte{wt.I32, wt.I32}, i32, [][2]int{{0, 1}}, []int64{0, 8}},
		{wasi, "fd_write", []byte{wt.I32, wt.I32, wt.I32, wt.I32}, i32, [][2]int{{1, -8}, {3, -4}}, []int64{1, 64, 1, 72}},
		{wasi, "fd_read", []byte{wt.I32, wt.I32, wt.I32, wt.I32}, i32, [][2]int{{3, -4}}, []int64{0, 64, 1, 72}},
		{wasi, "fd_fdstat_get", []byte{wt.I32, wt.I32}, i32, [][2]int{{1, -24}}, []int64{1, 64}},
		{wasi, "poll_oneoff", []byte{wt.I32, wt.I32, wt.I32, wt.I32}, i32, [][2]int{{0, -48}, {1, -32}, {3, -4}}, []int64{0, 64, 1, 128}},
		{wasi, "proc_exit", i32, nil, nil, nil},
		{wasi, "sched_yield", nil, i32, nil, nil},
	} {
		types[h.name] = h
	}
	return types
}()

// HasherCode is a contract that hashes the same 128 KiB until its gas is spent:
//
//	again: KECCAK256(0, 0x20000) JUMP again
var HasherCode = []byte{0x5b, 0x62, 2, 0, 0, 0x60, 0, 0x20, 0x50, 0x60, 0, 0x56}

// HasherAddress is where it lies, on chain 1.
const HasherAddress = "0x00000000000000000000000000000000000a5a5a"

const hash = `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"` + HasherAddress + `"},"latest"]}`

// calling are guests that call the host too often, or for too much.
func calling() []Guest {
	storm := func(pages uint32, name string, args ...[]byte) func() []byte {
		return func() []byte {
			b := solver(pages, name)
			call := ops(ops(args...), b.call[name])
			if hostTypes[name].results != nil {
				call = ops(call, wt.Drop)
			}
			return b.plan(nil, forever(repeat(10, call)))
		}
	}
	i64 := wt.I64Const
	c := wt.I32Const
	return []Guest{
		{Name: "log storm", End: fault(sandbox.CauseLog, "65,536 bytes"), Wasm: storm(1, "log", c(1), c(0), c(100))},
		{Name: "log of nothing, again and again", End: fault(sandbox.CauseLog, "65,536 bytes"), Wasm: storm(1, "log", c(1), c(0), c(0))},
		{Name: "log of all its memory", Large: true, End: fault(sandbox.CauseLog, "65,536 bytes"), Wasm: storm(allPages, "log", c(1), c(0), c(512*mib-1))},
		{Name: "fd_write to nowhere, again and again", End: Spent, Wasm: storm(1, "fd_write", c(3), c(0), c(1), c(0))},
		{Name: "fd_write of 1,024 empty buffers, again and again", End: Spent, Wasm: func() []byte {
			b := solver(1, "fd_write")
			return b.plan(nil, forever(c(1), c(0), c(1024), c(16384), b.call["fd_write"], wt.Drop))
		}},
		{Name: "rpc storm", Reads: Replies, Fuel: 500_000_000, End: Spent, Wasm: storm(1, "rpc", i64(1), c(0), c(64))},
		{Name: "rpc storm to no chain", End: Spent, Wasm: storm(1, "rpc", i64(-1), c(0), c(64))},
		{Name: "rpc of 1 MiB, again and again", Reads: Replies, Fuel: 500_000_000, End: Spent, Wasm: storm(16, "rpc", i64(1), c(0), c(mib))},
		{Name: "rpc of all its memory, again and again", Reads: Replies, Large: true, End: Spent, Wasm: storm(allPages, "rpc", i64(1), c(0), c(512*mib-1))},
		{Name: "eth_calls that hash all their gas", Reads: Chain, Fuel: 2_000_000_000, End: Spent, Wasm: func() []byte {
			b := solver(1, "rpc")
			b.Data(0, []byte(hash))
			return b.plan(nil, forever(i64(1), c(0), c(int32(len(hash))), b.call["rpc"], wt.Drop))
		}},
		{Name: "output in a billion pieces", Fuel: 1_000_000_000, End: fault(sandbox.CauseOutput, "1,048,576 bytes"), Wasm: storm(1, "output", c(0), c(1))},
		{Name: "output of nothing a billion times", End: Spent, Wasm: storm(1, "output", c(0), c(0))},
		{Name: "output of all its memory", Large: true, End: fault(sandbox.CauseOutput, "1,048,576 bytes"), Wasm: storm(allPages, "output", c(0), c(512*mib-1))},
		{Name: "input of nothing a billion times", End: Spent, Wasm: storm(1, "input", c(0), c(1))},
		{Name: "random bytes for all its memory", Large: true, End: Spent, Wasm: storm(allPages, "random_get", c(0), c(512*mib-1))},
		{Name: "clock storm", End: Spent, Wasm: storm(1, "clock_time_get", c(0), i64(0), c(0))},
		{Name: "yields for ever", End: Spent, Wasm: storm(1, "sched_yield")},
		{Name: "sleeps for ever", End: Spent, Wasm: func() []byte {
			// One subscription of zeroes but for its clock and its time, 2^63 ns.
			b := solver(1, "poll_oneoff")
			b.Data(16, []byte{1})
			b.Data(31, []byte{0x80})
			return b.plan(nil, forever(c(0), c(64), c(1), c(128), b.call["poll_oneoff"], wt.Drop))
		}},
		{Name: "sleeps on 1,024 clocks for ever", End: Spent, Wasm: func() []byte {
			b := solver(2, "poll_oneoff")
			return b.plan(nil, forever(c(0), c(65536), c(1024), c(64), b.call["poll_oneoff"], wt.Drop))
		}},
		{Name: "proc_exit", End: fault(sandbox.CauseExit, "proc_exit(0)"), Wasm: storm(1, "proc_exit", c(0))},
		{Name: "proc_exit in _initialize", Start: true, End: fault(sandbox.CauseExit, "proc_exit(0)"), Wasm: func() []byte {
			b := solver(1, "proc_exit")
			b.Func("_initialize", nil, nil, nil, c(0), b.call["proc_exit"])
			return b.idle()
		}},
	}
}

// pointers are guests that give the host ranges that lie outside of their memory,
// by a byte and by far.
func pointers() (guests []Guest) {
	const end = pageBytes
	for _, name := range []string{
		"input", "output", "rpc", "rpc_read", "log", "args_sizes_get", "environ_sizes_get", "clock_time_get", "random_get",
		"fd_write", "fd_read", "fd_fdstat_get", "poll_oneoff",
	} {
		h := hostTypes[name]
		for _, r := range h.ranges {
			bad := [][2]int64{{end - 1, 2}, {end + 1, 0}, {-1, 1}, {0, -1}, {-1, -1}, {1 << 31, 1 << 31}}
			if r[1] < 0 { // a size that the guest doesn't say
				bad = [][2]int64{{end + 1 + int64(r[1]), 0}, {end, 0}, {-1, 0}, {int64(r[1]), 0}, {1 << 31, 0}}
			}
			for _, b := range bad {
				args := append([]int64{}, h.args...)
				args[r[0]] = b[0]
				at := fmt.Sprint(b[0])
				if r[1] >= 0 {
					args[r[1]] = b[1]
					at = fmt.Sprintf("%d bytes at %d", b[1], b[0])
				}
				guests = append(guests, Guest{
					Name: fmt.Sprintf("%s: %s as parameter %d", name, at, r[0]), Reads: Replies,
					End:  fault(sandbox.CauseBadPointer, name+": "),
					Wasm: func() []byte { return once(h, args) },
				})
			}
		}
	}
	return guests
}

// once calls an import with these arguments, and then does nothing.
func once(h hostType, args []int64) []byte {
	b := solver(1, h.name)
	var body []byte
	for i, a := range args {
		if h.params[i] == wt.I64 {
			body = ops(body, wt.I64Const(a))
		} else {
			body = ops(body, wt.I32Const(int32(a)))
		}
	}
	body = ops(body, b.call[h.name])
	if h.results != nil {
		body = ops(body, wt.Drop)
	}
	return b.plan(nil, body)
}
