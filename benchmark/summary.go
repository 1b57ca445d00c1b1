package benchmark

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// An Epoch is the outcome of a set of sessions over one pack, decided and
// stored: reports print it and compute nothing.
type Epoch struct {
	Schema     int          `json:"schema"`
	Number     uint64       `json:"epoch"` // in the store it was committed to, 0 = not stored
	Pack       string       `json:"pack"`  // the pack's digest
	PackName   string       `json:"pack_name"`
	RowsDigest string       `json:"rows_digest"`
	Dropped    []DroppedApp `json:"dropped"` // apps that failed their own known-good plan
	Solvers    []Summary    `json:"solvers"` // best first
	Decision   *Decision    `json:"decision"`
	Sessions   []*Session   `json:"sessions"` // by id
}

// A Summary is what a person wants to know about one session. Names in it are
// the solver's claims.
type Summary struct {
	Session   string       `json:"session"`
	Miner     string       `json:"miner"`
	Role      Role         `json:"role"`
	Module    string       `json:"module"`
	Name      string       `json:"name"` // the solver's own, quoted; "" = it never said
	Version   string       `json:"version"`
	Score     string       `json:"score"`   // mean of the rows that are not void, "" = all are
	OfBest    OfBest       `json:"of_best"` // every plan against the pack's best
	Valued    int          `json:"valued"`  // rows with a value
	Intents   int          `json:"intents"` // rows in all
	Void      int          `json:"void"`    // rows the validator failed at
	Failures  []CauseCount `json:"failures"`
	GasUsed   uint64       `json:"gas_used"` // of executed plans, refunds subtracted
	PeakPages uint32       `json:"peak_pages"`
	Fuel      uint64       `json:"fuel"` // of the calls that its rows count
	HostCalls uint64       `json:"host_calls"`
	Reads     uint64       `json:"reads"` // chain requests
	Worst     []Worst      `json:"worst"` // at most WorstRows, worst first
	StateIn   int          `json:"state_in_bytes"`
	StateOut  int          `json:"state_out_bytes"` // 0 unless saved
	StateNote string       `json:"state_note"`      // what became of the state, for people

	Adoptable    bool   `json:"adoptable"`     // as of the [Session]
	NotAdoptable string `json:"not_adoptable"` // the same
}

// CauseCount is how many rows ended by one cause.
type CauseCount struct {
	Cause intent.Cause `json:"cause"`
	Rows  int          `json:"rows"`
}

// Worst is one of the rows a session earned least on.
type Worst struct {
	IntentID string       `json:"intent_id"`
	App      string       `json:"app"`
	Score    string       `json:"score"`
	Cause    intent.Cause `json:"cause"`
	Reason   string       `json:"reason"` // quoted
}

// WorstRows is how many rows a [Summary] shows.
const WorstRows = 3

// rank orders the sessions for people: those without void rows first, for the
// others' scores leave rows out; then by score, then by session id.
func rank(sessions []*Session) ([]Summary, error) {
	type ranked struct {
		Summary
		score *big.Int
	}
	all := make([]ranked, 0, len(sessions))
	for _, s := range sessions {
		sum, score, err := summarize(s)
		if err != nil {
			return nil, err
		}
		all = append(all, ranked{sum, score})
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(min(a.Void, 1), min(b.Void, 1)), b.score.Cmp(a.score), cmp.Compare(a.Session, b.Session))
	})
	out := make([]Summary, len(all))
	for i, r := range all {
		out[i] = r.Summary
	}
	return out, nil
}

func summarize(s *Session) (Summary, *big.Int, error) {
	out := Summary{
		Session: s.ID, Miner: s.Miner, Role: s.Role, Module: s.Module,
		Name: s.Name, Version: s.Version, Intents: len(s.Records),
		StateIn: s.StateInBytes, StateOut: s.StateOutBytes, StateNote: s.StateNote,
		Adoptable: s.Adoptable, NotAdoptable: s.NotAdoptable,
	}
	total := new(big.Int)
	causes := map[intent.Cause]int{}
	scores := make([]*big.Int, len(s.Records))
	for i, r := range s.Records {
		scores[i] = new(big.Int) // of a void row, which says nothing
		if r.Row.Score != "" {
			score, ok := scoring.ParseScore(r.Row.Score)
			if !ok {
				return Summary{}, nil, fmt.Errorf("row %s: score %q is no decimal in [0,1]", r.Row.IntentID, r.Row.Score)
			}
			scores[i] = score
			total.Add(total, score)
		}
		switch r.Row.Cause {
		case intent.CauseNone:
			out.Valued++
		case intent.CauseInfra:
			out.Void++
			fallthrough
		default:
			causes[r.Row.Cause]++
		}
		out.GasUsed += r.Row.GasUsed
		out.PeakPages = max(out.PeakPages, r.Row.PeakPages)
		out.Fuel += r.Row.fuel()
		out.HostCalls += r.HostCalls
		out.Reads += uint64(r.Row.Reads.Requests)
	}
	if judged := int64(out.Intents - out.Void); judged > 0 {
		total.Div(total, big.NewInt(judged))
		out.Score = scoring.FormatScore(total)
	}

	out.Failures = make([]CauseCount, 0, len(causes))
	for c, n := range causes {
		out.Failures = append(out.Failures, CauseCount{c, n})
	}
	slices.SortFunc(out.Failures, func(a, b CauseCount) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Cause, b.Cause))
	})
	out.Worst = worst(s.Records, scores)
	var err error
	out.OfBest, err = ofBest(s.Records)
	return out, total, err
}

// worst picks the rows without value first, then those with the lowest scores.
// Rows that earned everything are not among them, nor are void ones: what those
// would have earned is not known.
func worst(records []Record, scores []*big.Int) []Worst {
	order := make([]int, 0, len(records))
	for i, r := range records {
		void, whole := r.Row.Cause == intent.CauseInfra, r.Row.Score == "1"
		if !void && !whole {
			order = append(order, i)
		}
	}
	valued := func(i int) int {
		if records[i].Row.Cause == intent.CauseNone {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(valued(a), valued(b)), scores[a].Cmp(scores[b]))
	})
	out := make([]Worst, 0, WorstRows)
	for _, i := range order[:min(len(order), WorstRows)] {
		r := records[i]
		out = append(out, Worst{
			IntentID: r.Row.IntentID, App: r.App, Score: r.Row.Score, Cause: r.Row.Cause, Reason: r.Detail,
		})
	}
	return out
}
