//go:build !linux

package sandbox_test

import "testing"

func resetPeak(*testing.T) {}

func peakBytes() (uint64, bool) { return 0, false }
