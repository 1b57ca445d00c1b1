package meter

import (
	"github.com/subnet112/assay/sandbox/wasm"
)

// leafFuel is the most that a function without calls and loops may cost to go
// without a test of its own: whoever calls it has one, SegmentFuel apart.
const leafFuel = 64

// A function is one function being rewritten.
type function struct {
	w        *writer
	index    uint32 // in the original
	locals   uint32 // parameters and locals of the original
	code     []byte // rewritten, without what stands at its entry
	frames   []frame
	height   int  // of the operand stack
	peak     int  // its most
	nested   int  // most blocks within blocks
	work     int  // for the compiler, branches apart
	branches int  // points of control
	dead     bool // no instruction here is ever reached

	segment  segment
	untested int  // most fuel since a test, on any way that leads here
	entry    int  // fuel of the first segment, which is charged at the entry
	total    int  // fuel of all segments
	nests    bool // it calls functions that aren't imported
	tests    bool // it has calls, loops, or costs that depend on operands

	nan wasm.ValType // a NaN of this type may be on top, not yet canonical; 0 = none

	size  frameSize
	added []wasm.ValType // locals of the rewrite's own
	fuel  uint32         // i64; noLocal until needed
	depth uint32         // i32
	f32   uint32
	f64   uint32
}

const noLocal = ^uint32(0)

// A frame is a block under way.
type frame struct {
	op       wasm.Op // block, loop, if, else; end for the function itself
	base     int     // height below its parameters
	params   int
	results  int
	dead     bool // it began where nothing is reached
	targeted bool // a branch leads to its label
	untested int  // most fuel since a test on the ways that lead to its end
	sets     int  // assignments before it began
}

// A segment is straight-line code that is paid for at once.
type segment struct {
	fuel int
	at   int // where its charge stands in the code, or one of the following
}

const (
	unplaced = -1 // nothing had to be paid for so far
	atEntry  = -2 // in front of the code, whose charge is written at the end
)

// function rewrites the i-th function of the module's own.
func (w *writer) function(i int) error {
	code := &w.in.Codes[i]
	f := &w.body
	*f = function{
		w: w, index: w.imported + uint32(i), code: f.code[:0], frames: f.frames[:0], added: f.added[:0],
		fuel: noLocal, depth: noLocal, f32: noLocal, f64: noLocal,
	}
	t, err := w.typeOf(f.index)
	if err != nil {
		return err
	}
	f.locals = uint32(len(t.Params))
	for _, g := range code.Locals {
		f.locals += g.Count // at most wasm.Bounds admits
	}
	f.frames = append(f.frames, frame{op: wasm.OpEnd, results: len(t.Results)})
	f.segment = segment{at: atEntry}

	r := wasm.NewReader(code.Body, code.Offset)
	var in wasm.Instr
	for r.Next(&in) {
		if err := f.instruction(&in); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	if len(f.frames) != 0 {
		return f.invalid("it has no end")
	}
	if f.nested > MaxNesting {
		return tooBig("function %s nests blocks %s deep, limit %s", thousands(f.index), thousands(f.nested), thousands(MaxNesting))
	}
	if w.squares += f.nested * f.nested; w.squares > MaxNestingSquare {
		return tooBig("blocks nest too deep in all: with function %s the sum of squares is %s, limit %s",
			thousands(f.index), thousands(w.squares), thousands(MaxNestingSquare))
	}
	if err := f.admitWork(); err != nil {
		return err
	}
	w.out.Codes[i] = f.assemble(code.Locals, f.frame(len(t.Results)))
	return nil
}

func (f *function) invalid(format string, args ...any) error {
	return invalid("function %s: "+format, append([]any{thousands(f.index)}, args...)...)
}

// pop takes operands. Where nothing is reached there are as many as anyone wants.
func (f *function) pop(n int) error {
	f.height -= n
	if base := f.frames[len(f.frames)-1].base; f.height < base {
		if !f.dead {
			return f.invalid("an operand is missing")
		}
		f.height = base
	}
	return nil
}

func (f *function) push(n int) error {
	f.height += n
	if f.height > f.peak {
		if f.peak = f.height; f.peak > MaxOperands {
			return tooBig("function %s has more than %s operands on its stack", thousands(f.index), thousands(MaxOperands))
		}
	}
	return nil
}

// charge pays for an instruction that is about to be written.
func (f *function) charge(fuel int) {
	if f.dead || fuel == 0 {
		return
	}
	if f.untested > SegmentFuel {
		f.begin(true)
	}
	f.untested += fuel
	if f.segment.at == unplaced {
		f.place(false)
	}
	f.segment.fuel += fuel
	f.total += fuel
}

// begin ends a segment and starts the next. One with a test is paid for even if
// it costs nothing.
func (f *function) begin(test bool) {
	f.finish()
	f.segment = segment{at: unplaced}
	if test && !f.dead {
		f.place(true)
	}
}

// place makes room for the segment's charge.
func (f *function) place(test bool) {
	f.segment.at = len(f.code)
	f.code = f.appendCharge(f.code, 0, test)
	f.size.made(2)
	if test {
		f.untested = 0
		f.tested()
	}
}

// tested counts what a test makes: a comparison, a call that is rarely made, and
// what meets behind it.
func (f *function) tested() {
	sets := f.size.sets
	f.size.made(2)
	f.size.called(0, 0)
	f.size.merged(sets, 1, 0)
}

// finish writes what the segment costs into its charge.
func (f *function) finish() {
	switch at := f.segment.at; at {
	case unplaced:
	case atEntry:
		f.entry = f.segment.fuel
	default:
		at += 1 + lenU32(f.fuel) // local.get
		putCost(f.code[at:], f.segment.fuel)
	}
}

// fuelled reports whether anything was charged or called so far.
func (f *function) fuelled() bool { return f.total > 0 || f.fuel != noLocal }
