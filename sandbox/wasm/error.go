package wasm

import "fmt"

// An Error says what of a module isn't admitted, and where.
type Error struct {
	Offset  int    // in the module
	What    string // the section, or what else was read
	Detail  string // one line; text of the module is quoted in it
	Feature bool   // it is WebAssembly, of an extension that isn't admitted
	Size    bool   // one of the Bounds is exceeded
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s at offset %s: %s", e.What, thousands(e.Offset), e.Detail)
}

// thousands prints a count with separators.
func thousands[T ~int | ~int64 | ~uint32 | ~uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
