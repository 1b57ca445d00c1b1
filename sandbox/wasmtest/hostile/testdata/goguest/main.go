// A guest that does what its input says, nothing of it good.
package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"
)

//go:wasmimport assay input
func input(p unsafe.Pointer, n uint32) uint32

//go:wasmimport assay output
func output(p unsafe.Pointer, n uint32)

//go:wasmexport solver_abi
func abi() int32 { return 1 }

//go:wasmexport solver_metadata
func metadata(int32) int32 { return 2 }

//go:wasmexport solver_initialize
func initialize(int32) int32 { return 0 }

//go:wasmexport solver_generate_plan
func plan(n int32) int32 {
	b := make([]byte, n)
	for at := 0; at < len(b); {
		at += int(input(unsafe.Pointer(&b[at]), uint32(len(b)-at)))
	}
	act := acts[string(b)]
	if act == nil {
		return 2
	}
	if s := act(); s != "" {
		output(unsafe.Pointer(unsafe.StringData(s)), uint32(len(s)))
	}
	return 0
}

var keep [][]byte

var acts = map[string]func() string{
	"panic": func() string { panic("no plan") },
	"panic aside": func() string {
		done := make(chan bool)
		go func() { panic("no plan") }()
		<-done
		return ""
	},
	"asleep": func() string {
		const n = 1_000
		for range n {
			go time.Sleep(time.Hour)
		}
		runtime.Gosched()
		return fmt.Sprint(n, " asleep")
	},
	"at work": func() string {
		const n = 100
		for range n {
			go func() {
				for {
					runtime.Gosched()
				}
			}()
		}
		runtime.Gosched()
		return fmt.Sprint(n, " at work")
	},
	"deadlock": func() string {
		<-make(chan bool)
		return ""
	},
	"allocate": func() string {
		for {
			keep = append(keep, make([]byte, 1<<20))
		}
	},
	"recurse": func() string { return fmt.Sprint(deep(1)) },
	"map":     func() string { return fmt.Sprintf("%d entries, the last is %d", len(entries), entries["k1499"]) },
	"exit": func() string {
		os.Exit(3)
		return ""
	},
}

func deep(n int) int { return deep(n+1) + n }

func main() {}
