package scoring

import "math/big"

// The parsers, for tests that need no engine.

func ParseDecimal(text string) (*big.Int, bool) { return parseDecimal(text) }
func FormatDecimal(v *big.Int) string           { return formatDecimal(v) }

// A Said is what [ParseResult] read.
type Said struct {
	Score, Reason string
	Valid         bool
	Breakdown     map[string]string
	Output        string // metadata.raw_output, "" if it is none
	Problem       string // why raw_output is none
	Notes         []string
}

func ParseResult(b []byte) (Said, error) {
	r, err := parseResult(b)
	if err != nil {
		return Said{}, err
	}
	said := Said{Score: formatDecimal(r.score), Reason: r.reason, Valid: r.valid, Breakdown: r.breakdown, Notes: r.notes}
	output, problem := r.output()
	if said.Problem = problem; problem == "" {
		said.Output = output.String()
	}
	return said, nil
}
