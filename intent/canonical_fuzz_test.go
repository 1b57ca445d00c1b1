package intent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/intent"
)

// sameAsLibrary holds Canonical against another implementation of RFC 8785, for
// documents that are not refused.
func sameAsLibrary(t interface{ Fatalf(string, ...any) }, doc []byte) {
	got, err := intent.Canonical(json.RawMessage(doc))
	if err != nil {
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, doc); err != nil {
		t.Fatalf("Canonical() accepts %q, which is no JSON: %v", doc, err)
	}
	want, err := jcs.Transform(compact.Bytes())
	if err != nil {
		t.Fatalf("Canonical(%q) = %q, the library refuses it: %v", doc, got, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("Canonical(%q)\n= %q\nwant %q", doc, got, want)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, docs := range seeds {
		for _, doc := range docs {
			f.Add([]byte(doc))
		}
	}
	f.Add([]byte(`{"\ufb33":1,"\ud83d\ude00":2,"\u20ac":-0,"a\u0000\b\f":1e21,"":[{},[],"\u2028<"]}`))
	f.Fuzz(func(t *testing.T, doc []byte) { sameAsLibrary(t, doc) })
}

// Objects of any keys, in any order, nested in one another, are written as the
// library writes them. Keys are drawn from few characters of every kind, so that
// they share beginnings.
func TestCanonicalIsTheLibrarys(t *testing.T) {
	t.Parallel()
	key := rapid.StringOfN(rapid.RuneFrom([]rune("ab\x00\n\"\\<\u007f\u00e9\u2028\ud7ff\ue000\uffff\U00010000\U0010ffff")), 0, 4, -1)
	scalar := rapid.OneOf(
		rapid.Map(key, func(s string) string { b, _ := json.Marshal(s); return string(b) }),
		rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(n int64) string { return fmt.Sprint(n) }),
		rapid.Map(rapid.Float64(), func(f float64) string { b, _ := json.Marshal(f); return string(b) }),
		rapid.SampledFrom([]string{"true", "false", "null", "-0", "0", "1E5", "1.50", "123456789012345", "1234567890123456"}),
	)
	var object func(depth int) *rapid.Generator[string]
	object = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			inner := scalar
			if depth > 0 {
				inner = rapid.OneOf(scalar, object(depth-1))
			}
			var members []string
			for _, k := range rapid.SliceOfNDistinct(key, 0, 60, rapid.ID[string]).Draw(t, "keys") {
				b, _ := json.Marshal(k)
				members = append(members, string(b)+":"+inner.Draw(t, "value"))
			}
			if rapid.Bool().Draw(t, "array") {
				return "[{" + strings.Join(members, ",") + "}, 1]"
			}
			return "{" + strings.Join(members, ",") + "}"
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		doc := []byte(object(2).Draw(t, "doc"))
		if _, err := intent.Canonical(json.RawMessage(doc)); err != nil {
			t.Fatalf("Canonical(%q): %v", doc, err)
		}
		sameAsLibrary(t, doc)
	})
}

// A key that stands twice is found however many others there are, and in
// whatever order.
func TestCanonicalFindsTwinsAmongMany(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 40, 49, 50, 500} {
		for _, descending := range []bool{false, true} {
			var members []string
			for i := range n {
				if descending {
					i = n - i
				}
				members = append(members, fmt.Sprintf(`"%06d":0`, i))
			}
			if _, err := intent.Canonical(json.RawMessage("{" + strings.Join(members, ",") + "}")); err != nil {
				t.Errorf("%d different keys: %v", n, err)
			}
			for _, twin := range []int{0, n / 2, n - 1} {
				doc := "{" + strings.Join(append(members[:n:n], members[twin]), ",") + "}"
				if _, err := intent.Canonical(json.RawMessage(doc)); err == nil || !strings.HasSuffix(err.Error(), "twice in one object") {
					t.Errorf("key %d of %d twice: %v", twin, n, err)
				}
			}
		}
	}
}

// BenchmarkCanonical takes turns with the library on a state such as solvers and
// scorers are given, which only writes and checks less.
func BenchmarkCanonical(b *testing.B) {
	state, err := intent.DecodeState([]byte(`{"contract_address":"","chain_id":1,"nonce":2,"owner":"0x97cC37C0F363C0873bAf2Bd0D42b95c283b10710",
		"raw_params":{"input_amount":"10000000000","input_token":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48","min_output_amount":"3316354929427282723",
		"output_token":"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2","receiver":"0x97cC37C0F363C0873bAf2Bd0D42b95c283b10710"},
		"control":{"_intent_function":"swap"},"context_version":"v2","policy_tier":"hybrid"}`))
	if err != nil {
		b.Fatal(err)
	}
	var ours, theirs time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if _, err := intent.Canonical(state); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		doc, err := json.Marshal(state)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := jcs.Transform(doc); err != nil {
			b.Fatal(err)
		}
		ours += middle.Sub(start)
		theirs += time.Since(middle)
	}
	b.ReportMetric(float64(theirs)/float64(ours), "library/ours")
}
