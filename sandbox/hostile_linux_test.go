package sandbox_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// resetPeak makes the kernel forget how much memory this process had resident
// at most.
func resetPeak(t *testing.T) {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Logf("the peak of resident memory is that of the whole process: %v", err)
	}
}

// peakBytes is how much memory this process had resident at most.
func peakBytes() (n uint64, ok bool) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &n); err == nil {
			return n << 10, true
		}
	}
	return 0, false
}
