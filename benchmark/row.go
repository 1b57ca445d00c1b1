package benchmark

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/subnet112/assay/intent"
)

// RowSchema is the version of the [Row] format. It is part of every rows
// digest.
const RowSchema = 1

// A Row is what one solver earned on one intent, and why. Its canonical JSON is
// compared between validators byte by byte, so a row holds nothing that depends
// on who ran it: no times, no host, no library's error text, no miner's name.
//
// A row is void when Cause is [intent.CauseInfra]: it then holds its ids and
// the cause only.
type Row struct {
	Session     string       `json:"session"`  // see [SessionID]
	Module      string       `json:"module"`   // the solver's identity; see [harness.Source]
	StateIn     string       `json:"state_in"` // SHA-256 of the state the session started from, "" = none
	IntentID    string       `json:"intent_id"`
	Cause       intent.Cause `json:"cause"`     // "" = the row has a value
	Triggered   *bool        `json:"triggered"` // the solver's answer, null = not asked or not answered
	PlanHash    string       `json:"plan_hash"` // "" = no plan
	Success     bool         `json:"success"`   // the plan executed
	Revert      *Revert      `json:"revert"`
	GasUsed     uint64       `json:"gas_used"`    // gas, refunds subtracted
	GasMetered  uint64       `json:"gas_metered"` // gas before refunds
	Deltas      []Delta      `json:"deltas"`
	Transfers   string       `json:"transfers"`  // digest of the transfers, "" = not executed
	PlanScore   string       `json:"plan_score"` // what the app's scorer said
	Score       string       `json:"score"`      // that, or the composite where a trigger has a truth; "0" without a value
	Value       string       `json:"value"`      // base units, "" = no value
	Credited    string       `json:"credited"`
	AboveOracle bool         `json:"above_oracle"`
	ByScorer    bool         `json:"value_by_scorer"`
	Fuel        []CallFuel   `json:"fuel"`       // by call, in call order
	PeakPages   uint32       `json:"peak_pages"` // 64 KiB pages
	Reads       Reads        `json:"reads"`
	Log         string       `json:"log"` // digest of what the solver logged, "" = nothing
	Notes       []string     `json:"notes"`
}

// A Revert is where a plan failed. The decoded reason is in [Record.Detail]: how
// text is escaped for people may change with a library, and a row may not.
type Revert struct {
	Index int    `json:"index"` // of the interaction
	Data  string `json:"data"`  // SHA-256 of the returned bytes, "" = none
}

// A Delta is the net balance change of one account in one token, in base units
// with a sign. The zero address is ETH.
type Delta struct {
	Account string `json:"account"`
	Token   string `json:"token"`
	Amount  string `json:"amount"`
}

// CallFuel is the fuel one call of the solver spent.
type CallFuel struct {
	Call string `json:"call"`
	Fuel uint64 `json:"fuel"`
}

// fuel is what the solver spent on the intent.
func (r *Row) fuel() uint64 {
	sum := uint64(0)
	for _, c := range r.Fuel {
		sum += c.Fuel
	}
	return sum
}

// Reads is what the solver read from the chains while it answered one intent.
type Reads struct {
	Requests int    `json:"requests"`
	Gas      uint64 `json:"gas"`
	Digest   string `json:"digest"` // of requests and replies in order, "" = none
}

// A Record is a [Row] with what people want to know besides. Nothing outside
// Row is in any digest.
type Record struct {
	Row       Row    `json:"row"`
	App       string `json:"app"`
	Best      string `json:"best,omitempty"`   // of the intent, as in the pack
	Detail    string `json:"detail,omitempty"` // why, quoted; may hold a library's text
	HostCalls uint64 `json:"host_calls"`
}

// digest returns the lower-case hex SHA-256 of v's canonical JSON.
func digest(v any) (string, error) {
	b, err := intent.Canonical(v)
	if err != nil {
		return "", err
	}
	return hexSum(b), nil
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// SessionID names a session: the SHA-256 of the canonical JSON of pack, module,
// incoming state and role. All four are hex digests but the role; no state is
// the empty string.
func SessionID(pack, module, stateIn string, role Role) (string, error) {
	id, err := digest(struct {
		Pack    string `json:"pack"`
		Module  string `json:"module"`
		StateIn string `json:"state_in"`
		Role    Role   `json:"role"`
	}{pack, module, stateIn, role})
	if err != nil {
		return "", fmt.Errorf("session id: %w", err)
	}
	return id, nil
}

// RowsDigest is the SHA-256 of the canonical JSON of the row schema, the pack's
// digest and the rows by (session, intent id). The order of rows is of no
// account; rows is not changed.
func RowsDigest(pack string, rows []Row) (string, error) {
	sorted := slices.Clone(rows)
	slices.SortFunc(sorted, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.IntentID, b.IntentID))
	})
	d, err := digest(struct {
		Schema int    `json:"schema"`
		Pack   string `json:"pack"`
		Rows   []Row  `json:"rows"`
	}{RowSchema, pack, sorted})
	if err != nil {
		return "", fmt.Errorf("rows digest: %w", err)
	}
	return d, nil
}

// A Role is what a session is run for.
type Role string

// Roles.
const (
	RoleChampion  Role = "champion"
	RoleCandidate Role = "candidate"
	RoleBar       Role = "bar" // a dethroned champion: its state is never saved
)

// Valid reports whether r is one of the three roles.
func (r Role) Valid() bool {
	return r == RoleChampion || r == RoleCandidate || r == RoleBar
}
