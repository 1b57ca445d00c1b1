package chain_test

import (
	"encoding/binary"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
)

// bigSnapshot has 2,000 accounts, half of them contracts, with 200 slots each.
func bigSnapshot() *chain.Snapshot {
	s := toySnapshot()
	code := make([]byte, 12<<10)
	for i := range code {
		code[i] = byte(i * i >> 3)
	}
	s.Codes = append(s.Codes, code)
	hash := crypto.Keccak256Hash(code)
	name := func(kind byte, i, j int) common.Hash {
		var b [17]byte
		b[0] = kind
		binary.BigEndian.PutUint64(b[1:], uint64(i))
		binary.BigEndian.PutUint64(b[9:], uint64(j))
		return crypto.Keccak256Hash(b[:])
	}
	for i := range 2000 {
		h := name('a', i, 0)
		a := chain.Account{Address: common.Address(h[:20]), Nonce: 1, Balance: new(uint256.Int).SetBytes(h[:8]), CodeHash: types.EmptyCodeHash}
		if i%2 == 0 {
			a.CodeHash = hash
			for j := range 200 {
				a.Slots = append(a.Slots, chain.Slot{Key: name('k', i, j), Value: name('v', i, j)})
			}
		}
		s.Accounts = append(s.Accounts, a)
	}
	return s
}

// BenchmarkLoad is from the bytes of a file to a world: 200,000 slots.
func BenchmarkLoad(b *testing.B) {
	file := encode(b, bigSnapshot())
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := chain.DecodeSnapshot(file)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := chain.NewWorld(s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecode is BenchmarkLoad without the world.
func BenchmarkDecode(b *testing.B) {
	file := encode(b, bigSnapshot())
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := chain.DecodeSnapshot(file); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNewState is what every run pays before it starts.
func BenchmarkNewState(b *testing.B) {
	w := toyWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		sdb, _ := w.NewState()
		w.NewEVM(sdb).Release()
	}
}
