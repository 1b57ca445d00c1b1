package direct

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

// errNoRoute is returned for a pair without a pool that pays.
var errNoRoute = errors.New("no direct route")

// A moment is the pinned block as far as a plan needs it.
type moment struct{ block, time uint64 }

// now reads the moment from the market, or from the chain if there is none.
func now(c *sdk.Client, m *intent.MarketSnapshot) (moment, error) {
	if m != nil && m.Timestamp > 0 {
		return moment{block: m.BlockNumber, time: m.Timestamp}, nil
	}
	raw, err := c.Call("eth_getBlockByNumber", "latest", false)
	if err != nil {
		return moment{}, fmt.Errorf("pinned block: %w", err)
	}
	var header struct {
		Number    string `json:"number"`
		Timestamp string `json:"timestamp"`
	}
	if err := json.Unmarshal(raw, &header); err != nil {
		return moment{}, fmt.Errorf("pinned block: %w", err)
	}
	block, err := strconv.ParseUint(strings.TrimPrefix(header.Number, "0x"), 16, 64)
	if err != nil {
		return moment{}, fmt.Errorf("pinned block: %w", err)
	}
	time, err := strconv.ParseUint(strings.TrimPrefix(header.Timestamp, "0x"), 16, 64)
	if err != nil {
		return moment{}, fmt.Errorf("pinned block: %w", err)
	}
	return moment{block: block, time: time}, nil
}

// discover asks the factories which pools the pair has. certain is false if a
// factory gave no answer, so that the result is not worth remembering.
func discover(c *sdk.Client, d deployment, a, b abi.Address) (pools []venue, certain bool, err error) {
	calls := make([]sdk.Call, len(venues))
	for i, v := range venues {
		if v == v2 {
			calls[i] = sdk.Call{To: d.v2Factory.String(), Data: abi.Pack(selGetPair, abi.Addr(a), abi.Addr(b))}
		} else {
			calls[i] = sdk.Call{To: d.v3Factory.String(), Data: abi.Pack(selGetPool, abi.Addr(a), abi.Addr(b), abi.Uint64(uint64(v)))}
		}
	}
	replies, err := c.EthCalls(calls)
	if err != nil {
		return nil, false, fmt.Errorf("find pools: %w", err)
	}
	certain = true
	for i, r := range replies {
		pool, err := abi.ReadAddress(r.Data, 0)
		if r.Err != nil || err != nil {
			certain = false
			continue
		}
		if !pool.IsZero() {
			pools = append(pools, venues[i])
		}
	}
	return pools, certain, nil
}

// An offer is what one venue pays.
type offer struct {
	venue  venue
	amount *uint256.Int
}

// bestOffer asks every pool what it pays for exactly amount and returns the
// highest offer, of equal ones the first.
func bestOffer(c *sdk.Client, d deployment, pools []venue, in, out abi.Address, amount *uint256.Int) (offer, error) {
	calls := make([]sdk.Call, len(pools))
	for i, v := range pools {
		if v == v2 {
			calls[i] = sdk.Call{To: d.v2Router.String(), Data: abi.Pack(selGetAmountsOut,
				abi.Uint(amount), abi.Array(abi.Addr(in), abi.Addr(out)))}
		} else {
			calls[i] = sdk.Call{To: d.v3Quoter.String(), Data: abi.Pack(selQuoteExactSingle, abi.Tuple(
				abi.Addr(in), abi.Addr(out), abi.Uint(amount), abi.Uint64(uint64(v)), abi.Uint64(0)))}
		}
	}
	replies, err := c.EthCalls(calls)
	if err != nil {
		return offer{}, fmt.Errorf("quote pools: %w", err)
	}
	best := offer{amount: new(uint256.Int)}
	for i, r := range replies {
		if r.Err != nil {
			continue // an empty pool reverts
		}
		pays, err := readOffer(pools[i], r.Data)
		if err == nil && pays.Gt(best.amount) {
			best = offer{venue: pools[i], amount: pays}
		}
	}
	if best.amount.IsZero() {
		return offer{}, errNoRoute
	}
	return best, nil
}

func readOffer(v venue, data []byte) (*uint256.Int, error) {
	if v != v2 {
		return abi.ReadUint(data, 0)
	}
	amounts, err := abi.ReadUints(data, 0)
	if err != nil {
		return nil, err
	}
	if len(amounts) != 2 {
		return nil, abi.ErrShort
	}
	return amounts[1], nil
}
