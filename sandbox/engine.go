package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/subnet112/assay/sandbox/wasm"
)

// A Config configures an [Engine]. The zero value compiles to native code where
// that is possible and keeps nothing on disk.
type Config struct {
	// CacheDir keeps compiled code between processes; empty = none. It is
	// created with mode 0700 and must not be accessible to others, for what is
	// in it gets executed. A folder that can't be written to is read all the same.
	// Whoever needs its space may delete all of it while no process uses it.
	CacheDir string

	// CacheBytes limits the files in CacheDir: after an entry was written, those
	// of other versions and then those unused for longest are deleted until they
	// fit. 0 = [DefaultCacheBytes].
	CacheBytes int64

	// Compiler is the command that compiles a module to native code in a process
	// of its own, under limits of time and memory: its arguments are followed by
	// those that [CompileChild] takes. Empty: compile in this process, without
	// limits.
	Compiler []string

	// Interpreter runs guests without compiling them, tens of times slower.
	// Results are the same, but wall limits are multiplied by
	// InterpreterWalls and a wall stop is ErrWall instead of a fault.
	Interpreter bool

	// Clock tells the time by which an [Allowance] is counted; nil = the host's.
	// It only ever stops a guest.
	Clock func() time.Time

	// FuelProfile, if set, gathers fuel by function. Guests get many times slower
	// and the cache isn't used.
	FuelProfile *FuelProfile

	// Notice, if set, learns what went wrong with the cache. It is called from
	// any goroutine. Results never depend on the cache.
	Notice func(Notice)
}

// InterpreterWalls multiplies wall limits on the interpreter.
const InterpreterWalls = 50

// An Engine compiles modules and holds the compiled code. Its methods may be
// called from any goroutine. As many guests run at the same time as there were
// processors for Go when it was made; others wait.
type Engine struct {
	config      Config
	interpreter bool
	cache       string // usable cache directory, or empty
	children    children

	ctx   context.Context // ends with Close
	close context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	busy   sync.WaitGroup // compilations and calls
	seats  chan struct{}  // of guests that run
	code   map[[32]byte]*compilation

	probing sync.Mutex
	probe   *Module // the calibration guest, once it was needed

	// onEnd, if set by a test, sees each call's end: what it spent, and the memory
	// before a dead instance is freed.
	onEnd func(i *Instance, memory []byte, spent uint64)
}

// A compilation is code under construction, or the code: one per identity.
type compilation struct {
	id      [32]byte
	users   int // modules, instances and whoever waits for it; guarded by Engine.mu
	done    chan struct{}
	runtime wazero.Runtime
	cache   wazero.CompilationCache
	module  wazero.CompiledModule
	err     error
}

// New makes an engine. A cache directory that can't be used is a [Notice], not
// an error: the engine works without.
func New(ctx context.Context, c Config) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Clock == nil {
		c.Clock = time.Now //nolint:forbidigo // it stops guests and is in no result
	}
	e := &Engine{
		config:      c,
		interpreter: c.Interpreter || !compilerSupported(),
		children:    newChildren(),
		code:        map[[32]byte]*compilation{},
		seats:       make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	e.ctx, e.close = context.WithCancelCause(context.Background())
	if c.CacheDir != "" && !e.interpreter {
		if err := openCache(c.CacheDir); err != nil {
			e.notice(NoticeUnusable, c.CacheDir, err)
		} else {
			e.cache = c.CacheDir
		}
	}
	return e, nil
}

// compilerSupported names the platforms whose native code is tested; others
// are interpreted.
func compilerSupported() bool {
	switch runtime.GOOS + "/" + runtime.GOARCH {
	case "linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64":
		return true
	}
	return false
}

// Close stops running calls, waits for them, and frees all instances and code.
// After it every method and instance returns [ErrClosed] or [ErrDead]. If ctx
// ends first, Close returns its error and frees nothing; it may be called again.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.close(ErrClosed)

	idle := make(chan struct{})
	go func() { e.busy.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-ctx.Done():
		return fmt.Errorf("close sandbox: %w", ctx.Err())
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	e.probing.Lock()
	defer e.probing.Unlock()
	if e.probe != nil {
		errs = append(errs, e.probe.code.free(ctx))
		e.probe = nil
	}
	for id, c := range e.code {
		errs = append(errs, c.free(ctx))
		delete(e.code, id)
	}
	return errors.Join(errs...)
}

// enter counts a compilation or call, so that Close waits for it; the caller
// calls e.busy.Done if it is nil.
func (e *Engine) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	e.busy.Add(1)
	return nil
}

// sit waits for a processor to run a guest on, so that guests don't slow each
// other down: a wall limit counts from then. The caller stands up if it is nil.
// The calibration guest runs in the stead of another.
func (e *Engine) sit(ctx context.Context, m *Module) (stand func(), err error) {
	if m.probe {
		return func() {}, nil
	}
	select {
	case e.seats <- struct{}{}:
		return func() { <-e.seats }, nil
	case <-e.ctx.Done():
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Compile checks a module and compiles it, once per identity: concurrent and
// later callers share the code, which lives until the last module of the identity
// is closed and its last instance gone. The error is a [*Refusal], or the host's
// own. The result doesn't keep the bytes; the caller closes it.
//
// If ctx ends, Compile returns its error while the compilation goes on for the
// cache and whoever asks meanwhile.
func (e *Engine) Compile(ctx context.Context, module []byte, p Profile) (*Module, error) {
	m, report, err := check(module, p)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}

	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, ErrClosed
	}
	id := codeID(report.Identity, p)
	c := e.code[id]
	if c == nil {
		c = &compilation{id: id, users: 1, done: make(chan struct{})}
		e.code[c.id] = c
		e.busy.Add(1)
		code := m.meter.Bytes
		go func() {
			defer e.busy.Done()
			e.compile(code, c)
		}()
	}
	c.users++
	e.mu.Unlock()

	select {
	case <-c.done:
	case <-ctx.Done():
		e.release(c)
		return nil, fmt.Errorf("compile: %w", context.Cause(ctx))
	}
	if c.err != nil {
		e.release(c)
		return nil, c.err
	}
	return e.module(m, c, report, p), nil
}

// codeID names the code of a module: its identity, unless the profile has it
// rewritten in another way than all others.
func codeID(identity [32]byte, p Profile) [32]byte {
	if p.KnownFrames {
		return sha256.Sum256(append([]byte("assay:known-frames:"), identity[:]...))
	}
	return identity
}

// module is what was admitted, with its code.
func (e *Engine) module(a *admitted, c *compilation, report Report, p Profile) *Module {
	a.meter.Bytes = nil
	functions := map[string]bool{}
	for _, x := range a.Exports {
		functions[x.Name] = x.Kind == wasm.KindFunc
	}
	return &Module{
		engine: e, code: c, profile: p, report: report, exports: functions, names: a.names, meter: a.meter,
		minPages: report.MemoryMin, maxPages: min(p.memoryPages(), report.MemoryMax),
	}
}

// compile fills c and lets its waiters go. What failed isn't kept: a refusal is
// quick to repeat, and the host may recover.
func (e *Engine) compile(wasm []byte, c *compilation) {
	defer close(c.done)
	defer e.release(c)
	built, err := e.buildProfiled(c.id, wasm)
	if err != nil {
		c.err = err
		e.mu.Lock()
		delete(e.code, c.id)
		e.mu.Unlock()
		return
	}
	c.runtime, c.cache, c.module = built.runtime, built.cache, built.module
}

// buildProfiled leaves the cache alone where guests are profiled: what is
// compiled then calls the host for every function.
func (e *Engine) buildProfiled(id [32]byte, wasm []byte) (*compilation, error) {
	if e.config.FuelProfile != nil {
		return e.translate(profiled(context.Background()), wasm, nil)
	}
	return e.build(id, wasm)
}

// release gives up one use of the code; the last frees it, unless Close did.
func (e *Engine) release(c *compilation) {
	e.mu.Lock()
	c.users--
	last := c.users == 0 && e.code[c.id] == c
	if last {
		delete(e.code, c.id)
	}
	e.mu.Unlock()
	if last {
		_ = c.free(context.Background()) // no instance is left in it: nothing can fail
	}
}

// runtimeConfig is how modules are compiled and run, in this process and in a
// child. A change of it needs another cacheRules.
func runtimeConfig(interpreter bool) wazero.RuntimeConfig {
	config := wazero.NewRuntimeConfigInterpreter()
	if !interpreter {
		config = wazero.NewRuntimeConfigCompiler()
	}
	return config.
		WithCoreFeatures(api.CoreFeaturesV2.SetEnabled(api.CoreFeatureSIMD, false)).
		WithDebugInfoEnabled(false)
}

func (c *compilation) free(ctx context.Context) error {
	err := c.runtime.Close(ctx)
	if c.cache != nil {
		err = errors.Join(err, c.cache.Close(ctx))
	}
	return err
}
