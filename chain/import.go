package chain

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/consensus/misc/eip4844"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
)

// Limits of what is imported.
const (
	LimitPrestateBytes    = 256 << 20
	LimitBlockBytes       = 64 << 20
	LimitBlockHashesBytes = 1 << 20
)

// An ImportError says what is wrong with an imported document.
type ImportError struct {
	Document string // "prestate", "block" or "block hashes"
	Reason   string // holds text of the document only quoted and shortened
}

func (e *ImportError) Error() string { return "import " + e.Document + ": " + e.Reason }

// ImportPrestate makes a snapshot of what a node reported about one block.
//
// prestate is the output of geth's prestate tracer, {address: {balance, nonce,
// code, codeHash, storage}}: the state before the block, as far as the block
// touches it. A balance is decimal or 0x-hexadecimal. An account without nonce,
// balance and code is known to be absent.
//
// block is the block as eth_getBlockByNumber returns it, and becomes the
// context. Its header must hash to the hash it states, so a header with fields
// that this build does not know is refused.
//
// blockHashes, which may be nil, is {number: hash} with decimal numbers, for
// BLOCKHASH. The parent's hash is in the block.
//
// Nothing proves an import; its provenance is [Imported]. Documents that cannot
// be read end in an *[ImportError], and other errors are those of
// [Snapshot.Verify].
func ImportPrestate(prestate, block, blockHashes io.Reader, chainID uint64) (*Snapshot, error) {
	header, err := importBlock(block)
	if err != nil {
		return nil, err
	}
	rules, config, err := rulesAt(chainID, header.Time)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{ChainID: chainID, ForkRules: rules, Provenance: Imported}
	if s.Context, err = headerContext(config, header); err != nil {
		return nil, err
	}
	if s.BlockHashes, err = importBlockHashes(blockHashes, header); err != nil {
		return nil, err
	}
	if err := s.importAccounts(prestate); err != nil {
		return nil, err
	}
	s.addAbsent(append(precompiles(config, s.Context), s.Context.Coinbase))
	if _, err := s.encode(); err != nil {
		return nil, err
	}
	return s, nil
}

// addAbsent lists accounts as absent unless they are listed already.
func (s *Snapshot) addAbsent(addrs []common.Address) {
	listed := make(map[common.Address]bool, len(s.Accounts)+len(s.Absent))
	for _, a := range s.Accounts {
		listed[a.Address] = true
	}
	for _, addr := range s.Absent {
		listed[addr] = true
	}
	for _, addr := range addrs {
		if !listed[addr] {
			listed[addr] = true
			s.Absent = append(s.Absent, addr)
		}
	}
}

// document reads one JSON document of bounded size.
func document(name string, r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("import %s: %w", name, err)
	case int64(len(b)) > limit:
		return nil, &ImportError{name, fmt.Sprintf("more than %d bytes", limit)}
	case !json.Valid(b):
		return nil, &ImportError{name, "not a json document"}
	}
	return b, nil
}

func importBlock(r io.Reader) (*types.Header, error) {
	const name = "block"
	b, err := document(name, r, LimitBlockBytes)
	if err != nil {
		return nil, err
	}
	var stated struct{ Hash *common.Hash }
	header := new(types.Header)
	if err := errors.Join(json.Unmarshal(b, &stated), json.Unmarshal(b, header)); err != nil {
		return nil, &ImportError{name, strconv.Quote(clip(err.Error()))}
	}
	switch {
	case stated.Hash == nil:
		return nil, &ImportError{name, "no hash: is it a pending block?"}
	case header.Hash() != *stated.Hash:
		return nil, &ImportError{name, fmt.Sprintf("its header hashes to %s, not to %s: altered, or with fields this build does not know", header.Hash(), *stated.Hash)}
	case header.SanityCheck() != nil || header.Number.Sign() == 0:
		return nil, &ImportError{name, "numbers out of range"}
	case header.Difficulty.Sign() != 0:
		return nil, &ImportError{name, "a proof-of-work block"}
	case header.BaseFee == nil || header.ExcessBlobGas == nil:
		return nil, &ImportError{name, "no base fee or no excess blob gas"}
	}
	return header, nil
}

// headerContext returns the context that a block's header states.
func headerContext(config *params.ChainConfig, h *types.Header) (Context, error) {
	// The blob base fee is e to the power excess/fraction, by a loop that grows
	// with the exponent; from 178 on it exceeds 256 bits.
	const limitExponent = 177
	blobs := config.BlobConfig(config.LatestFork(h.Time))
	if blobs == nil || blobs.UpdateFraction == 0 || *h.ExcessBlobGas/blobs.UpdateFraction > limitExponent {
		return Context{}, &ImportError{"block", fmt.Sprintf("excess blob gas %d has no fee", *h.ExcessBlobGas)}
	}
	baseFee, over := uint256.FromBig(h.BaseFee)
	blobBaseFee, overBlob := uint256.FromBig(eip4844.CalcBlobFee(config, h))
	if over || overBlob {
		return Context{}, &ImportError{"block", "fees exceed 256 bits"}
	}
	return Context{
		Number:      h.Number.Uint64(),
		Time:        h.Time,
		BaseFee:     baseFee,
		BlobBaseFee: blobBaseFee,
		PrevRandao:  h.MixDigest,
		Coinbase:    h.Coinbase,
		GasLimit:    h.GasLimit,
	}, nil
}

func importBlockHashes(r io.Reader, header *types.Header) ([]BlockHash, error) {
	const name = "block hashes"
	parent := BlockHash{header.Number.Uint64() - 1, header.ParentHash}
	list := []BlockHash{parent}
	if r == nil {
		return list, nil
	}
	b, err := document(name, r, LimitBlockHashesBytes)
	if err != nil {
		return nil, err
	}
	err = eachMember(b, func(key string, value json.RawMessage) error {
		number, err := strconv.ParseUint(key, 10, 64)
		if err != nil || key != strconv.FormatUint(number, 10) {
			return &ImportError{name, fmt.Sprintf("number %q", clip(key))}
		}
		hash, err := readHash(value)
		if err != nil {
			return &ImportError{name, fmt.Sprintf("block %d: its hash is not 32 bytes", number)}
		}
		if number != parent.Number {
			list = append(list, BlockHash{number, hash})
		} else if hash != parent.Hash {
			return &ImportError{name, fmt.Sprintf("block %d: not the parent hash that the block states", number)}
		}
		return nil
	})
	return list, shaped(name, err)
}

// shaped gives an errShape the name of its document.
func shaped(name string, err error) error {
	if errors.Is(err, errShape) {
		return &ImportError{name, "not a json object"}
	}
	return err
}

func (s *Snapshot) importAccounts(r io.Reader) error {
	const name = "prestate"
	b, err := document(name, r, LimitPrestateBytes)
	if err != nil {
		return err
	}
	seen := make(map[common.Address]bool)
	codes := make(map[common.Hash]bool)
	err = eachMember(b, func(key string, value json.RawMessage) error {
		addr, err := readAddress([]byte(strconv.Quote(key)))
		if err != nil {
			return &ImportError{name, fmt.Sprintf("address %q", clip(key))}
		}
		if seen[addr] {
			return &ImportError{name, fmt.Sprintf("account %s appears twice", addr)}
		}
		seen[addr] = true
		a, code, err := importAccount(addr, value)
		if err != nil {
			return &ImportError{name, fmt.Sprintf("account %s: %s", addr, err)}
		}
		if a == nil {
			s.Absent = append(s.Absent, addr)
			return nil
		}
		s.Accounts = append(s.Accounts, *a)
		if len(code) > 0 && !codes[a.CodeHash] {
			codes[a.CodeHash] = true
			s.Codes = append(s.Codes, code)
		}
		return nil
	})
	return shaped(name, err)
}

// importAccount reads one account and its code. It returns nil for an account
// that does not exist. Its errors are plain text for an ImportError.
func importAccount(addr common.Address, raw json.RawMessage) (*Account, []byte, error) {
	a := &Account{Address: addr}
	var code []byte
	var codeHash *common.Hash
	members, err := splitObject(raw, 5)
	if err != nil {
		return nil, nil, errors.New("not an object of at most 5 different members")
	}
	for _, m := range members {
		var err error
		switch m.key {
		case "balance":
			a.Balance, err = readBalance(m.value)
		case "nonce":
			a.Nonce, err = strconv.ParseUint(string(m.value), 10, 64)
		case "code":
			code, err = readBytes(m.value)
		case "codeHash":
			codeHash = new(common.Hash)
			*codeHash, err = readHash(m.value)
		case "storage":
			a.Slots, err = readStorage(m.value)
		default:
			return nil, nil, fmt.Errorf("member %q", clip(m.key))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("bad %s", m.key)
		}
	}
	if a.Balance == nil {
		return nil, nil, errors.New("no balance")
	}
	a.CodeHash = crypto.Keccak256Hash(code)
	if codeHash != nil && *codeHash != a.CodeHash && (len(code) > 0 || *codeHash != (common.Hash{})) {
		return nil, nil, errors.New("its code does not hash to its code hash")
	}
	if a.Nonce != 0 || !a.Balance.IsZero() || len(code) != 0 {
		return a, code, nil
	}
	for _, slot := range a.Slots {
		if slot.Value != (common.Hash{}) {
			return nil, nil, errors.New("storage without an account")
		}
	}
	return nil, nil, nil
}

// readBalance reads a decimal or 0x-hexadecimal string without leading zeros.
func readBalance(raw json.RawMessage) (*uint256.Int, error) {
	s, err := text(raw)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(s, "0x") {
		return readQuantity(raw)
	}
	if s == "" || strings.Trim(s, "0123456789") != "" || len(s) > 1 && s[0] == '0' {
		return nil, errShape
	}
	return uint256.FromDecimal(s)
}

// readHash reads 0x and 64 digits.
func readHash(raw json.RawMessage) (common.Hash, error) {
	b, err := readBytes(raw)
	if err != nil || len(b) != common.HashLength {
		return common.Hash{}, errShape
	}
	return common.Hash(b), nil
}

// readStorage reads {slot: value}, both 32 bytes. That no slot appears twice is
// left to the snapshot's own check.
func readStorage(raw json.RawMessage) ([]Slot, error) {
	var slots []Slot
	err := eachMember(raw, func(key string, value json.RawMessage) error {
		digits, ok := strings.CutPrefix(key, "0x")
		k, err := hex.DecodeString(digits)
		if !ok || err != nil || len(k) != common.HashLength {
			return errShape
		}
		v, err := readHash(value)
		if err != nil {
			return err
		}
		slots = append(slots, Slot{common.Hash(k), v})
		return nil
	})
	return slots, err
}
