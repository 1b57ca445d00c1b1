package wasm

import "encoding/binary"

// Numbers are read by functions of bytes and an index that give the index behind
// the number, or one of these.
const (
	cutOff  = -1 // the bytes end
	tooLong = -2 // it has more bits than its type, or more bytes than they need
)

// uleb32 reads an unsigned number. Padded ones are legal: linkers emit them.
func uleb32(b []byte, i int) (v uint32, next int) {
	for shift := 0; ; shift += 7 {
		if i >= len(b) {
			return 0, cutOff
		}
		c := b[i]
		i++
		if shift == 28 && c > 0x0f { // of the fifth byte, 4 bits
			return 0, tooLong
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
}

// sleb reads a signed number of 32, 33 or 64 bits. In the last byte that it may
// have, the bits beyond its type must repeat the sign.
func sleb(b []byte, i, bits int) (v int64, next int) {
	for shift := 0; ; shift += 7 {
		if i >= len(b) {
			return 0, cutOff
		}
		c := b[i]
		i++
		if left := bits - shift; left < 7 {
			if rest := int8(c<<1) >> left; c >= 0x80 || rest != 0 && rest != -1 {
				return 0, tooLong
			}
		}
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			unused := max(64-shift-7, 0)
			return v << unused >> unused, i
		}
	}
}

// AppendU32 appends an unsigned number in its shortest form.
func AppendU32(b []byte, v uint32) []byte { return binary.AppendUvarint(b, uint64(v)) }

// AppendS64 appends a signed number in its shortest form, which is that of a
// narrower type as well.
func AppendS64(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
