package solvers_test

import (
	"context"
	"maps"
	"math/big"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

const (
	javaScriptTemplate = "templates/js/solver.js"
	javaScriptTypes    = "templates/js/assay.d.ts"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// openScript starts a session of a solver in JavaScript.
func openScript(t *testing.T, text string, o harness.Options) *harness.Solver {
	t.Helper()
	p, err := harness.Compile(t.Context(), shared, harness.Source{Code: []byte(text), Script: true, Engine: scoring.Engine()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	s, err := harness.Open(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// keepsFee reports whether an order trades STA, which keeps some of each transfer.
func keepsFee(s intent.State) bool {
	const sta = "0xa7DE087329BFcda5639247F96140f9DAbe3DeED1"
	return s.RawParams["input_token"] == sta || s.RawParams["output_token"] == sta
}

// The template in JavaScript earns on intents that Uniswap V2 serves well enough,
// what it quotes is what arrives, and where it gives no plan it says why.
func TestJavaScriptTemplateEarns(t *testing.T) {
	t.Parallel()
	v := openVenue(t)
	guest := openScript(t, readFile(t, javaScriptTemplate), v.options(nil, len(v.cases)))
	earned := 0
	for _, s := range v.cases {
		answer, err := guest.Run(t.Context(), v.task(t, s))
		if err != nil {
			t.Fatal(err)
		}
		if answer.Plan == nil {
			if answer.Cause != intent.CauseSolverError || !strings.Contains(answer.Detail, "the best path pays") && !strings.Contains(answer.Detail, "no pair for") {
				t.Errorf("nonce %d: %s", s.Nonce, harness.Explain(answer.Cause, answer.Detail))
			}
			continue
		}
		minimum, _ := new(big.Int).SetString(s.RawParams["min_output_amount"].(string), 10)
		got := v.value(t, s, *answer.Plan)
		if keepsFee(s) && (got == nil || got.Cmp(minimum) < 0) {
			continue // its swaps are not those for tokens that keep a fee
		}
		if got == nil || got.Cmp(minimum) < 0 {
			t.Errorf("nonce %d: earned %s, want at least %s", s.Nonce, got, minimum)
			continue
		}
		if answer.Quote == nil || answer.Quote.EstimatedOutput != got.String() {
			t.Errorf("nonce %d: quote %+v %s, got %s", s.Nonce, answer.Quote, answer.QuoteDetail, got)
		}
		earned++
	}
	if earned < 5 {
		t.Errorf("earned on %d intents, want at least 5", earned)
	}
}

// interfaces are the members of each interface of the types, by name; a name
// that may be left out ends in "?".
func interfaces(types string) map[string][]string {
	declaration := regexp.MustCompile(`(?ms)^  interface (\w+) \{\n(.*?)^  \}`)
	member := regexp.MustCompile(`(?m)^    (\w+\??)[:(]`)
	found := map[string][]string{}
	for _, d := range declaration.FindAllStringSubmatch(types, -1) {
		for _, m := range member.FindAllStringSubmatch(d[2], -1) {
			found[d[1]] = append(found[d[1]], m[1])
		}
	}
	return found
}

// The types name exactly the fields that the host sends and takes.
func TestJavaScriptTypesAreTheHosts(t *testing.T) {
	t.Parallel()
	declared := interfaces(readFile(t, javaScriptTypes))
	for _, tt := range []struct {
		of  any
		out bool // the solver's answer: what isn't required may be left out
	}{
		{of: intent.InitConfig{}}, {of: intent.Definition{}}, {of: intent.Config{}}, {of: intent.Manifest{}}, {of: intent.State{}},
		{of: intent.MarketSnapshot{}}, {of: intent.Result{}},
		{of: intent.Plan{}, out: true}, {of: intent.Interaction{}, out: true}, {of: intent.Quote{}, out: true}, {of: intent.Metadata{}, out: true},
	} {
		of := reflect.TypeOf(tt.of)
		var want []string
		for f := range of.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "js_code" || name == "solidity_code" {
				continue // solvers never see them
			}
			if optional := options == "omitempty"; optional || tt.out && f.Tag.Get("strict") != "required" {
				name += "?"
			}
			want = append(want, name)
		}
		if diff := cmp.Diff(want, declared[of.Name()]); diff != "" {
			t.Errorf("%s (-host +types)\n%s", of.Name(), diff)
		}
	}
}

// What the types declare as global is there, and what the engine adds to the
// language is declared. The solver's methods are those that the engine calls.
func TestJavaScriptTypesAreTheEngines(t *testing.T) {
	t.Parallel()
	types := readFile(t, javaScriptTypes)
	declared := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^declare (function|const) (\w+)`).FindAllStringSubmatch(types, -1) {
		declared[m[2]] = map[string]string{"function": "function", "const": "object"}[m[1]]
	}
	// Neither module nor exports is global: each script has its own.
	delete(declared, "module")
	delete(declared, "exports")
	names := `["` + strings.Join(slices.Sorted(maps.Keys(declared)), `","`) + `"]`
	world := `exports.initialize = () => {}; exports.metadata = () => { throw ` + names + `.map((n) => n + "=" + typeof globalThis[n]).join() }`
	p, err := harness.Compile(t.Context(), shared, harness.Source{Code: []byte(world), Script: true, Engine: scoring.Engine()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, err = harness.Open(t.Context(), p, harness.Options{})
	var want []string
	for _, n := range slices.Sorted(maps.Keys(declared)) {
		want = append(want, n+"="+declared[n])
	}
	if err == nil || !strings.Contains(err.Error(), strings.Join(want, ",")) {
		t.Errorf("globals: %v, want %s", err, strings.Join(want, ","))
	}

	prelude := readFile(t, "../scoring/engine/prelude.js")
	_, body, _ := strings.Cut(prelude, "const world = {")
	body, _, _ = strings.Cut(body, "\n  };")
	for _, m := range regexp.MustCompile(`(?m)^    (?:async )?(\w+)[:(]`).FindAllStringSubmatch(body, -1) {
		if _, ok := declared[m[1]]; !ok {
			t.Errorf("the engine adds %s, which the types don't declare", m[1])
		}
	}
	var methods []string
	for _, m := range regexp.MustCompile(`: solver\("(\w+)"`).FindAllStringSubmatch(prelude, -1) {
		methods = append(methods, m[1])
	}
	var declaredMethods []string
	for _, m := range interfaces(types)["Solver"] {
		if m = strings.TrimSuffix(m, "?"); m != "metadata" {
			declaredMethods = append(declaredMethods, m)
		}
	}
	slices.Sort(methods)
	slices.Sort(declaredMethods)
	if diff := cmp.Diff(methods, declaredMethods); diff != "" || len(methods) == 0 {
		t.Errorf("methods (-engine +types)\n%s", diff)
	}
}
