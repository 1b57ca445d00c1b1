package wasm_test

import (
	"bytes"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// Whatever is decoded takes memory in proportion, and encodes to what decodes to
// the same again.
func FuzzDecode(f *testing.F) {
	f.Add(wt.Solver(wt.Options{Stateful: true}))
	f.Add(code(wt.Block(wt.I32Const(1), wt.If(wt.Br(1)))))
	for seed := range 50 {
		f.Add(rapid.Custom(generated).Example(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, limit := allocated(b, wasm.Bounds{}), uint64(memoryFactor*len(b)+64<<10); got > limit {
			t.Errorf("%d bytes take %d, limit %d", len(b), got, limit)
		}
		m, err := wasm.Decode(b, wasm.Bounds{})
		if err != nil {
			e := refusal(t, err)
			if e.Offset < 0 || e.Offset > len(b) || e.Detail == "" {
				t.Errorf("error %#v for %d bytes", e, len(b))
			}
			return
		}
		once := m.Encode()
		if again := decode(t, once).Encode(); !bytes.Equal(again, once) {
			t.Errorf("% x\nencoded twice:\n% x\n% x", b, once, again)
		}
		if again := decode(t, m.EncodeVerbatim()).Encode(); !bytes.Equal(again, once) {
			t.Errorf("% x\nencoded verbatim first:\n% x\n% x", b, once, again)
		}
	})
}

// Instructions cover the expression up to the error, and are the same when they
// are read from what they are written as.
func FuzzInstructions(f *testing.F) {
	engine, err := os.ReadFile("../../scoring/engine/quickjs.wasm")
	if err != nil {
		f.Fatal(err)
	}
	m, err := wasm.Decode(engine, wasm.Bounds{})
	if err != nil {
		f.Fatal(err)
	}
	for i := range m.Codes {
		if n := len(m.Codes[i].Body); n < 100 && i%5 == 0 {
			f.Add([]byte(m.Codes[i].Body))
		}
	}
	for _, o := range allOps() {
		in := sample(o)
		f.Add(append(wasm.AppendInstr(nil, &in), 0x0b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wasm.NewReader(b, 0)
		var in wasm.Instr
		var written []byte
		at := 0
		for r.Next(&in) {
			if in.Offset != at || len(in.Raw) == 0 || !bytes.HasPrefix(b[at:], in.Raw) {
				t.Fatalf("%s at %d has Raw % x and Offset %d", in.Op, at, in.Raw, in.Offset)
			}
			at += len(in.Raw)
			before := len(written)
			written = wasm.AppendInstr(written, &in)
			if n := len(written) - before; n > len(in.Raw) {
				t.Errorf("%s: % x became % x", in.Op, in.Raw, written[before:])
			}
		}
		if r.Err() == nil && (at != len(b) || at == 0) {
			t.Fatalf("%d of %d bytes are read without an error", at, len(b))
		}
		if r.Err() != nil {
			if e := refusal(t, r.Err()); e.Offset < at || e.Offset > len(b) {
				t.Errorf("the error behind byte %d is %v", at, e)
			}
			return
		}
		again, err := read(written)
		if err != nil {
			t.Fatalf("% x was written as % x: %v", b, written, err)
		}
		var twice []byte
		for i := range again {
			twice = wasm.AppendInstr(twice, &again[i])
		}
		if !bytes.Equal(twice, written) {
			t.Errorf("% x\nwritten twice:\n% x\n% x", b, written, twice)
		}
	})
}
