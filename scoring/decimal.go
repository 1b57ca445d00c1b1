package scoring

import (
	"encoding/json"
	"math/big"
	"strings"
)

// decimals is how many decimals a score keeps.
const decimals = 18

// maxIntegerDigits bounds the integer part of a decimal; a number beyond saturates.
const maxIntegerDigits = 100

// Scaled numbers: 1, and what magnitudes saturate at.
var (
	one       = new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	saturated = new(big.Int).Exp(big.NewInt(10), big.NewInt(maxIntegerDigits+decimals), nil)
)

// parseDecimal reads the text of a JSON number as a multiple of 10^-18, rounded
// towards zero, without any float arithmetic. A magnitude of 10^100 or more
// becomes 10^100. It reports whether text is a JSON number.
func parseDecimal(text string) (*big.Int, bool) {
	digits, point, negative, ok := scanNumber(text)
	if !ok {
		return nil, false
	}
	v := new(big.Int)
	switch keep := point + decimals; {
	case digits == "" || keep <= 0:
		return v, true
	case point > maxIntegerDigits:
		v.Set(saturated)
	case keep <= len(digits):
		v.SetString(digits[:keep], 10)
	default:
		v.SetString(digits+strings.Repeat("0", keep-len(digits)), 10)
	}
	if negative {
		v.Neg(v)
	}
	return v, true
}

// scanNumber takes a JSON number apart: its magnitude is 0.digits·10^point, with
// no zeros around the digits. An exponent too large to matter saturates.
func scanNumber(text string) (digits string, point int, negative, ok bool) {
	text, negative = strings.CutPrefix(text, "-")
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		if exponent, ok = scanExponent(text[i+1:]); !ok {
			return "", 0, false, false
		}
	}
	whole, fraction, dotted := strings.Cut(mantissa, ".")
	if !isDigits(whole) || len(whole) > 1 && whole[0] == '0' || dotted && !isDigits(fraction) {
		return "", 0, false, false
	}
	digits = whole + fraction
	point = len(whole) + exponent
	trimmed := strings.TrimLeft(digits, "0")
	point -= len(digits) - len(trimmed)
	return strings.TrimRight(trimmed, "0"), point, negative, true
}

// scanExponent reads what follows the e.
func scanExponent(text string) (int, bool) {
	// Beyond any length of a mantissa that fits in memory, and far from
	// overflowing when added to one.
	const most = 1 << 30
	text, negative := strings.CutPrefix(text, "-")
	if !negative {
		text = strings.TrimPrefix(text, "+")
	}
	if !isDigits(text) {
		return 0, false
	}
	n := 0
	for _, c := range text {
		n = min(n*10+int(c-'0'), most)
	}
	if negative {
		n = -n
	}
	return n, true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// formatDecimal prints a scaled decimal in the shortest way: no exponent, no
// trailing zeros, no negative zero.
func formatDecimal(v *big.Int) string {
	whole, fraction := new(big.Int).QuoRem(new(big.Int).Abs(v), one, new(big.Int))
	text := whole.String()
	if fraction.Sign() != 0 {
		digits := fraction.String()
		text += "." + strings.TrimRight(strings.Repeat("0", decimals-len(digits))+digits, "0")
	}
	if v.Sign() < 0 {
		text = "-" + text
	}
	return text
}

// clamp limits a scaled decimal to [0,1].
func clamp(v *big.Int) *big.Int {
	switch {
	case v.Sign() < 0:
		return new(big.Int)
	case v.Cmp(one) > 0:
		return one
	}
	return v
}

// ParseScore reads a score, a JSON number in [0,1], as a multiple of 10^-18 that
// [FormatScore] prints. Digits after the eighteenth are cut off. It reports
// whether text is a score.
func ParseScore(text string) (*big.Int, bool) {
	v, ok := parseDecimal(text)
	if !ok || v.Sign() < 0 || v.Cmp(one) > 0 {
		return nil, false
	}
	return v, true
}

// FormatScore prints a multiple of 10^-18 as the shortest decimal there is.
func FormatScore(v *big.Int) string { return formatDecimal(v) }

// Composite is the score of an auto-triggered intent with ground truth,
// 0.4·trigger + 0.6·plan, rounded towards zero to 18 decimals. It is for display
// only. Score is a decimal as in [Score.Score]; text that is none counts as 0.
func Composite(triggerOK bool, score string) string {
	v, ok := parseDecimal(score)
	if !ok {
		v = new(big.Int)
	}
	sum := new(big.Int).Mul(clamp(v), big.NewInt(6))
	if triggerOK {
		sum.Add(sum, new(big.Int).Mul(one, big.NewInt(4)))
	}
	return formatDecimal(sum.Quo(sum, big.NewInt(10)))
}

// toldDigits is how many significant digits of a decimal survive a double.
const toldDigits = 15

// Told is a score as its solver is told it: a JSON number, cut to the 15
// significant digits that any reader's double holds, for a number with more has
// no canonical JSON. Score is as for [Composite]. Rows keep every digit.
func Told(score string) json.Number {
	v, ok := parseDecimal(score)
	if !ok {
		return "0"
	}
	v = clamp(v)
	if n := len(v.String()) - toldDigits; n > 0 {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
		v = new(big.Int).Mul(new(big.Int).Quo(v, unit), unit)
	}
	return json.Number(formatDecimal(v))
}
