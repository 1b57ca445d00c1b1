//go:build linux || darwin

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkOwner refuses a directory of somebody else, who could replace the code in
// it at any time.
func checkOwner(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("owner is user %d, want %d", st.Uid, os.Geteuid())
	}
	return nil
}

// lockDir locks a directory against other engines, of this process or another,
// until release is called or the process ends. A shared lock waits for an
// exclusive one; an exclusive one doesn't wait.
func lockDir(dir string, exclusive bool) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX | unix.LOCK_NB
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(f.Fd()), how)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { _ = f.Close() }, nil // closing unlocks
}
