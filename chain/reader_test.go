package chain_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/google/go-cmp/cmp"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
)

// What is known to be zero, and what is not (the rule in the package comment).
func TestKnownZero(t *testing.T) {
	imported := toySnapshot()
	codeless := &imported.Accounts[0] // toyOwner
	codeless.Slots = []chain.Slot{{Key: word(1), Value: word(7)}, {Key: word(2)}}
	proved := closedSnapshot(t)
	proved.Closed = false
	for i := byte(2); i <= 0x11; i++ {
		proved.Absent = append(proved.Absent, common.BytesToAddress([]byte{i}))
	}
	proved.Absent = append(proved.Absent, common.BytesToAddress([]byte{1, 0}), toyCoinbase)
	var (
		closed  = worldOf(t, closedSnapshot(t))
		open    = worldOf(t, imported)
		anchord = worldOf(t, proved)
		storage = common.HexToAddress("0xc002")
		plain   = common.HexToAddress("0xc001") // code, empty storage
	)
	hole := func(addr common.Address, slot *common.Hash) *chain.Hole {
		return &chain.Hole{Address: addr, Slot: slot}
	}
	at := func(n uint64) *common.Hash {
		key := word(n)
		return &key
	}
	for _, tt := range []struct {
		name    string
		world   *chain.World
		addr    common.Address
		slot    *common.Hash // nil: the account itself
		want    common.Hash  // of the slot, or the balance
		missing *chain.Hole
	}{
		{"a listed slot", closed, storage, at(0), word(1), nil},
		{"an unlisted slot of a closed snapshot", closed, storage, at(99), common.Hash{}, nil},
		{"an unlisted account of a closed snapshot", closed, toyUnknown, nil, common.Hash{}, nil},
		{"a slot of an unlisted account of a closed snapshot", closed, toyUnknown, at(0), common.Hash{}, nil},
		{"an account known to be absent", open, toyAbsent, nil, common.Hash{}, nil},
		{"a slot of an absent account", open, toyAbsent, at(0), common.Hash{}, nil},
		{"a precompile that is listed as absent", open, common.BytesToAddress([]byte{4}), nil, common.Hash{}, nil},
		{"an unlisted account", open, toyUnknown, nil, common.Hash{}, hole(toyUnknown, nil)},
		{"an unlisted slot of an account with unknown storage", open, toyOpen, at(0), common.Hash{}, hole(toyOpen, at(0))},
		{"an unlisted slot of a complete account", open, toyToken, at(0), common.Hash{}, nil},
		{"a listed slot of an imported account without code", open, toyOwner, at(1), word(7), nil},
		{"a listed zero", open, toyOwner, at(2), common.Hash{}, nil},
		{"an unlisted slot of an imported account without code", open, toyOwner, at(3), common.Hash{}, nil},
		{"an unlisted slot under an empty storage root", anchord, plain, at(0), common.Hash{}, nil},
		{"an unlisted slot under a storage root", anchord, storage, at(99), common.Hash{}, hole(storage, at(99))},
		{"an unlisted account of an open snapshot", anchord, toyUnknown, nil, common.Hash{}, hole(toyUnknown, nil)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sdb, missing := tt.world.NewState()
			got := common.Hash(sdb.GetBalance(tt.addr).Bytes32())
			if tt.slot != nil {
				// A state asks for slots of accounts that exist only; an
				// account made by the run itself makes it ask for others.
				if !sdb.Exist(tt.addr) {
					sdb.CreateAccount(tt.addr)
				}
				got = sdb.GetState(tt.addr, *tt.slot)
			}
			if got != tt.want {
				t.Errorf("read %s, want %s", got, tt.want)
			}
			if diff := cmp.Diff(tt.missing, missing()); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			if (sdb.Error() != nil) != (tt.missing != nil) {
				t.Errorf("state error %v", sdb.Error())
			}
		})
	}
}

// What is read after a missing read follows from a zero that is not true.
func TestOnlyTheFirstMissingReadIsNamed(t *testing.T) {
	sdb, missing := toyWorld(t).NewState()
	sdb.GetState(toyOpen, word(0))
	sdb.GetBalance(toyUnknown)
	key := word(0)
	if diff := cmp.Diff(&chain.Hole{Address: toyOpen, Slot: &key}, missing()); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}

// EIP-7610 asks whether an address has storage before a contract is made there.
func TestStorageIsSeenByContractCreation(t *testing.T) {
	s := toySnapshot()
	s.Accounts[0].Slots = []chain.Slot{{Key: word(1), Value: word(7)}}
	s.Accounts[1].Slots = []chain.Slot{{Key: word(1)}}
	sdb, _ := worldOf(t, s).NewState()
	if root := sdb.GetStorageRoot(s.Accounts[0].Address); root == types.EmptyRootHash || root == (common.Hash{}) {
		t.Errorf("an account with a set slot has the empty root %s", root)
	}
	if root := sdb.GetStorageRoot(s.Accounts[1].Address); root != types.EmptyRootHash {
		t.Errorf("an account without a set slot has root %s", root)
	}
}

// Runs write into their own state: nobody else sees it, nor the world.
func TestStatesShareNothing(t *testing.T) {
	w := toyWorld(t)
	write := func(sdb *state.StateDB) {
		sdb.SetBalance(toyOwner, uint256.NewInt(1), 0)
		sdb.SetState(toyToken, word(1), word(2))
		sdb.SetNonce(toyOwner, 9, 0)
		sdb.SetCode(toyOwner, []byte{1}, 0)
		sdb.GetBalance(toyPoor).SetUint64(1 << 60)
	}
	first, _ := w.NewState()
	write(first)
	second, _ := w.NewState()
	if got := second.GetBalance(toyOwner).Uint64(); got != toySpare {
		t.Errorf("balance %d", got)
	}
	if got := second.GetBalance(toyPoor).Uint64(); got != 1 {
		t.Errorf("balance %d, written through a pointer", got)
	}
	if second.GetState(toyToken, word(1)) != (common.Hash{}) || second.GetNonce(toyOwner) != 1 || second.GetCodeSize(toyOwner) != 0 {
		t.Error("a state sees what another wrote")
	}
}

// BLOCKHASH is zero outside of its window and unknown where no hash is listed.
func TestBlockHash(t *testing.T) {
	s := toySnapshot()
	s.BlockHashes = append(s.BlockHashes, chain.BlockHash{Number: toyNumber - 256, Hash: common.Hash{0xbb}})
	w := worldOf(t, s)
	block := func(n uint64) *uint64 { return &n }
	for _, tt := range []struct {
		name    string
		number  uint64
		want    common.Hash
		missing *chain.Hole
	}{
		{"the parent", toyNumber - 1, common.Hash{0xaa}, nil},
		{"the oldest in the window", toyNumber - 256, common.Hash{0xbb}, nil},
		{"one older", toyNumber - 257, common.Hash{}, nil},
		{"itself", toyNumber, common.Hash{}, nil},
		{"the future", toyNumber + 1, common.Hash{}, nil},
		{"one that is not listed", toyNumber - 2, common.Hash{}, &chain.Hole{Block: block(toyNumber - 2)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sdb, missing := w.NewState()
			evm := w.NewEVM(sdb)
			defer evm.Release()
			if got := evm.Context.GetHash(tt.number); got != tt.want {
				t.Errorf("GetHash() = %s, want %s", got, tt.want)
			}
			if diff := cmp.Diff(tt.missing, missing()); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			if evm.Cancelled() != (tt.missing != nil) {
				t.Errorf("canceled = %t", evm.Cancelled())
			}
		})
	}
}

func TestHoleString(t *testing.T) {
	key, block := word(0xab), uint64(12)
	for want, hole := range map[string]chain.Hole{
		"account 0x1000000000000000000000000000000000000006":                                                                         {Address: toyUnknown},
		"account 0x1000000000000000000000000000000000000006 slot 0x00000000000000000000000000000000000000000000000000000000000000ab": {Address: toyUnknown, Slot: &key},
		"block hash 12": {Block: &block},
	} {
		if got := hole.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}
