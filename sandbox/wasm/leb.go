package wasm

import "encoding/binary"

// readU32 reads an unsigned LEB128 number of at most 32 bits and returns how many
// bytes it took, 0 if it is cut off or too long. Padded ones are legal: linkers
// emit them.
func readU32(b []byte) (v uint32, n int) {
	for shift := 0; shift < 35; shift += 7 {
		if n >= len(b) || shift == 28 && b[n] > 0x0f {
			return 0, 0
		}
		c := b[n]
		n++
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

// readSigned does the same for a signed number of so many bits: in the last of
// the bytes there may be, the unused bits repeat the sign.
func readSigned(b []byte, bits int) (v int64, n int) {
	for shift := 0; shift < bits; shift += 7 {
		if n >= len(b) {
			return 0, 0
		}
		c := b[n]
		n++
		v |= int64(c&0x7f) << shift
		if c >= 0x80 {
			continue
		}
		if used := bits - shift; used < 7 {
			// The sign bit and all above it are equal.
			if top := int8(c<<1) >> used; top != 0 && top != -1 {
				return 0, 0
			}
		}
		if shift+7 < 64 && c&0x40 != 0 {
			v |= -1 << (shift + 7)
		}
		return v, n
	}
	return 0, 0
}

// AppendU32 encodes an unsigned number in its shortest form.
func AppendU32(b []byte, v uint32) []byte { return binary.AppendUvarint(b, uint64(v)) }

// AppendSigned encodes a signed number in its shortest form.
func AppendSigned(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
