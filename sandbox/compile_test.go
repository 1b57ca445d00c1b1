//go:build linux || darwin

package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// A child leaves the code in the cache, or in a folder that is gone when it is
// loaded.
func TestChildCompiles(t *testing.T) {
	temp, dir := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	t.Setenv("TMPDIR", temp)
	config := sandbox.Config{Compiler: childCommand(t, "compile")}
	if got := answerOn(t, config); got != nil {
		t.Errorf("notices without a cache: %v", got)
	}
	config.CacheDir = dir
	for range 2 {
		if got := answerOn(t, config); got != nil {
			t.Errorf("notices %v", got)
		}
		if kept := files(t, dir); len(kept) != 2 {
			t.Errorf("files %q, want the code and its seal", kept)
		}
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%v is left in the folder for temporary files", left)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "tmp-*")); left != nil {
		t.Errorf("%q is left in the cache", left)
	}
}

// What is in the cache needs no child, and no child means no result.
func TestCachedCodeNeedsNoChild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	never := sandbox.Config{CacheDir: dir, Compiler: []string{filepath.Join(dir, "absent")}}
	e := newEngine(t, never)
	_, err := e.Compile(t.Context(), guest(wt.Answer{Output: []byte("works")}), profile())
	var failed *sandbox.CompileError
	if !errors.As(err, &failed) || !strings.Contains(failed.Detail, "doesn't start") {
		t.Fatalf("Compile() = %v, want that no child starts", err)
	}
	answerOn(t, sandbox.Config{CacheDir: dir, Compiler: childCommand(t, "compile")})
	if got := answerOn(t, never); got != nil {
		t.Errorf("notices %v", got)
	}
}

// A module that doesn't validate is refused in the same words by a child.
func TestChildRefusesWhatThisProcessRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	p := newProbe()
	wasm := p.run(wt.I64Const(1)) // an i64 where an i32 must be
	var want string
	for _, command := range [][]string{nil, childCommand(t, "compile")} {
		e := newEngine(t, sandbox.Config{CacheDir: dir, Compiler: command})
		_, err := e.Compile(t.Context(), wasm, probeProfile)
		var refusal *sandbox.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != sandbox.ReasonInvalid || strings.Contains(refusal.Detail, "\n") {
			t.Fatalf("Compile() = %v, want a refusal of one line", err)
		}
		if want == "" {
			want = refusal.Detail
		}
		if refusal.Detail != want {
			t.Errorf("a child says %q, want %q", refusal.Detail, want)
		}
	}
	if kept := files(t, dir); kept != nil {
		t.Errorf("files %q", kept)
	}
}

// However a child ends without a result, it is the host's own error, which says
// what happened; nothing is kept, and the next attempt may succeed.
func TestChildFails(t *testing.T) {
	for _, tt := range []struct{ act, want string }{
		{"spin", "exceeded 1 s of CPU"},
		{"spin deaf", "exceeded 1 s of CPU"},
		{"hoard", "exceeded 512 MiB of memory"},
		{"hang", "exceeded 1s"},
		{"die", "signal: killed"},
		{"panic", `exit status 2: "panic: boom"`},
		{"complain", `exit status 3: "last \x1b[31m"`},
		{"say hello", `its answer is none: "hello \x1b[31m\n"`},
		{"say no", `its answer is none: "{\"result\":\"no\"}\n"`},
		{"say twice", `its answer is none: "{\"result\":\"compiled\"}\n{\"result\":\"compiled\"}\n"`},
		{"say more", `its answer is none: "{\"result\":\"compiled\",\"code\":\"x\"}\n"`},
		{"say naught", `its answer is none: ""`},
		{"say done", "what it compiled can't be loaded: "},
		{"say a lie", "exit status 4"},
		{"say much", ""}, // whichever end of the pipe closes first
	} {
		t.Run(tt.act, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "cache")
			var got notices
			e := newEngine(t, sandbox.Config{CacheDir: dir, Compiler: childCommand(t, tt.act), Notice: got.add})
			switch tt.act {
			case "hang":
				e.LimitChildren(sandbox.CompileCPU, time.Second, sandbox.CompileMemory)
			case "hoard":
				if underRaceDetector() {
					t.Skip("the detector's own memory is limited as well, and it has other words for it")
				}
				e.LimitChildren(sandbox.CompileCPU, sandbox.CompileWall, 512<<20)
			default:
				e.LimitChildren(time.Second, sandbox.CompileWall, sandbox.CompileMemory)
			}
			_, err := e.Compile(t.Context(), guest(wt.Answer{}), profile())
			var failed *sandbox.CompileError
			if !errors.As(err, &failed) || !strings.HasPrefix(failed.Detail, tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Compile() = %v, want %s", err, tt.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || got.kinds != nil {
				t.Errorf("left %v, %v; notices %v", left, err, got.kinds)
			}
			if e.Compiled() != 0 {
				t.Error("the failure is kept")
			}
		})
	}
}

// A child gets no environment and no descriptor that this process didn't mark
// to be closed, and leaves no core.
func TestChildInheritsNothing(t *testing.T) {
	t.Setenv("SECRET", "x")
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	fd, err := unix.Dup(int(null.Fd())) // without FD_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	_, err = newEngine(t, sandbox.Config{Compiler: childCommand(t, "tell")}).Compile(t.Context(), guest(wt.Answer{}), profile())
	want := &sandbox.CompileError{Detail: `"environment [GOTRACEBACK=none], open [0 1 2], core 0"`}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A child of another build must not fill the cache.
func TestChildOfAnotherBuildRefuses(t *testing.T) {
	args := sandbox.ChildArgs(t.TempDir(), 0)
	args[2] = "0123456789abcdef"
	command := childCommand(t, "compile")
	child := exec.Command(command[0], append(command[1:], args...)...)
	out, err := child.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another build") {
		t.Errorf("%v: %s", err, out)
	}
}

// A child whose parent is gone ends, though no signal tells it.
func TestChildEndsWithItsInput(t *testing.T) {
	dir := t.TempDir()
	command := childCommand(t, "hang")
	child := exec.Command(command[0], append(command[1:], sandbox.ChildArgs(dir, 4)...)...)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write([]byte("code")); err != nil {
		t.Error(err)
	}
	wait(t, func() bool { return exists(filepath.Join(dir, "pid")) })
	stdin.Close()
	var exit *exec.ExitError
	if err := child.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("Wait() = %v, want status 1", err)
	}
}

// Close ends children at once, those that wait for one as well.
func TestCloseEndsChildren(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	e, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: dir, Compiler: childCommand(t, "hang")})
	if err != nil {
		t.Fatal(err)
	}
	const modules = sandbox.MaxCompilers + 2
	var wg sync.WaitGroup
	for k := range int32(modules) {
		wg.Go(func() {
			if _, err := e.Compile(context.Background(), guest(wt.Answer{Status: k}), profile()); !errors.Is(err, sandbox.ErrClosed) {
				t.Errorf("Compile() = %v, want ErrClosed", err)
			}
		})
	}
	hung := func() int {
		list, _ := filepath.Glob(filepath.Join(dir, "*", "pid"))
		return len(list)
	}
	wait(t, func() bool { return hung() == sandbox.MaxCompilers })
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// Whoever gives up leaves a child at work for the cache.
func TestAbandonedChildFillsTheCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	ctx, cancel := context.WithCancel(t.Context())
	e := newEngine(t, sandbox.Config{CacheDir: dir, Compiler: childCommand(t, "compile when told")})
	go func() {
		wait(t, func() bool { return exists(filepath.Join(dir, "begun")) })
		cancel()
	}()
	if _, err := e.Compile(ctx, guest(wt.Answer{Output: []byte("works")}), profile()); !errors.Is(err, context.Canceled) {
		t.Errorf("Compile() = %v, want that it was canceled", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wait(t, func() bool { return e.Compiled() == 0 })
	answerOn(t, sandbox.Config{CacheDir: dir, Compiler: []string{"absent"}})
}

// An engine has no more children at a time than it may.
func TestFewChildrenAtATime(t *testing.T) {
	e := newEngine(t, sandbox.Config{CacheDir: filepath.Join(t.TempDir(), "cache"), Compiler: childCommand(t, "count")})
	var wg sync.WaitGroup
	var mu sync.Mutex
	counts := map[string]int{}
	for k := range int32(3 * sandbox.MaxCompilers) {
		wg.Go(func() {
			_, err := e.Compile(context.Background(), guest(wt.Answer{Status: k}), profile())
			mu.Lock()
			defer mu.Unlock()
			counts[fmt.Sprint(err)]++
		})
	}
	wg.Wait()
	seen := 0
	for text, n := range counts {
		var most int
		if _, err := fmt.Sscanf(text, `compile in a child process: "%d"`, &most); err != nil || most > sandbox.MaxCompilers {
			t.Errorf("%d children: %s", n, text)
		}
		seen = max(seen, most)
	}
	if seen != sandbox.MaxCompilers {
		t.Errorf("at most %d children at a time, want %d", seen, sandbox.MaxCompilers)
	}
}

// Where the cache has no room, code is compiled elsewhere.
func TestDiskIsFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	for range 2 {
		got := answerOn(t, sandbox.Config{CacheDir: dir, Compiler: childCommand(t, "fill the disk")})
		if diff := cmp.Diff([]sandbox.NoticeKind{sandbox.NoticeUnkept}, got); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
		if left := files(t, dir); left != nil {
			t.Errorf("files %q", left)
		}
	}
}

// Goroutines of several engines that compile the same and different modules into a
// cache with room for few of them all get what they asked for.
func TestHammerChildren(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var got notices
	config := sandbox.Config{CacheDir: dir, CacheBytes: 3 * entryBytes(t), Compiler: childCommand(t, "compile"), Notice: got.add}
	var wg sync.WaitGroup
	for range 3 {
		e := newEngine(t, config)
		for worker := range 4 {
			wg.Go(func() {
				for n := range 8 {
					want := []byte(fmt.Sprint((worker + n) % 5))
					m, err := e.Compile(context.Background(), guest(wt.Answer{Output: want}), profile())
					if err != nil {
						t.Error(err)
						return
					}
					i, err := m.Instantiate(context.Background(), sandbox.Env{})
					if err != nil {
						t.Error(err)
						return
					}
					if r, err := i.Call(context.Background(), plan()); err != nil || !bytes.Equal(r.Output, want) {
						t.Errorf("Call() = %q, %v; want %q", r.Output, err, want)
					}
					i.Close(context.Background())
					m.Close()
				}
			})
		}
	}
	wg.Wait()
	if got.kinds != nil {
		t.Errorf("notices %v", got.kinds)
	}
	if kept := files(t, dir); len(kept) == 0 || len(kept) > 6 {
		t.Errorf("%d files, want code and seal of three modules at most", len(kept))
	}
}

// wait waits for something that has to come, until go test's own limit.
func wait(t *testing.T, until func() bool) {
	t.Helper()
	for !until() {
		time.Sleep(time.Millisecond)
	}
}
