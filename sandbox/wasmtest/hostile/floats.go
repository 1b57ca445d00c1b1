package hostile

import (
	"encoding/binary"
	"math"

	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// The canonical NaNs.
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

// floats is a guest that outputs the bits of every kind of NaN that a processor
// makes, or passes on, in its own way.
func floats() []Guest {
	var bits []byte
	b := solver(1, "output")
	body := []byte{}
	at := int32(0)
	out32 := func(want uint32, code ...[]byte) {
		body = append(body, ops(wt.I32Const(at), ops(code...), f32Store)...)
		bits = binary.LittleEndian.AppendUint32(bits, want)
		at += 4
	}
	out64 := func(want uint64, code ...[]byte) {
		body = append(body, ops(wt.I32Const(at), ops(code...), f64Store)...)
		bits = binary.LittleEndian.AppendUint64(bits, want)
		at += 8
	}
	const ( // opcodes of the first and last of a kind; the same order for both types
		ceil32, sqrt32, add32, max32 = 0x8d, 0x91, 0x92, 0x97
		ceil64, sqrt64, add64, max64 = 0x9b, 0x9f, 0xa0, 0xa5
		neg32, neg64                 = 0x8c, 0x9a
		demote, promote              = 0xb6, 0xbb
	)
	one32, inf32, minus32 := math.Float32bits(1), math.Float32bits(float32(math.Inf(1))), math.Float32bits(-1)
	one64, inf64, minus64 := math.Float64bits(1), math.Float64bits(math.Inf(1)), math.Float64bits(-1)
	payloads32 := []uint32{nan32, nan32 | 1<<31, nan32 | 0x1234, 0x7f800001, 0xff812345}
	payloads64 := []uint64{nan64, nan64 | 1<<63, nan64 | 0x1234, 0x7ff0000000000001, 0xfff0000012345678}

	// Made of numbers: 0/0, inf-inf, inf·0, the root of -1.
	out32(nan32, wt.F32Bits(0), wt.F32Bits(0), wt.F32Div)
	out32(nan32, wt.F32Bits(inf32), wt.F32Bits(inf32), []byte{0x93})
	out32(nan32, wt.F32Bits(inf32), wt.F32Bits(0), []byte{0x94})
	out32(nan32, wt.F32Bits(minus32), wt.F32Sqrt)
	out64(nan64, wt.F64Bits(0), wt.F64Bits(0), wt.F64Div)
	out64(nan64, wt.F64Bits(inf64), wt.F64Bits(inf64), []byte{0xa1})
	out64(nan64, wt.F64Bits(inf64), wt.F64Bits(0), []byte{0xa2})
	out64(nan64, wt.F64Bits(minus64), wt.F64Sqrt)

	// Made of NaNs with payloads, on either side and on both.
	for i, p := range payloads32 {
		for op := byte(ceil32); op <= sqrt32; op++ {
			out32(nan32, wt.F32Bits(p), []byte{op})
		}
		for op := byte(add32); op <= max32; op++ {
			out32(nan32, wt.F32Bits(p), wt.F32Bits(one32), []byte{op})
			out32(nan32, wt.F32Bits(one32), wt.F32Bits(p), []byte{op})
			out32(nan32, wt.F32Bits(p), wt.F32Bits(payloads32[(i+1)%len(payloads32)]), []byte{op})
		}
		out64(nan64, wt.F32Bits(p), []byte{promote})
		// What only moves a NaN keeps its bits.
		out32(p, wt.F32Bits(p))
		out32(p^1<<31, wt.F32Bits(p), []byte{neg32})
	}
	for i, p := range payloads64 {
		for op := byte(ceil64); op <= sqrt64; op++ {
			out64(nan64, wt.F64Bits(p), []byte{op})
		}
		for op := byte(add64); op <= max64; op++ {
			out64(nan64, wt.F64Bits(p), wt.F64Bits(one64), []byte{op})
			out64(nan64, wt.F64Bits(one64), wt.F64Bits(p), []byte{op})
			out64(nan64, wt.F64Bits(p), wt.F64Bits(payloads64[(i+1)%len(payloads64)]), []byte{op})
		}
		out32(nan32, wt.F64Bits(p), []byte{demote})
		out64(p, wt.F64Bits(p))
		out64(p^1<<63, wt.F64Bits(p), []byte{neg64})
	}
	return []Guest{{Name: "NaNs that tell the processor", End: End{Output: string(bits)}, Wasm: func() []byte {
		return b.plan(nil, body, wt.I32Const(0), wt.I32Const(at), b.call["output"])
	}}}
}

var (
	f32Store = []byte{0x38, 2, 0}
	f64Store = []byte{0x39, 3, 0}
)
