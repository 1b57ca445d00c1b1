package hostile

import "github.com/subnet112/assay/sandbox"

// golang are the guests of testdata/goguest, which does what its input says.
func golang() []Guest {
	return []Guest{
		{Name: "Go: panics", Go: true, Input: "panic", End: fault(sandbox.CauseTrap, "")},
		{Name: "Go: panics in a goroutine", Go: true, Input: "panic aside", End: fault(sandbox.CauseTrap, "")},
		{Name: "Go: leaves goroutines asleep", Go: true, Input: "asleep", End: End{Output: "1000 asleep"}},
		{Name: "Go: leaves goroutines at work", Go: true, Input: "at work", End: End{Output: "100 at work"}},
		{Name: "Go: waits for ever", Go: true, Input: "deadlock", End: fault(sandbox.CauseTrap, "")},
		{Name: "Go: allocates until it is refused", Go: true, Large: true, Fuel: 20_000_000_000, Input: "allocate", End: fault(sandbox.CauseMemory, "pages")},
		{Name: "Go: recurses", Go: true, Large: true, Fuel: 20_000_000_000, Input: "recurse", End: fault(sandbox.CauseDepth, "")},
		{Name: "Go: holds a map literal of 1,500 entries", Go: true, Input: "map", End: End{Output: "1500 entries, the last is 1499"}},
		{Name: "Go: exits", Go: true, Input: "exit", End: fault(sandbox.CauseExit, "proc_exit(3)")},
	}
}
