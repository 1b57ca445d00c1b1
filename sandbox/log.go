package sandbox

import (
	"slices"
	"sync"
)

// Limits of logs in bytes, levels and line ends included.
const (
	CallLogBytes    = 64 << 10 // one call; more is the fault CauseLog
	SessionLogBytes = 1 << 20  // a Log; more is dropped
)

// A Log keeps what a session's guests logged, through any number of calls and
// instances. The zero value is empty. It may be read while a guest runs.
//
// A line written by the import log is one letter for its level (D, I, W, E for
// 0 to 3, else ?), a space, the text, a line feed. What a guest writes to its
// standard output and error through WASI stands as it is. All of it is text of
// a guest: print it quoted.
//
// What doesn't fit is dropped, not a fault: a solver that talked too much on
// earlier intents still answers the next one. A call that a wall stopped leaves
// nothing: how much it had logged by then depends on the host, and so would what
// later calls may still add.
type Log struct {
	mu sync.Mutex
	b  []byte
}

// Bytes returns a copy of what is kept, at most [SessionLogBytes].
func (l *Log) Bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.b)
}

func (l *Log) append(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, b[:min(len(b), SessionLogBytes-len(l.b))]...)
}
