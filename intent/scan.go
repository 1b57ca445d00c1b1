package intent

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A decoder walks one JSON document, byte by byte, and knows where it is.
type decoder struct {
	data  []byte
	pos   int
	depth int
	path  []step
	// twins accepts the camelCase spelling of a field beside its own, as
	// long as both, when present, say the same.
	twins bool
	// open passes over fields that a struct does not have.
	open bool
	// marshalled refuses \ufffd: encoding/json writes that escape, and only
	// that escape, in place of bytes that were not UTF-8.
	marshalled bool
}

// A step leads from a value to one inside it: an object's key or, if key is
// empty and index is not negative, an array's index.
type step struct {
	key   string
	index int
}

func (d *decoder) push(s step) { d.path = append(d.path, s) }
func (d *decoder) pop()        { d.path = d.path[:len(d.path)-1] }

func (d *decoder) fail(reason string) error {
	return &DecodeError{Path: renderPath(d.path), Reason: reason}
}

func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// peek returns the first byte of the next token, 0 at the end.
func (d *decoder) peek() byte {
	d.space()
	if d.pos == len(d.data) {
		return 0
	}
	return d.data[d.pos]
}

// found names the next token for an error message.
func (d *decoder) found() string {
	switch c := d.peek(); {
	case c == 0 && d.pos == len(d.data):
		return "the end"
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case c == 't', c == 'f':
		return "a boolean"
	case c == 'n':
		return "null"
	case c == 'N', c == 'I':
		return "NaN or Infinity, which JSON has not"
	case c == '-' || c >= '0' && c <= '9':
		if c == '-' && d.pos+1 < len(d.data) && d.data[d.pos+1] == 'I' {
			return "NaN or Infinity, which JSON has not"
		}
		return "a number"
	default:
		return Quoted(string(d.data[d.pos:min(d.pos+utf8.UTFMax, len(d.data))]), 12)
	}
}

func (d *decoder) want(what string) error {
	return d.fail("want " + what + ", found " + d.found())
}

// enter consumes a bracket and goes one level down.
func (d *decoder) enter(bracket byte, what string) error {
	if d.peek() != bracket {
		return d.want(what)
	}
	d.pos++
	if d.depth++; d.depth > MaxDepth {
		return d.fail("nested deeper than " + strconv.Itoa(MaxDepth))
	}
	return nil
}

// next reports whether another element follows inside a bracket and consumes
// what stands between, or the closing bracket.
func (d *decoder) next(closing byte, first bool) (bool, error) {
	switch c := d.peek(); {
	case c == closing:
		d.pos++
		d.depth--
		return false, nil
	case first:
		return true, nil
	case c == ',':
		d.pos++
		if d.peek() == closing {
			return false, d.fail("a comma before the closing bracket")
		}
		return true, nil
	default:
		return false, d.want("a comma or the closing bracket")
	}
}

// key consumes an object's key and its colon.
func (d *decoder) key() (string, error) {
	if d.peek() != '"' {
		return "", d.want("a key in quotes")
	}
	k, err := d.text()
	if err != nil {
		return "", err
	}
	if d.peek() != ':' {
		return "", d.want("a colon")
	}
	d.pos++
	return k, nil
}

// literal consumes true, false or null.
func (d *decoder) literal(word string) bool {
	d.space()
	if len(d.data)-d.pos < len(word) || string(d.data[d.pos:d.pos+len(word)]) != word {
		return false
	}
	d.pos += len(word)
	return true
}

// number consumes a number and returns its text.
func (d *decoder) number() (string, error) {
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		return "", d.want("a number")
	}
	start := d.pos
	at := func() byte {
		if d.pos < len(d.data) {
			return d.data[d.pos]
		}
		return 0
	}
	digits := func() bool {
		from := d.pos
		for at() >= '0' && at() <= '9' {
			d.pos++
		}
		return d.pos > from
	}
	if at() == '-' {
		d.pos++
	}
	if at() == '0' {
		d.pos++
	} else if !digits() {
		d.pos = start
		return "", d.want("a number")
	}
	if at() == '.' {
		d.pos++
		if !digits() {
			return "", d.fail("a number without digits after its point")
		}
	}
	if at() == 'e' || at() == 'E' {
		d.pos++
		if at() == '+' || at() == '-' {
			d.pos++
		}
		if !digits() {
			return "", d.fail("a number without digits in its exponent")
		}
	}
	if c := at(); c >= '0' && c <= '9' {
		return "", d.fail("a number with a leading zero")
	}
	if n := d.pos - start; n > MaxNumberBytes {
		return "", d.fail("a number of " + strconv.Itoa(n) + " characters, limit " + strconv.Itoa(MaxNumberBytes))
	}
	return string(d.data[start:d.pos]), nil
}

// text consumes a string. The next byte is known to be a quote.
func (d *decoder) text() (string, error) {
	d.pos++
	start := d.pos
	var out []byte // nil until the first escape
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; {
		case c == '"':
			raw := d.data[start:d.pos]
			d.pos++
			if out == nil {
				return string(raw), nil
			}
			return string(append(out, raw...)), nil
		case c < ' ':
			return "", d.fail("a raw control character in a string")
		case c == '\\':
			out = append(out, d.data[start:d.pos]...)
			r, err := d.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
			start = d.pos
		case c < utf8.RuneSelf:
			d.pos++
		default:
			r, size := utf8.DecodeRune(d.data[d.pos:])
			if r == utf8.RuneError && size == 1 {
				return "", d.fail("a string that is not UTF-8")
			}
			d.pos += size
		}
	}
	return "", d.fail("a string without its closing quote")
}

// escape consumes a backslash and what it stands for.
func (d *decoder) escape() (rune, error) {
	if d.pos++; d.pos == len(d.data) {
		return 0, d.fail("a string without its closing quote")
	}
	c := d.data[d.pos]
	d.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return d.unicode()
	}
	return 0, d.fail("an unknown escape in a string")
}

// unicode consumes the four digits after \u, and the second half of a
// surrogate pair.
func (d *decoder) unicode() (rune, error) {
	r, err := d.hex4()
	if err != nil {
		return 0, err
	}
	if utf16.IsSurrogate(r) {
		if d.pos+1 >= len(d.data) || d.data[d.pos] != '\\' || d.data[d.pos+1] != 'u' {
			return 0, d.fail("half a surrogate pair in a string")
		}
		d.pos += 2
		low, err := d.hex4()
		if err != nil {
			return 0, err
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return 0, d.fail("half a surrogate pair in a string")
		}
	}
	if d.marshalled && r == utf8.RuneError {
		return 0, d.fail("a string that is not UTF-8")
	}
	return r, nil
}

func (d *decoder) hex4() (rune, error) {
	if len(d.data)-d.pos < 4 {
		return 0, d.fail("a string without its closing quote")
	}
	var r rune
	for _, c := range d.data[d.pos : d.pos+4] {
		digit, ok := hexDigit(c)
		if !ok {
			return 0, d.fail("an escape that is not hex")
		}
		r = r<<4 | rune(digit)
	}
	d.pos += 4
	return r, nil
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
