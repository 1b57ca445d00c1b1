package sandbox

import "golang.org/x/sys/unix"

// smallPages keeps the kernel from backing memory by pages of megabytes: a guest
// could make it clear one with a single store, and hold up the host meanwhile.
func smallPages(b []byte) {
	_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) // a kernel that has none refuses
}
