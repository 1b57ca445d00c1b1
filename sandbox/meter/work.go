package meter

import "github.com/subnet112/assay/sandbox/wasm"

// Limits of what code may be for the compiler, in units of about a microsecond of
// an ordinary processor: so that a module takes less than half of the time, and a
// function less than half of the memory, that a process that compiles may take. A
// Go solver of 3 MB of code is 10 million, its largest function 150 thousand.
const (
	MaxWork         = 22_000_000 // all functions, branching included
	MaxFunctionWork = 2_200_000  // one function, without: it takes time, not memory
)

// work is what an instruction is for the compiler, by its opcode: measured, with
// the rewrite included, in functions that consist of it. What isn't named is 1.
// Instructions that may trap are dear, for each has its own way out.
var work = func() (t [256]uint8) {
	for op := range t {
		t[op] = 1
	}
	set := func(n uint8, ops ...wasm.Op) {
		for _, op := range ops {
			t[op] = n
		}
	}
	for op := wasm.OpI32Load; op <= wasm.OpI64Store32; op++ {
		t[op] = 20
	}
	for op := range wasm.Op(256) {
		if nanOf(op) != 0 {
			t[op] = 3
		}
	}
	set(3, wasm.OpI32Popcnt)
	set(15, wasm.OpI32DivS, wasm.OpI32DivU, wasm.OpI32RemS, wasm.OpI32RemU)
	set(15, wasm.OpI64DivS, wasm.OpI64DivU, wasm.OpI64RemS, wasm.OpI64RemU)
	for op := wasm.OpI32TruncF32S; op <= wasm.OpI32TruncF64U; op++ {
		t[op] = 13
	}
	for op := wasm.OpI64TruncF32S; op <= wasm.OpI64TruncF64U; op++ {
		t[op] = 13
	}
	set(20, wasm.OpTableGet, wasm.OpTableSet, wasm.OpUnreachable)
	set(10, wasm.OpCall)
	set(40, wasm.OpCallIndirect, wasm.OpMemoryGrow)
	return t
}()

// Work of what isn't one opcode.
const (
	workPrefixed = 25  // an opcode behind the prefix 0xfc
	workTarget   = 20  // a target of br_table
	workMerge    = 4   // a variable that may have two values where control meets; one more for each 32 variables
	workOperand  = 5   // four parameters or results of a call
	workInit     = 600 // memory.init of another data segment: a function of the rewrite's
)

// branching is how many points of control an instruction makes, the tests of the
// rewrite included. The compiler's work goes with their square in a function.
func branching(op wasm.Op) int {
	switch op {
	case wasm.OpBlock, wasm.OpElse, wasm.OpBrTable:
		return 1
	case wasm.OpIf, wasm.OpBrIf:
		return 2
	case wasm.OpLoop:
		return 6
	}
	return 0
}

// branchingShift makes work of branching squared.
const branchingShift = 7

// admitWork adds what a function is for the compiler.
func (f *function) admitWork() error {
	w := f.w
	f.work += f.size.work
	if f.work > MaxFunctionWork {
		return tooBig("function %s is too much for the compiler: %s units of work, limit %s",
			thousands(f.index), thousands(f.work), thousands(MaxFunctionWork))
	}
	if w.work += f.work + f.branches*f.branches>>branchingShift; w.work > MaxWork {
		return tooBig("the code up to function %s is too much for the compiler: %s units of work, limit %s",
			thousands(f.index), thousands(w.work), thousands(MaxWork))
	}
	return nil
}
