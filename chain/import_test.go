package chain_test

import (
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
)

const (
	importNumber = 19_426_600
	importTime   = 1_710_400_000 // Cancun
)

// blockJSON is a block as a node returns it, after change.
func blockJSON(t testing.TB, change func(h *types.Header)) string {
	t.Helper()
	zero := uint64(0)
	h := &types.Header{
		ParentHash: common.Hash{0xaa}, Coinbase: toyCoinbase, Difficulty: new(big.Int), Number: big.NewInt(importNumber), GasLimit: 30_000_000,
		Time: importTime, MixDigest: common.Hash{0xcc}, BaseFee: big.NewInt(11), WithdrawalsHash: &common.Hash{}, BlobGasUsed: &zero,
		ExcessBlobGas: &zero, ParentBeaconRoot: &common.Hash{},
	}
	change(h)
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	// Nodes add what is not in the header.
	return strings.Replace(string(b), "{", `{"size":"0x1","totalDifficulty":"0xc70d815d562d3cfa955","transactions":[],`, 1)
}

func plainBlock(t testing.TB) string { return blockJSON(t, func(*types.Header) {}) }

// importOf imports documents; an empty hashes means there is none.
func importOf(prestate, block, hashes string) (*chain.Snapshot, error) {
	var r io.Reader
	if hashes != "" {
		r = strings.NewReader(hashes)
	}
	return chain.ImportPrestate(strings.NewReader(prestate), strings.NewReader(block), r, 1)
}

func TestImportPrestate(t *testing.T) {
	const (
		a    = "0x00000000000000000000000000000000000000A1"
		b    = "0x00000000000000000000000000000000000000b2"
		c    = "0x00000000000000000000000000000000000000c3"
		slot = "0x0000000000000000000000000000000000000000000000000000000000000001"
	)
	s, err := importOf(`{
		"`+a+`": {"balance": "123456789012345678901234567890", "nonce": 7},
		"`+b+`": {"balance": "0x10", "code": "0x6001", "storage": {"`+slot+`": "`+slot+`"}},
		"`+c+`": {"balance": "0"}
	}`, plainBlock(t), `{"19426599": "0xaa`+strings.Repeat("0", 62)+`", "19426500": "0x`+strings.Repeat("1", 64)+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := &chain.Snapshot{
		ChainID: 1, ForkRules: "mainnet/cancun", Provenance: chain.Imported,
		Context: chain.Context{
			Number: importNumber, Time: importTime, BaseFee: uint256.NewInt(11), BlobBaseFee: uint256.NewInt(1), // no excess costs the minimum, 1 wei
			PrevRandao: common.Hash{0xcc}, Coinbase: toyCoinbase, GasLimit: 30_000_000,
		},
		BlockHashes: []chain.BlockHash{{Number: 19426500, Hash: common.HexToHash("0x" + strings.Repeat("1", 64))}, {Number: importNumber - 1, Hash: common.Hash{0xaa}}},
		Accounts: []chain.Account{
			{Address: common.HexToAddress(a), Nonce: 7, Balance: uint256.MustFromDecimal("123456789012345678901234567890"), CodeHash: types.EmptyCodeHash},
			{Address: common.HexToAddress(b), Balance: uint256.NewInt(16), CodeHash: crypto.Keccak256Hash([]byte{0x60, 1}), Slots: []chain.Slot{{Key: word(1), Value: word(1)}}},
		},
		Codes: [][]byte{{0x60, 1}},
	}
	// The precompiles of Cancun are 1 to 10. They and the coinbase are not in
	// the prestate, so they do not exist.
	for i := byte(1); i <= 10; i++ {
		want.Absent = append(want.Absent, common.BytesToAddress([]byte{i}))
	}
	want.Absent = append(want.Absent, common.HexToAddress(c), toyCoinbase)
	if diff := cmp.Diff(want, sortedCopy(s), snapshotCmp...); diff != "" {
		t.Errorf("imported (-want +got):\n%s", diff)
	}
	if _, err := s.Verify(); err != nil {
		t.Error(err)
	}
}

func TestImportRefuses(t *testing.T) {
	const (
		addr = "0x00000000000000000000000000000000000000a1"
		slot = "0x0000000000000000000000000000000000000000000000000000000000000001"
		fine = `{"` + addr + `":{"balance":"1"}}`
	)
	block := plainBlock(t)
	one := func(members string) string { return `{"` + addr + `":{` + members + `}}` }
	for _, tt := range []struct {
		name                    string
		prestate, block, hashes string
		document                string
		reason                  string
	}{
		{"nothing", "", block, "", "prestate", "json"},
		{"cut off", fine[:len(fine)-1], block, "", "prestate", "json"},
		{"more than one document", fine + fine, block, "", "prestate", "json"},
		{"a list", "[]", block, "", "prestate", "object"},
		{"null", "null", block, "", "prestate", "object"},
		{"an account that is null", `{"` + addr + `":null}`, block, "", "prestate", "object"},
		{"a short address", `{"0xa1":{"balance":"1"}}`, block, "", "prestate", "address"},
		{"an address with an escape", `{"\u001b[31m":{"balance":"1"}}`, block, "", "prestate", `address "\x1b[31m"`},
		{"an account twice, in another case", `{"` + addr + `":{"balance":"1"},"0x00000000000000000000000000000000000000A1":{"balance":"1"}}`, block, "", "prestate", "twice"},
		{"an unknown member", one(`"balance":"1","root":"0x"`), block, "", "prestate", `"root"`},
		{"a member twice", one(`"balance":"1","balance":"1"`), block, "", "prestate", "different members"},
		{"a member in another case", one(`"Balance":"1"`), block, "", "prestate", `"Balance"`},
		{"no balance", one(`"nonce":1`), block, "", "prestate", "no balance"},
		{"a negative balance", one(`"balance":"-1"`), block, "", "prestate", "bad balance"},
		{"a balance with a leading zero", one(`"balance":"01"`), block, "", "prestate", "bad balance"},
		{"a balance that is a number", one(`"balance":1`), block, "", "prestate", "bad balance"},
		{"a balance with an exponent", one(`"balance":"1e3"`), block, "", "prestate", "bad balance"},
		{"a balance of 2^256", one(`"balance":"115792089237316195423570985008687907853269984665640564039457584007913129639936"`), block, "", "prestate", "bad balance"},
		{"a hex balance of 2^256", one(`"balance":"0x1` + strings.Repeat("0", 64) + `"`), block, "", "prestate", "bad balance"},
		{"a nonce of -1", one(`"balance":"1","nonce":-1`), block, "", "prestate", "bad nonce"},
		{"a nonce of 2^64", one(`"balance":"1","nonce":18446744073709551616`), block, "", "prestate", "bad nonce"},
		{"a nonce that is a fraction", one(`"balance":"1","nonce":1.0`), block, "", "prestate", "bad nonce"},
		{"half a byte of code", one(`"balance":"1","code":"0x600"`), block, "", "prestate", "bad code"},
		{"code without 0x", one(`"balance":"1","code":"60"`), block, "", "prestate", "bad code"},
		{"code that does not hash", one(`"balance":"1","code":"0x60","codeHash":"` + slot + `"`), block, "", "prestate", "code hash"},
		{"a short slot", one(`"balance":"1","storage":{"0x1":"` + slot + `"}`), block, "", "prestate", "bad storage"},
		{"a short value", one(`"balance":"1","storage":{"` + slot + `":"0x1"}`), block, "", "prestate", "bad storage"},
		{"storage without an account", one(`"balance":"0","storage":{"` + slot + `":"` + slot + `"}`), block, "", "prestate", "storage without"},
		{"a block that is a list", fine, "[]", "", "block", ""},
		{"a block without hash", fine, strings.Replace(block, `"hash"`, `"hush"`, 1), "", "block", "pending"},
		{"an altered block", fine, strings.Replace(block, `"gasLimit":"0x1c9c380"`, `"gasLimit":"0x1c9c381"`, 1), "", "block", "hashes to"},
		{"a block whose hash covers more", fine, strings.Replace(block, `"hash":"0x`, `"hash":"0x00`, 1), "", "block", ""},
		{"a block without blob gas", fine, blockJSON(t, func(h *types.Header) { h.BlobGasUsed, h.ExcessBlobGas, h.ParentBeaconRoot = nil, nil, nil }), "", "block", "excess blob gas"},
		{"a block without base fee", fine, blockJSON(t, func(h *types.Header) {
			h.BaseFee, h.WithdrawalsHash, h.BlobGasUsed, h.ExcessBlobGas, h.ParentBeaconRoot = nil, nil, nil, nil, nil
		}), "", "block", "base fee"},
		{"a proof-of-work block", fine, blockJSON(t, func(h *types.Header) { h.Difficulty = big.NewInt(1) }), "", "block", "work"},
		{"a block number of 2^64", fine, blockJSON(t, func(h *types.Header) { h.Number = new(big.Int).Lsh(big.NewInt(1), 64) }), "", "block", "range"},
		{"the genesis block", fine, blockJSON(t, func(h *types.Header) { h.Number = new(big.Int) }), "", "block", "range"},
		{"excess blob gas whose fee would take forever", fine, blockJSON(t, func(h *types.Header) { *h.ExcessBlobGas = 1 << 63 }), "", "block", "no fee"},
		{"hashes that are a list", fine, block, "[]", "block hashes", "object"},
		{"a hash of a number in hex", fine, block, `{"0x1":"` + slot + `"}`, "block hashes", "number"},
		{"a hash of a number with a leading zero", fine, block, `{"019426500":"` + slot + `"}`, "block hashes", "number"},
		{"a short hash", fine, block, `{"19426500":"0x1"}`, "block hashes", "32 bytes"},
		{"another parent", fine, block, `{"19426599":"` + slot + `"}`, "block hashes", "parent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := importOf(tt.prestate, tt.block, tt.hashes)
			var bad *chain.ImportError
			if !errors.As(err, &bad) {
				t.Fatalf("ImportPrestate() = %v, want an ImportError", err)
			}
			if bad.Document != tt.document || !strings.Contains(bad.Reason, tt.reason) {
				t.Errorf("ImportPrestate() = %v, want %s: …%s…", err, tt.document, tt.reason)
			}
			if strings.ContainsAny(err.Error(), "\x1b\n\r") {
				t.Errorf("the error passes on control characters: %q", err)
			}
		})
	}
}

// What the documents say can still be no snapshot.
func TestImportChecksTheSnapshot(t *testing.T) {
	const addr = "0x00000000000000000000000000000000000000a1"
	slot := "0x" + strings.Repeat("ab", 32)
	for _, tt := range []struct {
		name                    string
		prestate, block, hashes string
		err                     error
	}{
		{"a slot twice, in another case", `{"` + addr + `":{"balance":"1","storage":{"` + slot + `":"` + slot + `","0xAB` + slot[4:] + `":"` + slot + `"}}}`, plainBlock(t), "", chain.ErrInvalid},
		{"a block hash twice", "{}", plainBlock(t), `{"19426500":"` + slot + `","19426500":"` + slot + `"}`, chain.ErrInvalid},
		{"a block hash outside of the window", "{}", plainBlock(t), `{"19426343":"` + slot + `"}`, chain.ErrInvalid},
		{"a block before Cancun", "{}", blockJSON(t, func(h *types.Header) { h.Time = 1_700_000_000 }), "", chain.ErrForkRules},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := importOf(tt.prestate, tt.block, tt.hashes)
			if !errors.Is(err, tt.err) {
				t.Errorf("ImportPrestate() = %v, want %v", err, tt.err)
			}
		})
	}
	if _, err := chain.ImportPrestate(strings.NewReader("{}"), strings.NewReader(plainBlock(t)), nil, 137); !errors.Is(err, chain.ErrForkRules) {
		t.Errorf("another chain: %v, want %v", err, chain.ErrForkRules)
	}
}

// A reader that breaks is no fault of the document.
func TestImportPassesOnReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := chain.ImportPrestate(iotest.ErrReader(broken), strings.NewReader(plainBlock(t)), nil, 1)
	if !errors.Is(err, broken) {
		t.Errorf("ImportPrestate() = %v, want %v", err, broken)
	}
}

func FuzzImportPrestate(f *testing.F) {
	block := plainBlock(f)
	f.Add(`{"0x00000000000000000000000000000000000000a1":{"balance":"1","nonce":2,"code":"0x60","storage":{}}}`, block, `{}`)
	f.Add(`{"0x00000000000000000000000000000000000000a1":{"balance":"0x1","codeHash":"0x"}}`, `{"hash":null}`, `{"1":"0x"}`)
	f.Fuzz(func(t *testing.T, prestate, doc, hashes string) {
		for _, b := range []string{block, doc} {
			s, err := importOf(prestate, b, hashes)
			if err != nil {
				continue
			}
			if _, err := s.Verify(); err != nil {
				t.Fatalf("imported, but: %v", err)
			}
		}
	})
}
