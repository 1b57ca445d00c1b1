//go:build unix

package benchmark

import (
	"os"
	"syscall"
)

// release lets go of the lock on a file that a panic left mapped: the mapping
// keeps the lock alive after the descriptor is closed.
func release(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}
