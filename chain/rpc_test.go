package chain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"
	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/chain"
)

// plenty is more than any request of these tests takes.
var plenty = chain.Cost{Requests: 1000, Gas: 1 << 40, Bytes: 1 << 30}

func serve(t testing.TB, v *chain.View, req string) string {
	t.Helper()
	reply, _, err := v.Serve(t.Context(), []byte(req), plenty)
	if err != nil {
		t.Fatalf("%s: %v", req, err)
	}
	return string(reply)
}

// request is a request with id 1.
func request(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

func result(r string) string { return `{"id":1,"jsonrpc":"2.0","result":` + r + `}` }

func failure(code int, message string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":%q},"id":1,"jsonrpc":"2.0"}`, code, message)
}

func failureData(code int, data, message string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"data":%s,"message":%q},"id":1,"jsonrpc":"2.0"}`, code, data, message)
}

func hexOf(a common.Address) string { return fmt.Sprintf("0x%x", a[:]) }

// callData is balanceOf(who).
func callData(who common.Address) string { return fmt.Sprintf("0x70a08231%064x", who[:]) }

func TestServe(t *testing.T) {
	v := toyWorld(t).View()
	owner, token := hexOf(toyOwner), hexOf(toyToken)
	unknown := `{"address":"` + hexOf(toyUnknown) + `"}`
	zero := strings.Repeat("0", 64)
	million := result(`"0x` + zero[:59] + `f4240"`)
	invalid, method, params := failure(-32600, "invalid request"), failure(-32601, "method not found"), failure(-32602, "invalid params")
	call := func(members string) string { return request("eth_call", `[{`+members+`},"latest"]`) }
	to := func(a common.Address) string { return `"to":"` + hexOf(a) + `"` }

	for _, tt := range []struct{ name, req, want string }{
		{"the chain's id", request("eth_chainId", "[]"), result(`"0x1"`)},
		{"params may be left out", `{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`, result(`"0x1"`)},
		{"white space around", " \r\n\t" + request("eth_chainId", "[]") + " \n", result(`"0x1"`)},
		{"the context's number", request("eth_blockNumber", "[]"), result(`"0x1714056"`)},
		{"the base fee is the gas price", request("eth_gasPrice", "[]"), result(`"0x1a13b8600"`)},
		{"constants take no params", request("eth_chainId", "[1]"), params},

		{"a balance", request("eth_getBalance", `["`+owner+`","latest"]`), result(`"0x4c4b40"`)},
		{"a balance of a known-absent account", request("eth_getBalance", `["`+hexOf(toyAbsent)+`"]`), result(`"0x0"`)},
		{"a balance of an unknown account", request("eth_getBalance", `["`+hexOf(toyUnknown)+`"]`), failureData(-32001, unknown, "state missing: account "+hexOf(toyUnknown))},
		{"an address in upper case", request("eth_getBalance", `["0x`+strings.ToUpper(owner[2:])+`"]`), result(`"0x4c4b40"`)},
		{"a nonce", request("eth_getTransactionCount", `["`+owner+`","pending"]`), result(`"0x1"`)},
		{"a code", request("eth_getCode", `["`+hexOf(toyBad)+`","safe"]`), result(`"0xfe"`)},
		{"no code", request("eth_getCode", `["`+owner+`","finalized"]`), result(`"0x"`)},
		{"a slot", request("eth_getStorageAt", `["`+hexOf(toyStore)+`","0x1","earliest"]`), result(`"0x` + zero[:63] + `1"`)},
		{"a slot by 32 bytes", request("eth_getStorageAt", `["`+hexOf(toyStore)+`","0x`+zero[:63]+`1","0x1714056"]`), result(`"0x` + zero[:63] + `1"`)},
		{"a slot of a known-absent account", request("eth_getStorageAt", `["`+hexOf(toyAbsent)+`","0x0"]`), result(`"0x` + zero + `"`)},
		{"an unknown slot", request("eth_getStorageAt", `["`+hexOf(toyOpen)+`","0xff"]`),
			failureData(-32001, `{"address":"`+hexOf(toyOpen)+`","slot":"0x`+zero[:62]+`ff"}`, "state missing: account "+hexOf(toyOpen)+" slot 0x"+zero[:62]+"ff")},

		{"another block", request("eth_getBalance", `["`+owner+`","0x1714055"]`), failure(-32000, "unknown block: only the pinned one is here")},
		{"a block by hash", request("eth_getBalance", `["`+owner+`",{"blockHash":"0x`+zero+`"}]`), params},
		{"a tag nobody knows", request("eth_getBalance", `["`+owner+`","newest"]`), params},
		{"a block number with a leading zero", request("eth_getBalance", `["`+owner+`","0x01714056"]`), params},
		{"a short address", request("eth_getBalance", `["0x1"]`), params},
		{"an address without 0x", request("eth_getBalance", `["`+owner[2:]+`"]`), params},
		{"an address with 0X", request("eth_getBalance", `["0X`+owner[2:]+`"]`), params},
		{"an address that is a number", request("eth_getBalance", `[1]`), params},
		{"no address", request("eth_getBalance", `[]`), params},
		{"a parameter too many", request("eth_getBalance", `["`+owner+`","latest",1]`), params},
		{"very many parameters", request("eth_getBalance", `[1,2,3,4,5,6,7]`), params},
		{"a slot of 33 bytes", request("eth_getStorageAt", `["`+owner+`","0x00`+zero+`"]`), params},

		{"the block", request("eth_getBlockByNumber", `["latest",false]`), result(`{"baseFeePerGas":"0x1a13b8600","difficulty":"0x0","gasLimit":"0x3938700","gasUsed":"0x0","hash":null,` +
			`"miner":"` + hexOf(toyCoinbase) + `","mixHash":"0x01` + zero[:62] + `","number":"0x1714056","parentHash":"0xaa` + zero[:62] + `","timestamp":"0x697feb88","transactions":[]}`)},
		{"the block by another number", request("eth_getBlockByNumber", `["0x1",false]`), failure(-32000, "unknown block: only the pinned one is here")},
		{"the block with a wrong flag", request("eth_getBlockByNumber", `["latest","yes"]`), params},

		{"a call", call(to(toyToken) + `,"data":"` + callData(toyOwner) + `"`), million},
		{"a call's input", call(to(toyToken) + `,"input":"` + callData(toyOwner) + `"`), million},
		{"both, if equal", call(to(toyToken) + `,"input":"` + callData(toyOwner) + `","data":"` + callData(toyOwner) + `"`), million},
		{"both, unequal", call(to(toyToken) + `,"input":"0x","data":"` + callData(toyOwner) + `"`), params},
		{"a call from somebody with value", call(to(toyWallet) + `,"from":"` + owner + `","value":"0x1"`), result(`"0x"`)},
		{"a call with more value than there is", call(to(toyWallet) + `,"from":"` + owner + `","value":"0xffffffffffff"`), failure(-32000, "insufficient funds for transfer")},
		{"a call of an account without code", call(to(toyOwner)), result(`"0x"`)},
		{"a call without to", call(`"from":"` + owner + `"`), params},
		{"a call with a gas price", call(to(toyToken) + `,"gasPrice":"0x1"`), params},
		{"a member twice", call(to(toyToken) + "," + to(toyToken)), params},
		{"a value of 2^256", call(to(toyToken) + `,"value":"0x1` + zero + `"`), params},
		{"a negative value", call(to(toyToken) + `,"value":"-0x1"`), params},
		{"half a byte of data", call(to(toyToken) + `,"data":"0x0"`), params},
		{"a call with state overrides", request("eth_call", `[{`+to(toyToken)+`},"latest",{}]`), params},
		{"a call that is null", request("eth_call", `[null,"latest"]`), params},
		{"a call that reverts", call(to(toyThrows) + `,"data":"0xdeadbeef"`), failureData(3, `"0xdeadbeef"`, "execution reverted")},
		{"a call that does nothing right", call(to(toyBad)), failure(-32000, "execution failed")},
		{"a call with too little gas", call(to(toyToken) + `,"gas":"0x5208","data":"` + callData(toyOwner) + `"`), failure(-32000, "out of gas")},
		{"a call that runs out of gas", call(to(toyLoop) + `,"gas":"0xfffff"`), failure(-32000, "out of gas")},
		{"a call of an unknown account", call(to(toyUnknown)), failureData(-32001, unknown, "state missing: account "+hexOf(toyUnknown))},
		{"a call with value from an unknown account", call(to(toyWallet) + `,"value":"0x1"`),
			failureData(-32001, `{"address":"0x`+zero[:40]+`"}`, "state missing: account 0x"+zero[:40])},
		{"a call that asks for an unknown block", call(to(toyBlock) + `,"data":"0x` + zero[:63] + `2"`), failureData(-32001, `{"block":"0x1714054"}`, "state missing: block hash 24199252")},

		{"an estimate of a transfer", request("eth_estimateGas", `[{"from":"`+owner+`","to":"`+hexOf(toyPoor)+`","value":"0x1"}]`), result(`"0x5208"`)},
		{"an estimate of what reverts", request("eth_estimateGas", `[{`+to(toyAngry)+`}]`), failureData(3, `"0x"`, "execution reverted")},

		{"another method", request("eth_sendRawTransaction", `["0x"]`), method},
		{"a method in another case", request("ETH_chainId", `[]`), method},
		{"a method with an escape", `{"jsonrpc":"2.0","id":1,"method":"eth_\u0063hainId"}`, result(`"0x1"`)},

		{"an id that is a string", `{"jsonrpc":"2.0","id":"a\u0062\"","method":"eth_chainId"}`, `{"id":"a\u0062\"","jsonrpc":"2.0","result":"0x1"}`},
		{"an id that is null", `{"jsonrpc":"2.0","id":null,"method":"eth_chainId"}`, `{"id":null,"jsonrpc":"2.0","result":"0x1"}`},
		{"an id of many digits", `{"jsonrpc":"2.0","id":-1.50e+3,"method":"eth_chainId"}`, `{"id":-1.50e+3,"jsonrpc":"2.0","result":"0x1"}`},
		{"an id that is a list", `{"jsonrpc":"2.0","id":[1],"method":"eth_chainId"}`, strings.Replace(invalid, `"id":1`, `"id":null`, 1)},
		{"an id that is true", `{"jsonrpc":"2.0","id":true,"method":"eth_chainId"}`, strings.Replace(invalid, `"id":1`, `"id":null`, 1)},
		{"an id of 129 bytes", `{"jsonrpc":"2.0","id":` + strings.Repeat("1", 129) + `,"method":"eth_chainId"}`, strings.Replace(invalid, `"id":1`, `"id":null`, 1)},
		{"a notification", `{"jsonrpc":"2.0","method":"eth_chainId"}`, strings.Replace(invalid, `"id":1`, `"id":null`, 1)},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"eth_chainId"}`, invalid},
		{"no version", `{"id":1,"method":"eth_chainId"}`, invalid},
		{"no method", `{"jsonrpc":"2.0","id":1}`, invalid},
		{"a method that is a number", `{"jsonrpc":"2.0","id":1,"method":7}`, invalid},
		{"params by name", `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":{}}`, invalid},
		{"a member nobody knows", `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","extra":1}`, invalid},
		{"a method twice", `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","method":"eth_call"}`, strings.Replace(invalid, `"id":1`, `"id":null`, 1)},
		{"a number", `7`, strings.Replace(invalid, `"id":1`, `"id":null`, 1)},
		{"an empty batch", `[]`, strings.Replace(invalid, `"id":1`, `"id":null`, 1)},
		{"a batch", `[` + request("eth_chainId", "[]") + ` , 7,` + request("nope", "[]") + `]`,
			`[` + result(`"0x1"`) + `,` + strings.Replace(invalid, `"id":1`, `"id":null`, 1) + `,` + method + `]`},
		{"a batch in a batch", `[[]]`, `[` + strings.Replace(invalid, `"id":1`, `"id":null`, 1) + `]`},
		{"nothing", ``, `{"error":{"code":-32700,"message":"parse error"},"id":null,"jsonrpc":"2.0"}`},
		{"half a request", `{"jsonrpc":"2.0"`, `{"error":{"code":-32700,"message":"parse error"},"id":null,"jsonrpc":"2.0"}`},
		{"two requests without a batch", request("eth_chainId", "[]") + request("eth_chainId", "[]"), `{"error":{"code":-32700,"message":"parse error"},"id":null,"jsonrpc":"2.0"}`},
		{"bytes that are no text", "\"\xff\"", `{"error":{"code":-32700,"message":"parse error"},"id":null,"jsonrpc":"2.0"}`},
		{"brackets without end", strings.Repeat("[", 200_000), `{"error":{"code":-32700,"message":"parse error"},"id":null,"jsonrpc":"2.0"}`},
		{"a token by its name", request("eth_getBalance", `["`+token+`","latest"]`), result(`"0x0"`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, serve(t, v, tt.req)); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
		})
	}
}

func TestServeBudget(t *testing.T) {
	v := toyWorld(t).View()
	balance := request("eth_getBalance", `["`+hexOf(toyOwner)+`"]`)
	reply := len(serve(t, v, balance))
	call := request("eth_call", `[{"to":"`+hexOf(toyToken)+`","data":"`+callData(toyOwner)+`"}]`)
	loop := request("eth_call", `[{"to":"`+hexOf(toyLoop)+`","gas":"0x186a0"}]`) // 100,000
	_, used, err := v.Serve(t.Context(), []byte(call), plenty)
	if err != nil {
		t.Fatal(err)
	}
	gas := used.Gas
	if gas < 21_000 || gas > 30_000 {
		t.Fatalf("a balanceOf took %d gas", gas)
	}
	batch := "[" + strings.Repeat(balance+",", chain.LimitBatch-1) + balance + "]"

	for _, tt := range []struct {
		name string
		req  string
		left chain.Cost
		used chain.Cost
		err  error
	}{
		{"just enough", balance, chain.Cost{Requests: 1, Bytes: reply}, chain.Cost{Requests: 1, Bytes: reply}, nil},
		{"no request left", balance, chain.Cost{Bytes: reply}, chain.Cost{}, chain.ErrBudget},
		{"a byte too few", balance, chain.Cost{Requests: 1, Bytes: reply - 1}, chain.Cost{Requests: 1}, chain.ErrBudget},
		{"a batch of 256", batch, chain.Cost{Requests: 256, Bytes: 256 * (reply + 2)}, chain.Cost{Requests: 256, Bytes: 256*(reply+1) + 1}, nil},
		{"a request too few for a batch", batch, chain.Cost{Requests: 255, Bytes: 1 << 20}, chain.Cost{}, chain.ErrBudget},
		{"a batch of 257", "[" + balance + "," + batch[1:], plenty, chain.Cost{}, chain.ErrTooLarge},
		{"a request of 1 MiB and a byte", strings.Repeat(" ", chain.LimitRequestBytes+1-len(balance)) + balance, plenty, chain.Cost{}, chain.ErrTooLarge},
		{"a request of 1 MiB", strings.Repeat(" ", chain.LimitRequestBytes-len(balance)) + balance, plenty, chain.Cost{Requests: 1, Bytes: reply}, nil},
		{"less gas than asked for, but enough", call, chain.Cost{Requests: 1, Gas: gas, Bytes: 1 << 20}, chain.Cost{Requests: 1, Gas: gas, Bytes: len(serve(t, v, call))}, nil},
		{"less gas than it takes", call, chain.Cost{Requests: 1, Gas: gas - 1, Bytes: 1 << 20}, chain.Cost{Requests: 1, Gas: gas - 1}, chain.ErrBudget},
		{"no gas at all", call, chain.Cost{Requests: 1, Bytes: 1 << 20}, chain.Cost{Requests: 1}, chain.ErrBudget},
		{"a call that burns what it asked for", loop, chain.Cost{Requests: 1, Gas: 100_000, Bytes: 1 << 20}, chain.Cost{Requests: 1, Gas: 100_000, Bytes: len(serve(t, v, loop))}, nil},
		{"a call that burns what is left", loop, chain.Cost{Requests: 1, Gas: 99_999, Bytes: 1 << 20}, chain.Cost{Requests: 1, Gas: 99_999}, chain.ErrBudget},
		{"an estimate may need all it may be given", request("eth_estimateGas", `[{"to":"`+hexOf(toyPoor)+`","gas":"0xffff"}]`),
			chain.Cost{Requests: 1, Gas: 65_534, Bytes: 1 << 20}, chain.Cost{Requests: 1}, chain.ErrBudget},
		{"what does not parse costs a request", "{", plenty, chain.Cost{Requests: 1, Bytes: len(serve(t, v, "{"))}, nil},
		{"what does not parse and no request left", "{", chain.Cost{Bytes: 1 << 20}, chain.Cost{}, chain.ErrBudget},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, used, err := v.Serve(t.Context(), []byte(tt.req), tt.left)
			if !errors.Is(err, tt.err) || (err != nil) != (got == nil) {
				t.Fatalf("Serve() = %q, %v, want %v", got, err, tt.err)
			}
			if diff := cmp.Diff(tt.used, used); diff != "" {
				t.Errorf("used (-want +got):\n%s", diff)
			}
		})
	}
}

// A call that ends in missing state has still made the host work. The numbers
// are the transaction's 21,000, PUSH20 3 and a cold BALANCE 2,600, and in the
// second contract what is left to the next jump: JUMPDEST 1, PUSH2 3, JUMP 8.
func TestMissingStateIsPaidFor(t *testing.T) {
	straight, loop, burner := common.Address{19: 0xe1}, common.Address{19: 0xe2}, common.Address{19: 0xe3}
	s := toySnapshot()
	withContract(s, straight, asm(toyUnknown.Hex()+` BALANCE STOP`))
	withContract(s, loop, asm(toyUnknown.Hex()+` BALANCE again: @again JUMP`))
	// A hash of 1 MiB: the memory 3·2^15 + 2^30/512, the hash 30 + 6·2^15, three
	// pushes and a POP beside the BALANCE.
	withContract(s, burner, asm(`0x100000 0 KECCAK256 POP `+toyUnknown.Hex()+` BALANCE STOP`))
	const burnt = 21_000 + 3<<15 + 1<<21 + 30 + 6<<15 + 3*3 + 2 + 2_600
	v := worldOf(t, s).View()
	for _, tt := range []struct {
		name   string
		method string
		to     common.Address
		gas    uint64
	}{
		{"a call", "eth_call", straight, 23_603},
		{"a call that would go on", "eth_call", loop, 23_615},
		{"a call that did much before", "eth_call", burner, burnt},
		{"an estimate", "eth_estimateGas", straight, 23_603},
		{"an estimate of what did much before", "eth_estimateGas", burner, burnt},
		{"a call of what is not known", "eth_call", toyUnknown, 21_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one := request(tt.method, `[{"to":"`+hexOf(tt.to)+`"}]`)
			reply, used, err := v.Serve(t.Context(), []byte(one), plenty)
			if err != nil || !strings.Contains(string(reply), "state missing: account "+hexOf(toyUnknown)) || used.Gas != tt.gas {
				t.Errorf("%s: %d gas (%v), want %d", reply, used.Gas, err, tt.gas)
			}
		})
	}
	left := plenty
	left.Gas = 2*burnt - 1
	one := request("eth_call", `[{"to":"`+hexOf(burner)+`"}]`)
	if _, used, err := v.Serve(t.Context(), []byte("["+one+","+one+"]"), left); !errors.Is(err, chain.ErrBudget) || used.Gas != left.Gas {
		t.Errorf("twice the call with gas for less: used %d of %d, %v", used.Gas, left.Gas, err)
	}
}

// A call is given at most 30 M gas, whatever it asks for and whatever is left.
func TestServeCapsGas(t *testing.T) {
	for _, gas := range []string{"", `,"gas":"0xffffffffffffffff"`} {
		_, used, err := toyWorld(t).View().Serve(t.Context(), []byte(request("eth_call", `[{"to":"`+hexOf(toyLoop)+`"`+gas+`}]`)), plenty)
		if err != nil || used.Gas != chain.LimitReadGas {
			t.Errorf("%q: used %d gas (%v), want %d", gas, used.Gas, err, chain.LimitReadGas)
		}
	}
}

// A canceled read ends in its context's error, never in a reply.
func TestServeCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	reply, _, err := toyWorld(t).View().Serve(ctx, []byte(request("eth_call", `[{"to":"`+hexOf(toyLoop)+`"}]`)), plenty)
	if !errors.Is(err, context.Canceled) || reply != nil {
		t.Errorf("Serve() = %q, %v", reply, err)
	}
}

// Every estimate suffices, and what it overshoots stays within 1.5 %.
func TestEstimateSuffices(t *testing.T) {
	v := toyWorld(t).View()
	for name, members := range map[string]string{
		"a store":       `"to":"` + hexOf(toyStore) + `","data":"0x` + strings.Repeat("0", 63) + "2" + strings.Repeat("0", 63) + `3"`,
		"a refund":      `"to":"` + hexOf(toyStore) + `","data":"0x` + strings.Repeat("0", 63) + "1" + strings.Repeat("0", 64) + `"`,
		"a proxy":       `"to":"` + hexOf(toyProxy) + `","data":"` + callData(toyOwner) + `"`,
		"many logs":     `"to":"` + hexOf(toyLogs) + `","data":"0x` + strings.Repeat("0", 62) + `ff"`,
		"much calldata": `"to":"` + hexOf(toyWallet) + `","data":"0x` + strings.Repeat("ff", 5000) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			var r struct{ Result string }
			if err := json.Unmarshal([]byte(serve(t, v, request("eth_estimateGas", `[{`+members+`}]`))), &r); err != nil {
				t.Fatal(err)
			}
			gas := uint256.MustFromHex(r.Result).Uint64()
			with := func(gas uint64) bool {
				return !strings.Contains(serve(t, v, request("eth_call", fmt.Sprintf(`[{%s,"gas":"0x%x"}]`, members, gas))), "error")
			}
			if !with(gas) {
				t.Errorf("%d gas does not suffice", gas)
			}
			if with(gas - gas*2/100) {
				t.Errorf("2 %% less than %d gas suffices", gas)
			}
		})
	}
}

// A batch says what its requests say alone.
func TestBatchIsItsParts(t *testing.T) {
	v := toyWorld(t).View()
	parts := []string{
		request("eth_chainId", "[]"),
		request("eth_getBalance", `["`+hexOf(toyUnknown)+`"]`),
		request("eth_call", `[{"to":"`+hexOf(toyToken)+`","data":"`+callData(toyOwner)+`"}]`),
		request("eth_call", `[{"to":"`+hexOf(toyStore)+`","data":"0x`+strings.Repeat("1", 128)+`"}]`),
		`null`, `{}`,
	}
	rapid.Check(t, func(rt *rapid.T) {
		chosen := rapid.SliceOfN(rapid.SampledFrom(parts), 1, 12).Draw(rt, "batch")
		var replies []string
		var sum chain.Cost
		for _, p := range chosen {
			reply, used, err := v.Serve(t.Context(), []byte(p), plenty)
			if err != nil {
				rt.Fatal(err)
			}
			replies = append(replies, string(reply))
			sum.Requests += used.Requests
			sum.Gas += used.Gas
			sum.Bytes += used.Bytes
		}
		sum.Bytes += len(chosen) + 1 // brackets and commas
		got, used, err := v.Serve(t.Context(), []byte("["+strings.Join(chosen, ",")+"]"), plenty)
		if want := "[" + strings.Join(replies, ",") + "]"; err != nil || string(got) != want {
			rt.Fatalf("batch = %s (%v), want %s", got, err, want)
		}
		if used != sum {
			rt.Fatalf("batch took %+v, its parts %+v", used, sum)
		}
	})
}

func FuzzServe(f *testing.F) {
	v := toyWorld(f).View()
	for _, req := range []string{
		request("eth_call", `[{"to":"`+hexOf(toyToken)+`","data":"`+callData(toyOwner)+`","gas":"0xffff","value":"0x0"},"latest"]`),
		request("eth_estimateGas", `[{"from":"`+hexOf(toyOwner)+`","to":"`+hexOf(toyThrows)+`"},"0x1714056"]`),
		request("eth_getStorageAt", `["`+hexOf(toyOpen)+`","0x1","pending"]`),
		"[" + request("eth_getBlockByNumber", `["latest",true]`) + ",null]",
	} {
		f.Add([]byte(req))
	}
	left := chain.Cost{Requests: 8, Gas: 200_000, Bytes: 1 << 16}
	f.Fuzz(func(t *testing.T, req []byte) {
		reply, used, err := v.Serve(t.Context(), req, left)
		if used.Requests > left.Requests || used.Gas > left.Gas || used.Bytes > left.Bytes {
			t.Fatalf("took %+v of %+v", used, left)
		}
		if err != nil {
			if !errors.Is(err, chain.ErrBudget) && !errors.Is(err, chain.ErrTooLarge) {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(reply) {
			t.Fatalf("reply %q", reply)
		}
		again, _, err := v.Serve(t.Context(), req, left)
		if err != nil || !bytes.Equal(reply, again) {
			t.Fatalf("first %s, then %s (%v)", reply, again, err)
		}
	})
}

func BenchmarkServeBalanceOf(b *testing.B) {
	v := toyWorld(b).View()
	req := []byte(request("eth_call", `[{"to":"`+hexOf(toyToken)+`","data":"`+callData(toyOwner)+`"},"latest"]`))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := v.Serve(b.Context(), req, plenty); err != nil {
			b.Fatal(err)
		}
	}
}
