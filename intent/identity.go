package intent

import (
	"encoding/hex"
	"maps"
	"strings"
)

// Public returns the definition as solvers see it: without the scorer's and
// the contract's source.
func (d Definition) Public() Definition {
	d.JSCode, d.SolidityCode = "", ""
	return d
}

// Digest names the full definition, code included: the SHA-256 of its canonical
// JSON. The error is [Canonical]'s.
func (d Definition) Digest() ([32]byte, error) { return digest(d) }

// Hash names the plan: the SHA-256 of its canonical JSON. The error is
// [Canonical]'s; a decoded plan has none.
func (p Plan) Hash() ([32]byte, error) { return digest(p) }

// SyncExtra rebuilds Extra, the one flat map that older solvers read, as
// RawParams and Control together. Before that, a key that only Extra has moves
// to where it belongs: to Control if it starts with an underscore, else to
// RawParams. A parameter is therefore removed by deleting it in Extra too. The
// maps are replaced, never written to.
func (s *State) SyncExtra() {
	raw, control := make(map[string]any), make(map[string]any)
	maps.Copy(raw, s.RawParams)
	maps.Copy(control, s.Control)
	for k, v := range s.Extra {
		_, isRaw := s.RawParams[k]
		_, isControl := s.Control[k]
		switch {
		case isRaw || isControl:
		case strings.HasPrefix(k, "_"):
			control[k] = v
		default:
			raw[k] = v
		}
	}
	extra := maps.Clone(raw)
	maps.Copy(extra, control)
	s.RawParams, s.Control, s.Extra = raw, control, extra
}

// Key names one intent of one app: "i_" and 16 hex digits of the SHA-256 of the
// canonical JSON of the app's digest and the state's own fields. Derived fields
// (Extra, TypedContext) do not enter. The error is [Canonical]'s.
func Key(d Definition, s State) (string, error) {
	app, err := d.Digest()
	if err != nil {
		return "", err
	}
	s.SyncExtra() // s is a copy; the caller's maps stay as they are
	type ownFields struct {
		ContractAddress string         `json:"contract_address"`
		ChainID         uint64         `json:"chain_id"`
		Nonce           uint64         `json:"nonce"`
		Owner           string         `json:"owner"`
		RawParams       map[string]any `json:"raw_params"`
		Control         map[string]any `json:"control"`
	}
	id, err := digest(struct {
		App   string    `json:"app"`
		State ownFields `json:"state"`
	}{hex.EncodeToString(app[:]), ownFields{s.ContractAddress, s.ChainID, s.Nonce, s.Owner, s.RawParams, s.Control}})
	if err != nil {
		return "", err
	}
	return "i_" + hex.EncodeToString(id[:8]), nil
}
