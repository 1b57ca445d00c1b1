package sandbox

import "syscall"

const descriptors = "/dev/fd"

// childAttributes keep a terminal's interrupt from a child: the parent ends it.
// A child whose parent is gone ends when its standard input does.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
