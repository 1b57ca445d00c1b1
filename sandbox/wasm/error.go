package wasm

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// An Error says what of a module isn't admitted, and where.
type Error struct {
	Offset  int    // in the module
	What    string // "type section", "header"; empty if the error has no place
	Detail  string // one line; text of the module is quoted in it
	Feature bool   // it is WebAssembly, but of an extension that isn't admitted
	Size    bool   // one of the [Bounds] is exceeded
}

// Error is a line such as "code section at offset 1,234: function 5 has no end".
func (e *Error) Error() string {
	if e.What == "" {
		return e.Detail
	}
	return fmt.Sprintf("%s at offset %s: %s", e.What, Thousands(e.Offset), e.Detail)
}

// Quoted makes text of a guest printable on one line: control and bidi
// characters escaped, at most 200 runes.
func Quoted(s string) string {
	const limit = 200
	for i, n := 0, 0; i < len(s); n++ {
		if n == limit {
			return strconv.Quote(s[:i]) + "…"
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return strconv.Quote(s)
}

// Thousands prints a count with separators, as messages about modules do.
func Thousands[T ~int | ~int64 | ~uint32 | ~uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
