package chain_test

import (
	"bytes"
	"errors"
	"flag"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/triedb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/holiman/uint256"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/chain"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// closedSnapshot is a whole little chain. Its state root comes from the node's
// own genesis code.
func closedSnapshot(t testing.TB) *chain.Snapshot {
	t.Helper()
	alloc := types.GenesisAlloc{
		common.HexToAddress("0x01"):   {Balance: big.NewInt(7)},
		common.HexToAddress("0xa1"):   {Balance: new(big.Int).Lsh(big.NewInt(1), 255), Nonce: 3},
		common.HexToAddress("0xc001"): {Balance: new(big.Int), Nonce: 1, Code: asm("0 SLOAD 0 MSTORE 32 0 RETURN")},
		common.HexToAddress("0xc002"): {Balance: big.NewInt(1), Nonce: 1, Code: asm("STOP"), Storage: map[common.Hash]common.Hash{
			word(0): word(1), word(1): {0: 0xff}, {0: 0xaa}: {31: 0x80},
		}},
		common.HexToAddress("0xc003"): {Balance: big.NewInt(1), Nonce: 1, Code: asm("STOP"), Storage: map[common.Hash]common.Hash{
			word(5): word(1 << 40),
		}},
	}
	genesis := core.Genesis{Config: params.MainnetChainConfig, Alloc: alloc, Timestamp: toyTime - 12, Difficulty: new(big.Int)}
	header := &types.Header{
		Root: genesis.ToBlock().Root(), Number: big.NewInt(toyNumber - 1), Time: toyTime - 12, GasLimit: toyGasLimit,
		Difficulty: new(big.Int), BaseFee: big.NewInt(7_000_000_000),
	}
	s := &chain.Snapshot{
		ChainID: 1, ForkRules: "mainnet/osaka", Provenance: chain.Synthetic, Closed: true, Anchor: header,
		Context: chain.Context{
			Number: toyNumber, Time: toyTime, BaseFee: uint256.NewInt(7_000_000_000), BlobBaseFee: uint256.NewInt(1),
			PrevRandao: common.Hash{1}, Coinbase: toyCoinbase, GasLimit: toyGasLimit,
		},
		BlockHashes: []chain.BlockHash{{Number: toyNumber - 1, Hash: header.Hash()}, {Number: toyNumber - 256, Hash: common.Hash{9}}},
	}
	seen := map[common.Hash]bool{}
	for addr, g := range alloc {
		a := chain.Account{Address: addr, Nonce: g.Nonce, Balance: uint256.MustFromBig(g.Balance), CodeHash: crypto.Keccak256Hash(g.Code), StorageRoot: trieRoot(t, g.Storage)}
		for key, value := range g.Storage {
			a.Slots = append(a.Slots, chain.Slot{Key: key, Value: value})
		}
		if len(g.Code) > 0 && !seen[a.CodeHash] {
			seen[a.CodeHash] = true
			s.Codes = append(s.Codes, g.Code)
		}
		s.Accounts = append(s.Accounts, a)
	}
	return s
}

// trieRoot is a storage root by the full trie, where the package uses the stack
// trie.
func trieRoot(t testing.TB, storage map[common.Hash]common.Hash) common.Hash {
	t.Helper()
	tr := trie.NewEmpty(triedb.NewDatabase(rawdb.NewMemoryDatabase(), nil))
	for key, value := range storage {
		enc, err := rlp.EncodeToBytes(common.TrimLeftZeroes(value[:]))
		if err != nil {
			t.Fatal(err)
		}
		tr.MustUpdate(crypto.Keccak256(key[:]), enc)
	}
	return tr.Hash()
}

func encode(t testing.TB, s *chain.Snapshot) []byte {
	t.Helper()
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sortedCopy is the form in which a snapshot comes back from a file.
func sortedCopy(s *chain.Snapshot) *chain.Snapshot {
	c := *s
	c.BlockHashes = slices.Clone(s.BlockHashes)
	slices.SortFunc(c.BlockHashes, func(a, b chain.BlockHash) int { return int(int64(a.Number) - int64(b.Number)) })
	c.Accounts = slices.Clone(s.Accounts)
	slices.SortFunc(c.Accounts, func(a, b chain.Account) int { return a.Address.Cmp(b.Address) })
	for i := range c.Accounts {
		c.Accounts[i].Slots = slices.Clone(c.Accounts[i].Slots)
		slices.SortFunc(c.Accounts[i].Slots, func(a, b chain.Slot) int { return a.Key.Cmp(b.Key) })
	}
	c.Absent = slices.Clone(s.Absent)
	slices.SortFunc(c.Absent, common.Address.Cmp)
	c.Codes = slices.Clone(s.Codes)
	slices.SortFunc(c.Codes, func(a, b []byte) int { return bytes.Compare(crypto.Keccak256(a), crypto.Keccak256(b)) })
	return &c
}

var snapshotCmp = []cmp.Option{
	cmp.Comparer(func(a, b *types.Header) bool { return a == b || a != nil && b != nil && a.Hash() == b.Hash() }),
	cmp.Comparer(func(a, b *uint256.Int) bool { return a == b || a != nil && b != nil && a.Eq(b) }),
	cmpopts.EquateEmpty(),
}

func TestSnapshotRoundTrip(t *testing.T) {
	tiny := toySnapshot()
	tiny.Accounts, tiny.Codes = nil, nil
	tiny.Absent = append(tiny.Absent, toyCoinbase)
	if n := len(rawOf(t, tiny).bytes(t)); n >= zstd.MinWindowSize {
		t.Fatalf("tiny has %d bytes; it is here to be smaller than a compressor's window", n)
	}
	for name, s := range map[string]*chain.Snapshot{"closed": closedSnapshot(t), "open": toySnapshot(), "tiny": tiny} {
		file := encode(t, s)
		got, err := chain.DecodeSnapshot(file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(sortedCopy(s), got, snapshotCmp...); diff != "" {
			t.Errorf("%s: decoded (-want +got):\n%s", name, diff)
		}
		if again := encode(t, got); !bytes.Equal(file, again) {
			t.Errorf("%s: encoding a decoded snapshot gives other bytes", name)
		}
	}
}

// Every order of the lists is the same snapshot, and writing it does not disturb
// the caller's order.
func TestSnapshotHashIsOrderFree(t *testing.T) {
	base := closedSnapshot(t)
	want, err := base.Hash()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := *base
		s.Accounts = rapid.Permutation(base.Accounts).Draw(rt, "accounts")
		for i := range s.Accounts {
			s.Accounts[i].Slots = rapid.Permutation(s.Accounts[i].Slots).Draw(rt, "slots")
		}
		s.Codes = rapid.Permutation(base.Codes).Draw(rt, "codes")
		s.BlockHashes = rapid.Permutation(base.BlockHashes).Draw(rt, "hashes")
		before := slices.Clone(s.Accounts)
		slots := make([][]chain.Slot, len(before))
		for i := range before {
			slots[i] = slices.Clone(before[i].Slots)
		}
		got, err := s.Hash()
		if err != nil || got != want {
			rt.Fatalf("hash = %s (%v), want %s", got, err, want)
		}
		for i := range before {
			if s.Accounts[i].Address != before[i].Address || !slices.Equal(s.Accounts[i].Slots, slots[i]) {
				rt.Fatal("hashing reordered the caller's snapshot")
			}
		}
	})
}

// Any change of what a snapshot says changes its name.
func TestSnapshotHashCoversEverything(t *testing.T) {
	names := map[common.Hash]string{}
	for _, tt := range []struct {
		name   string
		change func(*chain.Snapshot)
	}{
		{"nothing", func(*chain.Snapshot) {}},
		{"number", func(s *chain.Snapshot) {
			s.Context.Number++
			s.BlockHashes = append(s.BlockHashes, chain.BlockHash{Number: toyNumber})
		}},
		{"time", func(s *chain.Snapshot) { s.Context.Time++ }},
		{"base fee", func(s *chain.Snapshot) { s.Context.BaseFee = uint256.NewInt(1) }},
		{"blob base fee", func(s *chain.Snapshot) { s.Context.BlobBaseFee = uint256.NewInt(2) }},
		{"prevrandao", func(s *chain.Snapshot) { s.Context.PrevRandao[5] = 1 }},
		{"gas limit", func(s *chain.Snapshot) { s.Context.GasLimit++ }},
		{"block hash", func(s *chain.Snapshot) { s.BlockHashes[0].Hash[3]++ }},
		{"balance", func(s *chain.Snapshot) { s.Accounts[0].Balance = uint256.NewInt(99) }},
		{"nonce", func(s *chain.Snapshot) { s.Accounts[0].Nonce++ }},
		{"complete", func(s *chain.Snapshot) { s.Accounts[0].Complete = true }},
		{"slot", func(s *chain.Snapshot) { s.Accounts[4].Slots[0].Value[0]++ }},
		{"known zero", func(s *chain.Snapshot) {
			s.Accounts[4].Slots = append(s.Accounts[4].Slots, chain.Slot{Key: word(77)})
		}},
		{"absent", func(s *chain.Snapshot) { s.Absent = append(s.Absent, common.HexToAddress("0xdead")) }},
	} {
		s := toySnapshot()
		tt.change(s)
		hash, err := s.Hash()
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if other, ok := names[hash]; ok {
			t.Errorf("%s and %s have the same hash", tt.name, other)
		}
		names[hash] = tt.name
	}
}

// Files written by an earlier build stay readable, under the same name.
func TestSnapshotGolden(t *testing.T) {
	path := filepath.Join("testdata", "closed.snap")
	s := closedSnapshot(t)
	if *update {
		if err := os.WriteFile(path, encode(t, s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := chain.OpenSnapshot(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sortedCopy(s), got, snapshotCmp...); diff != "" {
		t.Errorf("golden file (-want +got):\n%s", diff)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := s.Hash()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file[8+4+32:8+4+64], hash[:]) {
		t.Errorf("golden file is named %x, the snapshot %x", file[44:76], hash)
	}
}

func TestDecodeSnapshotRefusesDamage(t *testing.T) {
	file := encode(t, closedSnapshot(t))
	content := rawOf(t, closedSnapshot(t)).bytes(t)
	frame := frameOf(t, content)
	if _, err := chain.DecodeSnapshot(fileOf(frame, content)); err != nil {
		t.Fatalf("the undamaged file: %v", err)
	}
	change := func(at int, b byte) []byte {
		c := slices.Clone(file)
		c[at] ^= b
		return c
	}
	frames := func(list ...[]byte) []byte { return slices.Concat(list...) }
	skippable := []byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7}
	half := len(content) / 2
	bomb := make([]byte, 64<<20)

	for _, tt := range []struct {
		name string
		file []byte
		err  error
	}{
		{"no file at all", nil, chain.ErrNotSnapshot},
		{"shorter than the header", file[:75], chain.ErrNotSnapshot},
		{"another magic", change(0, 1), chain.ErrNotSnapshot},
		{"another version", change(11, 3), chain.ErrVersion},
		{"payload hash altered", change(12, 1), chain.ErrCorrupt},
		{"content hash altered", change(44, 1), chain.ErrCorrupt},
		{"payload altered", change(len(file)-1, 1), chain.ErrCorrupt},
		{"cut off", file[:len(file)-1], chain.ErrCorrupt},
		{"a byte more", append(slices.Clone(file), 0), chain.ErrCorrupt},
		{"no frame", fileOf(nil, content), chain.ErrCorrupt},
		{"frame cut off, hashes right", fileOf(frame[:len(frame)-1], content), chain.ErrCorrupt},
		{"a byte after the frame", fileOf(frames(frame, []byte{0}), content), chain.ErrCorrupt},
		{"the content in two frames", fileOf(frames(frameOf(t, content[:half]), frameOf(t, content[half:])), content), chain.ErrCorrupt},
		{"a skippable frame after", fileOf(frames(frame, skippable), content), chain.ErrCorrupt},
		{"a skippable frame before", fileOf(frames(skippable, frame), content), chain.ErrCorrupt},
		{"a frame with checksum", fileOf(frameOf(t, content, zstd.WithEncoderCRC(true)), content), chain.ErrCorrupt},
		{"a frame of unstated size", fileOf(frameOf(t, content, zstd.WithSingleSegment(false)), content), chain.ErrCorrupt},
		{"a bomb", fileOf(frameOf(t, bomb), bomb), chain.ErrLimit},
		{"content of nothing", fileOf(frameOf(t, []byte{0x80}), []byte{0x80}), chain.ErrCorrupt},
		{"content and a byte", fileOf(frameOf(t, append(slices.Clone(content), 0)), append(slices.Clone(content), 0)), chain.ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := chain.DecodeSnapshot(tt.file); !errors.Is(err, tt.err) {
				t.Errorf("DecodeSnapshot() = %v, want %v", err, tt.err)
			}
		})
	}
}

// There is one form of each content: a decoder that repaired others would give
// one snapshot several names.
func TestDecodeSnapshotRefusesOtherForms(t *testing.T) {
	swap := func(n int, f func(i, j int)) { f(0, n-1) }
	for _, tt := range []struct {
		name   string
		change func(c *rawContent)
		err    error
	}{
		{"accounts unsorted", func(c *rawContent) {
			swap(len(c.Accounts), func(i, j int) { c.Accounts[i], c.Accounts[j] = c.Accounts[j], c.Accounts[i] })
		}, chain.ErrInvalid},
		{"an account twice", func(c *rawContent) { c.Accounts = append(c.Accounts, c.Accounts[len(c.Accounts)-1]) }, chain.ErrInvalid},
		{"slots unsorted", func(c *rawContent) {
			s := c.Accounts[3].Slots
			s[0], s[1] = s[1], s[0]
		}, chain.ErrInvalid},
		{"codes unsorted", func(c *rawContent) { c.Codes[0], c.Codes[1] = c.Codes[1], c.Codes[0] }, chain.ErrInvalid},
		{"a code twice", func(c *rawContent) { c.Codes = append(c.Codes, c.Codes[1]) }, chain.ErrInvalid},
		{"block hashes unsorted", func(c *rawContent) { c.BlockHashes[0], c.BlockHashes[1] = c.BlockHashes[1], c.BlockHashes[0] }, chain.ErrInvalid},
		{"a header with a field this build does not know", func(c *rawContent) { c.Anchor = longHeader(t, c.Anchor) }, chain.ErrCorrupt},
		{"an anchor that is a string", func(c *rawContent) { c.Anchor = rlp.EmptyString }, chain.ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := rawOf(t, closedSnapshot(t))
			tt.change(c)
			content := c.bytes(t)
			if _, err := chain.DecodeSnapshot(fileOf(frameOf(t, content), content)); !errors.Is(err, tt.err) {
				t.Errorf("DecodeSnapshot() = %v, want %v", err, tt.err)
			}
		})
	}
}

// longHeader appends fields to a header until it has more than any build knows.
func longHeader(t *testing.T, header rlp.RawValue) rlp.RawValue {
	t.Helper()
	var fields []rlp.RawValue
	if err := rlp.DecodeBytes(header, &fields); err != nil {
		t.Fatal(err)
	}
	for len(fields) < 40 {
		fields = append(fields, rlp.RawValue{0x01})
	}
	b, err := rlp.EncodeToBytes(fields)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
