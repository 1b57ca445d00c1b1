package benchmark

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/scoring"
)

// Versions of the rules. Each is raised by hand when a change of the code it
// names changes a row. They are part of every pack's digest, and so is
// [sandbox.CostVersion], of what instructions, host calls and [intent.FuelPerGas]
// cost.
const (
	abiVersion      = 1 // what modules import and export
	executorVersion = 1 // how plans are funded, executed and measured
	scoringVersion  = 1 // how outcomes are valued and scorers' answers read
	adoptionVersion = 1 // how a champion is chosen
)

// Rules says by which rules rows are made. The zero value is no rules; see
// [BuildRules].
type Rules struct {
	ABI      int    `json:"abi"`
	Executor int    `json:"executor"`
	Scoring  int    `json:"scoring"`
	Cost     int    `json:"cost"`
	Healthy  uint64 `json:"healthy_fuel"` // a second, from which on a host blames guests for a wall stop
	Adoption int    `json:"adoption"`
	Scorer   string `json:"scorer"` // SHA-256 of the scorer engine
}

// BuildRules returns the rules of this build.
func BuildRules() Rules {
	engine := scoring.EngineHash()
	return Rules{
		ABI:      abiVersion,
		Executor: executorVersion,
		Scoring:  scoringVersion,
		Cost:     sandbox.CostVersion,
		Healthy:  sandbox.HealthyFuel,
		Adoption: adoptionVersion,
		Scorer:   hex.EncodeToString(engine[:]),
	}
}

// A RulesError says that a pack was made for another build: running it here
// would give rows that nobody else gets.
type RulesError struct {
	What string // the first entry that differs, such as rules.abi
	Have string // what this build has, "" = no such entry
	Want string // what the pack asks for, "" = no such entry
}

func (e *RulesError) Error() string {
	name := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return s
	}
	return fmt.Sprintf("%s: pack asks for %s, this build has %s", e.What, name(e.Want), name(e.Have))
}

// sameAsBuild compares a pack's limits or rules with this build's. Absent ones
// are this build's.
func sameAsBuild(path string, want, have any) error {
	if want == nil {
		return nil
	}
	b, err := intent.Canonical(have)
	if err != nil {
		return at(path, err)
	}
	var build any
	if err := intent.DecodeStrict(b, &build); err != nil {
		return at(path, err)
	}
	return firstDifference(path, want, build)
}

func firstDifference(path string, want, have any) error {
	w, wantMap := want.(map[string]any)
	h, haveMap := have.(map[string]any)
	if !wantMap || !haveMap {
		wt, ht := text(want), text(have)
		if wt == ht {
			return nil
		}
		return &RulesError{What: path, Have: ht, Want: wt}
	}
	keys := maps.Clone(w)
	maps.Copy(keys, h)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if err := firstDifference(path+"."+name(k), w[k], h[k]); err != nil {
			return err
		}
	}
	return nil
}

// text shows one entry, "" where there is none.
func text(v any) string {
	if v == nil {
		return ""
	}
	b, err := intent.Canonical(v)
	if err != nil {
		return quoted(fmt.Sprint(v))
	}
	if s, ok := v.(string); ok {
		return quoted(s)
	}
	if _, ok := v.(json.Number); ok {
		return string(b)
	}
	return quoted(string(b))
}

// name keeps a key of somebody's file from writing the path as it likes.
func name(k string) string {
	q := quoted(k)
	if q == `"`+k+`"` {
		return k
	}
	return q
}
