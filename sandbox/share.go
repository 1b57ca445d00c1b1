package sandbox

import (
	"crypto/sha256"

	"github.com/subnet112/assay/sandbox/wasm"
)

// Bodies are the functions of a module, to compare with another's. They may be read
// by any number of goroutines.
type Bodies struct {
	shapes       map[bodyShape]uint64
	instructions uint64 // of all
}

// Share returns how much of b's functions also stands in other, in basis points of
// their instructions, rounded down: 10,000 for a copy, also one that is renamed,
// shrunk or rearranged. Numbers that move when functions, data or types are added or
// left out are of no account: what is called, which global, type, table or segment,
// constants of 32 bits (they are addresses) and offsets of accesses. Constants of 64
// bits count: they are Go's addresses, and without them its runtime, which is most of
// each solver in Go, would make one a copy of any other. A function that stands twice
// needs two to share it. A module without functions shares none.
func (b *Bodies) Share(other *Bodies) uint {
	if b.instructions == 0 {
		return 0
	}
	shared := uint64(0)
	for shape, n := range b.shapes {
		shared += min(n, other.shapes[shape]) * shape.instructions
	}
	return uint(shared * 10_000 / b.instructions)
}

// A bodyShape is a function less what moves.
type bodyShape struct {
	hash         [32]byte
	instructions uint64
}

// ReadBodies reads the functions of a module. The error is a [*Refusal].
func ReadBodies(module []byte) (*Bodies, error) {
	m, err := wasm.Decode(module, bounds)
	if err != nil {
		return nil, refusal(err)
	}
	out := &Bodies{shapes: map[bodyShape]uint64{}}
	var text []byte
	for i, code := range m.Codes {
		text = appendType(text[:0], m.Types[m.Funcs[i]])
		for _, g := range code.Locals {
			text = append(wasm.AppendU32(text, g.Count), byte(g.Type))
		}
		shape := bodyShape{}
		var in wasm.Instr
		for r := wasm.NewReader(code.Body, code.Offset); r.Next(&in); {
			still(&in)
			text = wasm.AppendInstr(text, &in)
			shape.instructions++
		}
		shape.hash = sha256.Sum256(text)
		out.shapes[shape]++
		out.instructions += shape.instructions
	}
	return out, nil
}

func appendType(b []byte, t wasm.FuncType) []byte {
	for _, list := range [][]wasm.ValType{t.Params, t.Results} {
		b = wasm.AppendU32(b, uint32(len(list)))
		for _, v := range list {
			b = append(b, byte(v))
		}
	}
	return b
}

// still takes out of an instruction what moves when something else is added.
func still(in *wasm.Instr) {
	switch op := in.Op; {
	case op >= wasm.OpI32Load && op <= wasm.OpI64Store32:
		in.Imm = 0 // its offset; the alignment stays
	case op == wasm.OpCall, op == wasm.OpCallIndirect, op == wasm.OpRefFunc, op == wasm.OpI32Const,
		op == wasm.OpGlobalGet, op == wasm.OpGlobalSet, op == wasm.OpTableGet, op == wasm.OpTableSet,
		op == wasm.OpMemoryInit, op == wasm.OpDataDrop, op == wasm.OpTableInit, op == wasm.OpElemDrop:
		in.Imm = 0
	}
	in.Block.Index = 0
}
