//go:build linux || darwin

package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// A reservation is address space without memory behind it; pages become
// readable and writable as the memory grows.
type reservation struct{ b []byte }

func (r *reservation) reserve(max uint64) (err error) {
	// An empty mapping is an error, and a memory of no pages is legal.
	r.b, err = unix.Mmap(-1, 0, int(max)+pageSize, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("reserve %s bytes of memory: %w", thousands(max), err)
	}
	smallPages(r.b)
	return nil
}

func (r *reservation) commit(old, size uint64) ([]byte, error) {
	if size > old {
		if err := unix.Mprotect(r.b[old:size], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return nil, fmt.Errorf("commit %s bytes of memory: %w", thousands(size), err)
		}
	}
	return r.b[:size:size], nil
}

func (r *reservation) view(size uint64) []byte { return r.b[:size:size] }

func (r *reservation) release() {
	_ = unix.Munmap(r.b) // fails only for ranges that were never mapped
	r.b = nil
}
