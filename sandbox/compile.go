package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// DefaultCacheBytes is how much a cache folder keeps unless Config.CacheBytes
// says otherwise.
const DefaultCacheBytes = 2 << 30 // 2 GiB

// Limits of the processes that compile: Config.Compiler. Exceeding one says
// nothing about the module: it is the host's own error, a [*CompileError].
const (
	CompileCPU    = 60 * time.Second // processor time of one
	CompileMemory = 2 << 30          // bytes that one may write to; on Linux
	CompileWall   = 2 * CompileCPU   // from its start to its end
	MaxCompilers  = 2                // of one engine at the same time; further modules wait
)

// A CompileError says how a process that compiles ended without a result.
type CompileError struct {
	Detail string // one line
}

func (e *CompileError) Error() string { return "compile in a child process: " + e.Detail }

// children are the processes of an engine that compile.
type children struct {
	slots  chan struct{}
	cpu    time.Duration
	wall   time.Duration
	memory uint64

	// onLook, if set by a test, comes between a look at an entry of the cache and
	// loading it.
	onLook func(entry string)
}

func newChildren() children {
	return children{slots: make(chan struct{}, MaxCompilers), cpu: CompileCPU, wall: CompileWall, memory: CompileMemory}
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

// compileUnkept compiles code that isn't kept: a child's goes through a directory
// of its own.
func (e *Engine) compileUnkept(wasm []byte) (*compilation, error) {
	if len(e.config.Compiler) == 0 || e.interpreter {
		return e.translate(context.Background(), wasm, nil)
	}
	temp, err := os.MkdirTemp("", "assay-code-")
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	defer os.RemoveAll(temp)
	return e.compileInto(temp, wasm)
}

// compileInto compiles, and leaves in a directory what wazero keeps of it.
func (e *Engine) compileInto(dir string, wasm []byte) (*compilation, error) {
	if len(e.config.Compiler) > 0 {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, &unwrittenError{err}
		}
		if err := e.compileChild(abs, wasm); err != nil {
			return nil, err
		}
		c, err := e.load(abs, wasm)
		if err != nil {
			return nil, &CompileError{"what it compiled can't be loaded: " + quoted(err.Error())}
		}
		return c, nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, &unwrittenError{err}
	}
	c, err := e.translate(context.Background(), wasm, cache)
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = &unwrittenError{err}
	}
	return c, err
}

// load takes code from a directory and never compiles: wazero looks at an ended
// context before it compiles a function, if it has more than one worker, but
// not before it reads its cache. errNoCode means that nothing is there.
func (e *Engine) load(dir string, wasm []byte) (*compilation, error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(experimental.WithCompilationWorkers(context.Background(), 2))
	cancel()
	c, err := e.translate(ctx, wasm, cache)
	if errors.Is(err, context.Canceled) {
		err = errNoCode
	}
	return c, err
}

var errNoCode = errors.New("wazero finds no code for this processor in it")

// compileError tells what the module is refused for from what the host couldn't
// do.
func compileError(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("compile: %w", err)
	}
	if err != nil {
		return invalid(err.Error())
	}
	return nil
}

func invalid(text string) *Refusal {
	return &Refusal{ReasonInvalid, "invalid module: " + quoted(text)}
}

// An unwrittenError says that a folder doesn't take compiled code; another may.
type unwrittenError struct{ err error }

func (e *unwrittenError) Error() string { return e.err.Error() }
func (e *unwrittenError) Unwrap() error { return e.err }

var errWall = errors.New("wall limit")

// compileChild has a child fill a folder with the code of a module. Its error is a
// [*Refusal], ErrClosed, an unwrittenError or a [*CompileError].
func (e *Engine) compileChild(dir string, wasm []byte) error {
	select {
	case e.children.slots <- struct{}{}:
		defer func() { <-e.children.slots }()
	case <-e.ctx.Done():
		return ErrClosed
	}
	ctx, cancel := context.WithTimeoutCause(e.ctx, e.children.wall, errWall)
	defer cancel()

	j := job{dir, len(wasm), entryVersion(cacheRules, wazeroVersion), e.children.cpu, e.children.memory}
	argv := append(e.config.Compiler[1:len(e.config.Compiler):len(e.config.Compiler)], j.args()...)
	child := exec.CommandContext(ctx, e.config.Compiler[0], argv...)
	child.Env = []string{"GOTRACEBACK=none"} // one line of whatever ends it
	child.SysProcAttr = childAttributes()
	child.WaitDelay = 10 * time.Second // for whoever else holds its streams
	out, talk := &head{limit: 64 << 10, breaks: true}, &head{limit: 64 << 10}
	child.Stdout, child.Stderr = out, talk
	stdin, err := child.StdinPipe()
	if err != nil {
		return &CompileError{quoted(err.Error())}
	}
	// It dies with this thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := child.Start(); err != nil {
		return &CompileError{"it doesn't start: " + quoted(err.Error())}
	}
	_, _ = stdin.Write(wasm) // a child that doesn't read it says why
	err = child.Wait()       // closes stdin
	switch {
	case e.ctx.Err() != nil:
		return ErrClosed
	case context.Cause(ctx) == errWall: //nolint:errorlint // the very value given above
		return &CompileError{fmt.Sprintf("exceeded %v", e.children.wall)}
	}
	return e.children.verdict(child.ProcessState, err, out.b, talk.reason())
}

// verdict reads what a child left: how it ended, its answer, and what it said last.
func (c *children) verdict(state *os.ProcessState, err error, out []byte, said string) error {
	cpu := &CompileError{fmt.Sprintf("exceeded %v s of CPU", c.cpu.Seconds())}
	memory := &CompileError{fmt.Sprintf("exceeded %s MiB of memory", thousands(c.memory>>20))}
	if err != nil {
		exhausted := strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory")
		switch {
		case killed(state) && state.UserTime()+state.SystemTime() >= c.cpu:
			return cpu
		case exhausted:
			return memory
		case said != "":
			return &CompileError{err.Error() + ": " + quoted(said)}
		}
		return &CompileError{err.Error()}
	}
	var a answer
	d := json.NewDecoder(bytes.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err == nil && !d.More() {
		switch a.Result {
		case resultCompiled:
			return nil
		case resultInvalid:
			return invalid(a.Text)
		case resultUnwritten:
			return &unwrittenError{errors.New(a.Text)}
		case resultCPU:
			return cpu
		case resultMemory:
			return memory
		case resultError:
			return &CompileError{quoted(a.Text)}
		}
	}
	return &CompileError{"its answer is none: " + quoted(string(out))}
}

// A head keeps the first bytes written to it. What is beyond its limit is
// dropped, or breaks the pipe.
type head struct {
	b      []byte
	limit  int
	breaks bool
}

func (h *head) Write(b []byte) (int, error) {
	if len(h.b)+len(b) > h.limit && h.breaks {
		return 0, errors.New("more output than an answer has")
	}
	h.b = append(h.b, b[:min(len(b), h.limit-len(h.b))]...)
	return len(b), nil
}

// reason is the line that says why a process ended: what the Go runtime says, or
// the last one.
func (h *head) reason() (line string) {
	for l := range strings.Lines(string(h.b)) {
		if l = strings.TrimSpace(l); l != "" {
			line = l
		}
		if strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "panic: ") {
			break
		}
	}
	return line
}
