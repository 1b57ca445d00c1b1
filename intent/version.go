package intent

import "strings"

// ValidVersion reports whether s is a semantic version as semver.org 2.0.0
// defines it, such as 2.1.0 or 1.0.0-rc.1+linux, without a leading v and of at
// most MaxVersionBytes.
func ValidVersion(s string) bool {
	if len(s) > MaxVersionBytes {
		return false
	}
	s, build, hasBuild := strings.Cut(s, "+")
	core, pre, hasPre := strings.Cut(s, "-")
	numbers := strings.Split(core, ".")
	if len(numbers) != 3 {
		return false
	}
	for _, n := range numbers {
		if !isDigits(n) || leadingZero(n) {
			return false
		}
	}
	return (!hasPre || identifiers(pre, true)) && (!hasBuild || identifiers(build, false))
}

// identifiers reports whether s is dot-separated identifiers; in a pre-release
// a numeric one has no leading zero.
func identifiers(s string, preRelease bool) bool {
	for id := range strings.SplitSeq(s, ".") {
		if id == "" || preRelease && isDigits(id) && leadingZero(id) {
			return false
		}
		for i := range len(id) {
			c := id[i]
			if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
				return false
			}
		}
	}
	return true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func leadingZero(s string) bool { return len(s) > 1 && s[0] == '0' }
