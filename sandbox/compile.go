package sandbox

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/tetratelabs/wazero"
)

// DefaultCacheBytes is how much a cache folder keeps unless Config.CacheBytes
// says otherwise.
const DefaultCacheBytes = 2 << 30 // 2 GiB

// MaxCompilers is how many children of an engine compile at the same time;
// further modules wait.
const MaxCompilers = 2

// children counts the processes that compile.
type children struct {
	slots chan struct{}
}

// translate compiles into a runtime of its own: wazero ties compiled code, its
// cache and its instances to one runtime, and a cache to one directory. ctx is
// what wazero looks at while it compiles.
func (e *Engine) translate(ctx context.Context, wasm []byte, cache wazero.CompilationCache) (c *compilation, err error) {
	config := runtimeConfig(e.interpreter)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	background := context.Background()
	c = &compilation{runtime: wazero.NewRuntimeWithConfig(background, config), cache: cache}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("compile: panic: %v", r)
		}
		if err != nil {
			_ = c.free(background) // the first error is the one to tell
			c = nil
		}
	}()
	if err := bindHost(background, c.runtime); err != nil {
		return nil, err
	}
	c.module, err = c.runtime.CompileModule(ctx, wasm)
	return c, compileError(err)
}

// compileError tells what the module is refused for from what the host couldn't
// do.
func compileError(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("compile: %w", err)
	}
	if err != nil {
		return &Refusal{ReasonInvalid, "invalid module: " + quoted(err.Error())}
	}
	return nil
}
