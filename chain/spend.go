package chain

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
)

// sideTokens bounds how many tokens outside of the order one plan can have
// measured. More than any real route touches, so a plan beyond it is refused.
const sideTokens = 128

// measureAfter fills in what the plan did and checks what it spent.
func (r *run) measureAfter(over *overlay, before balances) error {
	p := r.world.probeOn(r.sdb.Copy(), r.missing, nil)
	defer p.close()
	after, err := p.measure(r.order)
	if errors.Is(err, errNoBalance) {
		// It answered before the plan, so the plan broke it.
		r.reverted(len(r.steps)-1, fmt.Sprintf("after it, %v", err), nil)
		return nil
	}
	if err != nil {
		return r.order.coreFault("measuring after the plan", err)
	}
	r.out.Deltas = r.order.deltas(before, after)
	logs := r.sdb.Logs()
	r.out.readLogs(logs)
	for _, token := range r.order.Tokens {
		lost := new(big.Int).Neg(r.out.Delta(r.order.Owner, token))
		if granted := r.order.granted(token).ToBig(); lost.Cmp(granted) > 0 {
			r.overspent(token, lost.String(), granted.String())
			return nil
		}
	}
	return r.checkSideTokens(over, logs)
}

func (r *run) overspent(token common.Address, lost, granted string) {
	r.out.Cause = intent.CauseOverspent
	r.out.Detail = fmt.Sprintf("the owner lost %s of token %s and may spend %s", lost, token.Hex(), granted)
}

// checkSideTokens applies the spending limit to tokens the intent does not name,
// of which the owner may lose nothing. Without it a plan could sell whatever else
// a historical owner holds. A balance falls only where the owner calls the token
// or somebody they allowed makes it emit a Transfer; so the tokens to look at are
// the plan's targets and the emitters of transfers from the owner. A contract
// that does not say what the owner holds of it before the plan is no token.
func (r *run) checkSideTokens(over *overlay, logs []*types.Log) error {
	tokens := r.sideTokens(logs)
	if len(tokens) > sideTokens {
		r.out.Cause = intent.CauseOverspent
		r.out.Detail = fmt.Sprintf("the plan touches more than %d tokens the intent does not name", sideTokens)
		return nil
	}
	for _, token := range tokens {
		had, err := r.sideBalance(r.world.newProbe(over, nil), token)
		if err != nil {
			return err
		}
		if had == nil || had.IsZero() {
			continue
		}
		has, err := r.sideBalance(r.world.probeOn(r.sdb.Copy(), r.missing, nil), token)
		if err != nil {
			return err
		}
		if has == nil {
			// It answered before: what the owner held there is beyond reach.
			has = new(uint256.Int)
		}
		if has.Lt(had) {
			r.overspent(token, new(uint256.Int).Sub(had, has).Dec(), "0")
			return nil
		}
	}
	return nil
}

// sideTokens lists contracts to look at, each once, in the order of the plan and
// then of its logs.
func (r *run) sideTokens(logs []*types.Log) []common.Address {
	var list []common.Address
	seen := make(map[common.Address]bool)
	add := func(a common.Address) {
		if !seen[a] && !slices.Contains(r.order.Tokens, a) {
			seen[a] = true
			list = append(list, a)
		}
	}
	for _, c := range r.steps {
		add(c.to)
	}
	for _, l := range logs {
		if from, _, _, ok := tokenEvent(l); ok && l.Topics[0] == transferTopic && from == r.order.Owner {
			add(l.Address)
		}
	}
	return list
}

// sideBalance reads and closes: nil where the contract does not tell.
func (r *run) sideBalance(p *probe, token common.Address) (*uint256.Int, error) {
	defer p.close()
	b, err := p.balance(token, r.order.Owner)
	var missing *MissingError
	switch {
	case errors.Is(err, errNoBalance), errors.As(err, &missing):
		return nil, nil
	case err != nil:
		return nil, &intent.InfraFault{Err: err}
	}
	return b, nil
}
