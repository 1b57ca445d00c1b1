package wasm_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// What was encoded decodes to the same module and encodes to the same bytes, and
// is no longer than the original.
func TestEncodingIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		original := generated(t)
		m, err := wasm.Decode(original, wasm.Bounds{})
		if err != nil {
			t.Fatalf("Decode() = %v\n% x", err, original)
		}
		once := m.Encode()
		again, err := wasm.Decode(once, wasm.Bounds{})
		if err != nil {
			t.Fatalf("Decode(Encode()) = %v", err)
		}
		if !bytes.Equal(again.Encode(), once) {
			t.Errorf("encoded twice:\n% x\n% x", once, again.Encode())
		}
		if len(once) > len(original) {
			t.Errorf("%d bytes became %d", len(original), len(once))
		}
		if diff := cmp.Diff(m, again, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(wasm.Code{}, "Offset"), sameInstructions(t)); diff != "" {
			t.Errorf("module (-original +encoded):\n%s", diff)
		}
	})
}

// sameInstructions compares expressions by what they are, padded or not.
func sameInstructions(t *rapid.T) cmp.Option {
	same := cmp.Comparer(func(a, b wasm.Expr) bool {
		one, err := read(a)
		two, err2 := read(b)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		return cmp.Equal(one, two, cmpopts.IgnoreFields(wasm.Instr{}, "Raw", "Offset"), cmpopts.EquateEmpty())
	})
	return cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() == reflect.TypeFor[wasm.Expr]() },
		cmp.FilterValues(func(a, b wasm.Expr) bool { return len(a) > 0 }, same))
}

// Encoding verbatim keeps expressions byte for byte, and all else as Encode does.
func TestVerbatimKeepsExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := wasm.Decode(generated(t), wasm.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		verbatim, err := wasm.Decode(m.EncodeVerbatim(), wasm.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, verbatim, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(wasm.Code{}, "Offset")); diff != "" {
			t.Errorf("module (-original +verbatim):\n%s", diff)
		}
		if !bytes.Equal(verbatim.Encode(), m.Encode()) {
			t.Error("encoded verbatim first, it encodes to other bytes")
		}
	})
}

// A module that is cut off is refused, but for where a section ends; so is one
// with a byte behind it.
func TestPrefixesAreRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := generated(t)
		ends := map[int]bool{}
		for at := len(wt.Header()); at < len(b); {
			ends[at] = true
			size, n := binary.Uvarint(b[at+1:])
			at += 1 + n + int(size)
		}
		for cut := range b {
			if _, err := wasm.Decode(b[:cut], wasm.Bounds{}); err == nil && !ends[cut] {
				t.Fatalf("the first %d of %d bytes are a module", cut, len(b))
			}
		}
		if _, err := wasm.Decode(append(b, 0), wasm.Bounds{}); err == nil {
			t.Error("a byte too many is accepted")
		}
	})
}
