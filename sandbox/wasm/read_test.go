package wasm_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

func TestReaderRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		body []byte // without the final end, if it doesn't matter
		sort sort
		says string
	}{
		{"SIMD", []byte{0xfd, 12}, feature, "code at offset 100: SIMD instruction 0xfd 12 is not admitted"},
		{"SIMD with a padded number", []byte{0xfd, 0x8c, 0x82, 0x00}, feature, "code at offset 100: SIMD instruction 0xfd 268 is not admitted"},
		{"threads", []byte{0xfe, 3, 0}, feature, "code at offset 100: thread instruction 0xfe 3 is not admitted"},
		{"garbage collection", []byte{0xfb, 0, 0}, feature, "code at offset 100: GC instruction 0xfb 0 is not admitted"},
		{"equality of references", []byte{0xd3}, feature, "code at offset 100: GC instruction ref.eq 0xd3 is not admitted"},
		{"exceptions of old", []byte{0x06, 0x40, 0x0b}, feature, "code at offset 100: exception instruction try 0x06 is not admitted"},
		{"exceptions of now", []byte{0x1f, 0x40, 0, 0x0b}, feature, "code at offset 100: exception instruction try_table 0x1f is not admitted"},
		{"throw", []byte{0x08, 0}, feature, "code at offset 100: exception instruction throw 0x08 is not admitted"},
		{"a tail call", []byte{0x12, 0}, feature, "code at offset 100: tail call return_call 0x12 is not admitted"},
		{"a call of a reference", []byte{0x14, 0}, feature, "code at offset 100: typed reference instruction call_ref 0x14 is not admitted"},
		{"wide arithmetic", []byte{0xfc, 19}, feature, "code at offset 100: instruction 0xfc 19 is not admitted"},
		{"a prefix whose number is too long", []byte{0xfc, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, malformed, "code at offset 100: instruction 0xfc: number is too long"},
		{"an opcode of nothing", []byte{0x27}, malformed, "code at offset 100: unknown instruction 0x27"},
		{"an error behind other instructions", []byte{0x01, 0x41, 0x80, 0x01, 0x1a, 0xff}, malformed, "code at offset 105: unknown instruction 0xff"},

		{"a second memory in an access", []byte{0x28, 0x42, 1, 0}, feature, "code at offset 100: i32.load: more than one memory is not admitted"},
		{"a second memory in memory.size", []byte{0x3f, 1}, feature, "code at offset 100: memory.size: more than one memory is not admitted"},
		{"a second memory in memory.grow", []byte{0x40, 1}, feature, "code at offset 100: memory.grow: more than one memory is not admitted"},
		{"a second memory in memory.fill", []byte{0xfc, 11, 1}, feature, "code at offset 100: memory.fill: more than one memory is not admitted"},
		{"a second memory as destination", []byte{0xfc, 10, 1, 0}, feature, "code at offset 100: memory.copy: more than one memory is not admitted"},
		{"a second memory as source", []byte{0xfc, 10, 0, 1}, feature, "code at offset 100: memory.copy: more than one memory is not admitted"},
		{"a second memory in memory.init", []byte{0xfc, 8, 0, 1}, feature, "code at offset 100: memory.init: more than one memory is not admitted"},
		{"an alignment of 8 for 4 bytes", []byte{0x28, 3, 0}, malformed, "code at offset 100: i32.load: alignment 2^3 of 4 bytes"},
		{"an alignment of 2 for a byte", []byte{0x2c, 1, 0}, malformed, "code at offset 100: i32.load8_s: alignment 2^1 of 1 bytes"},
		{"an alignment of 16 for 8 bytes", []byte{0x39, 4, 0}, malformed, "code at offset 100: f64.store: alignment 2^4 of 8 bytes"},
		{"an alignment beyond everything", []byte{0x28, 0x80, 1, 0}, malformed, "code at offset 100: i32.load: alignment 2^128 of 4 bytes"},
		{"an offset of 33 bits", []byte{0x28, 2, 0x80, 0x80, 0x80, 0x80, 0x10}, malformed, "code at offset 100: i32.load: number is too long"},

		{"an index of 33 bits", []byte{0x20, 0xff, 0xff, 0xff, 0xff, 0x1f}, malformed, "code at offset 100: local.get: number is too long"},
		{"an index of six bytes", []byte{0x20, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, malformed, "code at offset 100: local.get: number is too long"},
		{"an i32 of 33 bits", []byte{0x41, 0xff, 0xff, 0xff, 0xff, 0x0f}, malformed, "code at offset 100: i32.const: number is too long"},
		{"a negative i32 of 33 bits", []byte{0x41, 0x80, 0x80, 0x80, 0x80, 0x70}, malformed, "code at offset 100: i32.const: number is too long"},
		{"an i32 of six bytes", []byte{0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, malformed, "code at offset 100: i32.const: number is too long"},
		{"an i64 of 65 bits", append([]byte{0x42}, append(bytes.Repeat([]byte{0x80}, 9), 0x01)...), malformed, "code at offset 100: i64.const: number is too long"},
		{"a negative i64 of 65 bits", append([]byte{0x42}, append(bytes.Repeat([]byte{0x80}, 9), 0x7e)...), malformed, "code at offset 100: i64.const: number is too long"},
		{"an i64 of eleven bytes", append([]byte{0x42}, append(bytes.Repeat([]byte{0x80}, 10), 0)...), malformed, "code at offset 100: i64.const: number is too long"},
		{"an f32 that is cut off", []byte{0x43, 0, 0}, malformed, "code at offset 100: f32.const: unexpected end"},
		{"an f64 that is cut off", []byte{0x44, 0, 0, 0, 0, 0, 0}, malformed, "code at offset 100: f64.const: unexpected end"},

		{"a block of SIMD", []byte{0x02, 0x7b, 0x0b}, feature, "code at offset 100: block: v128 needs SIMD, which is not admitted"},
		{"a block of a typed reference", []byte{0x02, 0x64, 0, 0x0b}, feature, "code at offset 100: block: value type 0x64 is not admitted"},
		{"a block whose type is negative", []byte{0x02, 0xff, 0x7f, 0x0b}, malformed, "code at offset 100: block: block type -1"},
		{"a block's type of 34 bits", []byte{0x02, 0x80, 0x80, 0x80, 0x80, 0x20, 0x0b}, malformed, "code at offset 100: block: number is too long"},
		{"more labels than bytes", []byte{0x0e, 0xff, 0xff, 0xff, 0xff, 0x0f}, malformed, "code at offset 100: br_table: 4,294,967,295 labels announced, 1 bytes left"},
		{"a table of labels without default", []byte{0x0e, 1}, malformed, "code at offset 100: br_table: unexpected end"},
		{"a select of two types", []byte{0x1c, 2, 0x7f, 0x7f}, malformed, "code at offset 100: select: 2 types, want 1"},
		{"a select of SIMD", []byte{0x1c, 1, 0x7b}, feature, "code at offset 100: select: v128 needs SIMD, which is not admitted"},
		{"a null of another type", []byte{0xd0, 0x6e}, feature, "code at offset 100: ref.null: value type 0x6e is not admitted"},

		{"an else without if", []byte{0x05}, malformed, "code at offset 100: else without if"},
		{"an else in a block", []byte{0x02, 0x40, 0x05, 0x0b}, malformed, "code at offset 102: else without if"},
		{"an else in a block in an if", []byte{0x04, 0x40, 0x02, 0x40, 0x05, 0x0b, 0x0b}, malformed, "code at offset 104: else without if"},
		{"a second else", []byte{0x04, 0x40, 0x05, 0x05, 0x0b}, malformed, "code at offset 103: else without if"},
		{"a second end", []byte{0x0b}, malformed, "code at offset 101: 1 bytes behind its end"},
		{"too few ends", []byte{0x02, 0x40, 0x03, 0x40}, malformed, "code at offset 105: 1 blocks have no end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := wasm.NewReader(append(tt.body, 0x0b), 100)
			var in wasm.Instr
			for r.Next(&in) {
			}
			e := refusal(t, r.Err())
			if e.Error() != tt.says || sortOf(e) != tt.sort {
				t.Errorf("%s: %s\nwant %s: %s", sortOf(e), e, tt.sort, tt.says)
			}
			if r.Next(&in) || !errors.Is(r.Err(), e) {
				t.Error("it goes on after the error")
			}
		})
	}
	if _, err := read(nil); err == nil || err.Error() != "code at offset 0: it has no end" {
		t.Errorf("an empty expression: %v", err)
	}
}

// An instruction that is cut off anywhere is none.
func TestReaderRefusesHalfAnInstruction(t *testing.T) {
	for _, o := range allOps() {
		in := sample(o)
		b := wasm.AppendInstr(nil, &in)
		for cut := 1; cut < len(b); cut++ {
			all, err := read(b[:cut])
			e := refusal(t, err)
			end := strings.HasSuffix(e.Detail, "unexpected end") || strings.HasSuffix(e.Detail, "bytes left")
			if len(all) > 0 || e.Feature || !end {
				t.Errorf("% x of % x: %v", b[:cut], b, e)
			}
		}
	}
}

// Numbers may be padded up to their width, and are written in the shortest form.
func TestReaderTakesPaddedNumbers(t *testing.T) {
	last := func(n int, b ...byte) []byte { return append(bytes.Repeat([]byte{b[0]}, n-1), b[1]) }
	for _, tt := range []struct {
		name string
		body []byte
		want []byte
	}{
		{"an index", wt.Seq([]byte{0x20}, last(5, 0x80, 0)), wt.LocalGet(0)},
		{"an index of 32 bits", wt.Seq([]byte{0x20}, last(5, 0xff, 0x0f)), wt.LocalGet(math.MaxUint32)},
		{"an i32", wt.Seq([]byte{0x41}, last(5, 0x80, 0)), wt.I32Const(0)},
		{"an i32 of -1", wt.Seq([]byte{0x41}, last(5, 0xff, 0x7f)), wt.I32Const(-1)},
		{"the smallest i32", wt.Seq([]byte{0x41}, last(5, 0x80, 0x78)), wt.I32Const(math.MinInt32)},
		{"the largest i32", wt.Seq([]byte{0x41}, last(5, 0xff, 0x07)), wt.I32Const(math.MaxInt32)},
		{"an i64", wt.Seq([]byte{0x42}, last(10, 0x80, 0)), wt.I64Const(0)},
		{"an i64 of -1", wt.Seq([]byte{0x42}, last(10, 0xff, 0x7f)), wt.I64Const(-1)},
		{"the smallest i64", wt.Seq([]byte{0x42}, last(10, 0x80, 0x7f)), wt.I64Const(math.MinInt64)},
		{"the largest i64", wt.Seq([]byte{0x42}, last(10, 0xff, 0)), wt.I64Const(math.MaxInt64)},
		{"an opcode", wt.Seq([]byte{0xfc}, last(5, 0x80, 0)), []byte{0xfc, 0}},
		{"alignment and offset", wt.Seq([]byte{0x28}, last(5, 0x80, 0), last(5, 0xff, 0x0f)), wt.Seq([]byte{0x28, 0}, wt.U32(math.MaxUint32))},
		{"a table", wt.Seq([]byte{0x11, 0}, last(5, 0x80, 0)), []byte{0x11, 0, 0}},
		{"labels", wt.Seq([]byte{0x0e}, []byte{0x81, 0}, []byte{0x82, 0}, []byte{0x83, 0}), []byte{0x0e, 1, 2, 3}},
		{"a select's types", []byte{0x1c, 0x81, 0x00, 0x7f}, []byte{0x1c, 1, 0x7f}},
		{"a block's type", wt.Seq([]byte{0x02}, last(5, 0x80, 0), wt.End), []byte{0x02, 0, 0x0b}},
		{"a block's type of 32 bits", wt.Seq([]byte{0x02}, last(5, 0xff, 0x0f), wt.End), []byte{0x02, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x0b}},
		{"a block's type of 7 bits", []byte{0x02, 0xc0, 0x00, 0x0b}, []byte{0x02, 0xc0, 0x00, 0x0b}}, // 0x40 would be a block without type
	} {
		t.Run(tt.name, func(t *testing.T) {
			all, err := read(append(tt.body, 0x0b))
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			for i := range all[:len(all)-1] {
				got = wasm.AppendInstr(got, &all[i])
			}
			if !bytes.Equal(got, tt.want) {
				t.Errorf("written as % x, want % x", got, tt.want)
			}
		})
	}
}

// A constant's bits are its value's, sign and all.
func TestConstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i32, i64 := rapid.Int32().Draw(t, "i32"), rapid.Int64().Draw(t, "i64")
		f32, f64 := rapid.Uint32().Draw(t, "f32"), rapid.Uint64().Draw(t, "f64")
		le := func(v uint64, n int) (b []byte) {
			for ; n > 0; n-- {
				b = append(b, byte(v))
				v >>= 8
			}
			return b
		}
		body := wt.Seq(wt.I32Const(i32), wt.I64Const(i64), []byte{0x43}, le(uint64(f32), 4), []byte{0x44}, le(f64, 8), wt.End)
		all, err := read(body)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		var again []byte
		for i := range all {
			got = append(got, all[i].Imm)
			again = wasm.AppendInstr(again, &all[i])
		}
		if diff := cmp.Diff([]uint64{uint64(int64(i32)), uint64(i64), uint64(f32), f64, 0}, got); diff != "" {
			t.Errorf("constants (-want +got):\n%s", diff)
		}
		if !bytes.Equal(again, body) {
			t.Errorf("written as % x, want % x", again, body)
		}
	})
}

// An if deep inside others keeps its else, however deep.
func TestElseBelongsToItsIf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ifs := rapid.SliceOfN(rapid.Bool(), 1, 300).Draw(t, "ifs")
		wrong := rapid.IntRange(-1, len(ifs)-1).Draw(t, "wrong")
		var body []byte
		for _, isIf := range ifs {
			body = append(body, map[bool]byte{true: 0x04, false: 0x02}[isIf], 0x40)
		}
		valid := true
		for i, isIf := range slices.Backward(ifs) {
			if isIf != (i == wrong) {
				valid = valid && isIf
				body = append(body, 0x05)
			}
			body = append(body, 0x0b)
		}
		if _, err := read(append(body, 0x0b)); (err == nil) != valid {
			t.Errorf("valid is %v, read() = %v", valid, err)
		}
	})
}

// Raw and Offset cover the expression without a gap.
func TestRawCoversTheExpression(t *testing.T) {
	body := decode(t, goGuest(t)).Codes[100].Body
	all, err := read(body)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for _, in := range all {
		if in.Offset != len(got) {
			t.Fatalf("%s has offset %d, want %d", in.Op, in.Offset, len(got))
		}
		got = append(got, in.Raw...)
	}
	if !bytes.Equal(got, body) {
		t.Error("the instructions aren't the body")
	}
}

func TestBlockType(t *testing.T) {
	m := &wasm.Module{Types: []wasm.FuncType{{}, {Params: []wasm.ValType{wasm.I32, wasm.I64}, Results: []wasm.ValType{wasm.F32}}}}
	for _, tt := range []struct {
		name            string
		block           wasm.BlockType
		params, results []wasm.ValType
	}{
		{"nothing", wasm.BlockType{}, nil, nil},
		{"a result", wasm.BlockType{Result: wasm.FuncRef}, nil, []wasm.ValType{wasm.FuncRef}},
		{"a type", wasm.BlockType{Index: 1, HasIndex: true}, m.Types[1].Params, m.Types[1].Results},
		{"a type that isn't there", wasm.BlockType{Index: 2, HasIndex: true}, nil, nil},
	} {
		params, results := tt.block.Type(m)
		if !slices.Equal(params, tt.params) || !slices.Equal(results, tt.results) {
			t.Errorf("%s: %x -> %x, want %x -> %x", tt.name, params, results, tt.params, tt.results)
		}
	}
}

// Nothing is allocated by the instruction: a body of many takes what one of few
// does.
func TestNextDoesNotAllocate(t *testing.T) {
	all := [][]byte{}
	for _, o := range allOps() {
		in := sample(o)
		b := wasm.AppendInstr(nil, &in)
		switch o {
		case wasm.OpEnd, wasm.OpElse:
			continue
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
			b = append(b, 0x0b)
		}
		all = append(all, b)
	}
	body := wt.Seq(slices.Repeat(all, 100)...)
	allocations := func(e wasm.Expr) float64 {
		return testing.AllocsPerRun(10, func() {
			var in wasm.Instr
			r := wasm.NewReader(e, 0)
			for r.Next(&in) {
			}
			if r.Err() != nil {
				t.Fatal(r.Err())
			}
		})
	}
	// The reader's own, and the labels of br_table.
	if n := allocations(append(body, 0x0b)); n > 2 {
		t.Errorf("%v allocations, want at most 2", n)
	}
}
