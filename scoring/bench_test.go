package scoring_test

import (
	"testing"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// BenchmarkScore is one score call: an instance put back to where the code was
// loaded, the context in, the result out.
func BenchmarkScore(b *testing.B) {
	a := load(b, newScorer(b, compiled, scoring.DefaultLimits()), valued(accept))
	in := input(250)
	b.ReportAllocs()
	for b.Loop() {
		if s, err := a.Score(b.Context(), in); err != nil || s.Cause != intent.CauseNone {
			b.Fatal(s, err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	s := newScorer(b, compiled, scoring.DefaultLimits())
	b.ReportAllocs()
	for b.Loop() {
		load(b, s, valued(gasScorer))
	}
}

func BenchmarkParseResult(b *testing.B) {
	text := []byte(`{"score":0.30000000000000004,"valid":true,"reason":"fine","breakdown":{"gas_used":150000,"min":"12345678901234567890"},"metadata":{"raw_output":"1180591620717411303424"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := scoring.ParseResult(text); err != nil {
			b.Fatal(err)
		}
	}
}
