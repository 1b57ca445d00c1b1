package benchmark

import (
	"fmt"
	"math/big"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// OfBest is what a session's plans are worth as shares of the pack's best. Shares
// are decimals, rounded down to 6 digits. It is for people: no decision reads it.
type OfBest struct {
	// Mean is of what is credited on the intents with a best whose row is not
	// void, rows without value as 0; "" = there is none.
	Mean    string `json:"mean"`
	Intents int    `json:"intents"` // those

	// Shares are by row: the row's value, "0" without one, "" where the intent has
	// no best or the row is void. Nil where no intent has a best.
	Shares []string `json:"shares"`
}

// ofBest sets the rows of a session against the best of their intents.
func ofBest(records []Record) (OfBest, error) {
	var out OfBest
	sum := new(big.Int)
	shares := make([]string, len(records))
	none := true
	for i, r := range records {
		if r.Best == "" {
			continue
		}
		none = false
		if r.Row.Cause == intent.CauseInfra {
			continue
		}
		value, err := shareOf(r.Row.Value, r.Best)
		if err != nil {
			return OfBest{}, fmt.Errorf("row %s: %w", r.Row.IntentID, err)
		}
		credited, err := shareOf(r.Row.Credited, r.Best)
		if err != nil {
			return OfBest{}, fmt.Errorf("row %s: %w", r.Row.IntentID, err)
		}
		out.Intents++
		shares[i] = scoring.FormatScore(value)
		sum.Add(sum, credited)
	}
	if none {
		return OfBest{}, nil
	}
	out.Shares = shares
	if out.Intents > 0 {
		out.Mean = scoring.FormatScore(floor6(sum.Quo(sum, big.NewInt(int64(out.Intents)))))
	}
	return out, nil
}

// shareOf is value/best, times 10^18, rounded down to 6 digits. No value is 0.
func shareOf(value, best string) (*big.Int, error) {
	if value == "" {
		return new(big.Int), nil
	}
	v, errValue := intent.ParseAmount(value)
	b, errBest := intent.ParseAmount(best)
	if errValue != nil || errBest != nil || b.IsZero() {
		return nil, fmt.Errorf("value %q of best %q is no share", value, best)
	}
	z := v.ToBig()
	z.Mul(z, new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil))
	return floor6(z.Quo(z, b.ToBig())), nil
}

// floor6 rounds a multiple of 10^-18 down to one of 10^-6.
func floor6(z *big.Int) *big.Int {
	digit := big.NewInt(1_000_000_000_000)
	return z.Mul(z.Quo(z, digit), digit)
}
