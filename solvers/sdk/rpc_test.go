package sdk_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/solvers/sdk"
)

// echo answers a batch by the number of each request, the last one first, and
// writes down how long the batches were.
func echo(batches *[]int) *sdk.Client {
	return sdk.NewClient(func(request []byte) ([]byte, error) {
		var batch []struct {
			Version string `json:"jsonrpc"`
			ID      int    `json:"id"`
			Method  string `json:"method"`
			Params  []int  `json:"params"`
		}
		if err := json.Unmarshal(request, &batch); err != nil {
			return nil, err
		}
		*batches = append(*batches, len(batch))
		var out []string
		for _, r := range batch {
			if r.Version != "2.0" || r.Method != "echo" {
				return nil, fmt.Errorf("request %+v", r)
			}
			out = append([]string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, r.ID, r.Params[0])}, out...)
		}
		return []byte("[" + strings.Join(out, ",") + "]"), nil
	})
}

func TestBatchKeepsOrderAndSplits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		requests int
		batches  []int
	}{{0, nil}, {1, []int{1}}, {sdk.MaxBatch, []int{256}}, {600, []int{256, 256, 88}}} {
		var batches []int
		requests := make([]sdk.Request, tt.requests)
		for i := range requests {
			requests[i] = sdk.Request{Method: "echo", Params: []any{i}}
		}
		replies, err := echo(&batches).Batch(requests)
		if err != nil || len(replies) != tt.requests {
			t.Fatal(len(replies), err)
		}
		for i, r := range replies {
			if r.Err != nil || string(r.Result) != fmt.Sprint(i) {
				t.Fatalf("reply %d is %s, %v", i, r.Result, r.Err)
			}
		}
		if diff := cmp.Diff(tt.batches, batches); diff != "" {
			t.Errorf("%d requests (-want +got)\n%s", tt.requests, diff)
		}
	}
}

func fixed(reply string, err error) *sdk.Client {
	return sdk.NewClient(func([]byte) ([]byte, error) { return []byte(reply), err })
}

func TestCall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, reply string
		err         error
		want        string // the result, or the error if it starts with "error: "
	}{
		{name: "a result", reply: `[{"jsonrpc":"2.0","id":0,"result":"0x1"}]`, want: `"0x1"`},
		{name: "a result of null", reply: `[{"jsonrpc":"2.0","id":0,"result":null}]`, want: `null`},
		{name: "an error of the chain's", reply: `[{"jsonrpc":"2.0","id":0,"error":{"code":-32001,"message":"state missing"}}]`, want: "error: rpc error -32001: state missing"},
		{name: "a refused batch", reply: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}`, want: "error: rpc error -32600: invalid request"},
		{name: "no JSON", reply: `oops`, want: "error: rpc reply: invalid"},
		{name: "no answer", reply: `[]`, want: "error: rpc reply: 0 answers to 1 requests"},
		{name: "an answer to nothing", reply: `[{"id":1,"result":1}]`, want: "error: rpc reply: an id"},
		{name: "an answer without id", reply: `[{"result":1}]`, want: "error: rpc reply: an id"},
		{name: "two answers", reply: `[{"id":0,"result":1},{"id":0,"result":1}]`, want: "error: rpc reply: an id"},
		{name: "no such chain", err: sdk.ErrUnknownChain, want: "error: no such chain"},
		{name: "over budget", err: sdk.ErrBudget, want: "error: over the call's read budget"},
		{name: "too large", err: sdk.ErrTooLarge, want: "error: request or batch is too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result, err := fixed(tt.reply, tt.err).Call("m")
			got := string(result)
			if err != nil {
				got = "error: " + err.Error()
			}
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("%v is not %v", err, tt.err)
			}
		})
	}
}

func TestEthCall(t *testing.T) {
	t.Parallel()
	var sent string
	client := sdk.NewClient(func(request []byte) ([]byte, error) {
		sent = string(request)
		return []byte(`[{"id":0,"result":"0x00ff"}]`), nil
	})
	data, err := client.EthCall("0xaa", []byte{0xab, 1})
	if err != nil || string(data) != "\x00\xff" {
		t.Errorf("EthCall() = %x, %v", data, err)
	}
	if want := `[{"jsonrpc":"2.0","id":0,"method":"eth_call","params":[{"data":"0xab01","to":"0xaa"},"latest"]}]`; sent != want {
		t.Errorf("sent %s\nwant %s", sent, want)
	}
	if _, err := client.EthCalls([]sdk.Call{{From: "0xbb", To: "0xaa"}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(sent, `{"data":"0x","from":"0xbb","to":"0xaa"}`) {
		t.Errorf("sent %s", sent)
	}
	reverted := fixed(`[{"id":0,"error":{"code":3,"message":"execution reverted","data":"0x08c379a0"}}]`, nil)
	var refusal *sdk.RPCError
	if _, err := reverted.EthCall("0xaa", nil); !errors.As(err, &refusal) || refusal.Code != 3 || string(refusal.Data) != `"0x08c379a0"` {
		t.Errorf("a revert is %v", err)
	}
	for _, result := range []string{`1`, `null`, `"ff"`, `"0xf"`, `"0xzz"`, `{}`} {
		if data, err := fixed(`[{"id":0,"result":`+result+`}]`, nil).EthCall("0xaa", nil); err == nil {
			t.Errorf("result %s is taken for %x", result, data)
		}
	}
}

// Outside WebAssembly there is no chain, and a solver's own test says so.
func TestNoHost(t *testing.T) {
	t.Parallel()
	if _, err := sdk.RPC(1).Call("eth_chainId"); !errors.Is(err, sdk.ErrNoHost) {
		t.Errorf("Call() = %v", err)
	}
}

func FuzzReply(f *testing.F) {
	f.Add([]byte(`[{"id":0,"result":"0x00ff"}]`))
	f.Add([]byte(`[{"id":0,"error":null}]`))
	f.Fuzz(func(t *testing.T, reply []byte) {
		_, _ = fixed(string(reply), nil).EthCall("0xaa", nil)
	})
}
