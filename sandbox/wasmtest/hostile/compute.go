package hostile

import (
	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// computing are guests that do nothing but compute, and call themselves.
func computing() []Guest {
	return []Guest{
		{Name: "infinite loop", End: Spent, Wasm: func() []byte { return solver(1).plan(nil, forever()) }},
		{Name: "loop that costs most of its time in tests", End: Spent, Wasm: func() []byte {
			// Two loops within each other: every head tests.
			return solver(1).plan(nil, wt.Loop(wt.Loop(wt.LocalGet(0), wt.I32Eqz, wt.BrIf(1)), wt.Br(0)))
		}},
		{Name: "call tree of 2^34 without loops", End: Spent, Wasm: func() []byte { return tree(34) }},
		{Name: "call tree of leaves too small to be tested", End: Spent, Wasm: func() []byte {
			b := solver(1)
			leaf := b.Func("", i32, i32, nil, wt.LocalGet(0), repeat(20, wt.I32Const(1), wt.I32Add))
			return grown(b, leaf, 40)
		}},
		{Name: "square roots, one after the other", End: Spent, Wasm: func() []byte {
			return chain(wt.F64, wt.F64Bits(0x7fe0000000000000), wt.F64Sqrt)
		}},
		{Name: "square roots of subnormal numbers", End: Spent, Wasm: func() []byte {
			return chain(wt.F32, wt.F32Bits(1), ops(wt.F32Bits(3), f32Mul, wt.F32Bits(1), f32Add, wt.F32Sqrt))
		}},
		{Name: "float divisions, one after the other", End: Spent, Wasm: func() []byte {
			return chain(wt.F64, wt.F64Bits(1), ops(wt.F64Bits(0x3fb999999999999a), wt.F64Div))
		}},
		{Name: "divisions, one after the other", End: Spent, Wasm: func() []byte {
			return chain(wt.I64, wt.I64Const(-1<<63), ops(wt.I64Const(3), wt.I64DivS, wt.I64Const(-1<<62), wt.I64Add))
		}},
		{Name: "remainders, one after the other", End: Spent, Wasm: func() []byte {
			return chain(wt.I64, wt.I64Const(-1), ops(wt.I64Const(3), wt.I64RemU, wt.I64Const(-5), wt.I64Add))
		}},
		{Name: "divisions of 32 bits, one after the other", End: Spent, Wasm: func() []byte {
			return chain(wt.I32, wt.I32Const(-1), ops(wt.I32Const(3), wt.I32DivU, wt.I32Const(-5), wt.I32Add))
		}},
		{Name: "a table of branches that never settles", End: Spent, Wasm: func() []byte {
			return branches(64)
		}},
		{Name: "recursion", End: fault(sandbox.CauseDepth, ""), Wasm: func() []byte {
			b := solver(1)
			f := b.Func("", i32, i32, nil, wt.LocalGet(0), wt.Call(0), wt.I32Const(1), wt.I32Add)
			return b.plan(nil, wt.LocalGet(0), wt.Call(f), wt.Drop)
		}},
		{Name: "recursion by table", End: fault(sandbox.CauseDepth, ""), Wasm: func() []byte {
			b := solver(1)
			b.Table(1, 1)
			t := b.Type(i32, i32)
			f := b.Func("", i32, i32, nil, wt.LocalGet(0), wt.I32Const(0), wt.CallIndirect(t), wt.I32Const(1), wt.I32Add)
			b.Elem(0, f)
			return b.plan(nil, wt.LocalGet(0), wt.Call(f), wt.Drop)
		}},
		{Name: "recursion of two, with 1,000 locals and 1,000 parameters", End: fault(sandbox.CauseDepth, ""), Wasm: func() []byte {
			b := solver(1)
			many := repeat(1000, []byte{wt.I64})
			b.Func("", nil, nil, many, repeat(1000, wt.I64Const(1)), wt.Call(1))
			f := b.Func("", many, nil, nil, wt.Call(0))
			return b.plan(nil, repeat(1000, wt.I64Const(1)), wt.Call(f))
		}},
		{Name: "recursion that starts again whenever it is deep", End: Spent, Wasm: func() []byte {
			b := solver(1)
			f := b.Func("", i32, nil, nil, wt.LocalGet(0), wt.If(wt.LocalGet(0), wt.I32Const(1), wt.I32Sub, wt.Call(0)))
			return b.plan(nil, forever(wt.I32Const(1800), wt.Call(f)))
		}},
		{Name: "endless start function", Start: true, End: Spent, Wasm: func() []byte {
			b := solver(1)
			b.Start(b.Func("", nil, nil, nil, forever()))
			return b.idle()
		}},
		{Name: "endless _initialize", Start: true, End: Spent, Wasm: func() []byte {
			b := solver(1)
			b.Func("_initialize", nil, nil, nil, forever())
			return b.idle()
		}},
		{Name: "endless solver_abi", Start: true, End: Spent, Wasm: func() []byte {
			b := solver(1)
			b.Func("solver_abi", nil, i32, nil, forever(), wt.Unreachable)
			b.Func("solver_metadata", i32, i32, nil, success)
			b.Func("solver_initialize", i32, i32, nil, success)
			b.Func("solver_generate_plan", i32, i32, nil, success)
			return b.Bytes()
		}},
	}
}

// Instructions that nothing else needs.
var (
	shiftRight = []byte{0x76} // i32.shr_u
	f32Add     = []byte{0x92}
	f32Mul     = []byte{0x94}
)

// labels are 0 to n-1.
func labels(n uint32) (l []uint32) {
	for i := range n {
		l = append(l, i)
	}
	return l
}

// tree calls a function that calls another twice, and so on, levels deep.
func tree(levels int) []byte {
	b := solver(1)
	return grown(b, b.Func("", i32, i32, nil, wt.LocalGet(0)), levels)
}

// grown calls leaf 2^levels times.
func grown(b *builder, leaf uint32, levels int) []byte {
	for range levels {
		leaf = b.Func("", i32, i32, nil, wt.LocalGet(0), wt.Call(leaf), wt.Call(leaf))
	}
	return b.plan(nil, wt.LocalGet(0), wt.Call(leaf), wt.Drop)
}

// chain repeats a step whose operand is its last result, 1,000 in a straight
// line.
func chain(kind byte, first, step []byte) []byte {
	return solver(1).plan([]byte{kind}, first, wt.LocalSet(1), forever(wt.LocalGet(1), repeat(1000, step), wt.LocalSet(1)))
}

// branches is a loop over a table of n branches, each of which computes the
// next index.
func branches(n uint32) []byte {
	next := ops(wt.LocalGet(0), wt.I32Const(1664525), wt.I32Mul, wt.I32Const(1013904223), wt.I32Add, wt.LocalSet(0))
	body := ops(wt.LocalGet(0), wt.I32Const(26), shiftRight, wt.BrTable(labels(n)...))
	for i := range n {
		// The loop lies outside of the blocks that are left to close.
		body = ops(wt.Block(body), next, wt.Br(n-1-i))
	}
	return solver(1).plan(nil, wt.Loop(body))
}
