package chain

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/triedb"
)

// blockHashWindow is how many blocks back BLOCKHASH sees.
const blockHashWindow = 256

// unknownRoot stands for the storage root of an account whose storage is not
// empty and whose root nobody recorded. The EVM only asks whether it is empty
// (EIP-7610).
var unknownRoot = common.Hash{31: 1}

// A World is a snapshot made ready to run on. It is immutable: any number of
// goroutines may use one.
type World struct {
	hash    common.Hash
	chainID uint64
	context Context
	closed  bool
	config  *params.ChainConfig

	accounts    map[common.Address]*account // nil value: known absent
	codes       map[common.Hash][]byte
	blockHashes map[uint64]common.Hash

	baseFee     *big.Int // of the context, as the EVM wants it; read-only
	blobBaseFee *big.Int
	database    state.Database // required by StateDB, never read: see reader
	jumpDests   vm.JumpDestCache
}

// NewWorld checks a snapshot and makes a world of it. The world keeps the
// snapshot's codes: they must not be changed afterwards. Errors are those of
// [Snapshot.Verify].
func NewWorld(s *Snapshot) (*World, error) {
	config, err := chainConfig(s.ForkRules, s.ChainID, s.Context.Time)
	if err != nil {
		return nil, err
	}
	hash, err := s.Hash()
	if err != nil {
		return nil, err
	}
	db := rawdb.NewMemoryDatabase()
	w := &World{
		hash:        hash,
		chainID:     s.ChainID,
		context:     s.Context.clone(),
		closed:      s.Closed,
		config:      config,
		accounts:    make(map[common.Address]*account, len(s.Accounts)+len(s.Absent)),
		codes:       make(map[common.Hash][]byte, len(s.Codes)),
		blockHashes: make(map[uint64]common.Hash, len(s.BlockHashes)),
		baseFee:     s.Context.BaseFee.ToBig(),
		blobBaseFee: s.Context.BlobBaseFee.ToBig(),
		database:    state.NewDatabase(triedb.NewDatabase(db, nil), state.NewCodeDB(db)),
		jumpDests:   core.NewJumpDestCache(),
	}
	for _, a := range s.Accounts {
		w.accounts[a.Address] = newAccount(a, s)
	}
	for _, addr := range s.Absent {
		w.accounts[addr] = nil
	}
	for _, code := range s.Codes {
		w.codes[crypto.Keccak256Hash(code)] = code
	}
	for _, b := range s.BlockHashes {
		w.blockHashes[b.Number] = b.Hash
	}
	return w, nil
}

func newAccount(a Account, s *Snapshot) *account {
	acc := &account{
		nonce:    a.Nonce,
		balance:  a.Balance.Clone(),
		codeHash: a.CodeHash,
		root:     a.StorageRoot,
		slots:    make(map[common.Hash]common.Hash, len(a.Slots)),
		zeros: s.Closed || a.Complete || a.StorageRoot == types.EmptyRootHash ||
			s.Provenance == Imported && a.CodeHash == types.EmptyCodeHash,
	}
	if acc.root == (common.Hash{}) {
		acc.root = types.EmptyRootHash
	}
	for _, slot := range a.Slots {
		acc.slots[slot.Key] = slot.Value
		if slot.Value != (common.Hash{}) && acc.root == types.EmptyRootHash {
			acc.root = unknownRoot
		}
	}
	return acc
}

// Hash returns the content hash of the snapshot: the world's name.
func (w *World) Hash() common.Hash { return w.hash }

// ChainID returns the chain's id.
func (w *World) ChainID() uint64 { return w.chainID }

// Context returns a copy of the context that everything executes in.
func (w *World) Context() Context { return w.context.clone() }

// newState returns a fresh StateDB over the world, with an overlay laid over it
// (nil: none), and the record of what was missing. Both belong to one goroutine.
// After each run, holes.err and then StateDB.Error must be asked.
func (w *World) newState(over *overlay) (*state.StateDB, *holes) {
	missing := new(holes)
	sdb, err := state.NewWithReader(types.EmptyRootHash, w.database, &reader{world: w, over: over, holes: missing})
	if err != nil {
		// NewWithReader opens nothing, so it cannot fail; if an upgrade of the
		// library changes that, no run may go on without a state.
		panic(fmt.Sprintf("chain: state over a reader: %v", err))
	}
	return sdb, missing
}

// newEVM returns an EVM in the world's context over a StateDB that newState made
// (or a copy of one). Missing reads stop it. Messages without fees are free, and
// the BASEFEE opcode still tells the truth. Callers release it when done.
func (w *World) newEVM(sdb *state.StateDB, cfg vm.Config) *vm.EVM {
	cfg.NoBaseFee = true
	missing := sdb.Reader().(*reader).holes
	random := w.context.PrevRandao
	evm := vm.NewEVM(vm.BlockContext{
		CanTransfer: core.CanTransfer,
		Transfer:    core.Transfer,
		GetHash:     func(n uint64) common.Hash { return w.blockHash(n, missing) },
		Coinbase:    w.context.Coinbase,
		GasLimit:    w.context.GasLimit,
		BlockNumber: w.context.number(),
		Time:        w.context.Time,
		Difficulty:  new(big.Int),
		BaseFee:     w.baseFee,
		BlobBaseFee: w.blobBaseFee,
		Random:      &random,
	}, sdb, w.config, cfg)
	evm.SetJumpDestCache(w.jumpDests)
	missing.cancel = evm.Cancel
	return evm
}

// blockHash is BLOCKHASH: zero outside of the window, as the EVM defines it; a
// hash inside of it that the snapshot does not hold is missing state.
func (w *World) blockHash(n uint64, missing *holes) common.Hash {
	if n >= w.context.Number || w.context.Number-n > blockHashWindow {
		return common.Hash{}
	}
	hash, ok := w.blockHashes[n]
	if !ok {
		// The EVM cannot be told; holes.err speaks for it.
		_ = missing.add(Hole{Block: &n})
	}
	return hash
}
