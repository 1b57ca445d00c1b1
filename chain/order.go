package chain

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
)

// ETH is the token address that stands for the chain's own coin.
var ETH common.Address

// An Order is what the core takes from an intent to execute a plan for it: who
// acts, what they may spend, and what is measured. Nothing in it comes from the
// plan. [NewOrder] makes one; an Order is read-only afterwards.
type Order struct {
	App      string         // app id, named in faults
	Owner    common.Address // sends the plan's transactions
	Contract common.Address // the app's contract; zero: none
	ChainID  uint64
	Grant    []Grant          // by token, each once: what the owner may spend
	Watch    []common.Address // accounts to measure, sorted, the owner among them
	Tokens   []common.Address // tokens to measure, sorted, ETH among them
	MaxGas   uint64           // gas for the whole plan
}

// A Grant is an amount of a token, in base units.
type Grant struct {
	Token  common.Address // zero: ETH
	Amount *uint256.Int
}

// granted returns the granted amount of token, 0 without a grant.
func (o *Order) granted(token common.Address) *uint256.Int {
	for _, g := range o.Grant {
		if g.Token == token {
			return g.Amount
		}
	}
	return new(uint256.Int)
}

// NewOrder reads an intent. The grant is control._fund, {token: decimal}, where
// that is not empty, else {input_token: input_amount}, and nothing where the
// intent names no input. Watched are the owner, the receiver (the parameter
// receiver and the account of the manifest's value rule) and the contract;
// measured are ETH, the granted tokens, input_token, output_token and the token
// of the value rule. The zero address is ETH as a token and nobody as an account.
// The gas for a plan is the app's, or that of [intent.DefaultConfig] where it is 0.
//
// Errors are *[intent.AppFault]: an intent that does not say who spends what is
// the pack's fault, whatever a solver answers.
func NewOrder(d intent.Definition, s intent.State) (Order, error) {
	o, err := newOrder(d, s)
	if err != nil {
		return Order{}, &intent.AppFault{AppID: d.AppID, Err: err}
	}
	return o, nil
}

func newOrder(d intent.Definition, s intent.State) (Order, error) {
	o := Order{App: d.AppID, ChainID: s.ChainID, MaxGas: d.Config.MaxGas}
	if o.MaxGas == 0 {
		o.MaxGas = intent.DefaultConfig().MaxGas
	}
	var err error
	if o.Owner, err = ParseAddress(s.Owner); err != nil {
		return o, fmt.Errorf("owner: %w", err)
	}
	if o.Owner == (common.Address{}) {
		return o, errors.New("owner: the zero address owns nothing")
	}
	if s.ContractAddress != "" {
		if o.Contract, err = ParseAddress(s.ContractAddress); err != nil {
			return o, fmt.Errorf("contract_address: %w", err)
		}
	}
	if o.Grant, err = grants(s); err != nil {
		return o, err
	}
	if err := o.observe(d, s); err != nil {
		return o, err
	}
	return o, nil
}

// observe fills in which accounts and tokens are measured.
func (o *Order) observe(d intent.Definition, s intent.State) error {
	accounts := []common.Address{o.Owner, o.Contract}
	tokens := []common.Address{ETH}
	for _, g := range o.Grant {
		tokens = append(tokens, g.Token)
	}
	for _, key := range []string{"input_token", "output_token"} {
		token, ok, err := addressParam(s.RawParams, key)
		if err != nil {
			return err
		}
		if ok {
			tokens = append(tokens, token)
		}
	}
	receiver, _, err := addressParam(s.RawParams, "receiver")
	if err != nil {
		return err
	}
	accounts = append(accounts, receiver)
	if d.Manifest != nil && d.Manifest.Value != nil {
		rule := d.Manifest.Value
		token, ok, err := addressParam(s.RawParams, rule.Token)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("raw_params.%s: absent, but the value is measured in it", rule.Token)
		}
		tokens = append(tokens, token)
		if rule.Account != "owner" {
			account, _, err := addressParam(s.RawParams, rule.Account)
			if err != nil {
				return err
			}
			if account == (common.Address{}) {
				return fmt.Errorf("raw_params.%s: absent or zero, but the value is what it receives", rule.Account)
			}
			accounts = append(accounts, account)
		}
	}
	accounts = slices.DeleteFunc(accounts, func(a common.Address) bool { return a == common.Address{} })
	o.Watch, o.Tokens = sortedSet(accounts), sortedSet(tokens)
	return nil
}

// grants reads what the owner may spend.
func grants(s intent.State) ([]Grant, error) {
	fund := map[string]any{}
	if v := s.Control["_fund"]; v != nil {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, errors.New("control._fund: not an object of token: amount")
		}
		fund = m
	}
	if len(fund) > 0 {
		list := make([]Grant, 0, len(fund))
		for _, token := range slices.Sorted(maps.Keys(fund)) {
			g, err := newGrant(token, fund[token])
			if err != nil {
				return nil, fmt.Errorf("control._fund: %w", err)
			}
			list = append(list, g)
		}
		slices.SortFunc(list, func(a, b Grant) int { return compareAddresses(a.Token, b.Token) })
		for i := 1; i < len(list); i++ {
			if list[i].Token == list[i-1].Token {
				return nil, fmt.Errorf("control._fund: %s twice", list[i].Token.Hex())
			}
		}
		return list, nil
	}
	token, amount := s.RawParams["input_token"], s.RawParams["input_amount"]
	if token == nil && amount == nil {
		return nil, nil
	}
	text, ok := token.(string)
	if !ok {
		return nil, errors.New("raw_params.input_token: not an address")
	}
	g, err := newGrant(text, amount)
	if err != nil {
		return nil, fmt.Errorf("raw_params.input_token, input_amount: %w", err)
	}
	return []Grant{g}, nil
}

func newGrant(token string, amount any) (Grant, error) {
	address, err := ParseAddress(token)
	if err != nil {
		return Grant{}, err
	}
	text, ok := amount.(string)
	if !ok {
		return Grant{}, fmt.Errorf("amount of %s: not a decimal string", address.Hex())
	}
	n, err := intent.ParseAmount(text)
	if err != nil {
		return Grant{}, fmt.Errorf("amount of %s: %w", address.Hex(), err)
	}
	return Grant{Token: address, Amount: n}, nil
}

// addressParam reads an optional address; null and "" are absent.
func addressParam(params map[string]any, key string) (common.Address, bool, error) {
	v := params[key]
	if v == nil || v == "" {
		return common.Address{}, false, nil
	}
	text, ok := v.(string)
	if !ok {
		return common.Address{}, false, fmt.Errorf("raw_params.%s: not an address", key)
	}
	a, err := ParseAddress(text)
	if err != nil {
		return common.Address{}, false, fmt.Errorf("raw_params.%s: %w", key, err)
	}
	return a, true, nil
}

// ParseAddress reads an address as intents and plans write it: 0x and 40 hex
// digits of either case. No checksum is asked for. The error quotes the text.
func ParseAddress(text string) (common.Address, error) {
	if len(text) != 2+2*common.AddressLength || text[:2] != "0x" || !common.IsHexAddress(text) {
		return common.Address{}, fmt.Errorf("%s is not 0x and 40 hex digits", intent.Quoted(text, 64))
	}
	return common.HexToAddress(text), nil
}

func sortedSet(list []common.Address) []common.Address {
	slices.SortFunc(list, compareAddresses)
	return slices.Compact(list)
}
