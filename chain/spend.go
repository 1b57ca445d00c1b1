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

// sideTokens bounds how many contracts outside of the order one plan can have
// measured. More than any real route changes, so a plan beyond it is refused.
const sideTokens = 128

// sidesKept bounds the contracts of which a [Funded] keeps what its owner holds.
// Plans can make up more; those are read every time.
const sidesKept = 1024

// measureAfter fills in what the plan did and checks what it spent.
func (r *run) measureAfter() error {
	logs := r.sdb.Logs()
	side := r.sideTokens(logs)
	p := r.world.probeOn(r.sdb.Copy(), r.missing, nil)
	defer p.close()
	after, err := p.measure(r.order)
	var missing *MissingError
	switch last := len(r.steps) - 1; {
	case errors.Is(err, errNoBalance):
		// It answered before the plan, so the plan broke it.
		r.reverted(last, fmt.Sprintf("after it, %v", err), nil)
		return nil
	case errors.As(err, &missing):
		// It was answered from known state before the plan, so the plan left that.
		r.stateMissing(&missing.Hole, fmt.Sprintf("after interaction %d", last))
		return nil
	case err != nil:
		return r.order.coreFault("measuring after the plan", err)
	}
	r.out.Deltas = r.order.deltas(r.funded.before, after)
	r.out.readLogs(logs)
	for _, token := range r.order.Tokens {
		lost := new(big.Int).Neg(r.out.Delta(r.order.Owner, token))
		if granted := r.order.granted(token).ToBig(); lost.Cmp(granted) > 0 {
			r.overspent(token, lost.String(), granted.String())
			return nil
		}
	}
	return r.checkSideTokens(p, side)
}

func (r *run) overspent(token common.Address, lost, granted string) {
	r.out.Cause = intent.CauseOverspent
	r.out.Detail = fmt.Sprintf("the owner lost %s of token %s and may spend %s", lost, token.Hex(), granted)
}

// checkSideTokens applies the spending limit to tokens the intent does not name,
// of which the owner may lose nothing. Without it a plan could sell whatever else
// a historical owner holds. A contract that does not say what the owner holds of
// it before the plan is no token.
func (r *run) checkSideTokens(after *probe, tokens []common.Address) error {
	if len(tokens) > sideTokens {
		r.out.Cause = intent.CauseOverspent
		r.out.Detail = fmt.Sprintf("the plan touches more than %d contracts the intent does not name", sideTokens)
		return nil
	}
	for _, token := range tokens {
		had, err := r.funded.side(token)
		if err != nil {
			return err
		}
		if had == nil || had.IsZero() {
			continue
		}
		has, err := sideBalance(after, token, r.order.Owner)
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

// sideTokens lists the contracts to look at, each once: in the order of the plan,
// of its logs, and of what it read. They are its targets, whatever emitted an
// event, and whatever has other storage than before. A Transfer from the owner
// would not do: who has code, as an owner may, can burn a token that says so by
// another event, or not at all.
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
		add(l.Address)
	}
	reads := r.sdb.Reader().(*reader)
	for _, s := range reads.kept {
		if !seen[s.addr] && r.sdb.GetState(s.addr, s.key) != s.value {
			add(s.addr)
		}
	}
	reads.keep, reads.kept = false, nil // what is read from here on is not the plan's
	return list
}

// side returns what the owner holds of a contract before any plan: nil where that
// does not tell. Plans for one order touch the same few contracts, so that what
// was read for one is kept for the next; each is read in a state of its own, and
// thus the same whoever asks first.
func (f *Funded) side(token common.Address) (*uint256.Int, error) {
	f.mu.Lock()
	had, known := f.sides[token]
	f.mu.Unlock()
	if known {
		return had, nil
	}
	p := f.world.newProbe(f.over, nil)
	defer p.close()
	had, err := sideBalance(p, token, f.order.Owner)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.sides) < sidesKept {
		f.sides[token] = had
	}
	return had, nil
}

// sideBalance reads what the owner holds of a contract: nil where that does not
// tell.
func sideBalance(p *probe, token, owner common.Address) (*uint256.Int, error) {
	b, err := p.balance(token, owner)
	var missing *MissingError
	switch {
	case errors.Is(err, errNoBalance), errors.As(err, &missing):
		return nil, nil
	case err != nil:
		return nil, &intent.InfraFault{Err: err}
	}
	return b, nil
}
