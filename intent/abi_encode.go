package intent

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Errors of [Function.Encode], inside a [*ParamError].
var (
	ErrMissing = errors.New("missing, and the manifest has no default")
	ErrParam   = errors.New("not a value of the type")
	ErrRange   = errors.New("out of the type's range")
	ErrLength  = errors.New("not of the type's length")
	ErrBig     = errors.New("the parameters are more than " + strconv.Itoa(MaxCallDataBytes) + " bytes")
)

// Encode returns the parameters in the contract ABI: one flat tuple of everything
// that the manifest declares, in its order, in_signature or not. Contracts get an
// intent's parameters so.
//
// A parameter that params lacks, or has as null or "", is the manifest's default;
// without one it is the owner for receiver and recipient, zero for those of a
// permit, and an error for any other: zero would be an answer that nobody gave. In
// an array nothing is missing.
//
// Amounts are decimal strings, or numbers of JSON within its exact integers, with a
// sign where the type has one. A bool is one or its text, true or false. Bytes are
// 0x and hex, exactly as many as the type says. Errors are a [*ParamError].
func (f Function) Encode(params map[string]any, owner string) ([]byte, error) {
	items := make([]abiItem, 0, len(f.Params))
	for _, p := range f.Params {
		t, err := parseType(p.Type)
		if err != nil {
			return nil, paramError(f, p, err)
		}
		item, err := p.encode(t, params[p.Name], owner)
		if err != nil {
			return nil, paramError(f, p, err)
		}
		items = append(items, item)
	}
	out := tuple(items)
	if len(out) > MaxCallDataBytes {
		return nil, &ParamError{Function: f.Name, Err: ErrBig}
	}
	return out, nil
}

func (p Param) encode(t *solType, value any, owner string) (abiItem, error) {
	if !present(value) && (t.base != "string" || value == nil) {
		switch {
		case p.Default != nil:
			value = p.Default
		case p.Name == "receiver" || p.Name == "recipient":
			value = owner
		case strings.HasPrefix(p.Name, permitPrefix):
			return abiItem{bytes: t.zero(), dynamic: t.dynamic()}, nil
		default:
			return abiItem{}, ErrMissing
		}
	}
	b, err := t.encode(value)
	return abiItem{bytes: b, dynamic: t.dynamic()}, err
}

// An abiItem is one encoded value of a tuple.
type abiItem struct {
	bytes   []byte
	dynamic bool
}

// tuple lays values out: each where it is declared, or there where it starts in the
// tail.
func tuple(items []abiItem) []byte {
	head := 0
	for _, item := range items {
		if item.dynamic {
			head += wordBytes
		} else {
			head += len(item.bytes)
		}
	}
	out, tail := make([]byte, 0, head), []byte(nil)
	for _, item := range items {
		if item.dynamic {
			out = append(out, uintWord(head+len(tail))...)
			tail = append(tail, item.bytes...)
		} else {
			out = append(out, item.bytes...)
		}
	}
	return append(out, tail...)
}

func uintWord(n int) []byte {
	word := make([]byte, wordBytes)
	binary.BigEndian.PutUint64(word[wordBytes-8:], uint64(n))
	return word
}

// padded fills up to whole words, zeros to the right.
func padded(b []byte) []byte {
	return append(b, make([]byte, (wordBytes-len(b)%wordBytes)%wordBytes)...)
}

// zero is the encoding of the type's zero: no elements, no bytes.
func (t *solType) zero() []byte {
	switch {
	case t.elem == nil || t.length < 0:
		return make([]byte, wordBytes)
	case !t.dynamic():
		return make([]byte, t.headBytes())
	}
	items := make([]abiItem, t.length)
	for i := range items {
		items[i] = abiItem{bytes: t.elem.zero(), dynamic: true}
	}
	return tuple(items)
}

func (t *solType) encode(v any) ([]byte, error) {
	if t.elem != nil {
		return t.encodeArray(v)
	}
	switch t.base {
	case "bool":
		return encodeBool(v)
	case "uint", "int":
		return t.encodeInteger(v)
	}
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("%s: %w", shape(v), ErrParam)
	}
	if t.base == "string" {
		return append(uintWord(len(text)), padded([]byte(text))...), nil
	}
	if !isHex(text) || len(text)%2 != 0 {
		return nil, fmt.Errorf("%s, want 0x and hex: %w", Quoted(text, shown), ErrParam)
	}
	b, err := hex.DecodeString(text[2:])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Quoted(text, shown), ErrParam)
	}
	want := t.size
	switch t.base {
	case "bytes":
		return append(uintWord(len(b)), padded(b)...), nil
	case "address":
		want = 20
	}
	if len(b) != want {
		return nil, fmt.Errorf("%s is %d bytes, want %d: %w", Quoted(text, shown), len(b), want, ErrLength)
	}
	if t.base == "address" {
		return append(make([]byte, wordBytes-len(b)), b...), nil
	}
	return padded(b), nil
}

// encodeArray reads a list of JSON.
func (t *solType) encodeArray(v any) ([]byte, error) {
	var values []any
	switch v := v.(type) {
	case []any:
		values = v
	case []string: // of a state that was never JSON
		for _, s := range v {
			values = append(values, s)
		}
	default:
		return nil, fmt.Errorf("%s: %w", shape(v), ErrParam)
	}
	if t.length >= 0 && len(values) != t.length {
		return nil, fmt.Errorf("%d elements, want %d: %w", len(values), t.length, ErrLength)
	}
	var items []abiItem
	size := 0
	for i, value := range values {
		b, err := t.elem.encode(value)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		if size += len(b); size > MaxCallDataBytes {
			return nil, ErrBig
		}
		items = append(items, abiItem{bytes: b, dynamic: t.elem.dynamic()})
	}
	out := tuple(items)
	if t.length < 0 {
		out = append(uintWord(len(values)), out...)
	}
	return out, nil
}

func encodeBool(v any) ([]byte, error) {
	switch v {
	case true, "true":
		return uintWord(1), nil
	case false, "false":
		return uintWord(0), nil
	}
	return nil, fmt.Errorf("%s, want true or false: %w", shape(v), ErrParam)
}

func (t *solType) encodeInteger(v any) ([]byte, error) {
	text, ok := scalarText(v)
	if !ok {
		return nil, fmt.Errorf("%s, want a decimal: %w", shape(v), ErrParam)
	}
	digits, negative := strings.CutPrefix(text, "-")
	const maxDigits = 78 // of 2^256
	if !isDigits(digits) || leadingZero(digits) || len(digits) > maxDigits || negative && digits == "0" {
		return nil, fmt.Errorf("%s, want a decimal without leading zeros: %w", Quoted(text, shown), ErrParam)
	}
	n, _ := new(big.Int).SetString(text, 10)
	low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(t.size)) // low ≤ n < high
	if t.base == "int" {
		high.Rsh(high, 1)
		low.Neg(high)
	}
	if n.Cmp(low) < 0 || n.Cmp(high) >= 0 {
		return nil, fmt.Errorf("%s: %w", Quoted(text, shown), ErrRange)
	}
	if n.Sign() < 0 { // two's complement of the whole word
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), 8*wordBytes))
	}
	return n.FillBytes(make([]byte, wordBytes)), nil
}

// shape says in an error what a value is.
func shape(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return Quoted(v, shown)
	case json.Number:
		return Quoted(string(v), shown)
	case []any, []string:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a value that is not JSON"
}
