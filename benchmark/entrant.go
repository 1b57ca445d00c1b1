package benchmark

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"unicode/utf8"

	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// Bounds of an epoch.
const (
	MaxEntrants   = 256
	MaxWorkers    = 256
	MaxMinerBytes = 128 // of a miner's name
)

// An Entrant is one solver in an epoch.
type Entrant struct {
	Miner  string // whose it is; a state belongs to a miner and a role
	Role   Role   // "" = candidate
	Module []byte // wasm, or the text of a script
	Script bool   // Module is JavaScript, run by the scorers' engine
}

func (e Entrant) source() harness.Source { return source(e.Module, e.Script) }

// source is a solver as its miner hands it in.
func source(code []byte, script bool) harness.Source {
	s := harness.Source{Code: code, Script: script}
	if script {
		s.Engine = scoring.Engine()
	}
	return s
}

// CheckEntrants says what [RunEpoch] would refuse about entrants, before
// anything is compiled, run or written. The error is an [intent.UsageFault].
func (p *Prepared) CheckEntrants(entrants []Entrant, workers int) error {
	if _, err := p.checkEntrants(entrants, workers); err != nil {
		return &intent.UsageFault{Err: err}
	}
	return nil
}

// checkEntrants returns the identities of the entrants' modules.
func (p *Prepared) checkEntrants(entrants []Entrant, workers int) ([]string, error) {
	if err := checkOwners(entrants, workers); err != nil {
		return nil, err
	}
	// A module that stands twice in one role could give two sessions one id.
	type entry struct {
		identity string
		role     Role
	}
	first := map[entry]string{}
	identities := make([]string, len(entrants))
	for i, e := range entrants {
		identity := e.source().Identity()
		identities[i] = hex.EncodeToString(identity[:])
		k := entry{identities[i], cmp.Or(e.Role, RoleCandidate)}
		if miner, ok := first[k]; ok {
			return nil, fmt.Errorf("miners %s and %s bring the same module %s", quoted(miner), quoted(e.Miner), k.identity)
		}
		first[k] = e.Miner
	}
	return identities, nil
}

func checkOwners(entrants []Entrant, workers int) error {
	if len(entrants) == 0 || len(entrants) > MaxEntrants {
		return fmt.Errorf("%d solvers, want 1 to %d", len(entrants), MaxEntrants)
	}
	if workers < 1 || workers > MaxWorkers {
		return fmt.Errorf("%d workers, want 1 to %d", workers, MaxWorkers)
	}
	type owner struct {
		miner string
		role  Role
	}
	seen := map[owner]bool{}
	roles := map[Role]int{}
	for _, e := range entrants {
		o := owner{e.Miner, cmp.Or(e.Role, RoleCandidate)}
		switch {
		case e.Miner == "" || len(e.Miner) > MaxMinerBytes || !utf8.ValidString(e.Miner):
			return fmt.Errorf("miner %s: want 1 to %d bytes of UTF-8", quoted(e.Miner), MaxMinerBytes)
		case !o.role.Valid():
			return fmt.Errorf("miner %s: no role %s", quoted(e.Miner), quoted(string(e.Role)))
		case seen[o]:
			return fmt.Errorf("miner %s has two solvers as %s: one state cannot be both's", quoted(e.Miner), o.role)
		}
		seen[o] = true
		roles[o.role]++
	}
	if n := roles[RoleChampion]; n > 1 {
		return fmt.Errorf("%d champions, want at most 1", n)
	}
	if n := roles[RoleBar]; n > scoring.MaxBars {
		return fmt.Errorf("%d bars, want at most %d", n, scoring.MaxBars)
	}
	return nil
}
