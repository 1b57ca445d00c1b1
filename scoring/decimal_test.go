package scoring_test

import (
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// scale is 10^18.
var scale = new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)

func TestDecimalIsReadExactly(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"zero", "0", "0"},
		{"negative zero is zero", "-0", "0"},
		{"negative zero with decimals is zero", "-0.000e-5", "0"},
		{"what doubles print for 0.1+0.2", "0.30000000000000004", "0.30000000000000004"},
		{"trailing zeros are dropped", "0.500", "0.5"},
		{"a positive exponent moves the point", "1.5e3", "1500"},
		{"a negative exponent moves the point", "25E-4", "0.0025"},
		{"a plus sign of the exponent is legal", "1e+2", "100"},
		{"the 18th decimal is kept", "1e-18", "0.000000000000000001"},
		{"the 19th decimal is cut", "9e-19", "0"},
		{"rounding is towards zero", "0.9999999999999999999", "0.999999999999999999"},
		{"rounding is towards zero from below, too", "-0.9999999999999999999", "-0.999999999999999999"},
		{"the smallest double", "5e-324", "0"},
		{"zero stays zero under any exponent", "0e999999999999999999999", "0"},
		{"an exponent beyond memory saturates down", "1e-999999999999999999999", "0"},
		{"many digits", "1" + strings.Repeat("0", 99), "1" + strings.Repeat("0", 99)},
		{"10^100 saturates", "1e100", "1" + strings.Repeat("0", 100)},
		{"an overflowing double saturates", "1e400", "1" + strings.Repeat("0", 100)},
		{"an exponent beyond memory saturates", "-1e999999999999999999999", "-1" + strings.Repeat("0", 100)},
		{"an exponent may undo leading zeros", "0.00000001e8", "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, ok := scoring.ParseDecimal(tt.text)
			if !ok {
				t.Fatalf("ParseDecimal(%q) refuses", tt.text)
			}
			if got := scoring.FormatDecimal(v); got != tt.want {
				t.Errorf("ParseDecimal(%q) = %s, want %s", tt.text, got, tt.want)
			}
		})
	}
}

func TestDecimalRefusesWhatJSONDoesNotCallANumber(t *testing.T) {
	for _, text := range []string{
		"", "-", "+1", "01", "00", "1.", ".5", "1e", "1e+", "1e1.5", "1e+-1", "--1", "0x10", "1_000", " 1", "1 ",
		"NaN", "Infinity", "-Infinity", "١", "1,5", "1e1e1", "1.2.3",
	} {
		if v, ok := scoring.ParseDecimal(text); ok {
			t.Errorf("ParseDecimal(%q) = %s, want a refusal", text, v)
		}
	}
}

// A decimal is the number that the text names, cut after the 18th decimal.
func TestDecimalEqualsTheRational(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no rational", text)
		}
		exact.Mul(exact, new(big.Rat).SetInt(scale))
		want := new(big.Int).Quo(exact.Num(), exact.Denom())
		if limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(118), nil); want.CmpAbs(limit) > 0 {
			want.Mul(limit, big.NewInt(int64(want.Sign())))
		}
		got, ok := scoring.ParseDecimal(text)
		if !ok || got.Cmp(want) != 0 {
			t.Errorf("ParseDecimal(%q) = %s, %t, want %s", text, got, ok, want)
		}
	})
}

// What is printed reads as itself, and nothing shorter does.
func TestDecimalRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, _ := new(big.Int).SetString(rapid.StringMatching(`-?[0-9]{1,60}`).Draw(t, "scaled"), 10)
		text := scoring.FormatDecimal(n)
		back, ok := scoring.ParseDecimal(text)
		if !ok || back.Cmp(n) != 0 {
			t.Errorf("%s prints as %s, which reads as %s, %t", n, text, back, ok)
		}
		if strings.Contains(text, ".") && strings.HasSuffix(text, "0") || strings.HasPrefix(text, "-0") && n.Sign() == 0 {
			t.Errorf("%s prints as %s: there is a shorter text", n, text)
		}
	})
}

func TestScoresAreDecimalsFromZeroToOne(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "0", "0"},
		{"everything", "1", "1"},
		{"between", "0.250", "0.25"},
		{"the digits that are kept", "0.9999999999999999999", "0.999999999999999999"},
		{"more than everything", "1.000000000000000001", ""},
		{"less than nothing", "-0.000000000000000001", ""},
		{"no number", "0.x", ""},
		{"no text", "", ""},
	} {
		got := ""
		if v, ok := scoring.ParseScore(tt.text); ok {
			got = scoring.FormatScore(v)
		}
		if got != tt.want {
			t.Errorf("%s: score %q reads as %q, want %q", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestComposite(t *testing.T) {
	for _, tt := range []struct {
		name    string
		trigger bool
		score   string
		want    string
	}{
		{"a right trigger alone is worth 0.4", true, "0", "0.4"},
		{"a perfect plan alone is worth 0.6", false, "1", "0.6"},
		{"both are worth 1", true, "1", "1"},
		{"neither is worth 0", false, "0", "0"},
		{"a third of a plan", true, "0.333333333333333333", "0.599999999999999999"},
		{"the digit that 6/10 cannot hold is cut", false, "0.000000000000000001", "0"},
		{"a score above 1 counts as 1", false, "7", "0.6"},
		{"text that is no score counts as 0", true, "NaN", "0.4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := scoring.Composite(tt.trigger, tt.score); got != tt.want {
				t.Errorf("Composite(%t, %s) = %s, want %s", tt.trigger, tt.score, got, tt.want)
			}
		})
	}
}

// A better plan never has a lower composite, and a right trigger never costs.
func TestCompositeIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Int64Range(0, 1e18).Draw(t, "lo")
		hi := rapid.Int64Range(lo, 1e18).Draw(t, "hi")
		trigger := rapid.Bool().Draw(t, "trigger")
		score := func(n int64) string { return scoring.FormatDecimal(big.NewInt(n)) }
		at := func(trigger bool, n int64) *big.Int {
			v, ok := scoring.ParseDecimal(scoring.Composite(trigger, score(n)))
			if !ok {
				t.Fatalf("composite of %s is no decimal", score(n))
			}
			return v
		}
		if at(trigger, lo).Cmp(at(trigger, hi)) > 0 {
			t.Errorf("composite falls from %s to %s", score(lo), score(hi))
		}
		if at(false, lo).Cmp(at(true, lo)) > 0 {
			t.Errorf("a right trigger costs at %s", score(lo))
		}
	})
}

// Whatever a row scores, the solver can be told, and is told no more than that.
func TestEveryScoreCanBeTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score := scoring.FormatDecimal(big.NewInt(rapid.Int64Range(0, 1e18).Draw(t, "score")))
		for _, score := range []string{score, scoring.Composite(true, score), scoring.Composite(false, score)} {
			told := scoring.Told(score)
			if _, err := intent.Canonical([]intent.Result{{Score: told}}); err != nil {
				t.Fatalf("Told(%s) = %s: %v", score, told, err)
			}
			row, _ := scoring.ParseDecimal(score)
			v, ok := scoring.ParseDecimal(string(told))
			if !ok || v.Cmp(row) > 0 || new(big.Int).Sub(row, v).Cmp(big.NewInt(1000)) >= 0 {
				t.Fatalf("Told(%s) = %s", score, told)
			}
		}
	})
}

func TestToldKeepsFifteenDigits(t *testing.T) {
	for _, tt := range []struct{ name, score, want string }{
		{"none", "0", "0"},
		{"all", "1", "1"},
		{"as many as a double holds", "0.123456789012345", "0.123456789012345"},
		{"more are cut, not rounded", "0.999999999999999999", "0.999999999999999"},
		{"zeros in front are no digits", "0.000123456789012345", "0.000123456789012345"},
		{"the smallest score", "0.000000000000000001", "0.000000000000000001"},
		{"text that is no score is 0", "x", "0"},
	} {
		if got := scoring.Told(tt.score); string(got) != tt.want {
			t.Errorf("%s: Told(%s) = %s, want %s", tt.name, tt.score, got, tt.want)
		}
	}
}

func FuzzParseDecimal(f *testing.F) {
	for _, seed := range []string{"0", "-0", "1e400", "0.30000000000000004", "1e-7", "12345678901234567890.5E-3", "1.", "e", "-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := scoring.ParseDecimal(text)
		if !ok {
			return
		}
		// Whatever is accepted is a number to others, and lies where they say.
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			if x > 1 && v.Cmp(scale) < 0 || x < -1 && v.Sign() > 0 || x >= 0 && v.Sign() < 0 {
				t.Errorf("ParseDecimal(%q) = %s", text, scoring.FormatDecimal(v))
			}
		}
		if back, ok := scoring.ParseDecimal(scoring.FormatDecimal(v)); !ok || back.Cmp(v) != 0 {
			t.Errorf("ParseDecimal(%q) prints as %s", text, scoring.FormatDecimal(v))
		}
	})
}
