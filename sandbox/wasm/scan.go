package wasm

import (
	"fmt"
	"unicode/utf8"
)

// A scanner walks bytes of a module. The first problem sticks: later reads give
// zeros, and loops are bounded since a count is never more than the bytes left.
type scanner struct {
	b    []byte // of the module, up to where the section ends
	i    int
	what string // the section, for messages
	err  *Error
}

// fail reports a problem with what was read last.
func (s *scanner) fail(format string, args ...any) { s.failAt(s.i, format, args...) }

func (s *scanner) failAt(offset int, format string, args ...any) {
	if s.err == nil {
		s.err = &Error{Offset: offset, What: s.what, Detail: fmt.Sprintf(format, args...)}
	}
}

// feature is fail for an extension that isn't admitted.
func (s *scanner) feature(format string, args ...any) {
	if s.err == nil {
		s.fail(format, args...)
		s.err.Feature = true
	}
}

// tooBig is fail for one of the bounds.
func (s *scanner) tooBig(format string, args ...any) {
	if s.err == nil {
		s.fail(format, args...)
		s.err.Size = true
	}
}

func (s *scanner) left() int { return len(s.b) - s.i }

func (s *scanner) byte() byte {
	if s.err != nil {
		return 0
	}
	if s.left() == 0 {
		s.fail("unexpected end")
		return 0
	}
	s.i++
	return s.b[s.i-1]
}

func (s *scanner) bytes(n uint32) []byte {
	if s.err != nil {
		return nil
	}
	if uint64(n) > uint64(s.left()) {
		s.fail("%s bytes announced, %s left", Thousands(n), Thousands(s.left()))
		return nil
	}
	s.i += int(n)
	return s.b[s.i-int(n) : s.i : s.i]
}

func (s *scanner) u32() uint32 {
	if s.err != nil {
		return 0
	}
	v, next := uleb32(s.b, s.i)
	switch next {
	case cutOff:
		s.failAt(len(s.b), "unexpected end")
		return 0
	case tooLong:
		s.failAt(s.i+5, "number is longer than 32 bits")
		return 0
	}
	s.i = next
	return v
}

// count reads the length of a vector. Each element takes at least size bytes.
func (s *scanner) count(size int) int {
	n := s.u32()
	if uint64(n)*uint64(size) > uint64(s.left()) {
		s.fail("%s elements announced, %s bytes left", Thousands(n), Thousands(s.left()))
	}
	if s.err != nil {
		return 0
	}
	return int(n)
}

// limited reads the length of a vector that may have so many elements; 0 = any
// number.
func (s *scanner) limited(size, limit int, what string) int {
	n := s.count(size)
	if limit > 0 && n > limit {
		s.tooBig("%s %s, limit %s", Thousands(n), what, Thousands(limit))
		return 0
	}
	return n
}

func (s *scanner) name() string {
	b := s.bytes(s.u32())
	if !utf8.Valid(b) {
		s.fail("name is not UTF-8")
		return ""
	}
	return string(b)
}

func (s *scanner) valType() ValType {
	t := ValType(s.byte())
	if s.err == nil && !t.admitted() {
		s.feature("%s", typeError(byte(t)))
	}
	return t
}

// refType reads a reference type of a table or of elements.
func (s *scanner) refType(what string) ValType {
	t := ValType(s.byte())
	if s.err == nil && !t.IsReference() {
		s.feature("%s type 0x%02x is not admitted", what, byte(t))
	}
	return t
}

// limits reads the limits of a table or memory.
func (s *scanner) limits(what string) (l Limits) {
	switch flags := s.byte(); flags {
	case 0:
		l.Min = s.u32()
	case 1:
		l = Limits{Min: s.u32(), Max: s.u32(), HasMax: true}
		if s.err == nil && l.Min > l.Max {
			s.fail("%s minimum %s is above its maximum %s", what, Thousands(l.Min), Thousands(l.Max))
		}
	default:
		s.feature("%s limits 0x%02x (shared or 64-bit) are not admitted", what, flags)
	}
	return l
}

func (s *scanner) memory() Limits {
	l := s.limits("memory")
	if pages := max(l.Min, l.Max); pages > MaxPages {
		s.fail("memory of %s pages, limit %s", Thousands(pages), Thousands(MaxPages))
	}
	return l
}

func (s *scanner) globalType() GlobalType {
	t := s.valType()
	mutable := s.byte()
	if mutable > 1 {
		s.fail("mutability 0x%02x of global", mutable)
	}
	return GlobalType{Type: t, Mutable: mutable == 1}
}
