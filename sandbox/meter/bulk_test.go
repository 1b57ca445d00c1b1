package meter_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/sandbox/meter"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

const bulkPages = 4

// bulkModule exports the bulk memory instructions as functions of three i32.
func bulkModule() []byte {
	m := &wt.Module{}
	m.Memory(bulkPages, bulkPages)
	args := wt.Seq(wt.LocalGet(0), wt.LocalGet(1), wt.LocalGet(2))
	i32s := []byte{wt.I32, wt.I32, wt.I32}
	m.Func("fill", i32s, nil, nil, args, wt.MemoryFill)
	m.Func("copy", i32s, nil, nil, args, []byte{0xfc, 10, 0, 0})
	return m.Bytes()
}

// Bulk instructions in pieces do what they do in one piece: the same bytes, or
// the same trap with nothing written.
func TestBulkInPiecesIsTheSame(t *testing.T) {
	plainRuntime := wazero.NewRuntime(t.Context())
	defer plainRuntime.Close(t.Context())
	plain, err := plainRuntime.Instantiate(t.Context(), bulkModule())
	if err != nil {
		t.Fatal(err)
	}
	metered := start(t, rewrite(t, bulkModule(), meter.Options{}).Bytes, false)
	const size = bulkPages << 16
	pattern := make([]byte, size)
	for i := range pattern {
		pattern[i] = byte(i ^ i>>8 ^ i>>16)
	}
	memory := func(m api.Module) []byte {
		b, _ := m.Memory().Read(0, size)
		return b
	}
	edge := rapid.OneOf(rapid.Uint32Range(0, size+10), rapid.Uint32Range(0, 100), rapid.Uint32Range(65500, 65600),
		rapid.Uint32Range(size-70_000, size), rapid.Uint32())
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"fill", "copy"}).Draw(t, "instruction")
		args := []uint64{uint64(edge.Draw(t, "to")), uint64(edge.Draw(t, "from")), uint64(edge.Draw(t, "bytes"))}
		copy(memory(plain), pattern)
		copy(memory(metered.module), pattern)
		_, want := plain.ExportedFunction(name).Call(t.Context(), args...)
		_, fuel, got := metered.call(name, 1<<40, 1<<40, args...)
		if (want == nil) != (got == nil) || want != nil && !strings.Contains(got.Error(), "out of bounds memory access") {
			t.Fatalf("plain ends with %v, in pieces with %v", want, got)
		}
		if !bytes.Equal(memory(plain), memory(metered.module)) {
			t.Fatal("memory differs")
		}
		if least := int64(args[2] / 8); got == nil && fuel < least {
			t.Fatalf("spent %d, want at least %d", fuel, least)
		}
	})
}

// memory.init of a passive segment, in bounds, out of bounds, and dropped.
func TestMemoryInitInPieces(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 10_000)
	m := &wt.Module{}
	m.Memory(bulkPages, bulkPages)
	m.Func("init", []byte{wt.I32, wt.I32, wt.I32}, nil, nil, wt.LocalGet(0), wt.LocalGet(1), wt.LocalGet(2), []byte{0xfc, 8, 0, 0})
	m.Func("drop", nil, nil, nil, []byte{0xfc, 9, 0})
	m.PassiveData(data)
	r := start(t, rewrite(t, m.Bytes(), meter.Options{}).Bytes, false)
	call := func(args ...uint64) error {
		_, _, err := r.call("init", 1<<40, 1<<40, args...)
		return err
	}
	if err := call(5, 3, 70_000); err != nil {
		t.Fatal(err)
	}
	if got, _ := r.module.Memory().Read(5, 70_000); !bytes.Equal(got, data[3:70_003]) {
		t.Error("the bytes aren't those of the segment")
	}
	before, _ := r.module.Memory().Read(0, bulkPages<<16)
	before = bytes.Clone(before)
	for name, args := range map[string][]uint64{
		"behind the segment": {0, 30_001, 70_000},
		"behind the memory":  {bulkPages<<16 - 69_999, 0, 70_000},
		"far behind":         {0xffff_ffff, 0xffff_ffff, 0xffff_ffff},
	} {
		if err := call(args...); err == nil {
			t.Errorf("%s: no trap", name)
		}
	}
	if _, _, err := r.call("drop", 1<<40, 1<<40); err != nil {
		t.Fatal(err)
	}
	if err := call(0, 0, 0); err != nil {
		t.Errorf("nothing of a dropped segment: %v", err)
	}
	if err := call(0, 0, 1); err == nil {
		t.Error("a dropped segment gave a byte")
	}
	if got, _ := r.module.Memory().Read(0, bulkPages<<16); !bytes.Equal(got, before) {
		t.Error("a trap wrote something")
	}
}
