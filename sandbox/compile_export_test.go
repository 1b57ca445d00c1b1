package sandbox

import (
	"os"
	"path/filepath"
	"time"
)

// LimitChildren sets what children of an engine may take. It is called before
// the first compilation.
func (e *Engine) LimitChildren(cpu, wall time.Duration, memory uint64) {
	e.children.cpu, e.children.wall, e.children.memory = cpu, wall, memory
}

// OnLook sets what happens between a look at an entry of the cache and loading it.
func (e *Engine) OnLook(f func(entry string)) { e.children.onLook = f }

// BeChild is CompileChild with other work in it, which returns the result and
// text of its answer.
func BeChild(args []string, work func(dir string) (result, text string)) error {
	return beChild(args, func(j job, _ []byte) answer {
		r, text := work(j.dir)
		return answer{result(r), text}
	})
}

// ChildArgs are arguments that CompileChild takes.
func ChildArgs(dir string, size int) []string {
	return job{dir, size, entryVersion(cacheRules, wazeroVersion), CompileCPU, CompileMemory}.args()
}

// Seal seals a directory as an entry of the cache is.
func Seal(dir string) error {
	sum, err := digestDir(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sealName), sum, 0o600)
}
