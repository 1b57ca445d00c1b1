//go:build linux || darwin

package sandbox

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limitProcess limits what this process may take, for good. onCPU is called when
// its processor time is spent, and has a second to end the process.
func limitProcess(j job, onCPU func()) error {
	spent := make(chan os.Signal, 1)
	signal.Notify(spent, unix.SIGXCPU)
	go func() {
		<-spent
		onCPU()
	}()
	seconds := uint64(j.cpu / time.Second)
	for _, l := range []struct {
		name       string
		which      int
		soft, hard uint64
	}{
		{"core", unix.RLIMIT_CORE, 0, 0},
		{"cpu", unix.RLIMIT_CPU, seconds, seconds + 1},
		// Not RLIMIT_AS: Go reserves more than a gigabyte of addresses that it
		// never touches. What it maps to write to is counted here (on Linux).
		{"data", unix.RLIMIT_DATA, j.memory, j.memory},
	} {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.which, &now); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		hard := min(now.Max, l.hard)
		if err := unix.Setrlimit(l.which, &unix.Rlimit{Cur: min(hard, l.soft), Max: hard}); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// killed reports whether the kernel ended a process as it does at a hard limit of
// processor time, and as anybody may.
func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == unix.SIGKILL || status.Signal() == unix.SIGXCPU)
}

// closeInherited closes what was open when this program began, but for the
// standard streams: those descriptors alone survive exec.
func closeInherited() {
	entries, _ := os.ReadDir(descriptors)
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd < 3 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}
