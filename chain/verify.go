package chain

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
)

// A Report is what verifying a snapshot found.
type Report struct {
	Hash       common.Hash // content hash
	ChainID    uint64
	ForkRules  string
	Provenance string
	Closed     bool

	// StateRoot is the anchor's, rebuilt from the accounts; zero unless closed.
	StateRoot common.Hash

	Context Context // of block N+1

	Accounts, Slots, Absent, Codes, BlockHashes int
	ContentBytes, CodeBytes                     int
}

// Statement says in one line what the report is worth.
func (r Report) Statement() string {
	switch {
	case r.Closed:
		return r.Provenance + ", closed: state root rebuilt"
	case r.Provenance == Imported:
		return "imported: nothing proves this state"
	}
	return r.Provenance
}

// Verify checks that a snapshot is one: that its lists are complete and free of
// duplicates, that every code an account names is there, that the header of its
// anchor hashes to the recorded block hash, that the fork rules are those of its
// chain at its time, that complete accounts rebuild their storage root and a
// closed snapshot the anchor's state root.
//
// An imported snapshot passes and is reported as such. An open snapshot that
// claims proofs is refused with [ErrUnproved], because the proofs are not in it.
// Other errors wrap [ErrInvalid], [ErrLimit], [ErrForkRules] or [ErrStateRoot].
func (s *Snapshot) Verify() (Report, error) {
	b, err := s.encode()
	if err != nil {
		return Report{}, err
	}
	if !s.Closed && s.Provenance != Imported {
		return Report{}, fmt.Errorf("%w: it is %s and not closed", ErrUnproved, s.Provenance)
	}
	r := Report{
		Hash:         sha256.Sum256(b),
		ChainID:      s.ChainID,
		ForkRules:    s.ForkRules,
		Provenance:   s.Provenance,
		Closed:       s.Closed,
		Context:      s.Context.clone(),
		Accounts:     len(s.Accounts),
		Absent:       len(s.Absent),
		Codes:        len(s.Codes),
		BlockHashes:  len(s.BlockHashes),
		ContentBytes: len(b),
	}
	if s.Closed {
		r.StateRoot = s.Anchor.Root
	}
	for _, a := range s.Accounts {
		r.Slots += len(a.Slots)
	}
	for _, code := range s.Codes {
		r.CodeBytes += len(code)
	}
	return r, nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// check verifies everything that the content alone can show. The lists must be
// sorted: an unsorted one reads as a duplicate or as disorder.
func (c *content) check() error {
	if err := c.checkContext(); err != nil {
		return err
	}
	if err := c.checkAnchor(); err != nil {
		return err
	}
	hashes, err := c.checkCodes()
	if err != nil {
		return err
	}
	if err := c.checkAccounts(hashes); err != nil {
		return err
	}
	if err := c.checkAbsent(); err != nil {
		return err
	}
	if c.Closed {
		return c.checkClosed()
	}
	return nil
}

func (c *content) checkContext() error {
	switch {
	case c.Context.BaseFee == nil || c.Context.BlobBaseFee == nil:
		return invalid("context without fees")
	case c.Context.Number == 0:
		return invalid("context of the genesis block")
	case c.Context.GasLimit == 0:
		return invalid("context without gas limit")
	}
	_, err := chainConfig(c.ForkRules, c.ChainID, c.Context.Time)
	return err
}

func (c *content) checkAnchor() error {
	switch c.Provenance {
	case Imported:
		if c.Anchor != nil {
			return invalid("imported, but with an anchor")
		}
	case Proved, Synthetic:
		if c.Anchor == nil {
			return invalid("%s, but without an anchor", c.Provenance)
		}
	default:
		return invalid("provenance %q", clip(c.Provenance))
	}

	parent := c.Context.Number - 1
	known := false
	for i, b := range c.BlockHashes {
		if i > 0 && c.BlockHashes[i-1].Number >= b.Number {
			return invalid("block hashes out of order at block %d", b.Number)
		}
		if b.Number > parent || c.Context.Number-b.Number > blockHashWindow {
			return invalid("hash of block %d, outside of the window", b.Number)
		}
		if b.Number != parent {
			continue
		}
		known = true
		if c.Anchor != nil && c.Anchor.Hash() != b.Hash {
			return invalid("anchor hashes to %s, not to %s", c.Anchor.Hash(), b.Hash)
		}
	}
	if !known {
		return invalid("no hash of block %d", parent)
	}
	if c.Anchor == nil {
		return nil
	}
	if !c.Anchor.Number.IsUint64() || c.Anchor.Number.Uint64() != parent {
		return invalid("anchor is not block %d", parent)
	}
	if c.Anchor.Time >= c.Context.Time {
		return invalid("anchor at time %d is not before the context's %d", c.Anchor.Time, c.Context.Time)
	}
	return nil
}

// checkCodes returns the hashes of the codes, each mapped to false.
func (c *content) checkCodes() (map[common.Hash]bool, error) {
	hashes := make(map[common.Hash]bool, len(c.Codes))
	var last common.Hash
	for i, code := range c.Codes {
		if len(code) == 0 {
			return nil, invalid("empty code")
		}
		if len(code) > LimitCodeBytes {
			return nil, fmt.Errorf("%w: code of %d bytes, limit %d", ErrLimit, len(code), LimitCodeBytes)
		}
		hash := crypto.Keccak256Hash(code)
		if i > 0 && compareHashes(last, hash) >= 0 {
			return nil, invalid("codes out of order at %s", hash)
		}
		hashes[hash], last = false, hash
	}
	return hashes, nil
}

// checkAccounts marks the codes it meets as used.
func (c *content) checkAccounts(codes map[common.Hash]bool) error {
	for i := range c.Accounts {
		a := &c.Accounts[i]
		if i > 0 && compareAddresses(c.Accounts[i-1].Address, a.Address) >= 0 {
			return invalid("accounts out of order at %s", a.Address)
		}
		if a.CodeHash != types.EmptyCodeHash {
			if _, ok := codes[a.CodeHash]; !ok {
				return invalid("account %s: no code %s", a.Address, a.CodeHash)
			}
			codes[a.CodeHash] = true
		}
		if err := a.check(c.Provenance == Imported); err != nil {
			return err
		}
	}
	for _, code := range c.Codes {
		if hash := crypto.Keccak256Hash(code); !codes[hash] {
			return invalid("code %s belongs to no account", hash)
		}
	}
	return nil
}

func (a *Account) check(imported bool) error {
	if a.Balance == nil {
		return invalid("account %s: no balance", a.Address)
	}
	if a.Nonce == 0 && a.Balance.IsZero() && a.CodeHash == types.EmptyCodeHash {
		return invalid("account %s: empty, which is absent (EIP-161)", a.Address)
	}
	if unknown := a.StorageRoot == (common.Hash{}); unknown != imported {
		if unknown {
			return invalid("account %s: no storage root", a.Address)
		}
		return invalid("account %s: imported, but with a storage root", a.Address)
	}
	for i, slot := range a.Slots {
		if i > 0 && compareSlots(a.Slots[i-1], slot) >= 0 {
			return invalid("account %s: slots out of order at %s", a.Address, slot.Key)
		}
		if a.StorageRoot == types.EmptyRootHash && slot.Value != (common.Hash{}) {
			return invalid("account %s: slot %s is set under an empty storage root", a.Address, slot.Key)
		}
	}
	if a.Complete && !imported {
		return a.checkStorage()
	}
	return nil
}

func (c *content) checkAbsent() error {
	for i, addr := range c.Absent {
		if i > 0 && compareAddresses(c.Absent[i-1], addr) >= 0 {
			return invalid("absent accounts out of order at %s", addr)
		}
		if c.lists(addr) {
			return invalid("account %s is both there and absent", addr)
		}
	}
	if c.Closed {
		if len(c.Absent) > 0 {
			return invalid("closed, but with a list of absent accounts")
		}
		return nil
	}
	config, err := chainConfig(c.ForkRules, c.ChainID, c.Context.Time)
	if err != nil {
		return err
	}
	for _, addr := range append(precompiles(config, c.Context), c.Context.Coinbase) {
		if _, absent := slices.BinarySearchFunc(c.Absent, addr, compareAddresses); !absent && !c.lists(addr) {
			return invalid("%s, a precompile or the coinbase, is neither there nor absent", addr)
		}
	}
	return nil
}

// lists reports whether an account is listed as existing.
func (c *content) lists(addr common.Address) bool {
	_, ok := slices.BinarySearchFunc(c.Accounts, addr, func(a Account, addr common.Address) int {
		return compareAddresses(a.Address, addr)
	})
	return ok
}

// checkClosed rebuilds the whole state.
func (c *content) checkClosed() error {
	if c.Anchor == nil {
		return invalid("closed, but without an anchor")
	}
	leaves := make([]leaf, 0, len(c.Accounts))
	for i := range c.Accounts {
		a := &c.Accounts[i]
		if !a.Complete { // else it was rebuilt already
			if err := a.checkStorage(); err != nil {
				return err
			}
		}
		value, err := rlp.EncodeToBytes(&types.StateAccount{
			Nonce:    a.Nonce,
			Balance:  a.Balance,
			Root:     a.StorageRoot,
			CodeHash: a.CodeHash.Bytes(),
		})
		if err != nil {
			return invalid("account %s: %w", a.Address, err)
		}
		leaves = append(leaves, leaf{crypto.Keccak256Hash(a.Address[:]), value})
	}
	root, err := rootOf(leaves)
	if err != nil {
		return err
	}
	if root != c.Anchor.Root {
		return fmt.Errorf("%w: %s, not %s", ErrStateRoot, root, c.Anchor.Root)
	}
	return nil
}

// A leaf of a secure Merkle Patricia trie.
type leaf struct {
	key   common.Hash // Keccak-256 of the address or slot
	value []byte      // RLP
}

// rootOf returns the root of the trie that holds exactly these leaves, which it
// sorts.
func rootOf(leaves []leaf) (common.Hash, error) {
	slices.SortFunc(leaves, func(a, b leaf) int { return compareHashes(a.key, b.key) })
	t := trie.NewStackTrie(nil)
	for _, l := range leaves {
		if err := t.Update(l.key[:], l.value); err != nil {
			return common.Hash{}, invalid("trie: %w", err)
		}
	}
	return t.Hash(), nil
}

// checkStorage rebuilds the storage root of an account whose slots are all there.
func (a *Account) checkStorage() error {
	leaves := make([]leaf, 0, len(a.Slots))
	for _, slot := range a.Slots {
		if slot.Value == (common.Hash{}) {
			continue
		}
		value, err := rlp.EncodeToBytes(bytes.TrimLeft(slot.Value[:], "\x00"))
		if err != nil {
			return invalid("account %s: %w", a.Address, err)
		}
		leaves = append(leaves, leaf{crypto.Keccak256Hash(slot.Key[:]), value})
	}
	root, err := rootOf(leaves)
	if err != nil {
		return err
	}
	if root != a.StorageRoot {
		return invalid("account %s: its slots make storage root %s, not %s", a.Address, root, a.StorageRoot)
	}
	return nil
}
