package route

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/solvers/sdk"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

// A query is one read of a contract.
type query struct {
	to   abi.Address
	data []byte
}

// maxQueries is how many queries one call of Multicall3 carries.
const maxQueries = 600

var errAggregate = errors.New("multicall3 returned something else")

// ask puts queries to the chain, and returns what each returned: nil where one failed.
// Without Multicall3 each is a call of its own.
func ask(c *sdk.Client, multicall abi.Address, queries []query) ([][]byte, error) {
	var out [][]byte
	for len(queries) > 0 {
		n := min(len(queries), maxQueries)
		part, err := aggregate(c, multicall, queries[:n])
		if errors.Is(err, errAggregate) {
			part, err = each(c, queries[:n])
		}
		if err != nil {
			return nil, err
		}
		out, queries = append(out, part...), queries[n:]
	}
	return out, nil
}

func each(c *sdk.Client, queries []query) ([][]byte, error) {
	calls := make([]sdk.Call, len(queries))
	for i, q := range queries {
		calls[i] = sdk.Call{To: q.to.String(), Data: q.data}
	}
	replies, err := c.EthCalls(calls)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(replies))
	for i, r := range replies {
		if r.Err == nil {
			out[i] = r.Data
		}
	}
	return out, nil
}

func aggregate(c *sdk.Client, multicall abi.Address, queries []query) ([][]byte, error) {
	calls := make([]abi.Value, len(queries))
	for i, q := range queries {
		calls[i] = abi.Tuple(abi.Addr(q.to), abi.Uint64(1), abi.Bytes(q.data))
	}
	data, err := c.EthCall(multicall.String(), abi.Pack(selAggregate, abi.Array(calls...)))
	var refused *sdk.RPCError
	if errors.As(err, &refused) {
		return nil, errAggregate
	}
	if err != nil {
		return nil, err
	}
	return readResults(data, len(queries))
}

// readResults reads (bool success, bytes data)[] of n elements.
func readResults(data []byte, n int) ([][]byte, error) {
	at := func(b []byte, i int) (uint64, bool) {
		if i < 0 || i+32 > len(b) {
			return 0, false
		}
		var z uint256.Int
		z.SetBytes(b[i : i+32])
		return z.Uint64(), z.IsUint64() && z.Uint64() <= uint64(len(data))
	}
	start, ok := at(data, 0)
	count, ok2 := at(data, int(start))
	if !ok || !ok2 || count != uint64(n) {
		return nil, errAggregate
	}
	list := data[start+32:]
	out := make([][]byte, n)
	for i := range n {
		offset, ok := at(list, 32*i)
		if !ok || offset > uint64(len(list)) {
			return nil, errAggregate
		}
		item := list[offset:]
		success, ok1 := at(item, 0)
		bytesAt, ok2 := at(item, 32)
		length, ok3 := at(item, int(bytesAt))
		if !ok1 || !ok2 || !ok3 || bytesAt+32+length > uint64(len(item)) {
			return nil, errAggregate
		}
		if success == 1 {
			out[i] = item[bytesAt+32 : bytesAt+32+length]
		}
	}
	return out, nil
}

// play makes calls one after the other as Multicall3, with ETH that payer has, and
// returns what each returned, nil where one failed.
func play(c *sdk.Client, multicall, payer abi.Address, value *uint256.Int, queries []query) ([][]byte, error) {
	calls := make([]abi.Value, len(queries))
	for i, q := range queries {
		sent := new(uint256.Int)
		if i == 0 {
			sent = value
		}
		calls[i] = abi.Tuple(abi.Addr(q.to), abi.Uint64(1), abi.Uint(sent), abi.Bytes(q.data))
	}
	raw, err := c.Call("eth_call", map[string]string{
		"from": payer.String(), "to": multicall.String(), "value": value.Hex(),
		"data": "0x" + hex.EncodeToString(abi.Pack(selAggregateValue, abi.Array(calls...))),
	}, "latest")
	if err != nil {
		return nil, err
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, fmt.Errorf("eth_call: %w", err)
	}
	data, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		return nil, fmt.Errorf("eth_call: %w", err)
	}
	return readResults(data, len(queries))
}
