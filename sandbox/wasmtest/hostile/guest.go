package hostile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/subnet112/assay/sandbox"
)

// A Guest is a solver. After it was instantiated, solver_initialize makes its
// preparations, with plenty of everything; then solver_generate_plan does the
// harm. A guest that is refused does nothing.
type Guest struct {
	Name string

	// One of three is what it runs. The script is loaded into the JavaScript
	// engine, before solver_initialize.
	Wasm   func() []byte
	Script string
	Go     bool // the module that BuildGo makes

	Input string // of solver_generate_plan
	Fuel  uint64 // of it, and of instantiating; 0 = DefaultFuel
	Reads Reads  // what serves its reads
	Start bool   // the harm is done while it is instantiated
	Large bool   // it takes hundreds of MiB, or seconds

	End End
}

// Reads are what a guest reads from.
type Reads int

// Kinds of reads.
const (
	NoReads Reads = iota
	Replies       // a few bytes for each of 5,000 requests, then it is over budget
	Chain         // the EVM, with [HasherCode] at [HasherAddress]
)

// Limits of guests that don't say their own.
const (
	DefaultFuel = 100_000_000
	Wall        = 30 * time.Second // none is meant to reach it
)

// An End is what must become of a guest: it is refused, or a fault ends it, or
// it answers.
type End struct {
	Reason sandbox.Reason // of its refusal; empty = it is admitted
	Cause  string         // of its fault; empty = it answers
	Detail string         // in the text of either: the function, the limit, the value

	Status int32
	Output string // all of it, or for a script what is in it
}

func refused(reason sandbox.Reason, detail string) End { return End{Reason: reason, Detail: detail} }
func fault(cause, detail string) End                   { return End{Cause: cause, Detail: detail} }

// Spent is the end of what would go on for ever.
var Spent = fault(sandbox.CauseFuel, "are spent")

// Endless reports whether nothing but its limits ends the guest: without fuel's
// end it reaches the wall.
func (g Guest) Endless() bool { return g.End == Spent }

// All are the guests, in the order of a table of them.
func All() []Guest {
	return slices.Concat(computing(), memories(), calling(), pointers(), static(), injected(), floats(), golang(), scripts())
}

// BuildGo builds the module of the Go guests in a folder, which must lie
// elsewhere, from anywhere in this Go module.
func BuildGo(dir string) ([]byte, error) {
	out := filepath.Join(dir, "hostile.wasm")
	const source = "github.com/subnet112/assay/sandbox/wasmtest/hostile/testdata/goguest"
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, source)
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the Go guests: %w\n%s", err, text)
	}
	return os.ReadFile(out)
}
