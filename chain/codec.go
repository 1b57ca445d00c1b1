package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/klauspost/compress/zstd"
)

// A snapshot file is
//
//	magic   8 bytes  "assaysnp"
//	version 4 bytes  big-endian, 1
//	payload SHA-256 of everything after the header
//	content SHA-256 of the content: the snapshot's name
//	one zstd frame that holds the content, and nothing after it
//
// The name is the hash of the content and not of the file, because compressors
// of different versions write different frames. A sidecar with proofs carries
// the same header with another magic.
const (
	magic         = "assaysnp"
	formatVersion = 1
	headerBytes   = len(magic) + 4 + 2*sha256.Size
)

// Limits of a snapshot. Files beyond them are refused, whoever writes them.
const (
	LimitFileBytes    = 256 << 20
	LimitContentBytes = 512 << 20
	LimitCodeBytes    = 64 << 10 // one code; today's protocol allows 24 KiB

	// A frame may hold at most limitExpansion times its own size, and always
	// expansionSlack: a small file must not make a reader allocate much. Real
	// state compresses by less than ten.
	limitExpansion = 64
	expansionSlack = 8 << 20
)

// Errors of snapshot files.
var (
	ErrNotSnapshot = errors.New("not a snapshot file")
	ErrVersion     = errors.New("snapshot written by another version")
	ErrCorrupt     = errors.New("corrupt snapshot")
	ErrLimit       = errors.New("snapshot too large")
	ErrInvalid     = errors.New("invalid snapshot")
	ErrStateRoot   = errors.New("state root differs from the anchor's")
	ErrUnproved    = errors.New("nothing here proves this snapshot")
)

// content is what the frame holds, as RLP. The order of the fields, here and in
// the types it names, is the file format.
type content struct {
	ChainID     uint64
	ForkRules   string
	Provenance  string
	Closed      bool
	Anchor      *types.Header `rlp:"nil"`
	Context     Context
	BlockHashes []BlockHash      // ascending by number
	Accounts    []Account        // ascending by address, slots ascending by key
	Absent      []common.Address // ascending
	Codes       [][]byte         // ascending by Keccak-256
}

// content returns the snapshot's sorted form. It shares what was sorted already.
func (s *Snapshot) content() *content {
	c := &content{
		ChainID:     s.ChainID,
		ForkRules:   s.ForkRules,
		Provenance:  s.Provenance,
		Closed:      s.Closed,
		Anchor:      s.Anchor,
		Context:     s.Context,
		BlockHashes: sorted(s.BlockHashes, compareBlockHashes),
		Accounts:    sorted(s.Accounts, compareAccounts),
		Absent:      sorted(s.Absent, compareAddresses),
		Codes:       sortedCodes(s.Codes),
	}
	for i, a := range c.Accounts {
		if slices.IsSortedFunc(a.Slots, compareSlots) {
			continue
		}
		if len(s.Accounts) > 0 && &c.Accounts[0] == &s.Accounts[0] {
			c.Accounts = slices.Clone(c.Accounts)
		}
		c.Accounts[i].Slots = sorted(a.Slots, compareSlots)
	}
	return c
}

// sorted returns list if it is sorted, else a sorted copy.
func sorted[T any](list []T, cmp func(a, b T) int) []T {
	if slices.IsSortedFunc(list, cmp) {
		return list
	}
	list = slices.Clone(list)
	slices.SortFunc(list, cmp)
	return list
}

func sortedCodes(codes [][]byte) [][]byte {
	type named struct {
		hash common.Hash
		code []byte
	}
	list := make([]named, len(codes))
	for i, code := range codes {
		list[i] = named{crypto.Keccak256Hash(code), code}
	}
	slices.SortFunc(list, func(a, b named) int { return compareHashes(a.hash, b.hash) })
	out := make([][]byte, len(list))
	for i, n := range list {
		out[i] = n.code
	}
	return out
}

// encode checks the snapshot and returns its content.
func (s *Snapshot) encode() ([]byte, error) {
	c := s.content()
	if err := c.check(); err != nil {
		return nil, err
	}
	b, err := rlp.EncodeToBytes(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if len(b) > LimitContentBytes {
		return nil, fmt.Errorf("%w: content of %d bytes, limit %d", ErrLimit, len(b), LimitContentBytes)
	}
	return b, nil
}

// Hash returns the snapshot's name: SHA-256 of its content. It does not depend
// on the order of lists. Errors are those of [Snapshot.Verify].
func (s *Snapshot) Hash() (common.Hash, error) {
	b, err := s.encode()
	if err != nil {
		return common.Hash{}, err
	}
	return sha256.Sum256(b), nil
}

// Encode returns the snapshot as a file. Errors are those of [Snapshot.Verify].
func (s *Snapshot) Encode() ([]byte, error) {
	b, err := s.encode()
	if err != nil {
		return nil, err
	}
	zw, err := zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedBestCompression),
		zstd.WithSingleSegment(true), // states the content's size
		zstd.WithEncoderCRC(false))   // the header's hashes say more
	if err != nil {
		return nil, fmt.Errorf("compress snapshot: %w", err)
	}
	defer zw.Close()
	frame := zw.EncodeAll(b, nil)
	if err := checkSizes(len(frame), uint64(len(b))); err != nil {
		return nil, err
	}

	payload, name := sha256.Sum256(frame), sha256.Sum256(b)
	file := make([]byte, 0, headerBytes+len(frame))
	file = append(file, magic...)
	file = binary.BigEndian.AppendUint32(file, formatVersion)
	file = append(file, payload[:]...)
	file = append(file, name[:]...)
	return append(file, frame...), nil
}

// OpenSnapshot reads a snapshot file. Errors are those of [DecodeSnapshot] and
// of the file system.
func OpenSnapshot(path string) (*Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open snapshot: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, LimitFileBytes+1)) // a pipe has no size to ask for
	if err != nil {
		return nil, fmt.Errorf("open snapshot: %w", err)
	}
	s, err := DecodeSnapshot(b)
	if err != nil {
		return nil, fmt.Errorf("open snapshot %s: %w", path, err)
	}
	return s, nil
}

// DecodeSnapshot reads a snapshot from the bytes of a file and checks it as
// [Snapshot.Verify] does, except that it does not ask for proofs. It accepts
// exactly one form of each content: whatever is unsorted, listed twice, padded or
// followed by more is refused. What it allocates is bounded by the input's size.
func DecodeSnapshot(b []byte) (*Snapshot, error) {
	if len(b) < headerBytes || string(b[:len(magic)]) != magic {
		return nil, ErrNotSnapshot
	}
	if len(b) > LimitFileBytes {
		return nil, fmt.Errorf("%w: %d bytes, limit %d", ErrLimit, len(b), LimitFileBytes)
	}
	rest := b[len(magic):]
	if v := binary.BigEndian.Uint32(rest); v != formatVersion {
		return nil, fmt.Errorf("%w: %d, this build reads %d", ErrVersion, v, formatVersion)
	}
	rest = rest[4:]
	payload, name, frame := rest[:sha256.Size], rest[sha256.Size:2*sha256.Size], rest[2*sha256.Size:]
	if got := sha256.Sum256(frame); !bytes.Equal(got[:], payload) {
		return nil, fmt.Errorf("%w: payload hash differs", ErrCorrupt)
	}
	raw, err := decompress(frame)
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(raw); !bytes.Equal(got[:], name) {
		return nil, fmt.Errorf("%w: content hash differs", ErrCorrupt)
	}
	var c content
	if err := rlp.DecodeBytes(raw, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Snapshot{
		ChainID:     c.ChainID,
		ForkRules:   c.ForkRules,
		Provenance:  c.Provenance,
		Anchor:      c.Anchor,
		Context:     c.Context,
		BlockHashes: c.BlockHashes,
		Accounts:    c.Accounts,
		Absent:      c.Absent,
		Codes:       c.Codes,
		Closed:      c.Closed,
	}, nil
}

// decompress returns what one zstd frame holds.
func decompress(frame []byte) ([]byte, error) {
	size, err := frameSize(frame)
	if err != nil {
		return nil, err
	}
	if err := checkSizes(len(frame), size); err != nil {
		return nil, err
	}
	// The library holds even a smaller frame to need its least window.
	zr, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(max(size, zstd.MinWindowSize)))
	if err != nil {
		return nil, fmt.Errorf("decompress snapshot: %w", err)
	}
	defer zr.Close()
	raw, err := zr.DecodeAll(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return raw, nil
}

func checkSizes(frame int, size uint64) error {
	if size > LimitContentBytes {
		return fmt.Errorf("%w: content of %d bytes, limit %d", ErrLimit, size, LimitContentBytes)
	}
	if limit := limitExpansion*uint64(frame) + expansionSlack; size > limit {
		return fmt.Errorf("%w: %d bytes expand to %d, limit %d", ErrLimit, frame, size, limit)
	}
	if frame > LimitFileBytes-headerBytes {
		return fmt.Errorf("%w: %d bytes, limit %d", ErrLimit, frame, LimitFileBytes-headerBytes)
	}
	return nil
}

// frameSize returns the size of what a zstd frame holds, once it is sure that b
// is exactly one frame of the kind that Encode writes: a single segment, its size
// stated, no dictionary, no checksum. The decoder itself would go on with further
// frames.
func frameSize(b []byte) (uint64, error) {
	var h zstd.Header
	rest, err := h.DecodeAndStrip(b)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if h.Skippable || !h.SingleSegment || !h.HasFCS || h.DictionaryID != 0 || h.HasCheckSum {
		return 0, fmt.Errorf("%w: unexpected kind of frame", ErrCorrupt)
	}
	for {
		if len(rest) < 3 {
			return 0, fmt.Errorf("%w: truncated frame", ErrCorrupt)
		}
		// RFC 8878, 3.1.1.2: one bit last, two bits type, 21 bits size.
		block := uint32(rest[0]) | uint32(rest[1])<<8 | uint32(rest[2])<<16
		last, kind, size := block&1 == 1, block>>1&3, int(block>>3)
		if kind == 1 { // a repeated byte
			size = 1
		}
		if rest = rest[3:]; len(rest) < size {
			return 0, fmt.Errorf("%w: truncated frame", ErrCorrupt)
		}
		if rest = rest[size:]; last {
			break
		}
	}
	if len(rest) != 0 {
		return 0, fmt.Errorf("%w: %d bytes after the frame", ErrCorrupt, len(rest))
	}
	return h.FrameContentSize, nil
}
