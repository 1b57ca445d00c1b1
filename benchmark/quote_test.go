package benchmark_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// A quote that fails leaves the row its value. Its cause is noted, unless a
// clock decided it: notes are digested, and another host may be faster.
func TestAFailedQuoteIsNotedUnlessAClockDecidedIt(t *testing.T) {
	t.Parallel()
	f := standardFile(t)
	manifest := object(item(f["apps"], 0)["manifest"])
	manifest["quote"] = file{"minimum": "estimated_output"}
	minimum := item(item(manifest["intent_functions"], 0)["params"], 2)
	minimum["source"], minimum["quote_field"] = "quote", "estimated_output"
	f["cases"] = f["cases"].([]any)[:1]
	for _, tt := range []struct {
		name  string
		quote wasmtest.Answer
		limit func(*benchmark.Pack)
		notes []string
	}{
		{"not implemented", wasmtest.Answer{Status: 2}, nil, []string{}},
		{"a trap", wasmtest.Answer{Act: wasmtest.Trap}, nil, []string{"quote: trap"}},
		{"a message", wasmtest.Answer{Status: 1, Output: []byte("no \u202eroute")}, nil, []string{"quote: solver_error"}},
		{"no time left for the call", wasmtest.Answer{Act: wasmtest.Spin}, func(p *benchmark.Pack) { p.Limits.Quote.Wall = time.Millisecond }, []string{}},
		{"no time left for the session", wasmtest.Answer{Act: wasmtest.Spin}, func(p *benchmark.Pack) { p.Limits.Session = time.Second }, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pack := decode(t, marshal(t, f))
			if tt.limit != nil {
				tt.limit(pack)
			}
			p := prepare(t, newEngine(t), pack)
			quoting := guest(t, "quoting", func(o *wasmtest.Options) { o.Answers["solver_quote"] = tt.quote })
			r := sessionOf(t, runEpoch(t, p, []benchmark.Entrant{{Miner: "ann", Module: quoting}}, 1, nil), "ann").Records[0].Row
			if r.Cause != intent.CauseNone || r.Value != "900" {
				t.Errorf("cause %q, value %q, want 900", r.Cause, r.Value)
			}
			if diff := cmp.Diff(tt.notes, r.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}
