package chain_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/klauspost/compress/zstd"

	"github.com/subnet112/assay/chain"
)

// rawContent is the file format written down a second time.
type rawContent struct {
	ChainID               uint64
	ForkRules, Provenance string
	Closed                bool
	Anchor                rlp.RawValue
	Context               chain.Context
	BlockHashes           []chain.BlockHash
	Accounts              []chain.Account
	Absent                []common.Address
	Codes                 [][]byte
}

func rawOf(t testing.TB, s *chain.Snapshot) *rawContent {
	t.Helper()
	s = sortedCopy(s)
	anchor := rlp.RawValue(rlp.EmptyList)
	if s.Anchor != nil {
		var err error
		if anchor, err = rlp.EncodeToBytes(s.Anchor); err != nil {
			t.Fatal(err)
		}
	}
	return &rawContent{s.ChainID, s.ForkRules, s.Provenance, s.Closed, anchor, s.Context, s.BlockHashes, s.Accounts, s.Absent, s.Codes}
}

func (c *rawContent) bytes(t testing.TB) []byte {
	t.Helper()
	b, err := rlp.EncodeToBytes(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func frameOf(t testing.TB, content []byte, options ...zstd.EOption) []byte {
	t.Helper()
	zw, err := zstd.NewWriter(nil, append([]zstd.EOption{zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(1)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer zw.Close()
	return zw.EncodeAll(content, nil)
}

// fileOf wraps a frame that claims to hold a content.
func fileOf(frame, content []byte) []byte {
	payload, name := sha256.Sum256(frame), sha256.Sum256(content)
	b := binary.BigEndian.AppendUint32([]byte("assaysnp"), 1)
	return append(append(append(b, payload[:]...), name[:]...), frame...)
}

func FuzzDecodeSnapshot(f *testing.F) {
	f.Add(encode(f, closedSnapshot(f)))
	f.Add(encode(f, toySnapshot()))
	f.Fuzz(func(t *testing.T, file []byte) { roundTrip(t, file) })
}

// The hashes of a file keep a fuzzer away from what is inside; this target gives
// it the content.
func FuzzDecodeContent(f *testing.F) {
	f.Add(rawOf(f, closedSnapshot(f)).bytes(f))
	f.Add(rawOf(f, toySnapshot()).bytes(f))
	f.Fuzz(func(t *testing.T, content []byte) { roundTrip(t, fileOf(storedFrame(content), content)) })
}

// storedFrame is a frame of uncompressed blocks (RFC 8878, 3.1.1), for a
// compressor would take a fuzzer's time.
func storedFrame(content []byte) []byte {
	const blockLimit = 128 << 10
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0b10_1_00000} // four bytes of size, single segment
	frame = binary.LittleEndian.AppendUint32(frame, uint32(len(content)))
	for {
		size := min(len(content), blockLimit)
		header := uint32(size) << 3
		if size == len(content) {
			header |= 1 // the last
		}
		frame = append(frame, byte(header), byte(header>>8), byte(header>>16))
		frame = append(frame, content[:size]...)
		if content = content[size:]; len(content) == 0 {
			return frame
		}
	}
}

func TestStoredFrame(t *testing.T) {
	content := rawOf(t, closedSnapshot(t)).bytes(t)
	if _, err := chain.DecodeSnapshot(fileOf(storedFrame(content), content)); err != nil {
		t.Error(err)
	}
}

// roundTrip checks that what decodes encodes to the same content.
func roundTrip(t *testing.T, file []byte) {
	s, err := chain.DecodeSnapshot(file)
	if err != nil {
		return
	}
	hash, err := s.Hash()
	if err != nil {
		t.Fatalf("decoded, but: %v", err)
	}
	if !bytes.Equal(hash[:], file[44:76]) {
		t.Fatalf("decoded from %x, encodes to %x", file[44:76], hash)
	}
	if _, err := chain.NewWorld(s); err != nil {
		t.Fatalf("decoded, but: %v", err)
	}
}
