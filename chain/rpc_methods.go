package chain

import (
	"context"
	"encoding/json"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
)

// dispatch answers a request with JSON. The error is an *rpcError or a
// *missingState, which become replies, or one that ends the Serve.
func (v *View) dispatch(ctx context.Context, m *meter, r request) (string, error) {
	switch r.method {
	case "eth_chainId":
		return v.constant(r, quoteUint64(v.world.chainID))
	case "eth_blockNumber":
		return v.constant(r, quoteUint64(v.world.context.Number))
	case "eth_gasPrice":
		return v.constant(r, quoteUint256(v.world.context.BaseFee))
	case "eth_getBlockByNumber":
		return v.block(r)
	case "eth_getBalance":
		return v.account(r, func(sdb *state.StateDB, addr common.Address) string {
			return quoteUint256(sdb.GetBalance(addr))
		})
	case "eth_getTransactionCount":
		return v.account(r, func(sdb *state.StateDB, addr common.Address) string {
			return quoteUint64(sdb.GetNonce(addr))
		})
	case "eth_getCode":
		return v.account(r, func(sdb *state.StateDB, addr common.Address) string {
			return quoteHex(sdb.GetCode(addr))
		})
	case "eth_getStorageAt":
		return v.storage(r)
	case "eth_call":
		return v.ethCall(ctx, m, r)
	case "eth_estimateGas":
		return v.ethEstimateGas(ctx, m, r)
	}
	return "", errMethod
}

// constant answers a method without parameters.
func (v *View) constant(r request, result string) (string, error) {
	if len(r.params) != 0 {
		return "", errParams
	}
	return result, nil
}

// take splits params into n required ones and an optional block, which it checks.
func (v *View) take(r request, n int) ([]json.RawMessage, error) {
	if len(r.params) < n || len(r.params) > n+1 {
		return nil, errParams
	}
	if len(r.params) == n+1 {
		if err := v.checkBlock(r.params[n]); err != nil {
			return nil, err
		}
	}
	return r.params[:n], nil
}

// checkBlock accepts every tag and the pinned number.
func (v *View) checkBlock(raw json.RawMessage) error {
	s, err := text(raw)
	if err != nil {
		return errParams
	}
	switch s {
	case "latest", "pending", "safe", "finalized", "earliest":
		return nil
	}
	n, err := readUint64(raw)
	if err != nil {
		return errParams
	}
	if n != v.world.context.Number {
		return errBlock
	}
	return nil
}

// block answers eth_getBlockByNumber. What only a finished block has is null or
// empty, as a node answers for "pending".
func (v *View) block(r request) (string, error) {
	if len(r.params) < 1 || len(r.params) > 2 {
		return "", errParams
	}
	if err := v.checkBlock(r.params[0]); err != nil {
		return "", err
	}
	if len(r.params) == 2 {
		if full := string(r.params[1]); full != "true" && full != "false" {
			return "", errParams
		}
	}
	c := &v.world.context
	parent := v.world.blockHashes[c.Number-1]
	return `{"baseFeePerGas":` + quoteUint256(c.BaseFee) +
		`,"difficulty":"0x0"` +
		`,"gasLimit":` + quoteUint64(c.GasLimit) +
		`,"gasUsed":"0x0"` +
		`,"hash":null` +
		`,"miner":` + quoteHex(c.Coinbase[:]) +
		`,"mixHash":` + quoteHex(c.PrevRandao[:]) +
		`,"number":` + quoteUint64(c.Number) +
		`,"parentHash":` + quoteHex(parent[:]) +
		`,"timestamp":` + quoteUint64(c.Time) +
		`,"transactions":[]}`, nil
}

// account answers a method that reads something of one account.
func (v *View) account(r request, get func(*state.StateDB, common.Address) string) (string, error) {
	p, err := v.take(r, 1)
	if err != nil {
		return "", err
	}
	addr, err := readAddress(p[0])
	if err != nil {
		return "", errParams
	}
	var result string
	err = v.read(func(sdb *state.StateDB) { result = get(sdb, addr) })
	return result, err
}

func (v *View) storage(r request) (string, error) {
	p, err := v.take(r, 2)
	if err != nil {
		return "", err
	}
	addr, err := readAddress(p[0])
	if err != nil {
		return "", errParams
	}
	key, err := readSlot(p[1])
	if err != nil {
		return "", errParams
	}
	var value common.Hash
	err = v.read(func(sdb *state.StateDB) { value = sdb.GetState(addr, key) })
	return quoteHex(value[:]), err
}

func (v *View) ethCall(ctx context.Context, m *meter, r request) (string, error) {
	p, err := v.take(r, 1)
	if err != nil {
		return "", err
	}
	c, limit, err := parseCall(p[0], LimitReadGas)
	if err != nil {
		return "", err
	}
	given := min(limit, m.left.Gas)
	result, err := v.run(ctx, c, given)
	m.gas(result.peak) // whatever came of it
	if err != nil {
		return "", err
	}
	if result.err == nil {
		return quoteHex(result.data), nil
	}
	if given < limit {
		return "", ErrBudget // with all it asked for, it might not have failed
	}
	return "", result.failed()
}

func (v *View) ethEstimateGas(ctx context.Context, m *meter, r request) (string, error) {
	p, err := v.take(r, 1)
	if err != nil {
		return "", err
	}
	limit := uint64(LimitReadGas)
	if v.world.config.IsOsaka(v.world.context.number(), v.world.context.Time) {
		limit = min(limit, params.MaxTxGas) // EIP-7825: no transaction may have more
	}
	c, limit, err := parseCall(p[0], limit)
	if err != nil {
		return "", err
	}
	gas, result, err := v.estimate(ctx, c, limit, m)
	if err != nil {
		return "", err
	}
	if failed := result.failed(); failed != nil {
		return "", failed
	}
	return quoteUint64(gas), nil
}

// parseCall reads the call of eth_call and eth_estimateGas: the call and its gas
// limit, at most max. The error is errParams.
func parseCall(raw json.RawMessage, max uint64) (call, uint64, error) {
	bad := func() (call, uint64, error) { return call{}, 0, errParams }
	members, err := splitObject(raw, 6)
	if err != nil {
		return bad()
	}
	c := call{value: new(uint256.Int)}
	limit := max
	var to bool
	var data, input []byte
	var both int
	for _, m := range members {
		var err error
		switch m.key {
		case "from":
			c.from, err = readAddress(m.value)
		case "to":
			c.to, err = readAddress(m.value)
			to = true
		case "value":
			c.value, err = readQuantity(m.value)
		case "gas":
			limit, err = readUint64(m.value)
		case "data":
			data, err = readBytes(m.value)
			both++
		case "input":
			input, err = readBytes(m.value)
			both++
		default:
			err = errShape
		}
		if err != nil {
			return bad()
		}
	}
	if !to || both == 2 && string(data) != string(input) {
		return bad()
	}
	c.data = input
	if len(input) == 0 {
		c.data = data
	}
	return c, min(limit, max), nil
}
