package meter

// wazero's compiler gives every value that doesn't stay in a register a place of
// its own in the function's frame, and stops with a stack overflow when frames take
// more than 50,000,000 bytes. It must never come to that, for the interpreter has
// no such limit: so a frame costs depth for every value there may be.
const (
	// slotBytes is what one of DepthSlots stands for in the compiler's frames:
	// 49.8 MB in all.
	slotBytes = 95

	// frameRest is what a frame takes besides values, in values of 8 bytes: saved
	// registers, the return address, alignment.
	frameRest = 64

	// callValues are the values that the compiler makes anew after a call: the
	// fuel, the memory's address and its length.
	callValues = 3
)

// A frameSize counts the values of a function that is being rewritten.
type frameSize struct {
	values int // that instructions make
	sets   int // assignments to variables, of the rewrite's own and the compiler's too
	merges int // values that stand for a variable where control meets
	args   int // most parameters and results of a call
	work   int // for the compiler, of merges
}

// made counts the values of an instruction that isn't a call.
func (s *frameSize) made(values int) { s.values += values }

// called counts what a call makes.
func (s *frameSize) called(params, results int) {
	s.values += results + callValues
	s.sets += callValues
	s.args = max(s.args, params+results)
}

// merged counts the variables that may have two values where control meets: those
// that were assigned since sets, and no more than there are.
func (s *frameSize) merged(sets, variables, operands int) {
	n := min(s.sets-sets, variables+callValues) + operands
	s.merges += n
	s.work += n * (workMerge + variables/32)
}

// frame is the depth that a call of the function costs.
func (f *function) frame(results int) int {
	frame := max(MinFrame, int(f.locals)+results+f.peak)
	if f.w.options.KnownFrames {
		return frame
	}
	s := &f.size
	native := (s.values + s.merges + s.args + int(f.locals) + results + frameRest) * 8
	return max(frame, (native+slotBytes-1)/slotBytes)
}
