package benchmark_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// file is a pack file under construction.
type file = map[string]any

// edit changes a copy of the standard pack file.
func edit(t testing.TB, change func(file)) []byte {
	t.Helper()
	f := standardFile(t)
	change(f)
	return marshal(t, f)
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t testing.TB, b []byte) *benchmark.Pack {
	t.Helper()
	p, err := benchmark.DecodePack(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func packDigest(t testing.TB, b []byte) string {
	t.Helper()
	d, err := decode(t, b).Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func object(v any) map[string]any { return v.(map[string]any) }
func item(v any, i int) file      { return object(v.([]any)[i]) }

func TestDecodePackRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(file)
		want   string // in the error
	}{
		{"an unknown field", func(f file) { f["sead"] = "" }, `unknown field "sead"`},
		{"another schema", func(f file) { f["schema"] = 2 }, "schema: 2"},
		{"no seed", func(f file) { delete(f, "seed") }, "seed: missing"},
		{"a seed in upper case", func(f file) { f["seed"] = strings.Repeat("AB", 32) }, "seed: "},
		{"a short seed", func(f file) { f["seed"] = "ab" }, "seed: "},
		{"a snapshot that is no hash", func(f file) { item(f["chains"], 0)["snapshot"] = "mainnet" }, "chains[0].snapshot"},
		{"an empty name", func(f file) { f["name"] = "" }, "name: "},
		{"chain 0", func(f file) { item(f["chains"], 0)["chain_id"] = 0 }, "chains[0]"},
		{"a chain twice", func(f file) { f["chains"] = append(f["chains"].([]any), item(f["chains"], 0)) }, "chains[1]: chain 1 twice"},
		{"a market of another chain", func(f file) {
			item(f["chains"], 0)["market"] = file{"chain_id": 5, "block_number": 1, "timestamp": 1}
		}, "chains[0].market"},
		{"an app twice", func(f file) { f["apps"] = append(f["apps"].([]any), item(f["apps"], 0)) }, "apps[1]"},
		{"an app without a self-test", func(f file) {
			other := maps.Clone(item(f["apps"], 0))
			other["app_id"] = "other"
			f["apps"] = append(f["apps"].([]any), other)
		}, `apps[1]: app "other" has no self-test`},
		{"an intent of no app", func(f file) { item(f["cases"], 2)["app_id"] = "nobody" }, "cases[2].app_id"},
		{"an intent on a chain the pack has not", func(f file) { object(item(f["cases"], 1)["state"])["chain_id"] = 10 }, "cases[1].state.chain_id"},
		{"an intent on a chain its app has not", func(f file) {
			object(item(f["apps"], 0)["config"])["supported_chains"] = []any{10}
		}, "does not support chain 1"},
		{"two equal intents", func(f file) { f["cases"] = append(f["cases"].([]any), item(f["cases"], 0)) }, "cases: two intents are i_"},
		{"two intents that differ in derived fields only", func(f file) {
			twin := maps.Clone(item(f["cases"], 0))
			state := maps.Clone(object(twin["state"]))
			state["typed_context"] = "other"
			twin["state"] = state
			f["cases"] = append(f["cases"].([]any), twin)
		}, "cases: two intents are i_"},
		{"truth for a user-triggered app", func(f file) { item(f["cases"], 0)["truth"] = true }, "cases[0].truth"},
		{"a best value that is no amount", func(f file) { item(f["cases"], 0)["best"] = "-1" }, "cases[0].best"},
		{"a best value of nothing", func(f file) { item(f["cases"], 0)["best"] = "0" }, "cases[0].best"},
		{"no intents", func(f file) { f["cases"] = []any{} }, "cases: length 0"},
		{"two smoke intents", func(f file) { f["smoke"] = f["smoke"].([]any)[:2] }, "smoke: length 2"},
		{"other limits", func(f file) { f["limits"] = file{"restarts": 5} }, "limits."},
		{"limits that are no object", func(f file) { f["limits"] = 7 }, "limits: "},
		{"other rules", func(f file) { f["rules"] = file{"abi": 2} }, "rules.abi: pack asks for 2, this build has 1"},
		{"a close that is not seconds", func(f file) { f["close"] = "noon" }, "close: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := benchmark.DecodePack(edit(t, tt.change))
			var usage *intent.UsageFault
			if !errors.As(err, &usage) {
				t.Fatalf("error %v (%T) is no usage fault", err, err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
		})
	}
}

func TestRulesErrorNamesTheEntry(t *testing.T) {
	t.Parallel()
	b := edit(t, func(f file) {
		rules := rulesOf(t)
		rules["scorer"] = strings.Repeat("0", 64)
		f["rules"] = rules
	})
	_, err := benchmark.DecodePack(b)
	var differ *benchmark.RulesError
	if !errors.As(err, &differ) {
		t.Fatalf("error %v is no RulesError", err)
	}
	if differ.What != "rules.scorer" {
		t.Errorf("RulesError.What = %q, want rules.scorer", differ.What)
	}
}

func rulesOf(t testing.TB) file {
	t.Helper()
	var rules file
	if err := json.Unmarshal(marshal(t, benchmark.BuildRules()), &rules); err != nil {
		t.Fatal(err)
	}
	return rules
}

// Encoding writes limits and rules out; decoding reads the same pack back.
func TestPackSurvivesEncoding(t *testing.T) {
	t.Parallel()
	p := decode(t, marshal(t, standardFile(t)))
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back := decode(t, b)
	if diff := cmp.Diff(p, back); diff != "" {
		t.Errorf("pack after a round trip (-want +got):\n%s", diff)
	}
	if want, got := packDigest(t, marshal(t, standardFile(t))), packDigest(t, b); got != want {
		t.Errorf("digest after a round trip %s, want %s", got, want)
	}
}

func TestCasesAreInOrderOfTheirIDs(t *testing.T) {
	t.Parallel()
	p := decode(t, marshal(t, standardFile(t)))
	ids := make([]string, 0, len(p.Cases))
	for _, c := range p.Cases {
		id, err := intent.Key(p.Apps[0], c.State)
		if err != nil {
			t.Fatal(err)
		}
		if c.ID != id {
			t.Errorf("case has id %s, its key is %s", c.ID, id)
		}
		ids = append(ids, c.ID)
	}
	if !slices.IsSorted(ids) {
		t.Errorf("cases are not ascending: %v", ids)
	}
}

// The parts of a digest are written out here: one that goes missing makes two
// packs of one name that give different rows.
func TestPackDigestIsOfTheDocumentedParts(t *testing.T) {
	t.Parallel()
	f := standardFile(t)
	p := decode(t, marshal(t, f))
	parts := file{
		"schema": 1, "rows": 1, "seed": f["seed"], "apps": p.Apps, "isolation": "batch",
		"limits": harness.DefaultLimits(), "scorer_limits": scoring.DefaultLimits(), "rules": benchmark.BuildRules(),
		"chains": []any{file{"chain_id": 1, "snapshot": item(f["chains"], 0)["snapshot"], "market": nil}},
	}
	var cases, tests, smoke []any
	for _, c := range p.Cases {
		cases = append(cases, file{"app_id": c.App, "state": c.State})
	}
	for _, c := range p.SelfTests {
		tests = append(tests, file{"app_id": c.App, "state": c.State, "plan": c.Plan})
	}
	for _, c := range p.Smoke {
		smoke = append(smoke, file{"app_id": c.App, "state": c.State})
	}
	parts["cases"], parts["self_tests"], parts["smoke"] = cases, tests, smoke
	b, err := intent.Canonical(parts)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := packDigest(t, marshal(t, f)), fmt.Sprintf("%x", sha256.Sum256(b)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// Every leaf of a pack changes its digest, but the name and the closing time.
func TestDigestChangesWithEveryLeaf(t *testing.T) {
	t.Parallel()
	base := fullFile(t)
	want := packDigest(t, marshal(t, base))
	leaves := 0
	walk(base, "", func(path string, old any, set func(any)) {
		leaves++
		changed := mutate(t, path, old)
		set(changed)
		defer set(old)
		p, err := benchmark.DecodePack(marshal(t, base))
		if err != nil {
			// A change that makes no pack at all cannot keep the digest. Only a
			// leaf that another part refers to may do that.
			if !linked.MatchString(path) {
				t.Errorf("%s = %v: %v", path, changed, err)
			}
			return
		}
		got, err := p.Digest()
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		free := path == ".name" || path == ".close" || strings.HasSuffix(path, ".held_out")
		if same := got == want; same != free {
			t.Errorf("%s: %v → %v: digest unchanged: %t, want %t", path, old, changed, same, free)
		}
	})
	if leaves < 80 {
		t.Errorf("walked over %d leaves, the pack has more", leaves)
	}
}

// linked are the leaves that must agree with others, or with this build.
var linked = regexp.MustCompile(`^\.(schema|limits|rules)\b|\.(app_id|chain_id|trigger_type|supported_chains\[\d\])$`)

// walk visits every leaf of a JSON value with a way to replace it.
func walk(v any, path string, visit func(path string, old any, set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			visitChild(v[k], path+"."+k, func(x any) { v[k] = x }, visit)
		}
	case []any:
		for i := range v {
			visitChild(v[i], fmt.Sprintf("%s[%d]", path, i), func(x any) { v[i] = x }, visit)
		}
	}
}

func visitChild(v any, path string, set func(any), visit func(string, any, func(any))) {
	switch v.(type) {
	case map[string]any, []any:
		walk(v, path, visit)
	default:
		visit(path, v, set)
	}
}

// mutate returns another value of the same form: the changed pack must still be
// one wherever a pack may differ at all.
func mutate(t *testing.T, path string, old any) any {
	switch v := old.(type) {
	case bool:
		return !v
	case int:
		return v + 1
	case float64:
		if v == math.Trunc(v) {
			return v + 1
		}
		return v / 2
	case string:
		switch {
		case strings.HasSuffix(path, ".app_id"):
			return map[string]string{"tip": "alarm", "alarm": "tip"}[v]
		case strings.HasSuffix(path, ".trigger_type"):
			return map[string]string{intent.TriggerUser: intent.TriggerAuto, intent.TriggerAuto: intent.TriggerUser}[v]
		case path == ".isolation":
			return string(harness.IsolationBatch)
		case v == "":
			return "x"
		case isDigits(v):
			return v[:len(v)-1] + string('0'+(v[len(v)-1]-'0'+1)%10)
		case v[len(v)-1] == '1':
			return v[:len(v)-1] + "2"
		}
		return v[:len(v)-1] + "1"
	}
	t.Fatalf("%s is a %T", path, old)
	return nil
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// The order in which a pack is written is not part of what it is.
func TestDigestKeepsWithTheOrderOfLists(t *testing.T) {
	t.Parallel()
	want := packDigest(t, marshal(t, fullFile(t)))
	for _, list := range []string{"cases", "apps", "chains"} {
		f := fullFile(t)
		slices.Reverse(f[list].([]any))
		if got := packDigest(t, marshal(t, f)); got != want {
			t.Errorf("digest with %s reversed is %s, want %s", list, got, want)
		}
	}
}

func TestLoadPackErrorsAreUsage(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"no such file": "no-such-pack.json",
		"a folder":     t.TempDir(),
	} {
		_, err := benchmark.LoadPack(path)
		var usage *intent.UsageFault
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want a usage fault that names the file", name, err)
		}
	}
}

// FuzzDecodePack: whatever decodes is encoded and decoded to the same digest,
// and nothing panics.
func FuzzDecodePack(f *testing.F) {
	f.Add(marshal(f, standardFile(f)))
	f.Add([]byte(`{"schema":1,"name":"n","seed":"` + hex.EncodeToString(make([]byte, 32)) + `"}`))
	f.Add([]byte(`{"schema":1,"limits":{"restarts":1e400}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := benchmark.DecodePack(b)
		if err != nil {
			var usage *intent.UsageFault
			if !errors.As(err, &usage) {
				t.Fatalf("error %v is no usage fault", err)
			}
			return
		}
		encoded, err := p.Encode()
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		if packDigest(t, encoded) != packDigest(t, b) {
			t.Fatal("the digest changed in a round trip")
		}
	})
}
