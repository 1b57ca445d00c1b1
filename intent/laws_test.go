package intent_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/intent"
)

// free draws a value of the kinds that JSON has.
func free(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Int64Range(-intent.MaxSafeInteger, intent.MaxSafeInteger), func(n int64) any { return json.Number(strconv.FormatInt(n, 10)) }),
		rapid.Map(rapid.Float64Range(-1e300, 1e300), func(f float64) any { return json.Number(strconv.FormatFloat(f, 'g', -1, 64)) }),
	}
	if depth > 0 {
		leaves = append(leaves,
			rapid.Map(rapid.SliceOfN(free(depth-1), 0, 3), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(rapid.String(), free(depth-1), 0, 3), func(m map[string]any) any { return m }))
	}
	return rapid.OneOf(leaves...)
}

func plans() *rapid.Generator[intent.Plan] {
	return rapid.Custom(func(t *rapid.T) intent.Plan {
		calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) intent.Interaction {
			return intent.Interaction{
				Target:   rapid.String().Draw(t, "target"),
				Value:    rapid.String().Draw(t, "value"),
				CallData: rapid.String().Draw(t, "data"),
				ChainID:  rapid.Uint64Max(intent.MaxSafeInteger).Draw(t, "chain"),
			}
		}), 0, 4).Draw(t, "calls")
		return intent.Plan{
			IntentID:     rapid.String().Draw(t, "id"),
			Interactions: calls,
			Deadline:     rapid.Uint64Max(intent.MaxSafeInteger).Draw(t, "deadline"),
			Nonce:        rapid.Uint64Max(intent.MaxSafeInteger).Draw(t, "nonce"),
			Metadata:     rapid.MapOfN(rapid.String(), free(3), 0, 4).Draw(t, "metadata"),
		}
	})
}

// What encoding/json writes of a plan is the plan, and so is its canonical form.
func TestPlanSurvivesEncoding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := plans().Draw(t, "plan")
		written, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := intent.DecodePlan(written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		canonical, err := intent.Canonical(want)
		if err != nil {
			t.Fatal(err)
		}
		again, err := intent.DecodePlan(canonical)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := want.Hash()
		if after, err := again.Hash(); err != nil || before != after {
			t.Fatalf("the canonical form has another hash: %x, %x, %v", before, after, err)
		}
	})
}

// Canonical of canonical is canonical, and white space and key order never
// enter.
func TestCanonicalIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := free(4).Draw(t, "value")
		once, err := intent.Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := intent.Canonical(json.RawMessage(once))
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s\n%s\n%v", once, twice, err)
		}
		indented, err := json.MarshalIndent(v, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if spaced, err := intent.Canonical(json.RawMessage(indented)); err != nil || !bytes.Equal(once, spaced) {
			t.Fatalf("%s\n%s\n%v", once, spaced, err)
		}
	})
}

// A decimal is accepted exactly if the nearest float64, printed as short as can
// be, is the same decimal. The oracle is arithmetic on rationals.
func TestNumbersSurviveOrAreRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		wrote, _ := new(big.Rat).SetString(text)
		reads, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
		canonical, err := intent.Canonical(json.Number(text))
		if (err == nil) != (wrote.Cmp(reads) == 0) {
			t.Fatalf("Canonical(%s) = %s, %v; float64 %v", text, canonical, err, f)
		}
		if err != nil {
			return
		}
		kept, ok := new(big.Rat).SetString(string(canonical))
		if !ok || kept.Cmp(wrote) != 0 {
			t.Fatalf("Canonical(%s) = %s", text, canonical)
		}
	})
}

func TestParseAmountReadsWhatBigIntWrites(t *testing.T) {
	t.Parallel()
	limit := new(big.Int).Lsh(big.NewInt(1), 256)
	rapid.Check(t, func(t *rapid.T) {
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 33).Draw(t, "bytes"))
		got, err := intent.ParseAmount(n.String())
		if (err == nil) != (n.Cmp(limit) < 0) {
			t.Fatalf("ParseAmount(%s) = %v, %v", n, got, err)
		}
		if err == nil && got.ToBig().Cmp(n) != 0 {
			t.Fatalf("ParseAmount(%s) = %s", n, got)
		}
	})
}

func TestSyncExtraIsIdempotent(t *testing.T) {
	t.Parallel()
	params := rapid.MapOfN(rapid.StringMatching(`_?[a-c]`), rapid.Map(rapid.IntRange(0, 9), func(n int) any { return n }), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		s := intent.State{RawParams: params.Draw(t, "raw"), Control: params.Draw(t, "control"), Extra: params.Draw(t, "extra")}
		s.SyncExtra()
		once := s
		s.SyncExtra()
		if diff := cmp.Diff(once, s); diff != "" {
			t.Fatalf("(-once +twice)\n%s", diff)
		}
		for k := range s.Extra {
			_, isRaw := s.RawParams[k]
			_, isControl := s.Control[k]
			if !isRaw && !isControl {
				t.Fatalf("%s is in extra alone: %v", k, s)
			}
		}
	})
}

func BenchmarkDecodePlan(b *testing.B) {
	data, err := json.Marshal(plan(times(intent.MaxInteractions, call(512))))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := intent.DecodePlan(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPlanHash(b *testing.B) {
	p := plan(times(intent.MaxInteractions, call(512)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Hash(); err != nil {
			b.Fatal(err)
		}
	}
}
