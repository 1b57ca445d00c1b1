package sdk

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// MaxBatch is how many requests a validator takes in one batch. [Client.Batch]
// splits longer ones.
const MaxBatch = 256

// Errors of a read as a whole.
var (
	ErrUnknownChain = errors.New("no such chain")               // the pack has no snapshot of it
	ErrBudget       = errors.New("over the call's read budget") // and so is every later read of this call
	ErrTooLarge     = errors.New("request or batch is too large")
	ErrNoHost       = errors.New("not inside a validator's sandbox")
)

// An RPCError is the answer "no" to one request: a reverted eth_call, an
// unknown method, state that the snapshot does not hold (code -32001).
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"` // of a revert: its return data in quoted hex
}

func (e *RPCError) Error() string { return fmt.Sprintf("rpc error %d: %s", e.Code, e.Message) }

// A Client sends JSON-RPC requests to one chain. It holds no state and costs
// nothing to make.
type Client struct {
	send func(request []byte) ([]byte, error)
}

// RPC returns a client of the pinned world of a chain. Every block tag is
// answered at the pin.
func RPC(chainID uint64) *Client {
	return NewClient(func(request []byte) ([]byte, error) { return hostRPC(chainID, request) })
}

// NewClient returns a client over any transport that carries a JSON-RPC request
// or batch to its reply: in tests of a solver, a chain of their own.
func NewClient(send func(request []byte) ([]byte, error)) *Client { return &Client{send: send} }

// A Request is one JSON-RPC request.
type Request struct {
	Method string
	Params []any
}

// A Reply is the answer to one [Request]: Err is nil or an [*RPCError].
type Reply struct {
	Result json.RawMessage
	Err    error
}

// A Call is one eth_call.
type Call struct {
	From string // sender, empty: the zero address
	To   string
	Data []byte
}

// A CallReply is what an eth_call returned: Err is nil or an [*RPCError].
type CallReply struct {
	Data []byte
	Err  error
}

// Call sends one request. The error is one of this package's sentinels, an
// [*RPCError], or says that the reply is no JSON-RPC.
func (c *Client) Call(method string, params ...any) (json.RawMessage, error) {
	replies, err := c.Batch([]Request{{Method: method, Params: params}})
	if err != nil {
		return nil, err
	}
	return replies[0].Result, replies[0].Err
}

// Batch sends requests together and returns their replies in the same order.
// The error, as that of [Client.Call], means that none was answered.
func (c *Client) Batch(requests []Request) ([]Reply, error) {
	replies := make([]Reply, 0, len(requests))
	for len(requests) > 0 {
		n := min(len(requests), MaxBatch)
		part, err := c.batch(requests[:n])
		if err != nil {
			return nil, err
		}
		replies, requests = append(replies, part...), requests[n:]
	}
	return replies, nil
}

type wireRequest struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

type wireReply struct {
	ID     *int            `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
}

func (c *Client) batch(requests []Request) ([]Reply, error) {
	wire := make([]wireRequest, len(requests))
	for i, r := range requests {
		wire[i] = wireRequest{Version: "2.0", ID: i, Method: r.Method, Params: r.Params}
		if r.Params == nil {
			wire[i].Params = []any{}
		}
	}
	body, err := json.Marshal(wire)
	if err != nil {
		return nil, fmt.Errorf("rpc request: %w", err)
	}
	if body, err = c.send(body); err != nil {
		return nil, err
	}
	var answers []wireReply
	if err := json.Unmarshal(body, &answers); err != nil {
		// One object instead of a list refuses the batch as a whole.
		var one wireReply
		if json.Unmarshal(body, &one) == nil && one.Error != nil {
			return nil, one.Error
		}
		return nil, fmt.Errorf("rpc reply: %w", err)
	}
	replies := make([]Reply, len(requests))
	answered := 0
	for _, a := range answers {
		if a.ID == nil || *a.ID < 0 || *a.ID >= len(replies) || replies[*a.ID].Result != nil || replies[*a.ID].Err != nil {
			return nil, errors.New("rpc reply: an id that was not asked, or twice")
		}
		answered++
		if a.Error != nil {
			replies[*a.ID].Err = a.Error
			continue
		}
		if a.Result == nil {
			a.Result = json.RawMessage("null")
		}
		replies[*a.ID].Result = a.Result
	}
	if answered != len(requests) {
		return nil, fmt.Errorf("rpc reply: %d answers to %d requests", answered, len(requests))
	}
	return replies, nil
}

// EthCall executes a read-only call from the zero address and returns its data.
// The errors are those of [Client.Call].
func (c *Client) EthCall(to string, data []byte) ([]byte, error) {
	replies, err := c.EthCalls([]Call{{To: to, Data: data}})
	if err != nil {
		return nil, err
	}
	return replies[0].Data, replies[0].Err
}

// EthCalls executes read-only calls together, each on its own.
func (c *Client) EthCalls(calls []Call) ([]CallReply, error) {
	requests := make([]Request, len(calls))
	for i, x := range calls {
		message := map[string]string{"to": x.To, "data": "0x" + hex.EncodeToString(x.Data)}
		if x.From != "" {
			message["from"] = x.From
		}
		requests[i] = Request{Method: "eth_call", Params: []any{message, "latest"}}
	}
	answers, err := c.Batch(requests)
	if err != nil {
		return nil, err
	}
	replies := make([]CallReply, len(calls))
	for i, a := range answers {
		if replies[i].Err = a.Err; a.Err != nil {
			continue
		}
		if replies[i].Data, err = hexResult(a.Result); err != nil {
			return nil, err
		}
	}
	return replies, nil
}

func hexResult(result json.RawMessage) ([]byte, error) {
	var text string
	if err := json.Unmarshal(result, &text); err != nil {
		return nil, fmt.Errorf("rpc result: %w", err)
	}
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok {
		return nil, errors.New("rpc result: want 0x and hex")
	}
	data, err := hex.DecodeString(digits)
	if err != nil {
		return nil, fmt.Errorf("rpc result: %w", err)
	}
	return data, nil
}
