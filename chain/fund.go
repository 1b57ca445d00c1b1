package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
)

// slotCandidates bounds how many slots read by one balanceOf are tried.
const slotCandidates = 64

// errNoSlot says that no single slot holds a balance: the token computes it, as
// rebasing and share tokens do. Such an owner must hold the grant already.
var errNoSlot = errors.New("has no slot that holds a balance")

// FundedView is the view of [World.Fund].
func (w *World) FundedView(ctx context.Context, o Order) (*View, error) {
	f, err := w.Fund(ctx, o)
	if err != nil {
		return nil, err
	}
	return f.View(), nil
}

// fund returns the overlay that tops the owner up to each grant. It writes
// nothing where the balance suffices, so that a historical owner is left as they
// were, and sets no allowance: asking for one is part of a plan.
func (w *World) fund(ctx context.Context, o *Order) (*overlay, error) {
	if o.ChainID != w.chainID {
		return nil, &intent.InfraFault{Err: fmt.Errorf("order for chain %d on a world of chain %d", o.ChainID, w.chainID)}
	}
	over := newOverlay()
	for _, g := range o.Grant {
		if err := ctx.Err(); err != nil {
			return nil, &intent.InfraFault{Err: err}
		}
		// Each grant sees the ones before it, so that the result is one state
		// and not a sum of guesses.
		if err := w.topUp(over, o.Owner, g); err != nil {
			return nil, o.coreFault("funding "+o.Owner.Hex(), err)
		}
	}
	return over, nil
}

// topUp raises account's balance of one token to the granted amount in over.
func (w *World) topUp(over *overlay, account common.Address, g Grant) error {
	p := w.newProbe(over, nil)
	defer p.close()
	have, err := p.balance(g.Token, account)
	if err != nil {
		return tokenError(g.Token, err)
	}
	if !have.Lt(g.Amount) {
		return nil
	}
	if g.Token == ETH {
		over.setBalance(account, g.Amount)
		return nil
	}
	s, err := w.findSlot(over, g.Token, account, have, g.Amount)
	if err != nil {
		return tokenError(g.Token, err)
	}
	over.setSlot(s.owner, s.key, s.holding(have, g.Amount))
	return nil
}

// A balanceSlot is a storage slot that a balanceOf call read.
type balanceSlot struct {
	owner common.Address // whose storage: the proxy's, where there is one
	key   common.Hash
	value common.Hash
}

// holding returns the slot's value with the balance have replaced by want. The
// difference is added rather than the word replaced, for tokens keep flags, such
// as a blacklist bit, in the same word above the balance.
func (s balanceSlot) holding(have, want *uint256.Int) common.Hash {
	word := new(uint256.Int).SetBytes(s.value[:])
	word.Sub(word, have)
	return word.Add(word, want).Bytes32()
}

// findSlot finds where a token keeps account's balance, by tracing balanceOf: of
// the slots it reads, the last that makes balanceOf return want, which have is
// not, once that is written there. No storage layout is assumed, and what is
// found is what was verified. A proxy reads where its code is first.
func (w *World) findSlot(over *overlay, token, account common.Address, have, want *uint256.Int) (balanceSlot, error) {
	list, err := w.slotsRead(over, token, account)
	if err != nil {
		return balanceSlot{}, err
	}
	for _, s := range slices.Backward(list) {
		found, err := w.reads(over, s, token, account, have, want)
		if err != nil || found {
			return s, err
		}
	}
	return balanceSlot{}, fmt.Errorf("%w of %s", errNoSlot, want.Dec())
}

// slotsRead lists the slots that balanceOf reads, each once, in order.
func (w *World) slotsRead(over *overlay, token, account common.Address) ([]balanceSlot, error) {
	var list []balanceSlot
	seen := make(map[balanceSlot]bool)
	p := w.newProbe(over, &tracing.Hooks{
		OnOpcode: func(_ uint64, op byte, _, _ uint64, scope tracing.OpContext, _ []byte, _ int, _ error) {
			stack := scope.StackData()
			if vm.OpCode(op) != vm.SLOAD || len(stack) == 0 || len(list) == slotCandidates {
				return
			}
			s := balanceSlot{owner: scope.Address(), key: stack[len(stack)-1].Bytes32()}
			if !seen[s] {
				seen[s] = true
				list = append(list, s)
			}
		},
	})
	defer p.close()
	if _, err := p.balance(token, account); err != nil {
		return nil, err
	}
	for i, s := range list {
		list[i].value = p.sdb.GetState(s.owner, s.key)
	}
	return list, nil
}

// reads reports whether balanceOf returns want once s holds it. A write that
// sends balanceOf astray, into a revert or into state nobody captured, is a no.
func (w *World) reads(over *overlay, s balanceSlot, token, account common.Address, have, want *uint256.Int) (bool, error) {
	p := w.newProbe(over, nil)
	defer p.close()
	p.sdb.SetState(s.owner, s.key, s.holding(have, want))
	got, err := p.balance(token, account)
	var missing *MissingError
	switch {
	case errors.Is(err, errNoBalance), errors.As(err, &missing):
		return false, nil
	case err != nil:
		return false, err
	}
	return got.Eq(want), nil
}
