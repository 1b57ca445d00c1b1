//go:build linux || darwin

package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/subnet112/assay/sandbox"
)

// swapSolver builds the reference solver in Go.
func swapSolver(t testing.TB) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "swap.wasm")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, "../solvers/reference/swap")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the solver: %v\n%s", err, text)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// BenchmarkSolver takes the reference solver in Go from bytes to an instance that
// is initialized: compiled in this process, by a child that fills a cache, by
// one without a cache, and from a cache. The last is what every start of a solver but
// its first costs: 200 ms at most.
func BenchmarkSolver(b *testing.B) {
	wasm := swapSolver(b)
	wide := profile()
	wide.MemoryPages = 0
	start := func(b *testing.B, c sandbox.Config) {
		e, err := sandbox.New(context.Background(), c)
		if err != nil {
			b.Fatal(err)
		}
		defer e.Close(context.Background())
		m, err := e.Compile(context.Background(), wasm, wide)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Instantiate(context.Background(), sandbox.Env{}); err != nil {
			b.Fatal(err)
		}
	}
	command := childCommand(b, "compile")
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			start(b, sandbox.Config{})
		}
	})
	b.Run("child without cache", func(b *testing.B) {
		for b.Loop() {
			start(b, sandbox.Config{Compiler: command})
		}
	})
	b.Run("child", func(b *testing.B) {
		for b.Loop() {
			dir, err := os.MkdirTemp(b.TempDir(), "")
			if err != nil {
				b.Fatal(err)
			}
			start(b, sandbox.Config{CacheDir: dir, Compiler: command})
		}
	})
	b.Run("cached", func(b *testing.B) {
		c := sandbox.Config{CacheDir: filepath.Join(b.TempDir(), "cache"), Compiler: command}
		start(b, c)
		for b.Loop() {
			start(b, c)
		}
	})
}
