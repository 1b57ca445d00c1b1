package scoring

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// capBPS is how much of the best known value an intent may be credited with, in
// basis points: what a frozen block's stale arbitrage gives beyond it is
// worthless live.
const capBPS = 10_500

// accountOwner is the account of a value rule that is no parameter.
const accountOwner = "owner"

// A measure says how the core measures the value of one intent.
type measure struct {
	token, account common.Address
	minimum        *uint256.Int // at least 1
}

// newMeasure resolves the manifest's value rule for one intent; nil where the app
// declares no value.
func newMeasure(d intent.Definition, s intent.State) (*measure, error) {
	if d.Manifest == nil || d.Manifest.Value == nil {
		return nil, nil
	}
	rule := d.Manifest.Value
	token, err := addressParam(s, rule.Token)
	if err != nil {
		return nil, err
	}
	account, err := accountOf(s, rule.Account)
	if err != nil {
		return nil, err
	}
	minimum, err := minimumOf(s, rule.Minimum)
	if err != nil {
		return nil, err
	}
	return &measure{token: token, account: account, minimum: minimum}, nil
}

// minimumOf resolves the minimum of a value rule. An intent that leaves the
// parameter out, or says null or "", asks for none.
func minimumOf(s intent.State, name string) (*uint256.Int, error) {
	least := uint256.NewInt(1)
	value := s.RawParams[name]
	if name == "" || value == nil || value == "" {
		return least, nil
	}
	text, ok := value.(string)
	if !ok {
		return nil, fmt.Errorf("raw_params.%s: no decimal string", name)
	}
	amount, err := intent.ParseAmount(text)
	if err != nil {
		return nil, fmt.Errorf("raw_params.%s: %w", name, err)
	}
	if amount.Lt(least) {
		return least, nil
	}
	return amount, nil
}

// Minimum is what must arrive for an intent to have a value, in base units: the
// parameter that the manifest's value rule names, at least 1; 1 where the rule
// names none or the intent leaves it out. It is nil where the app
// declares no value. Errors are *[intent.AppFault].
func Minimum(d intent.Definition, s intent.State) (*uint256.Int, error) {
	m, err := newMeasure(d, s)
	if err != nil {
		return nil, &intent.AppFault{AppID: d.AppID, Err: err}
	}
	if m == nil {
		return nil, nil
	}
	return m.minimum, nil
}

// value is what the outcome delivered, and the reason if that is not enough.
func (m *measure) value(o *chain.Outcome) (v *big.Int, short string, err error) {
	v = o.Delta(m.account, m.token)
	if v == nil {
		return nil, "", fmt.Errorf("the outcome does not measure token %s of %s", m.token.Hex(), m.account.Hex())
	}
	if v.Cmp(m.minimum.ToBig()) < 0 {
		return v, fmt.Sprintf("%s received %s of token %s, the minimum is %s",
			m.account.Hex(), v, m.token.Hex(), m.minimum.Dec()), nil
	}
	return v, "", nil
}

// credit caps a value at 105 % of the best known one, "" for no cap.
func credit(value *big.Int, best string) (credited *big.Int, above bool, err error) {
	if best == "" {
		return value, false, nil
	}
	amount, err := intent.ParseAmount(best)
	if err != nil {
		return nil, false, fmt.Errorf("best value of the intent, %s: %w", intent.Quoted(best, reasonRunes), err)
	}
	if amount.IsZero() {
		return nil, false, errors.New("best value of the intent is 0, which would credit nothing; leave it out for no cap")
	}
	limit := amount.ToBig()
	limit.Mul(limit, big.NewInt(capBPS))
	limit.Quo(limit, big.NewInt(10_000))
	if value.Cmp(limit) > 0 {
		return limit, true, nil
	}
	return value, false, nil
}

// accountOf resolves the account of a value rule: a parameter, or the owner.
func accountOf(s intent.State, name string) (common.Address, error) {
	if name != accountOwner {
		return addressParam(s, name)
	}
	owner, err := chain.ParseAddress(s.Owner)
	if err != nil {
		return common.Address{}, fmt.Errorf("owner: %w", err)
	}
	return owner, nil
}

func addressParam(s intent.State, name string) (common.Address, error) {
	text, ok := s.RawParams[name].(string)
	if !ok {
		return common.Address{}, fmt.Errorf("raw_params.%s: absent or no address", name)
	}
	a, err := chain.ParseAddress(text)
	if err != nil {
		return common.Address{}, fmt.Errorf("raw_params.%s: %w", name, err)
	}
	return a, nil
}
