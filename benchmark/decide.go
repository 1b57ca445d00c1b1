package benchmark

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/scoring"
)

// A Decision says who is champion after an epoch, by the rule of [scoring.Adopt].
type Decision struct {
	Champion    string      `json:"champion"` // the session of who was, "" = nobody
	Adopted     string      `json:"adopted"`  // the session of who is new, "" = nobody
	Reason      string      `json:"reason"`
	Challengers []Challenge `json:"challengers"` // by session
}

// A Challenge is one candidate against the champion.
type Challenge struct {
	Session string `json:"session"`
	Miner   string `json:"miner"`
	scoring.Adoption
}

// Decide judges every candidate of sessions against their champion; bars are the
// sessions of dethroned ones. Nothing is decided while a row of the champion is void;
// a bar with a void row is none, and a candidate with one is not adopted, nor is one
// whose session may not decide. share is how much of a candidate's functions is the
// champion's, in basis points; nil = not known, taken as none. There is at most one
// champion. Errors are those of [scoring.Adopt].
func Decide(sessions []*Session, share func(candidate, champion *Session) uint) (*Decision, error) {
	d := &Decision{Challengers: []Challenge{}}
	var champion *Session
	var candidates []*Session
	match := scoring.Match{Vacant: true}
	for _, s := range sessions {
		switch s.Role {
		case RoleChampion:
			champion = s
			match.Vacant, match.Champion, d.Champion = false, s.orders(), s.ID
		case RoleBar:
			if s.void() == 0 {
				match.Bars = append(match.Bars, scoring.Bar{Orders: s.orders()})
			}
		default:
			candidates = append(candidates, s)
		}
	}
	slices.SortFunc(candidates, func(a, b *Session) int { return cmp.Compare(a.ID, b.ID) })
	var contenders []scoring.Contender
	for _, s := range candidates {
		match.Challenger, match.Share = s.orders(), 0
		if champion != nil && share != nil {
			match.Share = share(s, champion)
		}
		a, err := scoring.Adopt(match)
		if err != nil {
			return nil, err
		}
		if why := unfit(s, champion); why != "" {
			a.Adopt, a.Via, a.Reason = false, "", why
		}
		d.Challengers = append(d.Challengers, Challenge{Session: s.ID, Miner: s.Miner, Adoption: a})
		contenders = append(contenders, scoring.Contender{Adoption: a, Fuel: s.fuel(), Module: s.Module})
	}
	switch i := scoring.Winner(contenders); {
	case champion != nil && champion.void() > 0:
		d.Reason = fmt.Sprintf("void: %d row(s) of the champion", champion.void())
	case i >= 0:
		d.Adopted, d.Reason = candidates[i].ID, contenders[i].Adoption.Reason
	case len(candidates) == 0:
		d.Reason = "no challenger"
	case len(candidates) == 1:
		d.Reason = contenders[0].Adoption.Reason
	default:
		d.Reason = fmt.Sprintf("none of %d challengers passes", len(candidates))
	}
	return d, nil
}

// unfit says why a candidate's rows may not decide, whatever they are, "" if they
// may.
func unfit(s, champion *Session) string {
	switch n := s.void(); {
	case champion != nil && champion.void() > 0:
		return fmt.Sprintf("void: %d row(s) of the champion", champion.void())
	case champion != nil && s.Module == champion.Module && s.Miner != champion.Miner:
		return "reject: the champion's own module, of another miner"
	case n > 0:
		return fmt.Sprintf("reject: %d void row(s)", n)
	case !s.Adoptable:
		return "reject: " + s.NotAdoptable
	}
	return ""
}

// orders are a session's rows as the adoption rule reads them.
func (s *Session) orders() []scoring.Order {
	out := make([]scoring.Order, len(s.Records))
	for i, r := range s.Records {
		out[i] = scoring.Order{IntentID: r.Row.IntentID, Value: r.Row.Credited, Gas: r.Row.GasUsed, Measured: true}
	}
	return out
}

// void is how many rows the validator failed at.
func (s *Session) void() int {
	n := 0
	for _, r := range s.Records {
		if r.Row.Cause == intent.CauseInfra {
			n++
		}
	}
	return n
}

// fuel is what a session's rows spent.
func (s *Session) fuel() uint64 {
	sum := uint64(0)
	for _, r := range s.Records {
		sum += r.Row.fuel()
	}
	return sum
}

// shares tells how much of an entrant's functions is another's. Of scripts, and of
// what is no module, it is 0.
func (r *epochRun) shares() func(candidate, champion *Session) uint {
	read := map[*Session]*sandbox.Bodies{}
	bodies := func(s *Session) *sandbox.Bodies {
		if b, ok := read[s]; ok {
			return b
		}
		i := slices.IndexFunc(r.jobs, func(j *job) bool { return j.session == s })
		if j := r.jobs[i]; !j.Script {
			b, err := sandbox.ReadBodies(j.Module)
			if err == nil {
				read[s] = b
				return b
			}
		}
		read[s] = &sandbox.Bodies{}
		return read[s]
	}
	return func(candidate, champion *Session) uint {
		theirs := bodies(champion)
		mine := bodies(candidate)
		delete(read, candidate) // there may be hundreds
		return mine.Share(theirs)
	}
}
