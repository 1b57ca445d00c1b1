package benchmark

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// A Pin is the block that an epoch runs a chain at.
type Pin struct {
	ChainID uint64
	Block   common.Hash // of the last block before the epoch's own
}

// DrawSeed is the seed of an epoch's draw and of all randomness in it: the SHA-256 of
// "assay:draw:v1", the length of network as 32 bits and network, epoch, and for each
// chain by its id that id and the pinned block's hash; numbers are big-endian, of 64
// bits. Nobody who takes part chooses any of it, and nobody knows it before the last
// block is there.
func DrawSeed(network string, epoch uint64, pins []Pin) [32]byte {
	b := []byte("assay:draw:v1")
	b = binary.BigEndian.AppendUint32(b, uint32(len(network)))
	b = append(b, network...)
	b = binary.BigEndian.AppendUint64(b, epoch)
	sorted := slices.Clone(pins)
	slices.SortFunc(sorted, func(a, b Pin) int {
		return cmp.Or(cmp.Compare(a.ChainID, b.ChainID), bytes.Compare(a.Block[:], b.Block[:]))
	})
	for _, p := range sorted {
		b = binary.BigEndian.AppendUint64(b, p.ChainID)
		b = append(b, p.Block[:]...)
	}
	return sha256.Sum256(b)
}

// A lot is the chance of one draw. What it says about a thing depends on the seed and
// that thing, not on what else is drawn.
type lot [32]byte

// hash is the lot of a thing, for a purpose.
func (l lot) hash(purpose, thing string) [32]byte {
	b := append([]byte("assay:draw:v1:"+purpose+"\x00"), l[:]...)
	return sha256.Sum256(append(b, thing...))
}

// below returns a number from 0 to n-1, each as likely as the other to within 2^-50.
// n is at most 1<<14.
func (l lot) below(n uint64, purpose, thing string) uint64 {
	sum := l.hash(purpose, thing)
	return binary.BigEndian.Uint64(sum[:]) % n
}

// shuffle puts things, by their names, in an order that the seed decides.
func shuffle[T any](l lot, purpose string, things []T, name func(T) string) {
	slices.SortFunc(things, func(a, b T) int {
		x, y := l.hash(purpose, name(a)), l.hash(purpose, name(b))
		return cmp.Or(bytes.Compare(x[:], y[:]), cmp.Compare(name(a), name(b)))
	})
}
