package sandbox_test

import (
	"context"
	"testing"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

func BenchmarkCheck(b *testing.B) {
	e := newEngine(b, sandbox.Config{})
	wasm := goGuest(b)
	b.SetBytes(int64(len(wasm)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Check(wasm, profile()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInstantiate(b *testing.B) {
	m := compile(b, newEngine(b, sandbox.Config{}), guest(wt.Answer{}))
	b.ReportAllocs()
	for b.Loop() {
		i, err := m.Instantiate(context.Background(), sandbox.Env{})
		if err != nil {
			b.Fatal(err)
		}
		i.Close(context.Background())
	}
}

func BenchmarkEmptyCall(b *testing.B) {
	i := instantiate(b, compile(b, newEngine(b, sandbox.Config{}), guest(wt.Answer{})), sandbox.Env{})
	c := plan()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := i.Call(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkState restores and serializes the largest state in a fresh instance.
func BenchmarkState(b *testing.B) {
	m, err := newEngine(b, sandbox.Config{}).Compile(context.Background(), keeper(), keeperProfile)
	if err != nil {
		b.Fatal(err)
	}
	state := make([]byte, 50<<20)
	b.SetBytes(2 * int64(len(state)))
	b.ReportAllocs()
	for b.Loop() {
		i, err := m.Instantiate(context.Background(), sandbox.Env{})
		if err != nil {
			b.Fatal(err)
		}
		if got := throughState(b, i, state); len(got) != len(state) {
			b.Fatalf("%d bytes came out", len(got))
		}
		i.Close(context.Background())
	}
}

// BenchmarkCompile takes a guest of the Go toolchain, without and with a cache
// that holds it.
func BenchmarkCompile(b *testing.B) {
	wasm := goGuest(b)
	compileOnce := func(b *testing.B, c sandbox.Config) {
		e, err := sandbox.New(context.Background(), c)
		if err != nil {
			b.Fatal(err)
		}
		defer e.Close(context.Background())
		compile(b, e, wasm)
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			compileOnce(b, sandbox.Config{})
		}
	})
	b.Run("cached", func(b *testing.B) {
		c := sandbox.Config{CacheDir: b.TempDir() + "/cache"}
		compileOnce(b, c)
		for b.Loop() {
			compileOnce(b, c)
		}
	})
}
