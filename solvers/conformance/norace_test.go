//go:build !race

package conformance_test

// race reports whether the race detector runs.
const race = false
