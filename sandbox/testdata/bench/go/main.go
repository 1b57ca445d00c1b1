// What the overhead of metering is measured on, in Go: each export takes how
// often to repeat its work and returns a checksum.
package main

import (
	"encoding/json"
	"math"
	"slices"
)

func main() {}

//go:wasmexport spin
func spin(n int32) int32 {
	x := uint32(1)
	for range n * 100_000 {
		x = x*1664525 + 1013904223
		x ^= x >> 13
	}
	return int32(x)
}

//go:wasmexport matmul
func matmul(n int32) int32 {
	const side = 64
	a, b, c := make([]float64, side*side), make([]float64, side*side), make([]float64, side*side)
	for i := range a {
		a[i], b[i] = float64(i)*0.5, float64(i)*0.25
	}
	sum := 0.0
	for r := range int(n) {
		for i := range side {
			for j := range side {
				x := 0.0
				for k := range side {
					x += a[i*side+k] * b[k*side+j]
				}
				c[i*side+j] = x
			}
		}
		sum += c[r%len(c)]
	}
	return int32(math.Mod(sum, 1e9))
}

func fib(n int32) int32 {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:wasmexport recursion
func recursion(n int32) int32 { return fib(n) }

type document struct {
	Amount int
	Pools  []int
	Names  map[string]string
}

//go:wasmexport mixed
func mixed(n int32) int32 {
	hash := uint32(1)
	for range n {
		var d document
		if err := json.Unmarshal([]byte(`{"Amount":1200,"Pools":[1,2,3,4,5,6,7,8],"Names":{"a":"b","c":"d"}}`), &d); err != nil {
			return -1
		}
		out, err := json.Marshal(d)
		if err != nil {
			return -1
		}
		counts := map[uint32]int{}
		for range 2000 {
			hash = hash*1664525 + 1013904223
			counts[hash>>20]++
		}
		keys := make([]int, 0, len(counts))
		for k, c := range counts {
			keys = append(keys, int(k)*c)
		}
		slices.Sort(keys)
		hash += uint32(len(out) + keys[0])
	}
	return int32(hash)
}
