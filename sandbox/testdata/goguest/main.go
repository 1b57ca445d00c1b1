// A guest as a miner would write one: it uses maps, goroutines, sleeping, the
// clock, randomness, fmt and JSON of Go's standard library.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

//go:wasmimport assay input
func input(p unsafe.Pointer, n uint32) uint32

//go:wasmimport assay output
func output(p unsafe.Pointer, n uint32)

func read(n int32) []byte {
	b := make([]byte, n)
	for at := 0; at < len(b); {
		got := input(unsafe.Pointer(&b[at]), uint32(len(b)-at))
		if got == 0 {
			panic("input ended early")
		}
		at += int(got)
	}
	return b
}

func write(b []byte) {
	if len(b) > 0 {
		output(unsafe.Pointer(&b[0]), uint32(len(b)))
	}
}

//go:wasmexport solver_abi
func abi() int32 { return 1 }

//go:wasmexport solver_metadata
func metadata(int32) int32 { return 2 }

//go:wasmexport solver_initialize
func initialize(int32) int32 { return 0 }

//go:wasmexport solver_generate_plan
func generate(n int32) int32 {
	in := map[string]int{}
	if err := json.Unmarshal(read(n), &in); err != nil {
		write([]byte(err.Error()))
		return 1
	}
	start := time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	sum := 0
	for _, v := range in {
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(time.Hour)
			mu.Lock()
			sum += v
			mu.Unlock()
		}()
	}
	wg.Wait()

	random := rand.Uint64()
	first := "" // map order comes from the seed
	for k := range in {
		first = k
		break
	}
	fmt.Fprintln(os.Stderr, "thinking")
	b, _ := json.Marshal(map[string]any{
		"sum": sum, "hours": int(time.Since(start).Hours()), "year": start.UTC().Year(), "random": random, "first": first,
		"files": len(os.Args) + len(os.Environ()), "cpus": runtime.NumCPU(),
	})
	write(b)
	return 0
}

//go:wasmexport solver_quote
func quote(int32) int32 {
	var m map[string]int
	m["x"] = 1 // a Go panic
	return 0
}

//go:wasmexport solver_set_market
func market(int32) int32 {
	var keep [][]byte
	for {
		keep = append(keep, make([]byte, 1<<20))
	}
}

func main() {}
