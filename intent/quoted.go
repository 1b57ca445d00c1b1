package intent

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Quoted returns text made by a guest or a chain in a form that is safe to
// print: in double quotes, with control, bidirectional, invisible and invalid
// characters escaped. The result, quotes and escapes included, has at most max
// runes; what does not fit is replaced by "…" before the closing quote. A max
// below 3 gives the empty string.
func Quoted(s string, max int) string {
	const ellipsis = '…'
	if max < 3 {
		return ""
	}
	var (
		b    strings.Builder
		used = 2 // the quotes
		// The last position at which cutting still leaves room for an ellipsis.
		cut = 1
	)
	b.WriteByte('"')
	for len(s) > 0 {
		_, size := utf8.DecodeRuneInString(s)
		piece := strconv.Quote(s[:size])
		piece = piece[1 : len(piece)-1]
		used += utf8.RuneCountInString(piece)
		if used > max {
			return b.String()[:cut] + string(ellipsis) + `"`
		}
		b.WriteString(piece)
		if used < max {
			cut = b.Len()
		}
		s = s[size:]
	}
	b.WriteByte('"')
	return b.String()
}

// renderPath prints the way to a value: interactions[3].value. Keys that are no
// plain names are quoted.
func renderPath(path []step) string {
	var b strings.Builder
	for _, s := range path {
		switch {
		case s.key == "" && s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case isName(s.key):
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		default:
			b.WriteString("[" + Quoted(s.key, maxQuotedKeyRunes) + "]")
		}
	}
	if text := b.String(); utf8.RuneCountInString(text) > maxPathRunes {
		return string([]rune(text)[:maxPathRunes-1]) + "…"
	}
	return b.String()
}

func isName(s string) bool {
	if s == "" || len(s) > maxQuotedKeyRunes {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
