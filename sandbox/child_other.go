//go:build !linux && !darwin

package sandbox

import (
	"os"
	"syscall"
)

// These platforms are interpreted: no child is ever started.

func limitProcess(job, func()) error { return nil }

func closeInherited() {}

func childAttributes() *syscall.SysProcAttr { return nil }

func killed(*os.ProcessState) bool { return false }
