//go:build linux || darwin

package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// childArg makes the test binary act as a child, and not run tests.
const childArg = "act-as-child"

// childCommand is a Config.Compiler that acts so.
func childCommand(t testing.TB, act string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, childArg, act}
}

// Before tests begin, a child does what its command says, good or bad, and ends.
func init() {
	if len(os.Args) < 3 || os.Args[1] != childArg {
		return
	}
	args := os.Args[3:]
	err := fmt.Errorf("unknown act %q", os.Args[2])
	if os.Args[2] == "use" {
		err = useCache(args)
	} else if act := childActs[os.Args[2]]; act != nil {
		err = act(args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

// work is a child that does something else than compiling.
func work(do func(dir string) (result, text string)) func([]string) error {
	return func(args []string) error { return sandbox.BeChild(args, do) }
}

var childActs = map[string]func(args []string) error{
	"compile": sandbox.CompileChild,
	"spin": work(func(string) (string, string) {
		for {
			spun++
		}
	}),
	"spin deaf": work(func(string) (string, string) {
		signal.Ignore(unix.SIGXCPU)
		for {
			spun++
		}
	}),
	"hoard": work(func(string) (string, string) {
		for {
			block := make([]byte, 1<<20)
			for k := range block {
				block[k] = 1
			}
			hoard = append(hoard, block)
		}
	}),
	"hang": work(func(dir string) (string, string) {
		hang(dir)
		return "", ""
	}),
	"compile when told": func(args []string) error {
		if err := os.WriteFile(filepath.Join(filepath.Dir(args[0]), "begun"), nil, 0o600); err != nil {
			return err
		}
		for !exists(filepath.Join(filepath.Dir(args[0]), "go")) {
			time.Sleep(time.Millisecond)
		}
		return sandbox.CompileChild(args)
	},
	"count": work(func(dir string) (string, string) {
		// Everyone sees who is there while it is there itself.
		defer os.Remove(filepath.Join(dir, "here"))
		if err := os.WriteFile(filepath.Join(dir, "here"), nil, 0o600); err != nil {
			return "error", err.Error()
		}
		most := 0
		for range 30 {
			here, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", "here"))
			most = max(most, len(here))
			time.Sleep(5 * time.Millisecond)
		}
		return "error", fmt.Sprint(most)
	}),
	"fill the disk": func(args []string) error {
		// Files of the cache grow no further than a kilobyte.
		if strings.HasPrefix(filepath.Base(args[0]), "tmp-") {
			if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1024, Max: 1024}); err != nil {
				return err
			}
		}
		return sandbox.CompileChild(args)
	},
	"tell": work(func(string) (string, string) {
		open := []string{}
		for fd := range 256 {
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				open = append(open, fmt.Sprint(fd))
			}
		}
		var core unix.Rlimit
		_ = unix.Getrlimit(unix.RLIMIT_CORE, &core)
		return "error", fmt.Sprintf("environment %s, open %s, core %d", os.Environ(), open, core.Max)
	}),
	"die":        func([]string) error { return unix.Kill(os.Getpid(), unix.SIGKILL) },
	"panic":      work(func(string) (string, string) { panic("boom") }),
	"say hello":  func([]string) error { fmt.Println("hello \x1b[31m"); return nil },
	"say no":     func([]string) error { fmt.Println(`{"result":"no"}`); return nil },
	"say twice":  func([]string) error { fmt.Print("{\"result\":\"compiled\"}\n{\"result\":\"compiled\"}\n"); return nil },
	"say more":   func([]string) error { fmt.Println(`{"result":"compiled","code":"x"}`); return nil },
	"say done":   func([]string) error { fmt.Println(`{"result":"compiled"}`); return nil },
	"say a lie":  func([]string) error { fmt.Println(`{"result":"compiled"}`); os.Exit(4); return nil },
	"say naught": func([]string) error { return nil },
	"say much": func([]string) error {
		for {
			if _, err := fmt.Println(strings.Repeat("much ", 1000)); err != nil {
				return err
			}
		}
	},
	"complain": func([]string) error { return fmt.Errorf("first\nlast \x1b[31m") },
}

var (
	spun  uint64
	hoard [][]byte
)

// hang leaves a sign of its process and waits for its end.
func hang(dir string) {
	_ = os.WriteFile(filepath.Join(dir, "pid.tmp"), fmt.Append(nil, os.Getpid()), 0o600)
	_ = os.Rename(filepath.Join(dir, "pid.tmp"), filepath.Join(dir, "pid"))
	for {
		time.Sleep(time.Hour)
	}
}

// useCache is a process with an engine of its own: it compiles and calls a guest
// and prints the kinds of notices it got.
func useCache(args []string) error {
	var got notices
	e, err := sandbox.New(context.Background(), sandbox.Config{CacheDir: args[0], Compiler: args[1:], Notice: got.add})
	if err != nil {
		return err
	}
	m, err := e.Compile(context.Background(), guest(wt.Answer{Output: []byte("works")}), profile())
	if err != nil {
		return err
	}
	i, err := m.Instantiate(context.Background(), sandbox.Env{})
	if err != nil {
		return err
	}
	if r, err := i.Call(context.Background(), plan()); err != nil || string(r.Output) != "works" {
		return fmt.Errorf("%q, %w", r.Output, err)
	}
	fmt.Println(got.kinds)
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
