package route

import (
	"errors"
	"fmt"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

func addressParam(s intent.State, name string) (abi.Address, error) {
	a, err := abi.ParseAddress(textOf(s.RawParams[name]))
	if err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

func amountParam(s intent.State, name string) (uint256.Int, error) {
	var z uint256.Int
	err := amount(&z, s.RawParams, name)
	return z, err
}

// newOrder reads what swaps, limit orders and chunks have in common. Minimum is the
// name of its parameter, which may be absent.
func newOrder(s intent.State, minimum string) (o order, err error) {
	if o.owner, err = abi.ParseAddress(s.Owner); err != nil {
		return o, fmt.Errorf("owner: %w", err)
	}
	if o.in, err = addressParam(s, "input_token"); err != nil {
		return o, err
	}
	if o.out, err = addressParam(s, "output_token"); err != nil {
		return o, err
	}
	o.receiver = o.owner
	if textOf(s.RawParams["receiver"]) != "" {
		if o.receiver, err = addressParam(s, "receiver"); err != nil {
			return o, err
		}
	}
	if o.receiver.IsZero() {
		o.receiver = o.owner
	}
	if textOf(s.RawParams[minimum]) != "" {
		if o.minimum, err = amountParam(s, minimum); err != nil {
			return o, err
		}
	}
	return o, nil
}

// swapOrder is the order of a swap or limit order.
func swapOrder(s intent.State) (order, error) {
	o, err := newOrder(s, "min_output_amount")
	if err == nil {
		o.amount, err = amountParam(s, "input_amount")
	}
	return o, notNothing(o, err)
}

// A chunk is a part of a TWAP.
type chunk struct {
	order
	done, of, interval, last uint256.Int
}

// chunkOrder is the order of the chunk that is next.
func chunkOrder(s intent.State) (c chunk, err error) {
	if c.order, err = newOrder(s, "min_output_per_chunk"); err != nil {
		return c, err
	}
	for _, f := range []struct {
		into *uint256.Int
		name string
	}{{&c.amount, "total_amount"}, {&c.of, "num_chunks"}, {&c.done, "chunks_executed"}, {&c.interval, "interval_seconds"}, {&c.last, "last_chunk_time"}} {
		if *f.into, err = amountParam(s, f.name); err != nil {
			return c, err
		}
	}
	if c.of.IsZero() {
		return c, errors.New("num_chunks is 0")
	}
	var rest uint256.Int
	c.amount.DivMod(&c.amount, &c.of, &rest)
	if next := new(uint256.Int).AddUint64(&c.done, 1); next.Eq(&c.of) {
		c.amount.Add(&c.amount, &rest) // the last has what is over
	}
	return c, notNothing(c.order, nil)
}

// due reports whether a chunk may be executed at a time.
func (c chunk) due(time uint64) bool {
	next, over := new(uint256.Int).AddOverflow(&c.last, &c.interval)
	return c.done.Lt(&c.of) && !over && !next.Gt(uint256.NewInt(time))
}

func notNothing(o order, err error) error {
	if err == nil && o.amount.IsZero() {
		err = errors.New("the amount is 0")
	}
	return err
}
