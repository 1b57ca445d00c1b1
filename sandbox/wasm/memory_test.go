package wasm_test

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// Decoding takes at most so many bytes a byte of the input, and so many besides:
// an empty data segment is 2 bytes and 64 of memory.
const (
	memoryFactor = 40
	memoryBase   = 16 << 10
)

// allocated is what a decoding allocates.
func allocated(b []byte, bounds wasm.Bounds) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = wasm.Decode(b, bounds)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestDecodeAllocatesInProportion(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0x0f} // 2^32-1
	code := func(entry []byte) []byte {
		return module(oneType, oneFunc, wt.Section(10, append([]byte{1}, entry...)))
	}
	const many = 100_000
	times := func(item ...byte) []byte { return append(wt.U32(many), bytes.Repeat(item, many)...) }
	for _, tt := range []struct {
		name string
		wasm []byte
	}{
		{"a section of 4 GiB", slices.Concat(wt.Header(), []byte{1}, huge)},
		{"2^32-1 types", module(wt.Section(1, huge))},
		{"2^32-1 parameters", module(wt.Section(1, append([]byte{1, 0x60}, huge...)))},
		{"2^32-1 imports", module(wt.Section(2, huge))},
		{"2^32-1 functions", module(wt.Section(3, huge))},
		{"2^32-1 tables", module(wt.Section(4, huge))},
		{"2^32-1 memories", module(wt.Section(5, huge))},
		{"2^32-1 globals", module(wt.Section(6, huge))},
		{"2^32-1 exports", module(wt.Section(7, huge))},
		{"2^32-1 element segments", module(wt.Section(9, huge))},
		{"2^32-1 elements", module(wt.Section(9, slices.Concat([]byte{1, 1, 0}, huge)))},
		{"2^32-1 expressions", module(wt.Section(9, slices.Concat([]byte{1, 5, funcRef}, huge)))},
		{"2^32-1 bodies", module(wt.Section(10, huge))},
		{"a body of 4 GiB", code(huge)},
		{"2^32-1 groups of locals", code(sized(append(huge, 0x0b)))},
		{"2^32-1 locals", code(sized(slices.Concat([]byte{1}, huge, []byte{i32, 0x0b})))},
		{"2^32-1 labels", code(sized(slices.Concat([]byte{0, 0x0e}, huge, []byte{0x0b})))},
		{"2^32-1 types of a select", code(sized(slices.Concat([]byte{0, 0x1c}, huge, []byte{0x0b})))},
		{"2^32-1 data segments", module(wt.Section(11, huge))},
		{"data of 4 GiB", module(wt.Section(11, append([]byte{1, 1}, huge...)))},
		{"a data count of 2^32-1", module(wt.Section(12, huge))},
		{"a name of 4 GiB", module(wt.Section(0, huge))},

		{"many types", module(wt.Section(1, times(0x60, 0, 0)))},
		{"many parameters", module(wt.Section(1, slices.Concat([]byte{1, 0x60}, times(i32), []byte{0})))},
		{"many imports", module(oneType, wt.Section(2, times(0, 0, 0, 0)))},
		{"many functions", module(oneType, wt.Section(3, times(0)), wt.Section(10, times(2, 0, 0x0b)))},
		{"many tables", module(wt.Section(4, times(funcRef, 0, 0)))},
		{"many globals", module(wt.Section(6, times(i32, 0, 0x41, 0, 0x0b)))},
		{"many element segments", module(wt.Section(9, times(1, 0, 0)))},
		{"many elements", module(oneType, oneFunc, wt.Section(9, slices.Concat([]byte{1, 1, 0}, times(0))), oneBody)},
		{"many expressions", module(wt.Section(9, slices.Concat([]byte{1, 5, funcRef}, times(0xd0, funcRef, 0x0b))))},
		{"many groups of locals", code(sized(slices.Concat(times(0, i32), wt.End)))},
		{"many labels", code(sized(slices.Concat([]byte{0, 0x0e}, times(0), []byte{0, 0x0b})))},
		{"many tables of labels", code(sized(slices.Concat([]byte{0}, bytes.Repeat([]byte{0x0e, 1, 0, 0}, many), wt.End)))},
		{"many blocks", code(sized(slices.Concat([]byte{0}, bytes.Repeat([]byte{0x02, 0x40}, many), bytes.Repeat(wt.End, many+1))))},
		{"many data segments", module(wt.Section(11, times(1, 0)))},
		{"many custom sections", module(bytes.Repeat(wt.Section(0, []byte{0}), many))},
		{"a long name", module(wt.Section(0, append(wt.U32(many), bytes.Repeat([]byte{'a'}, many)...)))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limit := uint64(memoryFactor*len(tt.wasm) + memoryBase)
			if got := allocated(tt.wasm, wasm.Bounds{}); got > limit {
				t.Errorf("%d bytes take %d, limit %d", len(tt.wasm), got, limit)
			}
		})
	}
}

// With bounds, what a count announces is refused before anything is allocated for
// it.
func TestBoundsHoldBeforeAllocation(t *testing.T) {
	b := module(wt.Section(1, append(wt.U32(1_000_000), bytes.Repeat([]byte{0x60, 0, 0}, 1_000_000)...)))
	allocations := testing.AllocsPerRun(5, func() {
		if _, err := wasm.Decode(b, wasm.Bounds{Types: 999_999}); err == nil {
			t.Fatal("it is accepted")
		}
	})
	if allocations > 20 {
		t.Errorf("%v allocations for a refusal, want at most 20", allocations)
	}
	if n := allocated(b, wasm.Bounds{Types: 999_999}); n > memoryBase {
		t.Errorf("%d bytes allocated for a refusal, want at most %d", n, memoryBase)
	}
}
