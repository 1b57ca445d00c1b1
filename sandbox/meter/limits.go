package meter

import (
	"fmt"

	"github.com/subnet112/assay/sandbox/wasm"
)

// Limits of code that hold for every module. They bound the compiler: it takes
// time and memory in the square of nesting, and in proportion to the rest.
const (
	MaxNesting       = 16_384  // blocks within blocks, in one function
	MaxNestingSquare = 1 << 29 // sum over the functions of nesting squared
	MaxBrTable       = 16_384  // targets of one br_table
	MaxBrTables      = 500_000 // targets of all
	MaxOperands      = 1_024   // height of the operand stack
)

// Constants of the rewrite.
const (
	// DepthSlots is what nested calls may take in all, MinFrame what each takes
	// at least, see frameSize: 1,872 frames, below the 2,000 at which wazero's interpreter stops.
	DepthSlots = 1 << 19
	MinFrame   = 280

	// SegmentFuel is the most straight-line code between two tests, but for the
	// last instruction.
	SegmentFuel = 2_000

	// ChunkBytes is the most that a bulk memory instruction moves between two
	// tests.
	ChunkBytes = 64 << 10

	// MaxTable is the most elements a table may grow to.
	MaxTable = 100_000
)

// An Error says why a module isn't admitted.
type Error struct {
	Size   bool // a limit is exceeded; otherwise the code isn't valid
	Detail string
}

func (e *Error) Error() string { return e.Detail }

func tooBig(format string, args ...any) error {
	return &Error{true, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return &Error{false, fmt.Sprintf(format, args...)}
}

// thousands prints a count with separators.
func thousands[T ~int | ~int64 | ~uint32 | ~uint64](n T) string { return wasm.Thousands(n) }
