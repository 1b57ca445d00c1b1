//go:build race

package benchmark_test

// race reports whether the race detector runs.
const race = true
