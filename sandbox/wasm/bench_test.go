package wasm_test

import (
	"os"
	"testing"

	"github.com/subnet112/assay/sandbox/wasm"
)

// goGuest is a solver in Go.
func goGuest(tb testing.TB) []byte {
	tb.Helper()
	b, err := os.ReadFile("../../bin/swap.wasm")
	if err != nil {
		tb.Skip("needs make bin/swap.wasm: ", err)
	}
	return b
}

func BenchmarkDecode(b *testing.B) {
	guest := goGuest(b)
	b.SetBytes(int64(len(guest)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wasm.Decode(guest, wasm.Bounds{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Walking every instruction of the code section.
func BenchmarkInstructions(b *testing.B) {
	m, err := wasm.Decode(goGuest(b), wasm.Bounds{})
	if err != nil {
		b.Fatal(err)
	}
	bytes, instructions := 0, 0
	for i := range m.Codes {
		bytes += len(m.Codes[i].Body)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		instructions = 0
		for i := range m.Codes {
			var in wasm.Instr
			r := wasm.NewReader(m.Codes[i].Body, m.Codes[i].Offset)
			for r.Next(&in) {
				instructions++
			}
			if r.Err() != nil {
				b.Fatal(r.Err())
			}
		}
	}
	b.ReportMetric(float64(instructions), "instrs")
}

func BenchmarkEncode(b *testing.B) {
	m, err := wasm.Decode(goGuest(b), wasm.Bounds{})
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct {
		name   string
		encode func() []byte
	}{{"canonical", m.Encode}, {"verbatim", m.EncodeVerbatim}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(int64(len(bb.encode())))
			}
		})
	}
}
