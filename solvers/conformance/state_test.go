package conformance_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
)

// call makes a call that must succeed.
func call(t *testing.T, i *sandbox.Instance, export, input string) string {
	t.Helper()
	r, err := i.Call(t.Context(), sandbox.Call{
		Export: "solver_" + export, Input: []byte(input), Wall: wall, Fuel: plenty, Seed: seed, OutputLimit: largest,
	})
	if err != nil || r.Status != 0 {
		t.Fatalf("%s: status %d %.100q, %v", export, r.Status, r.Output, err)
	}
	return string(r.Output)
}

// largest is the most bytes a state may have.
const largest = 50 << 20

// A state comes back as it was given, whatever its bytes are.
func TestState(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		for name, state := range map[string]string{
			"empty":                "",
			"one zero":             "\x00",
			"bytes of every value": string(everyByte()),
			"no UTF-8":             "\xff\xfe\xc0\x80\xed\xa0\x80",
			"text":                 manyScripts,
			"a byte order mark":    "\ufeffx",
			"the largest":          pattern(largest),
		} {
			t.Run(name, func(t *testing.T) {
				i := g.instantiate(t)
				initialize(t, i)
				call(t, i, "restore_state", state)
				for range 2 { // giving it away changes nothing
					if diff := cmp.Diff(abridged(state), abridged(call(t, i, "serialize_state", ""))); diff != "" {
						t.Errorf("(-restored +serialized)\n%s", diff)
					}
				}
			})
		}
	})
}

// A state that a guest makes itself ends at the limit.
func TestLargestState(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		fits := g.play(t, row{script: "fill 52428800", limit: largest})
		row{output: pattern(largest)}.judge(t, fits)
		beyond := g.play(t, row{script: "fill 52428801", limit: largest})
		row{cause: sandbox.CauseOutput}.judge(t, beyond)
	})
}

// What the host says reaches the guest to the letter: any character, any number,
// fields that this version of the ABI doesn't have.
func TestInputs(t *testing.T) {
	const odd = `{"":"","a\"\\b":[[],{},[null,true,false]],"control":"\u0000\b\t\n\f\r\u001f","fraction":[0.1,5e-324,1.7976931348623157e+308,1e+21,100000000000000000000,-1.5],` +
		`"next_year":{"x":[1,{"y":2}]},"text":"` + manyScripts + `"}`
	request := `{"intent":` + odd + `,"intent_id":"i_1","snapshot":null,"state":` + odd + `}`
	eachGuest(t, func(t *testing.T, g guest) {
		for export, input := range map[string]string{
			"set_market":         odd,
			"on_benchmark_start": `{"intent_count":12}`,
			"check_trigger":      request,
			"generate_plan":      request,
			"quote":              request,
			"on_benchmark_end":   `[{"elapsed_ms":3,"intent_id":"i_1","score":0.123456789012345},` + odd + `]`,
		} {
			t.Run(export, func(t *testing.T) {
				i := g.instantiate(t)
				initialize(t, i, export+" echo;keep;json {'trigger':true}")
				call(t, i, export, input)
				if diff := cmp.Diff(input, call(t, i, "serialize_state", "")); diff != "" {
					t.Errorf("(-given +seen)\n%s", diff)
				}
			})
		}
		t.Run("initialize", func(t *testing.T) {
			i := g.instantiate(t)
			initialize(t, i, "initialize echo;keep", manyScripts)
			if got := call(t, i, "serialize_state", ""); !strings.Contains(got, `["initialize echo;keep","`+manyScripts+`"]`) {
				t.Errorf("saw %s", got)
			}
		})
	})
}

// What a guest keeps lives on from call to call, and is nothing of another
// instance's.
func TestInstancesAreApart(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		first, second := g.instantiate(t), g.instantiate(t)
		for i, instance := range []*sandbox.Instance{first, second} {
			initialize(t, instance, "on_benchmark_end state;say x;keep")
			for range i + 1 {
				call(t, instance, "on_benchmark_end", "[]")
			}
		}
		if a, b := call(t, first, "serialize_state", ""), call(t, second, "serialize_state", ""); a != "x" || b != "xx" {
			t.Errorf("states %q and %q, want x and xx", a, b)
		}
	})
}
