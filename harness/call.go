package harness

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// Status codes of the solver ABI.
const (
	statusOK             = 0
	statusFailed         = 1
	statusNotImplemented = 2
)

// A call is one phase with its input.
type call struct {
	phase   Phase
	subject string // intent id, or chain id in set_market; parts the seeds
	input   []byte
	reads   Reads
}

// A tally gathers what the calls of one row spent.
type tally struct {
	usage Usage
	reads ReadTally
	log   [32]byte
	text  []byte // that was logged
}

// do makes one call. It returns the output, or why there is none: the solver's
// fault, or an error of the host's. Of a call that was stopped by a wall the
// tally learns nothing; see the package comment.
func (s *Solver) do(ctx context.Context, c call, t *tally) ([]byte, *fault, error) {
	if !s.program.has(c.phase) {
		return nil, &fault{c.phase, intent.CauseNotImplemented, "not exported"}, nil
	}
	limit := s.limits.of(c.phase)
	m := &meter{reads: c.reads, limit: s.limits.Read, tally: t.reads}
	result, err := s.inst.Call(ctx, sandbox.Call{
		Export:      c.phase.export(),
		Input:       c.input,
		Wall:        limit.Wall,
		Fuel:        limit.Fuel,
		OutputLimit: limit.OutputBytes,
		Seed:        seed(s.seed, c.phase, c.subject),
		Read:        m.read,
		ReadOut:     s.limits.Read.Bytes,
	})
	f, err := s.judge(c.phase, err)
	if err != nil {
		return nil, nil, err
	}
	if f != nil && f.byWall() {
		return nil, f, nil
	}
	t.usage.add(c.phase, result.Usage)
	t.reads = m.total(c.phase)
	t.log, t.text = chainLog(t.log, result.Log), append(t.text, result.Log...)
	if f != nil {
		return nil, f, nil
	}
	f = answered(c.phase, result)
	if f != nil && s.program.script && f.cause == intent.CauseNotImplemented && f.detail == "" {
		f.detail = "the script does not export it"
	}
	return result.Output, f, nil
}

// judge sorts an error of the sandbox: a fault or a refusal of the guest's, or
// the host's own. A stall is the session's last fault.
func (s *Solver) judge(p Phase, err error) (*fault, error) {
	if err == nil {
		return nil, nil
	}
	if f := (*sandbox.Fault)(nil); errors.As(err, &f) {
		found := &fault{p, intent.Cause(f.Cause), message([]byte(f.Detail))}
		if found.byWall() {
			s.stalled = found.text()
		}
		return found, nil
	}
	if r := (*sandbox.Refusal)(nil); errors.As(err, &r) {
		return &fault{p, intent.CauseRefused, r.Detail}, nil
	}
	return nil, &intent.InfraFault{Err: err}
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

// seed derives a call's randomness from the pack's seed, the phase and what the
// call is about, never from the module: two solvers draw the same numbers.
func seed(pack [32]byte, p Phase, subject string) [32]byte {
	h := sha256.New()
	h.Write([]byte("assay:call:v1"))
	h.Write(pack[:])
	for _, part := range []string{string(p), subject} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return [32]byte(h.Sum(nil))
}
