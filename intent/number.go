package intent

import (
	"errors"
	"strconv"
	"strings"

	"github.com/holiman/uint256"
)

// ErrAmount is returned for text that is no amount; see [ParseAmount].
var ErrAmount = errors.New("want a decimal below 2^256 without sign or leading zeros")

// ParseAmount reads an amount in base units: a decimal below 2^256 with neither
// sign nor leading zeros, so that equal amounts have equal text. The error is
// [ErrAmount].
func ParseAmount(s string) (*uint256.Int, error) {
	const maxDigits = 78 // of 2^256-1
	if s == "" || len(s) > maxDigits || len(s) > 1 && s[0] == '0' {
		return nil, ErrAmount
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return nil, ErrAmount
		}
	}
	n, err := uint256.FromDecimal(s)
	if err != nil {
		return nil, ErrAmount
	}
	return n, nil
}

// isExact reports whether a JSON number survives being read as a float64: the
// shortest text of that float64, which is what RFC 8785 writes, must name the
// same decimal.
func isExact(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	return reduce(number) == reduce(strconv.FormatFloat(f, 'e', -1, 64))
}

// A decimal is ±0.digits × 10^exp with digits that neither start nor end in 0.
// Zero has no digits, no sign and no exponent.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

// reduce reads a JSON number of at most MaxNumberBytes characters.
func reduce(number string) decimal {
	rest, negative := strings.CutPrefix(number, "-")
	mantissa, exponent := rest, ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exponent = rest[:i], strings.TrimPrefix(rest[i+1:], "+")
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	// Only an absurd exponent does not fit an int, and then the number is zero
	// or ParseFloat has refused it.
	exp, _ := strconv.Atoi(exponent)
	exp += len(whole)
	digits := whole + fraction
	trimmed := strings.TrimLeft(digits, "0")
	exp -= len(digits) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, "0")
	if trimmed == "" {
		return decimal{}
	}
	return decimal{negative: negative, digits: trimmed, exp: exp}
}
