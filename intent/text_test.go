package intent_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/subnet112/assay/intent"
)

func TestQuoted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		max      int
		want     string
	}{
		{"plain text", "hello", 200, `"hello"`},
		{"nothing", "", 200, `""`},
		{"text of other scripts", "héllo 世界", 200, `"héllo 世界"`},
		{"a terminal escape", "\x1b[31mred\x07", 200, `"\x1b[31mred\a"`},
		{"a line that would start another", "a\r\nb", 200, `"a\r\nb"`},
		{"text that would run backwards", "a\u202etxt.exe", 200, `"a\u202etxt.exe"`},
		{"invisible text", "a\u200bb\u2066c", 200, `"a\u200bb\u2066c"`},
		{"C1 control", "\u009b31m", 200, `"\u009b31m"`},
		{"a quote and a backslash", `"\`, 200, `"\"\\"`},
		{"bytes that are not UTF-8", "a\xff", 200, `"a\xff"`},
		{"as long as allowed", "abcd", 6, `"abcd"`},
		{"one longer", "abcde", 6, `"abc…"`},
		{"an escape is not cut apart", "abc\x00\x00", 9, `"abc…"`},
		{"room for the mark alone", "abc", 3, `"…"`},
		{"no room", "abc", 2, ""},
	} {
		if got := intent.Quoted(tt.in, tt.max); got != tt.want {
			t.Errorf("%s: Quoted(%q, %d) = %s, want %s", tt.name, tt.in, tt.max, got, tt.want)
		}
	}
}

// Whatever goes in, what comes out is short and moves no cursor.
func TestQuotedIsSafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		limit := rapid.IntRange(3, 250).Draw(t, "max")
		got := intent.Quoted(s, limit)
		if n := utf8.RuneCountInString(got); n > limit {
			t.Fatalf("%d runes, limit %d: %s", n, limit, got)
		}
		if !utf8.ValidString(got) || !strings.HasPrefix(got, `"`) || !strings.HasSuffix(got, `"`) {
			t.Fatalf("not quoted text: %q", got)
		}
		for _, r := range got {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff {
				t.Fatalf("%U in %q", r, got)
			}
		}
	})
}

// The examples are those of semver.org's own test page.
func TestValidVersion(t *testing.T) {
	t.Parallel()
	for _, v := range []string{
		"0.0.4", "1.2.3", "10.20.30", "1.1.2-prerelease+meta", "1.1.2+meta", "1.1.2+meta-valid", "1.0.0-alpha",
		"1.0.0-alpha.beta", "1.0.0-alpha.1", "1.0.0-alpha0.valid", "1.0.0-alpha.0valid",
		"1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1", "1.0.0-rc.1+build.1", "2.0.0-rc.1+build.123", "1.2.3-beta",
		"10.2.3-DEV-SNAPSHOT", "1.2.3-SNAPSHOT-123", "2.0.0+build.1848", "1.0.0-alpha+beta",
		"1.2.3----RC-SNAPSHOT.12.9.1--.12+788", "1.2.3----R-S.12.9.1--.12+meta", "1.2.3----RC-SNAPSHOT.12.9.1--.12",
		"1.0.0+0.build.1-rc.10000aaa-kk-0.1", "99999999999999999999999.999999999999999999.99999999999999999", "1.0.0-0A.is.legal",
	} {
		if !intent.ValidVersion(v) {
			t.Errorf("%q is refused", v)
		}
	}
	for _, v := range []string{
		"", "1", "1.2", "1.2.3-0123", "1.2.3-0123.0123", "1.1.2+.123", "+invalid", "-invalid", "-invalid+invalid", "-invalid.01",
		"alpha", "alpha.beta", "alpha.beta.1", "alpha.1", "alpha+beta", "alpha_beta", "alpha.", "alpha..", "beta", "1.0.0-alpha_beta",
		"-alpha.", "1.0.0-alpha..", "1.0.0-alpha..1", "1.0.0-alpha...1", "01.1.1", "1.01.1", "1.1.01", "1.2.3.DEV", "1.2-SNAPSHOT",
		"1.2.31.2.3----RC-SNAPSHOT.12.09.1--..12+788", "1.2-RC-SNAPSHOT", "-1.0.3-gamma+b7718", "+justmeta", "9.8.7+meta+meta",
		"9.8.7-whatever+meta+meta", "v1.2.3", "1.2.3 ", "1.2.3\n", "1.2.3-", "1.2.3+", "1.0.0-" + strings.Repeat("a", 60),
	} {
		if intent.ValidVersion(v) {
			t.Errorf("%q is accepted", v)
		}
	}
}
