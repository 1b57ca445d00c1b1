package sandbox_test

import (
	"os"
	"syscall"
)

// peakRSS is the most memory a process that ended had, in bytes.
func peakRSS(p *os.ProcessState) int64 {
	return p.SysUsage().(*syscall.Rusage).Maxrss << 10
}
