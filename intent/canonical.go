package intent

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

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
	d := decoder{data: b, marshalled: true}
	if _, err := d.any(); err != nil {
		return nil, err
	}
	out, err := jcs.Transform(b)
	if err != nil {
		return nil, fmt.Errorf("canonical json: %w", err)
	}
	return out, nil
}

// digest is the SHA-256 of canonical JSON.
func digest(v any) ([sha256.Size]byte, error) {
	b, err := Canonical(v)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256(b), nil
}
