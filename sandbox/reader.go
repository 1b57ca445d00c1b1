package sandbox

import (
	"fmt"
	"unicode/utf8"
)

// A reader walks bytes of a module. The first problem sticks: later reads give
// zeros, and loops are bounded since a count is never more than the bytes left.
type reader struct {
	b    []byte
	i    int
	base int    // offset of b in the module
	what string // the section, for messages
	err  *Refusal
}

func (r *reader) fail(reason Reason, format string, args ...any) {
	if r.err == nil {
		r.err = &Refusal{reason, fmt.Sprintf("%s at offset %s: %s", r.what, thousands(r.base+r.i), fmt.Sprintf(format, args...))}
	}
}

func (r *reader) left() int { return len(r.b) - r.i }

func (r *reader) byte() byte {
	if r.err != nil {
		return 0
	}
	if r.left() == 0 {
		r.fail(ReasonMalformed, "unexpected end")
		return 0
	}
	r.i++
	return r.b[r.i-1]
}

func (r *reader) bytes(n uint32) []byte {
	if r.err != nil {
		return nil
	}
	if uint64(n) > uint64(r.left()) {
		r.fail(ReasonMalformed, "%s bytes announced, %s left", thousands(n), thousands(r.left()))
		return nil
	}
	r.i += int(n)
	return r.b[r.i-int(n) : r.i]
}

// u32 reads an unsigned LEB128 number; padded ones are legal, linkers emit them.
func (r *reader) u32() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		if shift == 28 && b > 0x0f {
			break
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail(ReasonMalformed, "number is longer than 32 bits")
	return 0
}

// skipSigned passes over a signed LEB128 number of at most n bytes.
func (r *reader) skipSigned(n int) {
	for range n {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail(ReasonMalformed, "number is too long")
}

// count reads the length of a vector. Each element takes at least size bytes.
func (r *reader) count(size int) int {
	n := r.u32()
	if uint64(n)*uint64(size) > uint64(r.left()) {
		r.fail(ReasonMalformed, "%s elements announced, %s bytes left", thousands(n), thousands(r.left()))
		return 0
	}
	return int(n)
}

// limited reads the length of a vector that may have so many elements.
func (r *reader) limited(size, limit int, what string) int {
	n := r.count(size)
	if n > limit {
		r.fail(ReasonSize, "%s %s, limit %s", thousands(n), what, thousands(limit))
		return 0
	}
	return n
}

func (r *reader) name() string {
	b := r.bytes(r.u32())
	if !utf8.Valid(b) {
		r.fail(ReasonMalformed, "name is not UTF-8")
		return ""
	}
	return string(b)
}

// valueType passes over a number or reference type.
func (r *reader) valueType() {
	switch t := r.byte(); t {
	case 0x7f, 0x7e, 0x7d, 0x7c, 0x70, 0x6f:
	case 0x7b:
		r.fail(ReasonFeature, "v128 needs SIMD, which is not admitted")
	default:
		r.fail(ReasonFeature, "value type 0x%02x is not admitted", t)
	}
}

// limits reads the minimum and maximum of a memory or table; declared tells
// whether there is a maximum.
func (r *reader) limits(what string) (lo, hi uint32, declared bool) {
	switch flags := r.byte(); flags {
	case 0:
		return r.u32(), 0, false
	case 1:
		lo, hi = r.u32(), r.u32()
		if r.err == nil && lo > hi {
			r.fail(ReasonMalformed, "%s minimum %s is above its maximum %s", what, thousands(lo), thousands(hi))
		}
		return lo, hi, true
	default:
		r.fail(ReasonFeature, "%s limits 0x%02x (shared or 64-bit) are not admitted", what, flags)
		return 0, 0, false
	}
}

// constExpr passes over a constant expression.
func (r *reader) constExpr() {
	for r.err == nil {
		switch op := r.byte(); op {
		case 0x0b: // end
			return
		case 0x41: // i32.const
			r.skipSigned(5)
		case 0x42: // i64.const
			r.skipSigned(10)
		case 0x43: // f32.const
			r.bytes(4)
		case 0x44: // f64.const
			r.bytes(8)
		case 0x23, 0xd2: // global.get, ref.func
			r.u32()
		case 0xd0: // ref.null
			r.valueType()
		default:
			r.fail(ReasonFeature, "instruction 0x%02x is not admitted in a constant expression", op)
		}
	}
}
