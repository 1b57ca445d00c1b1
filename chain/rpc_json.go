package chain

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
)

// errShape says that a JSON value is not of the expected kind. It never leaves
// the package.
var errShape = errors.New("unexpected json")

// A member of a JSON object, its value as it was sent.
type member struct {
	key   string
	value json.RawMessage
}

// eachMember calls f with the members of a JSON object, in their order. b must be
// valid JSON; values are parts of it.
func eachMember(b []byte, f func(key string, value json.RawMessage) error) error {
	return eachPart(b, '{', func(at int) (int, error) {
		end := valueEnd(b, at)
		key, err := text(b[at:end])
		if err != nil {
			return 0, err
		}
		at = skipSpace(b, skipSpace(b, end)+1) // over the colon
		end = valueEnd(b, at)
		return end, f(key, b[at:end:end])
	})
}

// splitObject returns the members of a small JSON object. Keys that appear twice
// are refused, and so are more members than limit.
func splitObject(b []byte, limit int) ([]member, error) {
	list := make([]member, 0, limit)
	err := eachMember(b, func(key string, value json.RawMessage) error {
		for _, other := range list {
			if other.key == key {
				return errShape
			}
		}
		if len(list) == limit {
			return errShape
		}
		list = append(list, member{key, value})
		return nil
	})
	return list, err
}

// splitArray returns the elements of a JSON array, refusing more than limit. b
// must be valid JSON; the elements are parts of it.
func splitArray(b []byte, limit int) ([]json.RawMessage, error) {
	var list []json.RawMessage
	err := eachPart(b, '[', func(at int) (int, error) {
		if len(list) == limit {
			return 0, errShape
		}
		end := valueEnd(b, at)
		list = append(list, b[at:end:end])
		return end, nil
	})
	return list, err
}

// eachPart calls f with the place of each part of an object or array, which f
// returns the end of. It relies on b being valid JSON.
func eachPart(b []byte, open byte, f func(at int) (int, error)) error {
	at := skipSpace(b, 0)
	if b[at] != open {
		return errShape
	}
	for at = skipSpace(b, at+1); b[at] != ']' && b[at] != '}'; {
		end, err := f(at)
		if err != nil {
			return err
		}
		if at = skipSpace(b, end); b[at] == ',' {
			at = skipSpace(b, at+1)
		}
	}
	return nil
}

func skipSpace(b []byte, at int) int {
	for b[at] == ' ' || b[at] == '\t' || b[at] == '\r' || b[at] == '\n' {
		at++
	}
	return at
}

// valueEnd returns the end of the value that starts at a place in valid JSON.
func valueEnd(b []byte, at int) int {
	depth := 0
	for ; at < len(b); at++ {
		switch b[at] {
		case '"':
			for at++; b[at] != '"'; at++ {
				if b[at] == '\\' {
					at++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return at // of what holds a number, true, false or null
			}
			depth--
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return at + 1
		}
	}
	return at
}

// text returns the value of a JSON string.
func text(raw json.RawMessage) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errShape
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

func hexDigits(raw json.RawMessage) (string, error) {
	s, err := text(raw)
	if err != nil {
		return "", err
	}
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok {
		return "", errShape
	}
	return digits, nil
}

// readAddress reads 0x and 40 digits of any case; checksums are not checked.
func readAddress(raw json.RawMessage) (common.Address, error) {
	b, err := readBytes(raw)
	if err != nil || len(b) != common.AddressLength {
		return common.Address{}, errShape
	}
	return common.Address(b), nil
}

// readBytes reads 0x and an even number of digits.
func readBytes(raw json.RawMessage) ([]byte, error) {
	digits, err := hexDigits(raw)
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(digits)
}

// readQuantity reads 0x and digits without leading zeros, at most 256 bits.
func readQuantity(raw json.RawMessage) (*uint256.Int, error) {
	digits, err := hexDigits(raw)
	if err != nil {
		return nil, err
	}
	return uint256.FromHex("0x" + digits)
}

// readUint64 is readQuantity for 64 bits.
func readUint64(raw json.RawMessage) (uint64, error) {
	n, err := readQuantity(raw)
	if err != nil {
		return 0, err
	}
	if !n.IsUint64() {
		return 0, errShape
	}
	return n.Uint64(), nil
}

// readSlot reads 0x and 1 to 64 digits, leading zeros or not: both a quantity
// and 32 bytes are in use.
func readSlot(raw json.RawMessage) (common.Hash, error) {
	digits, err := hexDigits(raw)
	if err != nil || len(digits) == 0 || len(digits) > 2*common.HashLength {
		return common.Hash{}, errShape
	}
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	b, err := hex.DecodeString(digits)
	return common.BytesToHash(b), err
}

// readID returns an id as it was sent: a string, a number or null, of bounded
// length.
func readID(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || len(raw) > limitIDBytes {
		return nil, errShape
	}
	switch raw[0] {
	case '{', '[', 't', 'f':
		return nil, errShape
	}
	return raw, nil
}

// quoteHex returns bytes as a JSON string of hex digits.
func quoteHex(b []byte) string {
	out := make([]byte, 0, 4+2*len(b))
	out = append(out, `"0x`...)
	out = hex.AppendEncode(out, b)
	return string(append(out, '"'))
}

// quoteUint64 returns a number as a JSON string of hex digits.
func quoteUint64(n uint64) string { return `"0x` + strconv.FormatUint(n, 16) + `"` }

// quoteUint256 is quoteUint64 for 256 bits.
func quoteUint256(n *uint256.Int) string { return `"` + n.Hex() + `"` }

// appendResult appends a reply whose result is JSON.
func appendResult(b []byte, id json.RawMessage, result string) []byte {
	b = append(b, `{"id":`...)
	b = appendID(b, id)
	b = append(b, `,"jsonrpc":"2.0","result":`...)
	b = append(b, result...)
	return append(b, '}')
}

// appendError appends an error reply. Messages are this package's own and hold
// nothing that JSON escapes.
func appendError(b []byte, id json.RawMessage, e *rpcError) []byte {
	b = append(b, `{"error":{"code":`...)
	b = strconv.AppendInt(b, int64(e.code), 10)
	if e.data != "" {
		b = append(b, `,"data":`...)
		b = append(b, e.data...)
	}
	b = append(b, `,"message":"`...)
	b = append(b, e.message...)
	b = append(b, `"},"id":`...)
	b = appendID(b, id)
	return append(b, `,"jsonrpc":"2.0"}`...)
}

func appendID(b []byte, id json.RawMessage) []byte {
	if id == nil {
		return append(b, "null"...)
	}
	return append(b, id...)
}
