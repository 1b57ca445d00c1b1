package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/subnet112/assay/sandbox"
)

// A child dies with a parent that is killed and can't even close its input, and
// the next engine removes what it left.
func TestChildDiesWithItsParent(t *testing.T) {
	// The orphan becomes this process's, which sees how it ended.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	dir := filepath.Join(t.TempDir(), "cache")
	use := append(childCommand(t, "use"), dir)
	parent := exec.Command(use[0], append(use[1:], childCommand(t, "hang")...)...)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var signs []string
	wait(t, func() bool {
		signs, _ = filepath.Glob(filepath.Join(dir, "*", "pid"))
		return signs != nil
	})
	text, err := os.ReadFile(signs[0])
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	var status syscall.WaitStatus
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		_, err = syscall.Wait4(pid, &status, 0, nil)
	}
	killed := status.Signaled() && status.Signal() == syscall.SIGKILL
	saw := status.Exited() && status.ExitStatus() == 1 // that its parent is gone, before it was killed
	if err != nil || !killed && !saw {
		t.Errorf("the child ended with %v, %v; want that it was killed, or saw that its parent is gone", status, err)
	}
	newEngine(t, sandbox.Config{CacheDir: dir})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// A folder that nothing can be written to is read; what isn't in it is compiled
// elsewhere, and told.
func TestReadOnlyCache(t *testing.T) {
	for _, compiler := range [][]string{nil, childCommand(t, "compile")} {
		full, empty := filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "cache")
		answerOn(t, sandbox.Config{CacheDir: full, Compiler: compiler})
		if err := os.Mkdir(empty, 0o700); err != nil {
			t.Fatal(err)
		}
		for dir, want := range map[string]string{full: "[]", empty: "[cache unkept]"} {
			if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
				mode := os.FileMode(0o400)
				if d.IsDir() {
					mode = 0o500
				}
				return errors.Join(os.Chmod(path, mode), os.Lchown(path, nobody(), -1))
			}); err != nil {
				t.Fatal(err)
			}
			var self []string
			if compiler != nil {
				self = []string{"/proc/self/exe", childArg, "compile"}
			}
			if got := useAsNobody(t, append([]string{dir}, self...)); got != want {
				t.Errorf("compiler %v: notices %s, want %s", compiler, got, want)
			}
			if err := os.Chmod(dir, 0o700); err != nil { // for its removal
				t.Fatal(err)
			}
		}
	}
}

// nobody is a user who may write to no folder of root's, or this one.
func nobody() int {
	if os.Geteuid() == 0 {
		return 65534
	}
	return os.Geteuid()
}

// useAsNobody runs the act "use" as that user. The binary may lie in a folder that
// is closed to it, so it is executed by another name.
func useAsNobody(t *testing.T, args []string) string {
	t.Helper()
	for dir := filepath.Dir(args[0]); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	temp := t.TempDir()
	if err := errors.Join(os.Chmod(temp, 0o755), os.Lchown(temp, nobody(), -1)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", append([]string{childArg, "use"}, args...)...)
	cmd.Env = []string{"TMPDIR=" + temp}
	if os.Geteuid() == 0 {
		id := uint32(nobody())
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	}
	talk := &strings.Builder{}
	cmd.Stderr = talk
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, talk)
	}
	return strings.TrimSpace(string(out))
}
