package wasm_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// Every form of an element segment says what it says, and is written as it was.
func TestElementSegments(t *testing.T) {
	zero := wasm.Expr{0x41, 0, 0x0b}
	null, self, outer := wasm.Expr{0xd0, funcRef, 0x0b}, wasm.Expr{0xd2, 0, 0x0b}, wasm.Expr{0x23, 0, 0x0b}
	// A global that is imported, two functions, tables of functions, of functions
	// and of foreign references.
	around := func(segment []byte) []byte {
		return module(oneType, wt.Section(2, vec([]byte{0, 0, 3, funcRef, 0})), wt.Section(3, []byte{2, 0, 0}),
			wt.Section(4, vec([]byte{funcRef, 0, 9}, []byte{funcRef, 0, 9}, []byte{externRef, 0, 9})),
			wt.Section(9, vec(segment)), wt.Section(10, vec(sized([]byte{0, 0x0b}), sized([]byte{0, 0x0b}))))
	}
	for _, tt := range []struct {
		name    string
		segment []byte
		want    wasm.Elem
	}{
		{"0: active", slices.Concat([]byte{0}, zero, []byte{2, 1, 0}), wasm.Elem{Offset: zero, Type: wasm.FuncRef, Funcs: []uint32{1, 0}}},
		{"1: passive", []byte{1, 0, 1, 1}, wasm.Elem{Mode: wasm.ElemPassive, Type: wasm.FuncRef, Funcs: []uint32{1}}},
		{"2: active, of a table", slices.Concat([]byte{2, 1}, zero, []byte{0, 1, 1}), wasm.Elem{Table: 1, Offset: zero, Type: wasm.FuncRef, Funcs: []uint32{1}, Explicit: true}},
		{"2: of table 0 all the same", slices.Concat([]byte{2, 0}, zero, []byte{0, 0}), wasm.Elem{Offset: zero, Type: wasm.FuncRef, Explicit: true}},
		{"3: declarative", []byte{3, 0, 1, 1}, wasm.Elem{Mode: wasm.ElemDeclarative, Type: wasm.FuncRef, Funcs: []uint32{1}}},
		{"4: active expressions", slices.Concat([]byte{4}, zero, []byte{3}, self, null, outer), wasm.Elem{Offset: zero, Type: wasm.FuncRef, Exprs: []wasm.Expr{self, null, outer}, UsesExprs: true}},
		{"5: passive expressions", slices.Concat([]byte{5, funcRef, 1}, self), wasm.Elem{Mode: wasm.ElemPassive, Type: wasm.FuncRef, Exprs: []wasm.Expr{self}, UsesExprs: true}},
		{"5: of foreign references", []byte{5, externRef, 1, 0xd0, externRef, 0x0b}, wasm.Elem{Mode: wasm.ElemPassive, Type: wasm.ExternRef, Exprs: []wasm.Expr{{0xd0, externRef, 0x0b}}, UsesExprs: true}},
		{"6: active expressions, of a table", slices.Concat([]byte{6, 2}, zero, []byte{externRef, 0}), wasm.Elem{Table: 2, Offset: zero, Type: wasm.ExternRef, UsesExprs: true, Explicit: true}},
		{"6: of table 0 all the same", slices.Concat([]byte{6, 0}, zero, []byte{funcRef, 1}, null), wasm.Elem{Offset: zero, Type: wasm.FuncRef, Exprs: []wasm.Expr{null}, UsesExprs: true, Explicit: true}},
		{"7: declarative expressions", slices.Concat([]byte{7, funcRef, 1}, self), wasm.Elem{Mode: wasm.ElemDeclarative, Type: wasm.FuncRef, Exprs: []wasm.Expr{self}, UsesExprs: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := around(tt.segment)
			m := decode(t, b)
			if diff := cmp.Diff([]wasm.Elem{tt.want}, m.Elems, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("segment (-want +got):\n%s", diff)
			}
			if got := m.Encode(); !bytes.Equal(got, b) {
				t.Errorf("encoded to\n% x, want\n% x", got, b)
			}
		})
	}
}

// A segment put together by hand is written in a form that can hold it.
func TestElementSegmentsByHand(t *testing.T) {
	zero := wasm.Expr{0x41, 0, 0x0b}
	for _, tt := range []struct {
		name string
		elem wasm.Elem
		form byte
	}{
		{"the zero type is functions", wasm.Elem{Offset: zero, Funcs: []uint32{0}}, 0},
		{"another table", wasm.Elem{Table: 1, Offset: zero, Type: wasm.FuncRef}, 2},
		{"another table's expressions", wasm.Elem{Table: 1, Offset: zero, Type: wasm.FuncRef, UsesExprs: true}, 6},
		{"foreign references", wasm.Elem{Offset: zero, Type: wasm.ExternRef, UsesExprs: true}, 6},
	} {
		m := &wasm.Module{Elems: []wasm.Elem{tt.elem}}
		if got := m.Encode()[11]; got != tt.form {
			t.Errorf("%s: form %d, want %d", tt.name, got, tt.form)
		}
	}
}

func TestDataSegments(t *testing.T) {
	zero := wasm.Expr{0x41, 0, 0x0b}
	for _, tt := range []struct {
		name    string
		segment []byte
		want    wasm.Data
	}{
		{"0: active", slices.Concat([]byte{0}, zero, text("ab")), wasm.Data{Offset: zero, Bytes: []byte("ab")}},
		{"1: passive", append([]byte{1}, text("ab")...), wasm.Data{Passive: true, Bytes: []byte("ab")}},
		{"2: active, of memory 0", slices.Concat([]byte{2, 0}, zero, text("")), wasm.Data{Offset: zero, Explicit: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := module(oneMemory, wt.Section(12, []byte{1}), wt.Section(11, vec(tt.segment)))
			m := decode(t, b)
			if diff := cmp.Diff([]wasm.Data{tt.want}, m.Datas, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("segment (-want +got):\n%s", diff)
			}
			if got := m.Encode(); !bytes.Equal(got, b) {
				t.Errorf("encoded to\n% x, want\n% x", got, b)
			}
		})
	}
}

// Declarations of every kind, once: what they say, and that they are written back
// byte for byte with custom sections last.
func TestDeclarations(t *testing.T) {
	custom := func(name string) []byte { return wt.Section(0, append(text(name), 1, 2)) }
	sections := [][]byte{
		wt.Section(1, vec([]byte{0x60, 0, 0}, []byte{0x60, 2, i32, externRef, 2, f64, f32})),
		wt.Section(2, vec(
			slices.Concat(text("m"), text("f"), []byte{0, 1}), slices.Concat(text("m"), text("t"), []byte{1, externRef, 1, 2, 3}),
			slices.Concat(text("m"), text("m"), []byte{2, 0, 4}), slices.Concat(text("é"), text(""), []byte{3, i64, 0}))),
		wt.Section(3, []byte{1, 0}),
		wt.Section(4, vec([]byte{funcRef, 0, 5})),
		wt.Section(6, vec([]byte{i64, 1, 0x42, 7, 0x0b}, []byte{i64, 0, 0x23, 0, 0x0b})),
		wt.Section(7, vec(append(text("f"), 0, 1), append(text("t"), 1, 1), append(text("m"), 2, 0), append(text("g"), 3, 2))),
		wt.Section(8, []byte{1}),
		wt.Section(10, vec(sized([]byte{2, 3, i32, 1, f64, 0x01, 0x0b}))),
	}
	b := module(slices.Concat([]byte{}, custom("one")), slices.Concat(sections...), custom("two"))
	start := uint32(1)
	want := &wasm.Module{
		Types: []wasm.FuncType{{}, {Params: []wasm.ValType{wasm.I32, wasm.ExternRef}, Results: []wasm.ValType{wasm.F64, wasm.F32}}},
		Imports: []wasm.Import{
			{Module: "m", Name: "f", Kind: wasm.KindFunc, Type: 1},
			{Module: "m", Name: "t", Kind: wasm.KindTable, Table: wasm.Table{Elem: wasm.ExternRef, Limits: wasm.Limits{Min: 2, Max: 3, HasMax: true}}},
			{Module: "m", Name: "m", Kind: wasm.KindMemory, Memory: wasm.Limits{Min: 4}},
			{Module: "é", Kind: wasm.KindGlobal, Global: wasm.GlobalType{Type: wasm.I64}},
		},
		Funcs:  []uint32{0},
		Tables: []wasm.Table{{Elem: wasm.FuncRef, Limits: wasm.Limits{Min: 5}}},
		Globals: []wasm.Global{
			{GlobalType: wasm.GlobalType{Type: wasm.I64, Mutable: true}, Init: wasm.Expr{0x42, 7, 0x0b}},
			{GlobalType: wasm.GlobalType{Type: wasm.I64}, Init: wasm.Expr{0x23, 0, 0x0b}},
		},
		Exports: []wasm.Export{{Name: "f", Kind: wasm.KindFunc, Index: 1}, {Name: "t", Kind: wasm.KindTable, Index: 1}, {Name: "m", Kind: wasm.KindMemory}, {Name: "g", Kind: wasm.KindGlobal, Index: 2}},
		Start:   &start,
		Codes: []wasm.Code{{
			Locals: []wasm.LocalGroup{{Count: 3, Type: wasm.I32}, {Count: 1, Type: wasm.F64}}, Body: wasm.Expr{0x01, 0x0b},
			Offset: bytes.LastIndex(b, []byte{0x01, 0x0b}),
		}},
		Customs: []wasm.Custom{{Name: "one", Bytes: []byte{1, 2}}, {Name: "two", Bytes: []byte{1, 2}}},
	}
	m := decode(t, b)
	if diff := cmp.Diff(want, m, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("module (-want +got):\n%s", diff)
	}
	encoded := module(slices.Concat(sections...), custom("one"), custom("two"))
	if got := m.Encode(); !bytes.Equal(got, encoded) {
		t.Errorf("encoded to\n% x, want\n% x", got, encoded)
	}
	if n := [4]int{m.Imported(wasm.KindFunc), m.Imported(wasm.KindTable), m.Imported(wasm.KindMemory), m.Imported(wasm.KindGlobal)}; n != [4]int{1, 1, 1, 1} || m.ImportedFuncs() != 1 {
		t.Errorf("imported are %d, want one of each", n)
	}
}

// Encode of what Decode wouldn't give copies what it can't read.
func TestEncodeCopiesWhatItCannotRead(t *testing.T) {
	body := wasm.Expr{0x20, 0x80, 0, 0xfd, 12}
	m := &wasm.Module{Types: []wasm.FuncType{{}}, Funcs: []uint32{0}, Codes: []wasm.Code{{Body: body}}}
	if got, want := m.Encode(), []byte{0x20, 0, 0xfd, 12}; !bytes.HasSuffix(got, want) {
		t.Errorf("encoded to % x, want it to end in % x", got, want)
	}
}
