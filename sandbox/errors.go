package sandbox

import (
	"errors"

	"github.com/subnet112/assay/sandbox/wasm"
)

// Errors a caller may branch on. None of them is the guest's fault.
var (
	ErrDead   = errors.New("instance is dead")   // it faulted or was closed before
	ErrClosed = errors.New("sandbox is closed")  // the engine, or the module
	ErrWall   = errors.New("wall limit reached") // on the interpreter, where it proves nothing about the guest
)

// A Refusal says why a module isn't admitted.
type Refusal struct {
	Reason Reason
	Detail string // one line; names from the module are quoted in it
}

func (r *Refusal) Error() string { return r.Detail }

// A Reason classes refusals.
type Reason string

// Reasons.
const (
	ReasonNotWasm   Reason = "not_wasm"  // no WebAssembly module of version 1
	ReasonMalformed Reason = "malformed" // its bytes break the format
	ReasonSize      Reason = "size"      // a static limit is exceeded
	ReasonImport    Reason = "import"    // it imports what there isn't
	ReasonExport    Reason = "export"    // an export is missing or has the wrong type
	ReasonMemory    Reason = "memory"    // its memory doesn't fit
	ReasonFeature   Reason = "feature"   // it needs an extension that isn't admitted
	ReasonABI       Reason = "abi"       // it speaks another version of the ABI
	ReasonInvalid   Reason = "invalid"   // its code doesn't validate
)

// A Fault is what a guest did to end its instance.
type Fault struct {
	Cause  string // one of the Cause constants
	Detail string // one line; names from the module are quoted in it
}

func (f *Fault) Error() string { return f.Cause + ": " + f.Detail }

// Causes of a fault.
const (
	CauseFuel        = "fuel"         // Call.Fuel or Env.Fuel is spent
	CauseSessionFuel = "session_fuel" // the allowance's fuel is spent
	CauseDepth       = "depth"        // calls nest too deep
	CauseStalled     = "stalled"      // a wall limit, on a host that is fast enough
	CauseMemory      = "memory"       // a trap or exit at the memory limit
	CauseTrap        = "trap"         // any other trap
	CauseOutput      = "output"       // more output than Call.OutputLimit
	CauseLog         = "log"          // more log than CallLogBytes in one call
	CauseBadPointer  = "bad_pointer"  // a range outside of its memory
	CauseExit        = "exit"         // it called proc_exit
)

func quoted(s string) string { return wasm.Quoted(s) }

// thousands prints a count with separators.
func thousands[T ~int | ~int64 | ~uint32 | ~uint64](n T) string { return wasm.Thousands(n) }
