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

// eachMember calls f with the members of a JSON object, in their order.
func eachMember(b []byte, f func(key string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errShape
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		// In the place of a key the decoder yields nothing but strings.
		if err := f(key.(string), value); err != nil {
			return err
		}
	}
	_, err := dec.Token() // the closing brace
	return err
}

// splitObject returns the members of a small JSON object. Keys that appear twice
// are refused, and so are more members than limit.
func splitObject(b []byte, limit int) ([]member, error) {
	var list []member
	err := eachMember(b, func(key string, value json.RawMessage) error {
		for _, other := range list {
			if other.key == key {
				return errShape
			}
		}
		if list = append(list, member{key, value}); len(list) > limit {
			return errShape
		}
		return nil
	})
	return list, err
}

// splitArray returns the elements of a valid JSON array, refusing more than
// limit.
func splitArray(b []byte, limit int) ([]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, errShape
	}
	var list []json.RawMessage
	for dec.More() {
		if len(list) == limit {
			return nil, errShape
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

// text returns the value of a JSON string.
func text(raw json.RawMessage) (string, error) {
	var s string
	if len(raw) == 0 || raw[0] != '"' {
		return "", errShape
	}
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
