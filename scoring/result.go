package scoring

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/subnet112/assay/intent"
)

// Limits of a result's breakdown. What is beyond them is left out and noted.
const (
	breakdownEntries  = 64
	breakdownKeyBytes = 64
)

// A result is what a scorer said, read. An unreadable part makes it invalid with
// a reason; nothing makes it an error but text that is no JSON.
type result struct {
	score     *big.Int // scaled, in [0,1]; 0 unless valid
	valid     bool
	reason    string            // one safe line, why it is invalid
	breakdown map[string]string // decimals
	rawOutput json.RawMessage   // nil: absent
	notes     []string          // Note constants
}

// parseResult reads a scorer's result: a number, or an object with score and
// optionally valid, reason, breakdown and metadata. Other fields are ignored.
func parseResult(b []byte) (result, error) {
	var top json.RawMessage
	if err := json.Unmarshal(b, &top); err != nil {
		return result{}, fmt.Errorf("the result is no JSON: %w", err)
	}
	r := result{score: new(big.Int)}
	if kindOf(top) != "object" {
		r.readScore(top)
		return r, nil
	}
	// A map, not a struct: field names of another case are other fields.
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(top, &fields); err != nil {
		return result{}, fmt.Errorf("the result: %w", err)
	}
	score, ok := fields["score"]
	if !ok {
		score = json.RawMessage("null")
	}
	r.readScore(score)
	r.readVerdict(fields["valid"], fields["reason"])
	r.readBreakdown(fields["breakdown"])
	r.readMetadata(fields["metadata"])
	return r, nil
}

// readScore takes the score from a number.
func (r *result) readScore(raw json.RawMessage) {
	switch kind := kindOf(raw); kind {
	case "number":
		v, ok := parseDecimal(string(raw))
		if !ok {
			r.reason = "the score is no number"
			return
		}
		r.score, r.valid = clamp(v), true
	case "null":
		r.reason = "the score is null"
	case "string": // NaN and the infinities arrive as their names
		r.reason = "the score is " + textOf(raw) + ", not a finite number"
	default:
		r.reason = "the score is of type " + kind + ", not a number"
	}
}

// readVerdict lets the scorer call its own result invalid.
func (r *result) readVerdict(valid, reason json.RawMessage) {
	if valid == nil || string(valid) == "true" || !r.valid {
		return
	}
	r.valid, r.score = false, new(big.Int)
	switch {
	case kindOf(valid) != "boolean":
		r.reason = "valid is of type " + kindOf(valid) + ", not a boolean"
	case kindOf(reason) == "string":
		r.reason = textOf(reason)
	default:
		r.reason = "invalid without a reason"
	}
}

// readBreakdown keeps the numbers of a breakdown, and the BigInts, which arrive
// as strings.
func (r *result) readBreakdown(raw json.RawMessage) {
	if kindOf(raw) != "object" {
		return
	}
	entries := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &entries); err != nil {
		return
	}
	omitted := false
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		value, ok := breakdownValue(entries[key])
		if !ok || len(key) > breakdownKeyBytes || len(r.breakdown) == breakdownEntries {
			omitted = true
			continue
		}
		if r.breakdown == nil {
			r.breakdown = map[string]string{}
		}
		r.breakdown[key] = value
	}
	if omitted {
		r.notes = append(r.notes, NoteBreakdown)
	}
}

func breakdownValue(raw json.RawMessage) (string, bool) {
	text := string(raw)
	switch kindOf(raw) {
	case "number":
	case "string":
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", false
		}
	default:
		return "", false
	}
	v, ok := parseDecimal(text)
	if !ok || v.CmpAbs(saturated) >= 0 {
		return "", false
	}
	return formatDecimal(v), true
}

func (r *result) readMetadata(raw json.RawMessage) {
	if kindOf(raw) != "object" {
		return
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return
	}
	r.rawOutput = fields["raw_output"]
}

const outputAbsent = "absent"

// output is metadata.raw_output as an amount, or why it is none; the scorer's
// text is quoted in that.
func (r *result) output() (v *big.Int, problem string) {
	if r.rawOutput == nil || string(r.rawOutput) == "null" {
		return nil, outputAbsent
	}
	var text string
	if err := json.Unmarshal(r.rawOutput, &text); err != nil {
		return nil, "of type " + kindOf(r.rawOutput) + ", want a decimal string"
	}
	amount, err := intent.ParseAmount(text)
	if err != nil {
		return nil, intent.Quoted(text, reasonRunes) + ": " + err.Error()
	}
	return amount.ToBig(), ""
}

// kindOf names the type of a JSON value, "" if there is none.
func kindOf(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// textOf quotes a JSON string for a reason.
func textOf(raw json.RawMessage) string {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return `""`
	}
	return intent.Quoted(s, reasonRunes)
}
