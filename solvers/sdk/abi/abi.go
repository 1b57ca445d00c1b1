package abi

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/holiman/uint256"
)

// wordSize is the unit of the encoding, in bytes.
const wordSize = 32

// Errors of reading. They mean that a contract is not what the caller took it
// for.
var (
	ErrShort   = errors.New("return data is too short")
	ErrAddress = errors.New("want 0x and 40 hex digits")
)

// An Address is an account of a chain. The zero Address is the zero account.
type Address [20]byte

// ParseAddress reads 0x and 40 hex digits of either case; a checksum is not
// verified. The error wraps [ErrAddress].
func ParseAddress(s string) (Address, error) {
	var a Address
	if len(s) != 2+2*len(a) || s[:2] != "0x" {
		return a, fmt.Errorf("address %.60q: %w", s, ErrAddress)
	}
	if _, err := hex.Decode(a[:], []byte(s[2:])); err != nil {
		return Address{}, fmt.Errorf("address %.60q: %w", s, ErrAddress)
	}
	return a, nil
}

// MustAddress is [ParseAddress] for constants. It panics.
func MustAddress(s string) Address {
	a, err := ParseAddress(s)
	if err != nil {
		panic(err)
	}
	return a
}

// String returns 0x and 40 lower-case hex digits.
func (a Address) String() string { return "0x" + hex.EncodeToString(a[:]) }

// IsZero reports whether a is the zero account.
func (a Address) IsZero() bool { return a == Address{} }

// A Selector is the first four bytes of a call.
type Selector [4]byte

// A Value is one encoded argument. The zero Value is an empty static tuple.
type Value struct {
	dynamic bool
	data    []byte
}

// Addr is an address.
func Addr(a Address) Value {
	word := make([]byte, wordSize)
	copy(word[wordSize-len(a):], a[:])
	return Value{data: word}
}

// Uint is an unsigned integer of any width.
func Uint(n *uint256.Int) Value {
	word := n.Bytes32()
	return Value{data: word[:]}
}

// Uint64 is an unsigned integer of any width.
func Uint64(n uint64) Value {
	word := make([]byte, wordSize)
	binary.BigEndian.PutUint64(word[wordSize-8:], n)
	return Value{data: word}
}

// Bytes is a dynamic byte string.
func Bytes(b []byte) Value {
	padded := (len(b) + wordSize - 1) / wordSize * wordSize
	data := make([]byte, wordSize+padded)
	binary.BigEndian.PutUint64(data[wordSize-8:], uint64(len(b)))
	copy(data[wordSize:], b)
	return Value{dynamic: true, data: data}
}

// Tuple is a struct of the given fields.
func Tuple(fields ...Value) Value {
	v := Value{data: encode(fields)}
	for _, f := range fields {
		v.dynamic = v.dynamic || f.dynamic
	}
	return v
}

// Array is an array of any length whose elements have one type.
func Array(elements ...Value) Value {
	return Value{dynamic: true, data: append(Uint64(uint64(len(elements))).data, encode(elements)...)}
}

// Pack returns the calldata of a call.
func Pack(s Selector, args ...Value) []byte { return append(s[:], encode(args)...) }

// encode lays values out as a tuple: static ones in place, dynamic ones behind
// all of them with their offset in place.
func encode(values []Value) []byte {
	head := 0
	for _, v := range values {
		if v.dynamic {
			head += wordSize
		} else {
			head += len(v.data)
		}
	}
	var out, tail []byte
	for _, v := range values {
		if v.dynamic {
			out = append(out, Uint64(uint64(head+len(tail))).data...)
			tail = append(tail, v.data...)
		} else {
			out = append(out, v.data...)
		}
	}
	return append(out, tail...)
}

// ReadUint returns the i-th word of return data as an integer. The error is
// [ErrShort].
func ReadUint(data []byte, i int) (*uint256.Int, error) {
	if i < 0 || len(data)/wordSize <= i {
		return nil, ErrShort
	}
	return new(uint256.Int).SetBytes32(data[i*wordSize:]), nil
}

// ReadAddress returns the i-th word of return data as an address. The error is
// [ErrShort], or [ErrAddress] if the word holds more than an address.
func ReadAddress(data []byte, i int) (Address, error) {
	n, err := ReadUint(data, i)
	if err != nil {
		return Address{}, err
	}
	if n.BitLen() > 8*len(Address{}) {
		return Address{}, ErrAddress
	}
	return Address(n.Bytes20()), nil
}

// ReadUints returns the array of integers whose offset is the i-th word. The
// error is [ErrShort].
func ReadUints(data []byte, i int) ([]*uint256.Int, error) {
	offset, err := ReadUint(data, i)
	if err != nil {
		return nil, err
	}
	if !offset.IsUint64() || offset.Uint64() > uint64(len(data)) {
		return nil, ErrShort
	}
	data = data[offset.Uint64():]
	length, err := ReadUint(data, 0)
	if err != nil {
		return nil, err
	}
	if !length.IsUint64() || length.Uint64() > uint64(len(data)/wordSize-1) {
		return nil, ErrShort
	}
	numbers := make([]*uint256.Int, length.Uint64())
	for k := range numbers {
		if numbers[k], err = ReadUint(data, k+1); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}
