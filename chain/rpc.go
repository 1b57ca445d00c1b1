package chain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Limits of one read.
const (
	LimitRequestBytes = 1 << 20    // a request or batch
	LimitBatch        = 256        // requests in a batch
	LimitReadGas      = 30_000_000 // of one eth_call or eth_estimateGas

	limitIDBytes = 128 // of a request's id
)

// Errors of [View.Serve].
var (
	ErrBudget   = errors.New("read budget exceeded")
	ErrTooLarge = errors.New("read request too large")
)

// A Cost is what reads take.
type Cost struct {
	Requests int    // requests, each of a batch counted
	Gas      uint64 // EVM gas before refunds
	Bytes    int    // of replies
}

// The codes and messages of error replies. They reach guests, so changing one
// is a change of the pack's rules; no text of a library may get in here.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeServer   = -32000
	codeMissing  = -32001
	codeReverted = 3

	msgParse             = "parse error"
	msgRequest           = "invalid request"
	msgMethod            = "method not found"
	msgParams            = "invalid params"
	msgBlock             = "unknown block: only the pinned one is here"
	msgMissing           = "state missing: " // and the hole
	msgReverted          = "execution reverted"
	msgOutOfGas          = "out of gas"
	msgInsufficientFunds = "insufficient funds for transfer"
	msgExecution         = "execution failed"
)

// An rpcError is the error of a JSON-RPC reply.
type rpcError struct {
	code    int
	message string
	data    string // JSON, "" for none
}

func (e *rpcError) Error() string { return e.message }

var (
	errParse   = &rpcError{code: codeParse, message: msgParse}
	errRequest = &rpcError{code: codeRequest, message: msgRequest}
	errMethod  = &rpcError{code: codeMethod, message: msgMethod}
	errParams  = &rpcError{code: codeParams, message: msgParams}
	errBlock   = &rpcError{code: codeServer, message: msgBlock}
)

// A meter counts what one Serve takes.
type meter struct{ left, used Cost }

// requests counts requests before they are served.
func (m *meter) requests(n int) error {
	if n > m.left.Requests {
		return ErrBudget
	}
	m.left.Requests -= n
	m.used.Requests += n
	return nil
}

// gas counts gas that was taken. No run is given more than is left.
func (m *meter) gas(n uint64) {
	m.left.Gas -= n
	m.used.Gas += n
}

// Serve answers one JSON-RPC 2.0 request or batch with the view's state, in the
// context that everything executes in. The methods are
//
//	eth_chainId eth_blockNumber eth_getBlockByNumber eth_gasPrice
//	eth_getBalance eth_getTransactionCount eth_getCode eth_getStorageAt
//	eth_call eth_estimateGas
//
// Every block tag means the pinned block, as a node answers "pending"; of the
// numbers only the pinned one is known. A call takes from, to (required), value,
// gas and input or data, nothing else. A reply is the same bytes for the same
// view and request on every host: keys in order, no white space, the id as it
// was sent. A request without id is invalid: there is nobody to notify.
//
// Whatever is wrong with a request is said in a reply. The error is [ErrBudget]
// when the request would take more than left, [ErrTooLarge] when it is beyond
// the limits, or else the validator's own trouble or that of ctx; then there is
// no reply, and used is what was taken until then. A call that is given less gas
// than it asked for, because no more is left, and fails, is over budget.
func (v *View) Serve(ctx context.Context, req []byte, left Cost) (reply []byte, used Cost, err error) {
	defer recovered(&err)
	if len(req) > LimitRequestBytes {
		return nil, Cost{}, ErrTooLarge
	}
	m := &meter{left: left}
	reply, err = v.serve(ctx, m, req)
	if err != nil {
		return nil, m.used, err
	}
	m.used.Bytes = len(reply)
	return reply, m.used, nil
}

// serve answers a request or a batch.
func (v *View) serve(ctx context.Context, m *meter, req []byte) ([]byte, error) {
	// A document that says nothing still costs a request.
	refuse := func(e *rpcError) ([]byte, error) {
		if err := m.requests(1); err != nil {
			return nil, err
		}
		return m.fits(appendError(nil, nil, e))
	}
	if !utf8.Valid(req) || !json.Valid(req) {
		return refuse(errParse)
	}
	req = bytes.Trim(req, " \t\r\n")
	if req[0] != '[' {
		if err := m.requests(1); err != nil {
			return nil, err
		}
		return v.answer(ctx, m, nil, req)
	}
	batch, err := splitArray(req, LimitBatch)
	if err != nil {
		return nil, ErrTooLarge
	}
	if len(batch) == 0 {
		return refuse(errRequest)
	}
	if err := m.requests(len(batch)); err != nil {
		return nil, err
	}
	out := []byte{'['}
	for i, one := range batch {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = v.answer(ctx, m, out, one); err != nil {
			return nil, err
		}
	}
	return m.fits(append(out, ']'))
}

// fits refuses a reply, whole or in part, that is larger than what is left.
func (m *meter) fits(reply []byte) ([]byte, error) {
	if len(reply) > m.left.Bytes {
		return nil, ErrBudget
	}
	return reply, nil
}

// answer appends the reply to one request.
func (v *View) answer(ctx context.Context, m *meter, out []byte, raw []byte) ([]byte, error) {
	r, bad := parseRequest(raw)
	if bad != nil {
		return m.fits(appendError(out, r.id, bad))
	}
	result, err := v.dispatch(ctx, m, r)
	if err == nil {
		return m.fits(appendResult(out, r.id, result))
	}
	var missing *missingState
	if errors.As(err, &missing) {
		return m.fits(appendError(out, r.id, missing.reply()))
	}
	var failed *rpcError
	if errors.As(err, &failed) {
		return m.fits(appendError(out, r.id, failed))
	}
	return nil, err
}

// reply returns the error reply that names a missing piece of state.
func (e *missingState) reply() *rpcError {
	r := &rpcError{code: codeMissing, message: msgMissing + e.hole.String()}
	switch h := e.hole; {
	case h.Block != nil:
		r.data = `{"block":` + quoteUint64(*h.Block) + `}`
	case h.Slot != nil:
		r.data = `{"address":` + quoteHex(h.Address[:]) + `,"slot":` + quoteHex(h.Slot[:]) + `}`
	default:
		r.data = `{"address":` + quoteHex(h.Address[:]) + `}`
	}
	return r
}

// A request is one JSON-RPC request.
type request struct {
	id     json.RawMessage // nil when it is not known
	method string
	params []json.RawMessage
}

// limitParams bounds the parameters of a request; no method takes more.
const limitParams = 3

// parseRequest reads one request. Where it is invalid, its id is still returned
// if that is not what is wrong with it.
func parseRequest(raw []byte) (request, *rpcError) {
	var r request
	members, err := splitObject(raw, 4)
	if err != nil {
		return r, errRequest
	}
	bad := false
	var version string
	for _, m := range members {
		var err error
		switch m.key {
		case "jsonrpc":
			version, err = text(m.value)
		case "id":
			r.id, err = readID(m.value)
		case "method":
			r.method, err = text(m.value)
		case "params":
			if r.params, err = splitArray(m.value, limitParams); err != nil && len(m.value) > 0 && m.value[0] == '[' {
				r.params, err = make([]json.RawMessage, limitParams+1), nil // too many for any method
			}
		default:
			err = errShape
		}
		bad = bad || err != nil
	}
	if bad || version != "2.0" || r.id == nil || r.method == "" {
		return r, errRequest
	}
	return r, nil
}
