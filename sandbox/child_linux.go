package sandbox

import (
	"syscall"
)

const descriptors = "/proc/self/fd"

// childAttributes make a child die with the thread that starts it, and keep a
// terminal's interrupt from it: the parent ends it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
