package direct

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

// An order is a swap as its intent's parameters say it. The zero address is
// ETH, as input and as output.
type order struct {
	chain    uint64
	owner    abi.Address
	receiver abi.Address
	in, out  abi.Address
	amount   *uint256.Int
	minimum  *uint256.Int // 0: any
}

func newOrder(s intent.State) (order, error) {
	o := order{chain: s.ChainID}
	var err error
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
	if textParam(s, "receiver") != "" {
		if o.receiver, err = addressParam(s, "receiver"); err != nil {
			return o, err
		}
		if o.receiver.IsZero() {
			o.receiver = o.owner
		}
	}
	if o.amount, err = intent.ParseAmount(textParam(s, "input_amount")); err != nil {
		return o, fmt.Errorf("input_amount: %w", err)
	}
	o.minimum = new(uint256.Int)
	if text := textParam(s, "min_output_amount"); text != "" {
		if o.minimum, err = intent.ParseAmount(text); err != nil {
			return o, fmt.Errorf("min_output_amount: %w", err)
		}
	}
	switch {
	case o.amount.IsZero():
		return o, errors.New("input_amount is zero")
	case o.in == o.out:
		return o, errors.New("input_token and output_token are the same")
	}
	return o, nil
}

// textParam returns a parameter that is text or a number, else the empty string.
func textParam(s intent.State, name string) string {
	switch v := s.RawParams[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func addressParam(s intent.State, name string) (abi.Address, error) {
	a, err := abi.ParseAddress(textParam(s, name))
	if err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

// path returns the two tokens as pools know them, with ETH as its wrapped token.
func (o order) path(d deployment) (in, out abi.Address) {
	in, out = o.in, o.out
	if in.IsZero() {
		in = d.wrapped
	}
	if out.IsZero() {
		out = d.wrapped
	}
	return in, out
}
