package harness

import (
	"crypto/sha256"

	"github.com/subnet112/assay/sandbox"
)

// A journal is a session's log, gathered call by call. A call that a wall
// stopped leaves nothing in it, and so has no influence on what the later ones
// may still add.
type journal struct {
	kept []byte // at most sandbox.SessionLogBytes
}

// add keeps what a call logged, as far as it fits.
func (j *journal) add(log []byte) {
	j.kept = append(j.kept, log[:min(len(log), sandbox.SessionLogBytes-len(j.kept))]...)
}

// chainLog extends a row's log digest: d' = SHA-256(d, what the call logged). A
// call that logged nothing leaves d alone.
func chainLog(d [32]byte, log []byte) [32]byte {
	if len(log) == 0 {
		return d
	}
	h := sha256.New()
	h.Write(d[:])
	h.Write(log)
	return [32]byte(h.Sum(nil))
}
