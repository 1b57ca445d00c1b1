package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"
)

// A job is what a child is told in its arguments. The module follows on its
// standard input, which stays open as long as the parent lives.
type job struct {
	dir     string        // absolute path of the folder that wazero writes to
	size    int           // bytes of the module
	version string        // of the entry, see entryVersion
	cpu     time.Duration // processor time, whole seconds
	memory  uint64        // bytes it may write to
}

// maxJobBytes limits a module as it is compiled: rewritten ones are longer than
// a profile admits.
const maxJobBytes = 256 << 20

// maxAnswerText limits the text of an answer, in bytes.
const maxAnswerText = 4 << 10

func (j job) args() []string {
	return []string{
		j.dir, strconv.Itoa(j.size), j.version,
		strconv.FormatInt(int64(j.cpu/time.Second), 10), strconv.FormatUint(j.memory, 10),
	}
}

func parseJob(args []string) (j job, err error) {
	if len(args) != 5 {
		return j, fmt.Errorf("%d arguments, want 5: folder, bytes, version, seconds, bytes of memory", len(args))
	}
	j.dir, j.version = args[0], args[2]
	size, err1 := strconv.ParseUint(args[1], 10, 32)
	seconds, err2 := strconv.ParseUint(args[3], 10, 31)
	memory, err3 := strconv.ParseUint(args[4], 10, 63)
	if err := errors.Join(err1, err2, err3); err != nil {
		return j, err
	}
	if size > maxJobBytes {
		return j, fmt.Errorf("%d bytes of module, limit %d", size, maxJobBytes)
	}
	j.size, j.cpu, j.memory = int(size), time.Duration(seconds)*time.Second, memory
	return j, nil
}

// An answer is the line that a child prints.
type answer struct {
	Result result `json:"result"`
	Text   string `json:"text,omitempty"` // what is wrong; it may quote the module
}

type result string

const (
	resultCompiled  result = "compiled"
	resultInvalid   result = "invalid"   // the module doesn't validate
	resultUnwritten result = "unwritten" // the folder didn't take the code
	resultCPU       result = "cpu"       // the limit of processor time
	resultMemory    result = "memory"    // the limit of memory
	resultError     result = "error"     // anything else
)

// CompileChild compiles one module in a process that does nothing else and ends
// after it: the engine starts it as Config.Compiler says, with arguments of its own.
// It limits its own process first, reads the module from standard input, writes
// native code to the folder it is given and prints one line. The error says that
// it couldn't even begin; the caller prints it to standard error.
func CompileChild(args []string) error { return beChild(args, compileJob) }

// beChild runs a job under its limits.
func beChild(args []string, work func(job, []byte) answer) error {
	closeInherited()
	j, err := parseJob(args)
	if err != nil {
		return err
	}
	var once sync.Once
	reply := func(a answer) {
		a.Text = a.Text[:min(len(a.Text), maxAnswerText)]
		once.Do(func() { err = json.NewEncoder(os.Stdout).Encode(a) })
	}
	if err := limitProcess(j, func() {
		reply(answer{Result: resultCPU})
		os.Exit(0)
	}); err != nil {
		return fmt.Errorf("limit the process: %w", err)
	}
	// The collector has to work before the limit is hit.
	debug.SetMemoryLimit(int64(j.memory / 4 * 3))

	if want := entryVersion(cacheRules, wazeroVersion); j.version != want {
		return fmt.Errorf("the compiler makes entries of version %s, asked for %s: another build", want, j.version)
	}
	wasm := make([]byte, j.size)
	if _, err := io.ReadFull(os.Stdin, wasm); err != nil {
		return fmt.Errorf("read the module: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1) // the parent is gone
	}()
	reply(work(j, wasm))
	return err
}

// compileJob compiles as the parent would.
func compileJob(j job, wasm []byte) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{resultError, fmt.Sprintf("panic: %v", r)}
			if err, ok := r.(error); ok && errors.Is(err, syscall.ENOMEM) {
				a.Result = resultMemory
			}
		}
	}()
	cache, err := wazero.NewCompilationCacheWithDir(j.dir)
	if err != nil {
		return answer{resultUnwritten, err.Error()}
	}
	ctx := context.Background()
	_, err = wazero.NewRuntimeWithConfig(ctx, runtimeConfig(false).WithCompilationCache(cache)).CompileModule(ctx, wasm)
	var errno syscall.Errno
	switch {
	case err == nil:
		return answer{Result: resultCompiled}
	case errors.Is(err, syscall.ENOMEM):
		return answer{resultMemory, err.Error()}
	case errors.As(err, &errno):
		return answer{resultUnwritten, err.Error()}
	}
	return answer{resultInvalid, err.Error()}
}
