package chain

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
)

// A Hole is one piece of state that a run needed and the snapshot does not know:
// an account, a slot of an account, or the hash of a block.
type Hole struct {
	Address common.Address // zero for a block hash
	Slot    *common.Hash   // nil for an account or a block hash
	Block   *uint64        // number of the block whose hash is missing, else nil
}

// String names the hole with fixed words: guests may read it.
func (h Hole) String() string {
	switch {
	case h.Block != nil:
		return fmt.Sprintf("block hash %d", *h.Block)
	case h.Slot != nil:
		return fmt.Sprintf("account 0x%x slot 0x%x", h.Address[:], h.Slot[:])
	}
	return fmt.Sprintf("account 0x%x", h.Address[:])
}

// missingState says that a run read state outside of its snapshot. What the run
// returned is worthless: the EVM goes on with zeros until it stops.
type missingState struct{ hole Hole }

func (e *missingState) Error() string { return "state missing: " + e.hole.String() }

// holes records the first missing read of one run and stops the EVM there. What
// is read after it is no fact about the plan but a consequence of the zero that
// stood in, so it is not recorded. A holes belongs to one goroutine, as the
// StateDB it watches does.
type holes struct {
	first  *Hole
	cancel func() // stops the running EVM; nil before there is one
}

// add records a missing read, unless there was one before: the EVM notices a stop
// only at its next jump.
func (h *holes) add(hole Hole) error {
	if h.first == nil {
		h.first = &hole
	}
	if h.cancel != nil {
		h.cancel()
	}
	return &missingState{hole}
}

// missing returns the read that ended the run, or nil.
func (h *holes) missing() *Hole { return h.first }

// err is nil or a *missingState. It must be asked after each run before its
// outcome is believed: a run that a missing read has stopped looks like one that
// succeeded.
func (h *holes) err() error {
	if h.first == nil {
		return nil
	}
	return &missingState{*h.first}
}

// reset makes h ready for another run.
func (h *holes) reset() { *h = holes{} }

// An overlay is a small set of balances and slots laid over the base state. It
// is filled by one goroutine and immutable once a state was made with it.
type overlay struct {
	accounts map[common.Address]*change
}

type change struct {
	balance *uint256.Int // nil: the base's
	slots   map[common.Hash]common.Hash
}

func newOverlay() *overlay { return &overlay{accounts: make(map[common.Address]*change)} }

func (o *overlay) at(addr common.Address) *change {
	c := o.accounts[addr]
	if c == nil {
		c = &change{slots: make(map[common.Hash]common.Hash)}
		o.accounts[addr] = c
	}
	return c
}

// setBalance replaces an account's ETH balance, in wei. The account must be
// known to the base, as existing or as absent.
func (o *overlay) setBalance(addr common.Address, wei *uint256.Int) { o.at(addr).balance = wei.Clone() }

// setSlot replaces one storage slot, whether or not the base knows it.
func (o *overlay) setSlot(addr common.Address, key, value common.Hash) {
	o.at(addr).slots[key] = value
}

// balance returns the replaced balance of an account, or nil. A nil overlay
// changes nothing.
func (o *overlay) balance(addr common.Address) *uint256.Int {
	if o == nil {
		return nil
	}
	if c := o.accounts[addr]; c != nil {
		return c.balance
	}
	return nil
}

func (o *overlay) slot(addr common.Address, key common.Hash) (common.Hash, bool) {
	if o == nil {
		return common.Hash{}, false
	}
	if c := o.accounts[addr]; c != nil {
		v, ok := c.slots[key]
		return v, ok
	}
	return common.Hash{}, false
}

// account is one account of a world, read-only.
type account struct {
	nonce    uint64
	balance  *uint256.Int
	codeHash common.Hash
	root     common.Hash
	slots    map[common.Hash]common.Hash
	zeros    bool // slots that are not listed are zero
}

// A reader serves one StateDB from a world's maps. The maps are shared and
// read-only; the rest is the run's own.
type reader struct {
	world *World
	over  *overlay
	holes *holes

	keep bool       // slot reads are kept
	kept []slotRead // in order
}

// A slotRead is a slot that a state asked for, and what it held before anything
// ran. A state asks once for each slot, before it first reads or writes there.
type slotRead struct {
	addr       common.Address
	key, value common.Hash
}

// Account implements state.StateReader.
func (r *reader) Account(addr common.Address) (*types.StateAccount, error) {
	acc, known := r.world.accounts[addr]
	if !known && !r.world.closed {
		return nil, r.holes.add(Hole{Address: addr})
	}
	balance := r.over.balance(addr)
	if acc == nil {
		if balance == nil || balance.IsZero() {
			return nil, nil
		}
		fresh := types.NewEmptyStateAccount()
		fresh.Balance = balance.Clone()
		return fresh, nil
	}
	if balance == nil {
		balance = acc.balance
	}
	return &types.StateAccount{
		Nonce:    acc.nonce,
		Balance:  balance.Clone(),
		Root:     acc.root,
		CodeHash: acc.codeHash.Bytes(),
	}, nil
}

// Storage implements state.StateReader.
func (r *reader) Storage(addr common.Address, key common.Hash) (common.Hash, error) {
	value, err := r.slot(addr, key)
	if err == nil && r.keep {
		r.kept = append(r.kept, slotRead{addr, key, value})
	}
	return value, err
}

func (r *reader) slot(addr common.Address, key common.Hash) (common.Hash, error) {
	if v, ok := r.over.slot(addr, key); ok {
		return v, nil
	}
	acc, known := r.world.accounts[addr]
	switch {
	case !known && !r.world.closed:
		return common.Hash{}, r.holes.add(Hole{Address: addr, Slot: &key})
	case acc == nil:
		return common.Hash{}, nil
	}
	v, ok := acc.slots[key]
	if !ok && !acc.zeros {
		return common.Hash{}, r.holes.add(Hole{Address: addr, Slot: &key})
	}
	return v, nil
}

// Has implements state.ContractCodeReader.
func (r *reader) Has(_ common.Address, hash common.Hash) bool {
	_, ok := r.world.codes[hash]
	return ok
}

// Code implements state.ContractCodeReader. A world holds the code of each of
// its accounts, so a code that is not there belongs to no account.
func (r *reader) Code(_ common.Address, hash common.Hash) []byte { return r.world.codes[hash] }

// CodeSize implements state.ContractCodeReader.
func (r *reader) CodeSize(_ common.Address, hash common.Hash) int { return len(r.world.codes[hash]) }
