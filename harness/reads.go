package harness

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// A Cost is what reads cost, or may still cost.
type Cost struct {
	Requests int    `json:"requests"` // the members of a batch count each
	Gas      uint64 `json:"gas"`      // EVM gas
	Bytes    int    `json:"bytes"`    // of replies
}

// Reads serves one JSON-RPC request or batch against the pinned world of a
// chain, spending at most left. It returns what was spent, even when it fails.
//
// err is [ErrUnknownChain], [ErrBudget] or [ErrTooLarge] (wrapped or not), which
// the solver is told; anything else is the host's own fault and ends the
// session. A request that is malformed gets a JSON-RPC error as its reply.
type Reads func(ctx context.Context, chain uint64, req []byte, left Cost) (reply []byte, used Cost, err error)

// Errors that a [Reads] returns for the solver to see.
var (
	ErrUnknownChain = errors.New("no world is pinned for this chain")
	ErrBudget       = errors.New("over the read budget of this call")
	ErrTooLarge     = errors.New("request or reply too large")
)

// A ReadTally is what the calls of one row read.
type ReadTally struct {
	Cost
	// Digest chains every request, its status and its reply:
	// d' = SHA-256(d, chain, status, len(request), request, len(reply), reply),
	// integers as eight bytes big-endian, from 32 zero bytes. Zero: no reads.
	// What the sandbox refuses on its own (more than 1 MiB of request, anything
	// after "over budget") is not in it.
	Digest [32]byte
	// OverBudget: generate_plan was told at least once that its budget is
	// spent. A plan that then fails is rpc_budget.
	OverBudget bool
}

func (t *ReadTally) note(chain uint64, status sandbox.ReadStatus, req, reply []byte) {
	h := sha256.New()
	var n [8]byte
	u64 := func(v uint64) {
		binary.BigEndian.PutUint64(n[:], v)
		h.Write(n[:])
	}
	h.Write(t.Digest[:])
	u64(chain)
	u64(uint64(int64(status)))
	u64(uint64(len(req)))
	h.Write(req)
	u64(uint64(len(reply)))
	h.Write(reply)
	h.Sum(t.Digest[:0])
}

// A meter stands between one call and its reads.
type meter struct {
	reads    Reads
	limit    Cost
	tally    ReadTally // starts from the row's digest
	used     Cost
	exceeded bool
}

// total is the row's tally with this call in it.
func (m *meter) total(p Phase) ReadTally {
	t := m.tally
	t.Requests += m.used.Requests
	t.Gas += m.used.Gas
	t.Bytes += m.used.Bytes
	t.OverBudget = t.OverBudget || p == PhasePlan && m.exceeded
	return t
}

// read implements [sandbox.ReadFunc]. Whatever doesn't end the budget costs at
// least one request, so a guest that asks for nonsense is bounded as well.
func (m *meter) read(ctx context.Context, chain uint64, req []byte) (sandbox.Reply, error) {
	before := m.used.Gas
	reply, status, err := m.serve(ctx, chain, req)
	if err != nil {
		return sandbox.Reply{}, err
	}
	m.tally.note(chain, status, req, reply)
	return sandbox.Reply{Body: reply, Status: status, Fuel: intent.FuelPerGas * (m.used.Gas - before)}, nil
}

func (m *meter) serve(ctx context.Context, chain uint64, req []byte) ([]byte, sandbox.ReadStatus, error) {
	left := Cost{
		Requests: m.limit.Requests - m.used.Requests,
		Gas:      m.limit.Gas - m.used.Gas,
		Bytes:    m.limit.Bytes - m.used.Bytes,
	}
	if left.Requests <= 0 {
		m.exceeded = true
		return nil, sandbox.ReadBudget, nil
	}
	if m.reads == nil {
		m.used.Requests++
		return nil, sandbox.ReadUnknownChain, nil
	}
	reply, used, err := m.reads(ctx, chain, req, left)
	if !errors.Is(err, ErrBudget) {
		used.Requests = max(used.Requests, 1)
	}
	if err == nil {
		used.Bytes = max(used.Bytes, len(reply))
	}
	over := used.Requests > left.Requests || used.Gas > left.Gas || used.Bytes > left.Bytes
	m.used.Requests += min(used.Requests, left.Requests)
	m.used.Gas += min(used.Gas, left.Gas)
	m.used.Bytes += min(used.Bytes, left.Bytes)
	switch {
	case errors.Is(err, ErrUnknownChain):
		return nil, sandbox.ReadUnknownChain, nil
	case errors.Is(err, ErrTooLarge):
		return nil, sandbox.ReadTooLarge, nil
	case errors.Is(err, ErrBudget), err == nil && over:
		m.exceeded = true
		return nil, sandbox.ReadBudget, nil
	case err != nil:
		return nil, sandbox.ReadOK, err
	}
	return reply, sandbox.ReadOK, nil
}
