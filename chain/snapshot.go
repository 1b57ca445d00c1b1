package chain

import (
	"bytes"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
)

// Provenance of a snapshot: where its state comes from.
const (
	Imported  = "imported"  // from a node's trace, nothing proves it; has no anchor
	Proved    = "proved"    // proofs against the anchor's state root exist
	Synthetic = "synthetic" // made for tests and fixtures, no chain ever had it
)

// A Snapshot is the part of a chain's state at the end of block N that a run
// needs, and the context of block N+1 in which everything executes.
//
// The order of its lists carries no meaning: [Snapshot.Encode] sorts them.
// Methods do not change the snapshot; whoever changes its fields must not do so
// beside them.
type Snapshot struct {
	ChainID    uint64
	ForkRules  string        // id of the rules at Context.Time, see [ForkRulesAt]
	Provenance string        // Imported, Proved or Synthetic
	Anchor     *types.Header // header of block N; nil exactly when imported
	Context    Context       // of block N+1

	// BlockHashes are hashes of blocks Context.Number-256 to Context.Number-1,
	// always with that of block N.
	BlockHashes []BlockHash

	// Accounts that exist. An account without nonce, balance and code does not
	// exist (EIP-161) and belongs into Absent.
	Accounts []Account

	// Absent accounts are known not to exist. In a snapshot that is not closed
	// the precompiles of the fork and the coinbase are here or in Accounts.
	Absent []common.Address

	// Codes of the accounts, each once, none unused.
	Codes [][]byte

	// Closed says that everything unlisted is absent or zero. It is refused
	// unless the state root rebuilt from the accounts equals the anchor's.
	Closed bool
}

// A Context is what a block tells the code it runs. One number and one time are
// visible anywhere: these.
type Context struct {
	Number      uint64
	Time        uint64         // unix seconds
	BaseFee     *uint256.Int   // wei per gas
	BlobBaseFee *uint256.Int   // wei per blob gas
	PrevRandao  common.Hash    // EIP-4399
	Coinbase    common.Address // fee recipient
	GasLimit    uint64
}

func (c Context) number() *big.Int { return new(big.Int).SetUint64(c.Number) }

// clone returns a copy that shares nothing with c.
func (c Context) clone() Context {
	c.BaseFee, c.BlobBaseFee = c.BaseFee.Clone(), c.BlobBaseFee.Clone()
	return c
}

// A BlockHash is the hash of an earlier block, for BLOCKHASH.
type BlockHash struct {
	Number uint64
	Hash   common.Hash
}

// An Account is an account that exists.
type Account struct {
	Address  common.Address
	Nonce    uint64
	Balance  *uint256.Int // wei
	CodeHash common.Hash  // [types.EmptyCodeHash] without code

	// StorageRoot is the root of the account's whole storage, zero where it is
	// unknown: in imported snapshots.
	StorageRoot common.Hash

	// Complete says that every slot that is not listed is zero.
	Complete bool

	Slots []Slot // known slots, known zeros included
}

// A Slot is one storage slot.
type Slot struct {
	Key, Value common.Hash
}

func compareAddresses(a, b common.Address) int { return bytes.Compare(a[:], b[:]) }
func compareHashes(a, b common.Hash) int       { return bytes.Compare(a[:], b[:]) }
func compareSlots(a, b Slot) int               { return compareHashes(a.Key, b.Key) }
func compareAccounts(a, b Account) int         { return compareAddresses(a.Address, b.Address) }

func compareBlockHashes(a, b BlockHash) int {
	switch {
	case a.Number < b.Number:
		return -1
	case a.Number > b.Number:
		return 1
	}
	return 0
}

func sortAddresses(list []common.Address) { slices.SortFunc(list, compareAddresses) }
