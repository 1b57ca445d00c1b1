package chain_test

import (
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
)

func TestVerifyReports(t *testing.T) {
	closed, open := closedSnapshot(t), toySnapshot()
	for _, tt := range []struct {
		name      string
		s         *chain.Snapshot
		statement string
		root      common.Hash
	}{
		{"a closed snapshot rebuilds its state root", closed, "synthetic, closed: state root rebuilt", closed.Anchor.Root},
		{"an import is proved by nothing", open, "imported: nothing proves this state", common.Hash{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hash, err := tt.s.Hash()
			if err != nil {
				t.Fatal(err)
			}
			want := chain.Report{
				Hash: hash, ChainID: 1, ForkRules: "mainnet/osaka", Provenance: tt.s.Provenance, Closed: tt.s.Closed, StateRoot: tt.root,
				Context: tt.s.Context, Accounts: len(tt.s.Accounts), Absent: len(tt.s.Absent), Codes: len(tt.s.Codes), BlockHashes: len(tt.s.BlockHashes),
				ContentBytes: len(rawOf(t, tt.s).bytes(t)),
			}
			for _, a := range tt.s.Accounts {
				want.Slots += len(a.Slots)
			}
			for _, code := range tt.s.Codes {
				want.CodeBytes += len(code)
			}
			got, err := tt.s.Verify()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, snapshotCmp...); diff != "" {
				t.Errorf("Verify() (-want +got):\n%s", diff)
			}
			if got.Statement() != tt.statement {
				t.Errorf("Statement() = %q, want %q", got.Statement(), tt.statement)
			}
		})
	}
}

// An open snapshot with an anchor claims proofs that are not in the file.
func TestVerifyDoesNotBelieve(t *testing.T) {
	s := closedSnapshot(t)
	s.Closed = false
	for i := byte(1); i <= 0x11; i++ {
		if i != 1 { // the closed snapshot has that one
			s.Absent = append(s.Absent, common.BytesToAddress([]byte{i}))
		}
	}
	s.Absent = append(s.Absent, common.BytesToAddress([]byte{1, 0}), toyCoinbase)
	for _, provenance := range []string{chain.Proved, chain.Synthetic} {
		s.Provenance = provenance
		if _, err := s.Verify(); !errors.Is(err, chain.ErrUnproved) {
			t.Errorf("%s: Verify() = %v, want %v", provenance, err, chain.ErrUnproved)
		}
		if _, err := s.Encode(); err != nil {
			t.Errorf("%s: it can be written beside its proofs, but: %v", provenance, err)
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	huge := make([]byte, chain.LimitCodeBytes+1)
	for _, tt := range []struct {
		name   string
		base   func(testing.TB) *chain.Snapshot
		change func(s *chain.Snapshot)
		err    error
	}{
		{"a missing fee", open, func(s *chain.Snapshot) { s.Context.BaseFee = nil }, chain.ErrInvalid},
		{"a missing blob fee", open, func(s *chain.Snapshot) { s.Context.BlobBaseFee = nil }, chain.ErrInvalid},
		{"no gas limit", open, func(s *chain.Snapshot) { s.Context.GasLimit = 0 }, chain.ErrInvalid},
		{"the genesis block as context", open, func(s *chain.Snapshot) { s.Context.Number = 0 }, chain.ErrInvalid},
		{"another chain", open, func(s *chain.Snapshot) { s.ChainID = 5 }, chain.ErrForkRules},
		{"rules of another time", open, func(s *chain.Snapshot) { s.ForkRules = "mainnet/prague" }, chain.ErrForkRules},
		{"rules nobody knows", open, func(s *chain.Snapshot) { s.ForkRules = "mainnet/osaka\x1b[31m" }, chain.ErrForkRules},
		{"an unknown provenance", open, func(s *chain.Snapshot) { s.Provenance = "hearsay" }, chain.ErrInvalid},
		{"an import with an anchor", closedSnapshot, func(s *chain.Snapshot) { s.Provenance = chain.Imported }, chain.ErrInvalid},
		{"a proof without an anchor", open, func(s *chain.Snapshot) { s.Provenance = chain.Proved }, chain.ErrInvalid},
		{"no parent hash", open, func(s *chain.Snapshot) { s.BlockHashes = nil }, chain.ErrInvalid},
		{"a hash before the window", open, func(s *chain.Snapshot) {
			s.BlockHashes = append(s.BlockHashes, chain.BlockHash{Number: toyNumber - 257})
		}, chain.ErrInvalid},
		{"a hash of the context's own block", open, func(s *chain.Snapshot) {
			s.BlockHashes = append(s.BlockHashes, chain.BlockHash{Number: toyNumber})
		}, chain.ErrInvalid},
		{"a block hash twice", open, func(s *chain.Snapshot) { s.BlockHashes = append(s.BlockHashes, s.BlockHashes[0]) }, chain.ErrInvalid},
		{"an anchor that hashes to something else", closedSnapshot, func(s *chain.Snapshot) { s.Anchor.Extra = []byte{1} }, chain.ErrInvalid},
		{"an anchor that is not the parent", closedSnapshot, func(s *chain.Snapshot) { reanchor(s, func(h *types.Header) { h.Number = big.NewInt(7) }) }, chain.ErrInvalid},
		{"an anchor whose number is beyond all numbers", closedSnapshot, func(s *chain.Snapshot) {
			reanchor(s, func(h *types.Header) { h.Number = new(big.Int).Lsh(big.NewInt(1), 64) })
		}, chain.ErrInvalid},
		{"an anchor as late as its child", closedSnapshot, func(s *chain.Snapshot) { reanchor(s, func(h *types.Header) { h.Time = toyTime }) }, chain.ErrInvalid},
		{"an account twice", open, func(s *chain.Snapshot) { s.Accounts = append(s.Accounts, s.Accounts[0]) }, chain.ErrInvalid},
		{"an account that is absent", open, func(s *chain.Snapshot) { s.Absent = append(s.Absent, toyOwner) }, chain.ErrInvalid},
		{"an absent account twice", open, func(s *chain.Snapshot) { s.Absent = append(s.Absent, toyAbsent) }, chain.ErrInvalid},
		{"an account without balance", open, func(s *chain.Snapshot) { s.Accounts[0].Balance = nil }, chain.ErrInvalid},
		{"an empty account", open, func(s *chain.Snapshot) {
			s.Accounts = append(s.Accounts, chain.Account{Address: common.Address{9}, Balance: new(uint256.Int), CodeHash: types.EmptyCodeHash})
		}, chain.ErrInvalid},
		{"a code that is missing", open, func(s *chain.Snapshot) { s.Accounts[0].CodeHash = common.Hash{1} }, chain.ErrInvalid},
		{"a code hash of zero", open, func(s *chain.Snapshot) { s.Accounts[0].CodeHash = common.Hash{} }, chain.ErrInvalid},
		{"a code nobody has", open, func(s *chain.Snapshot) { s.Codes = append(s.Codes, []byte{1}) }, chain.ErrInvalid},
		{"a code twice", open, func(s *chain.Snapshot) { s.Codes = append(s.Codes, s.Codes[0]) }, chain.ErrInvalid},
		{"an empty code", open, func(s *chain.Snapshot) { s.Codes = append(s.Codes, nil) }, chain.ErrInvalid},
		{"a code no chain allows", open, func(s *chain.Snapshot) {
			s.Accounts[0].CodeHash = crypto.Keccak256Hash(huge)
			s.Codes = append(s.Codes, huge)
		}, chain.ErrLimit},
		{"a slot twice", open, func(s *chain.Snapshot) {
			a := &s.Accounts[4]
			a.Slots = append(a.Slots, a.Slots[0])
		}, chain.ErrInvalid},
		{"an import that knows a storage root", open, func(s *chain.Snapshot) { s.Accounts[0].StorageRoot = types.EmptyRootHash }, chain.ErrInvalid},
		{"an unknown storage root outside of imports", closedSnapshot, func(s *chain.Snapshot) { s.Accounts[0].StorageRoot = common.Hash{} }, chain.ErrInvalid},
		{"a slot under an empty root", closedSnapshot, func(s *chain.Snapshot) {
			contract(s).StorageRoot = types.EmptyRootHash
		}, chain.ErrInvalid},
		{"a complete account with a slot too few", closedSnapshot, func(s *chain.Snapshot) {
			a := contract(s)
			a.Complete, a.Slots = true, a.Slots[1:]
		}, chain.ErrInvalid},
		{"a closed snapshot with a slot too few", closedSnapshot, func(s *chain.Snapshot) {
			a := contract(s)
			a.Slots = a.Slots[1:]
		}, chain.ErrInvalid},
		{"a closed snapshot without an account", closedSnapshot, func(s *chain.Snapshot) {
			for i, a := range s.Accounts {
				if a.CodeHash == types.EmptyCodeHash {
					s.Accounts = append(s.Accounts[:i], s.Accounts[i+1:]...)
					return
				}
			}
		}, chain.ErrStateRoot},
		{"a closed snapshot with a wei too much", closedSnapshot, func(s *chain.Snapshot) {
			s.Accounts[0].Balance = new(uint256.Int).AddUint64(s.Accounts[0].Balance, 1)
		}, chain.ErrStateRoot},
		{"a closed snapshot with a list of absent accounts", closedSnapshot, func(s *chain.Snapshot) { s.Absent = []common.Address{toyAbsent} }, chain.ErrInvalid},
		{"a closed snapshot without anchor", open, func(s *chain.Snapshot) { s.Closed, s.Absent = true, nil }, chain.ErrInvalid},
		{"an open snapshot that is silent about a precompile", open, func(s *chain.Snapshot) { s.Absent = s.Absent[:len(s.Absent)-1] }, chain.ErrInvalid},
		{"an open snapshot that is silent about the coinbase", open, func(s *chain.Snapshot) { s.Context.Coinbase = toyUnknown }, chain.ErrInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.base(t)
			tt.change(s)
			if _, err := s.Verify(); !errors.Is(err, tt.err) {
				t.Errorf("Verify() = %v, want %v", err, tt.err)
			}
			if _, err := s.Encode(); !errors.Is(err, tt.err) {
				t.Errorf("Encode() = %v, want %v", err, tt.err)
			}
			if _, err := chain.NewWorld(s); !errors.Is(err, tt.err) {
				t.Errorf("NewWorld() = %v, want %v", err, tt.err)
			}
		})
	}
}

func open(testing.TB) *chain.Snapshot { return toySnapshot() }

// contract returns an account of the closed snapshot that has storage.
func contract(s *chain.Snapshot) *chain.Account {
	for i := range s.Accounts {
		if len(s.Accounts[i].Slots) > 0 {
			return &s.Accounts[i]
		}
	}
	return nil
}

// reanchor changes the anchor and records its new hash.
func reanchor(s *chain.Snapshot, change func(*types.Header)) {
	s.Anchor = types.CopyHeader(s.Anchor)
	change(s.Anchor)
	s.BlockHashes[0].Hash = s.Anchor.Hash()
}

// Fork times are the network's, from its specification of each upgrade.
func TestForkRulesAt(t *testing.T) {
	for _, tt := range []struct {
		name    string
		chainID uint64
		time    uint64
		want    string // "" for ErrForkRules
	}{
		{"before Cancun", 1, 1710338134, ""},
		{"Cancun's first second", 1, 1710338135, "mainnet/cancun"},
		{"before Prague", 1, 1746612310, "mainnet/cancun"},
		{"Prague's first second", 1, 1746612311, "mainnet/prague"},
		{"Osaka's first second", 1, 1764798551, "mainnet/osaka"},
		{"a fork of blob parameters keeps the rules", 1, 1767747671, "mainnet/osaka"},
		{"another chain", 10, 1764798551, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := chain.ForkRulesAt(tt.chainID, tt.time)
			if got != tt.want || (tt.want == "") != errors.Is(err, chain.ErrForkRules) {
				t.Errorf("ForkRulesAt() = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
