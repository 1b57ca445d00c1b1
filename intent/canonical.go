package intent

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// Canonical returns v as canonical JSON (RFC 8785): keys sorted, one spelling of
// every number and string, no space. Equal values have equal bytes on every
// machine.
//
// It refuses what would not survive: a number that a float64 does not hold
// exactly (amounts are decimal strings), a string that is not UTF-8, a key that
// stands twice, more than MaxDepth levels. Such an error is a [*DecodeError]
// whose path leads to the offender.
func Canonical(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical json: %w", err)
	}
	w := writer{decoder: decoder{data: b, marshalled: true}, out: make([]byte, 0, len(b))}
	if err := w.value(); err != nil {
		return nil, err
	}
	return w.out, nil
}

// A writer reads a document and writes it canonically, in one pass. Everything
// that is hashed or given to a guest goes through it.
type writer struct {
	decoder
	out     []byte
	members []member // of the objects that are open, innermost last
	moved   []byte   // where members are while their object is put in order
}

// A member is one of an object's, as it stands in the output.
type member struct {
	key        string
	start, end int
}

func (w *writer) value() error {
	switch w.peek() {
	case '{':
		return w.object()
	case '[':
		return w.array()
	case '"':
		return w.text()
	case 't', 'f', 'n':
		for _, word := range []string{"true", "false", "null"} {
			if w.literal(word) {
				w.out = append(w.out, word...)
				return nil
			}
		}
		return w.fail("no JSON value")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return w.number()
	}
	return w.want("a value")
}

func (w *writer) array() error {
	if err := w.enter('[', "an array"); err != nil {
		return err
	}
	w.out = append(w.out, '[')
	for n := 0; ; n++ {
		more, err := w.next(']', n == 0)
		if err != nil {
			return err
		}
		if !more {
			w.out = append(w.out, ']')
			return nil
		}
		if n > 0 {
			w.out = append(w.out, ',')
		}
		w.push(step{index: n})
		if err := w.value(); err != nil {
			return err
		}
		w.pop()
	}
}

// object writes members as they come and puts them in order afterwards.
func (w *writer) object() error {
	if err := w.enter('{', "an object"); err != nil {
		return err
	}
	first := len(w.members)
	w.out = append(w.out, '{')
	var keys keySet
	for {
		more, err := w.next('}', len(w.members) == first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if len(w.members) > first {
			w.out = append(w.out, ',')
		}
		start := len(w.out)
		name, err := w.key()
		if err != nil {
			return err
		}
		w.push(step{key: name, index: -1})
		if !keys.add(name, w.members[first:]) {
			return w.fail("twice in one object")
		}
		w.out = append(appendText(w.out, name), ':')
		at := len(w.members)
		w.members = append(w.members, member{key: name, start: start})
		if err := w.value(); err != nil {
			return err
		}
		w.members[at].end = len(w.out)
		w.pop()
	}
	w.sort(w.members[first:])
	w.members = w.members[:first]
	w.out = append(w.out, '}')
	return nil
}

// sort puts the members that are last in the output in the order of their keys.
func (w *writer) sort(list []member) {
	if slices.IsSortedFunc(list, compareMembers) {
		return
	}
	start := list[0].start
	w.moved = append(w.moved[:0], w.out[start:]...)
	slices.SortFunc(list, compareMembers)
	w.out = w.out[:start]
	for i, m := range list {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, w.moved[m.start-start:m.end-start]...)
	}
}

func compareMembers(a, b member) int { return compareUTF16(a.key, b.key) }

// compareUTF16 orders strings by UTF-16, as RFC 8785 has it: it differs from the
// order of UTF-8 where one of two characters is beyond the basic plane.
func compareUTF16(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		const beyond = 0xf0 // first byte of a character beyond the basic plane, and above
		if (a[i] >= beyond) == (b[i] >= beyond) {
			return int(a[i]) - int(b[i])
		}
		// Surrogates lie below U+E000, whose first byte is 0xee.
		if a[i] >= 0xee && b[i] >= 0xee {
			return int(b[i]) - int(a[i])
		}
		return int(a[i]) - int(b[i])
	}
	return len(a) - len(b)
}

// A keySet finds the key that stands twice in an object.
type keySet struct {
	last string // the greatest so far
	set  map[string]struct{}
}

// add reports whether name is new. list has the keys so far. Keys that come in
// order, as those of maps do, are compared once; others are looked for among few,
// as structs have, or in a set.
func (k *keySet) add(name string, list []member) bool {
	const few = 48
	if len(list) == 0 || name > k.last {
		k.last = name
		if k.set != nil {
			k.set[name] = struct{}{}
		}
		return true
	}
	if k.set == nil && len(list) <= few {
		return !slices.ContainsFunc(list, func(m member) bool { return m.key == name })
	}
	if k.set == nil {
		k.set = make(map[string]struct{}, 2*len(list))
		for _, m := range list {
			k.set[m.key] = struct{}{}
		}
	}
	if _, twice := k.set[name]; twice {
		return false
	}
	k.set[name] = struct{}{}
	return true
}

// text copies a string that has nothing to escape, and writes any other anew.
func (w *writer) text() error {
	for i := w.pos + 1; i < len(w.data); i++ {
		switch c := w.data[i]; {
		case c == '"':
			w.out = append(w.out, w.data[w.pos:i+1]...)
			w.pos = i + 1
			return nil
		case c < ' ' || c == '\\' || c >= utf8.RuneSelf:
			s, err := w.decoder.text()
			if err == nil {
				w.out = appendText(w.out, s)
			}
			return err
		}
	}
	return w.fail("a string without its closing quote")
}

// appendText writes a string with the escapes that RFC 8785 asks for and no other.
func appendText(out []byte, s string) []byte {
	out = append(out, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(append(out, s[start:i]...), '\\')
		start = i + 1
		if at := strings.IndexByte("\b\t\n\f\r", c); at >= 0 {
			out = append(out, "btnfr"[at])
		} else if c < ' ' {
			const digits = "0123456789abcdef"
			out = append(out, 'u', '0', '0', digits[c>>4], digits[c&15])
		} else {
			out = append(out, c)
		}
	}
	return append(append(out, s[start:]...), '"')
}

// number writes a number as ECMAScript does. Integers that every float64 holds
// are written so already.
func (w *writer) number() error {
	const digits = 15
	text, err := w.decoder.number()
	if err != nil {
		return err
	}
	if len(text) <= digits && strings.Trim(text, "0123456789") == "" {
		w.out = append(w.out, text...)
		return nil
	}
	if !isExact(text) {
		return w.inexact(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return w.fail(err.Error())
	}
	if text, err = jcs.NumberToJSON(f); err != nil {
		return w.fail(err.Error())
	}
	w.out = append(w.out, text...)
	return nil
}

// digest is the SHA-256 of canonical JSON.
func digest(v any) ([sha256.Size]byte, error) {
	b, err := Canonical(v)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256(b), nil
}
