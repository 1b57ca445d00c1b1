package route

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/reference/router/amm"
	"github.com/subnet112/assay/solvers/sdk"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

// A book is the market of one chain at one block.
type book struct {
	chain, block, time uint64
	weth               abi.Address
	router             abi.Address // SwapRouter02
	multicall          abi.Address
	gasPrice           uint256.Int            // wei
	pools              []amm.Pool             // as they are at the pin; searches copy them
	arrive             map[abi.Address]uint64 // millionths that arrive of a transfer; absent: all
}

// A Desk keeps the books of the chains and what was learned. Make it with [NewDesk].
type Desk struct {
	connect func(chainID uint64) *sdk.Client
	books   map[uint64]*book
	memory  memory
}

// NewDesk returns a desk that reads chains through connect: in a guest that is
// [sdk.RPC].
func NewDesk(connect func(chainID uint64) *sdk.Client) *Desk {
	return &Desk{connect: connect, books: map[uint64]*book{}, memory: newMemory()}
}

var errNoMarket = errors.New("no market with pools was sent for the chain")

// open returns the book of a market, read if it is not yet.
func (d *Desk) open(m *intent.MarketSnapshot) (*book, error) {
	if m == nil || m.Timestamp == 0 || len(m.PoolStates) == 0 {
		return nil, errNoMarket
	}
	if b := d.books[m.ChainID]; b != nil && b.block == m.BlockNumber && b.time == m.Timestamp {
		return b, nil
	}
	b := &book{chain: m.ChainID, block: m.BlockNumber, time: m.Timestamp, arrive: map[abi.Address]uint64{}}
	if err := b.contracts(m.DexConfig); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(m.PoolStates)) {
		p, ok, err := readPool(key, m.PoolStates[key])
		if err != nil {
			return nil, fmt.Errorf("pool %s: %w", intent.Quoted(key, 60), err)
		}
		if ok {
			b.pools = append(b.pools, p)
		}
	}
	c := d.connect(b.chain)
	if err := d.loadTicks(c, b); err != nil {
		return nil, err
	}
	d.probe(c, b)
	raw, err := c.Call("eth_gasPrice")
	if err != nil {
		return nil, fmt.Errorf("gas price: %w", err)
	}
	var price string
	if err := json.Unmarshal(raw, &price); err != nil {
		return nil, fmt.Errorf("gas price: %w", err)
	}
	if err := b.gasPrice.SetFromHex(price); err != nil {
		return nil, fmt.Errorf("gas price: %w", err)
	}
	d.books[b.chain] = b
	return b, nil
}

// contracts reads where the routers are.
func (b *book) contracts(config map[string]any) error {
	v3, _ := config["uniswap_v3"].(map[string]any)
	var err error
	for name, field := range map[string]struct {
		of   map[string]any
		into *abi.Address
	}{"weth": {config, &b.weth}, "multicall3": {config, &b.multicall}, "swap_router_02": {v3, &b.router}} {
		text, _ := field.of[name].(string)
		if *field.into, err = abi.ParseAddress(text); err != nil {
			return fmt.Errorf("dex_config: %s: %w", name, err)
		}
	}
	return nil
}

// readPool reads a pool of the market; false for a protocol that is not known here.
func readPool(key string, state map[string]any) (p amm.Pool, ok bool, err error) {
	if p.Address, err = abi.ParseAddress(key); err != nil {
		return p, false, err
	}
	for i, name := range []string{"token0", "token1"} {
		text, _ := state[name].(string)
		if p.Token[i], err = abi.ParseAddress(text); err != nil {
			return p, false, fmt.Errorf("%s: %w", name, err)
		}
	}
	switch state["protocol"] {
	case "uniswap_v2":
		p.Fee = 3000
		for i, name := range []string{"reserve0", "reserve1"} {
			if err := amount(&p.Reserve[i], state, name); err != nil {
				return p, false, err
			}
		}
	case "uniswap_v3":
		p.V3 = true
		var fee uint256.Int
		for _, f := range []struct {
			into *uint256.Int
			name string
		}{{&fee, "fee"}, {&p.Sqrt, "sqrtPriceX96"}, {&p.Liquidity, "liquidity"}} {
			if err := amount(f.into, state, f.name); err != nil {
				return p, false, err
			}
		}
		p.Fee = uint32(fee.Uint64())
		if spacings[p.Fee] == 0 {
			return p, false, nil
		}
	default:
		return p, false, nil
	}
	return p, true, nil
}

// spacings are the ticks between usable ticks, by fee.
var spacings = map[uint32]int32{100: 1, 500: 10, 3000: 60, 10000: 200}

func amount(into *uint256.Int, state map[string]any, name string) error {
	n, err := intent.ParseAmount(textOf(state[name]))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	*into = *n
	return nil
}

// textOf is a value that is text or a number, else the empty string.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}
