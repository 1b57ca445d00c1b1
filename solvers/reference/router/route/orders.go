package route

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

// A Limit is the strategy of app_limit.
type Limit struct{ trader }

// NewLimit returns the strategy of app_limit.
func NewLimit(d *Desk) *Limit { return &Limit{trader{d, "app_limit", swapOrder}} }

// A Chunk is the strategy of app_twap.
type Chunk struct{ trader }

// NewChunk returns the strategy of app_twap.
func NewChunk(d *Desk) *Chunk {
	return &Chunk{trader{d, "app_twap", func(s intent.State) (order, error) {
		c, err := chunkOrder(s)
		return c.order, err
	}}}
}

var (
	_ sdk.TriggerChecker = (*Limit)(nil)
	_ sdk.TriggerChecker = (*Chunk)(nil)
)

// CheckTrigger implements [sdk.TriggerChecker]: a limit order is due when
// ⌊input × spot⌋ × 10000 ≥ minimum × (10000 + margin), spot being the price of the pool
// it names.
func (l *Limit) CheckTrigger(r intent.Request) (bool, error) {
	o, err := l.read(r.State)
	if err != nil {
		return false, err
	}
	b, err := l.desk.open(r.Snapshot)
	if err != nil {
		return false, err
	}
	address, err := addressParam(r.State, "price_pool")
	if err != nil {
		return false, err
	}
	margin := big.NewInt(100)
	if textOf(r.State.RawParams["trigger_margin_bps"]) != "" {
		n, err := amountParam(r.State, "trigger_margin_bps")
		if err != nil {
			return false, err
		}
		margin = n.ToBig()
	}
	in, out := b.token(o.in), b.token(o.out)
	sqrt, err := b.spot(l.desk.connect(b.chain), address, in, out)
	if err != nil {
		return false, err
	}
	worth := new(big.Int).Mul(sqrt, sqrt)
	q192 := new(big.Int).Lsh(big.NewInt(1), 192)
	if bytes.Compare(in[:], out[:]) < 0 { // in is token0
		worth.Mul(worth, o.amount.ToBig()).Quo(worth, q192)
	} else {
		worth.Quo(q192.Mul(q192, o.amount.ToBig()), worth)
	}
	wanted := margin.Add(margin, big.NewInt(fullBPS))
	wanted.Mul(wanted, o.minimum.ToBig())
	return worth.Mul(worth, big.NewInt(fullBPS)).Cmp(wanted) >= 0, nil
}

// spot is the root price of the V3 pool of two tokens.
func (b *book) spot(c *sdk.Client, address, in, out abi.Address) (*big.Int, error) {
	for i := range b.pools {
		if p := &b.pools[i]; p.Address == address && p.V3 && p.Side(in) >= 0 && p.Side(out) >= 0 && in != out {
			return p.Sqrt.ToBig(), nil
		}
	}
	replies, err := ask(c, b.multicall, []query{{address, abi.Pack(selSlot0)}, {address, abi.Pack(selToken0)}})
	if err != nil {
		return nil, err
	}
	sqrt, err := abi.ReadUint(replies[0], 0)
	if err != nil || sqrt.IsZero() {
		return nil, fmt.Errorf("price_pool %s has no price", address)
	}
	token0, err := abi.ReadAddress(replies[1], 0)
	if err != nil || token0 != in && token0 != out {
		return nil, fmt.Errorf("price_pool %s is of other tokens", address)
	}
	return sqrt.ToBig(), nil
}

// CheckTrigger implements [sdk.TriggerChecker]: a chunk is due once its interval has
// passed and there is one left.
func (c *Chunk) CheckTrigger(r intent.Request) (bool, error) {
	k, err := chunkOrder(r.State)
	if err != nil {
		return false, err
	}
	if r.Snapshot == nil {
		return false, errNoMarket
	}
	return k.due(r.Snapshot.Timestamp), nil
}
