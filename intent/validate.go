package intent

import (
	"errors"
	"fmt"
)

// Errors of [Plan.Validate]. Each is one rule; the error returned wraps it with
// the interaction's index and the offending value.
var (
	ErrIntentID = errors.New("intent_id names another intent")
	ErrNonce    = errors.New("nonce is not the intent's")
	ErrExpired  = errors.New("deadline is not after the pinned time")
	ErrEmpty    = errors.New("plan has no interactions")
	ErrTooMany  = errors.New("plan has too many interactions")
	ErrTarget   = errors.New("target is not 0x and 40 hex digits")
	ErrValue    = errors.New("value is not a decimal below 2^128")
	ErrCallData = errors.New("call_data is not 0x and an even number of hex digits")
	ErrChain    = errors.New("interaction is for another chain")
	ErrTooLarge = errors.New("calldata is too large")
	ErrMetadata = errors.New("metadata is too large, too deep or not canonical")
)

// PlanRules is what a plan is held against. All of it comes from the intent and
// the pinned chain, nothing from the plan.
type PlanRules struct {
	AppID    string // the plan's intent_id is this
	IntentID string // or this, the intent's [Key]
	ChainID  uint64 // of every interaction
	Nonce    uint64 // the state's, not the account's
	Time     uint64 // pinned time in unix seconds: the deadline is after it
}

// Validate reports the first rule that the plan breaks, nil if none. It looks
// at the plan's form only; what the calls do is found by executing them.
func (p Plan) Validate(r PlanRules) error {
	switch {
	case p.IntentID != r.AppID && p.IntentID != r.IntentID:
		return fmt.Errorf("intent_id %s: %w", Quoted(p.IntentID, shown), ErrIntentID)
	case p.Nonce != r.Nonce:
		return fmt.Errorf("nonce %d, want %d: %w", p.Nonce, r.Nonce, ErrNonce)
	case p.Deadline <= r.Time:
		return fmt.Errorf("deadline %d, time %d: %w", p.Deadline, r.Time, ErrExpired)
	case len(p.Interactions) == 0:
		return ErrEmpty
	case len(p.Interactions) > MaxInteractions:
		return fmt.Errorf("%d interactions, limit %d: %w", len(p.Interactions), MaxInteractions, ErrTooMany)
	}
	sum := 0
	for i, x := range p.Interactions {
		n, err := x.validate(r)
		if err != nil {
			return fmt.Errorf("interactions[%d].%w", i, err)
		}
		if sum += n; sum > MaxPlanCallData {
			return fmt.Errorf("interactions[%d].call_data: more than %d bytes in all: %w", i, MaxPlanCallData, ErrTooLarge)
		}
	}
	return validateMetadata(p.Metadata)
}

// shown bounds an offending value in an error, in runes.
const shown = 80

// validate returns the length of the calldata in bytes. Its errors start with
// the field's name.
func (x Interaction) validate(r PlanRules) (int, error) {
	if len(x.Target) != 42 || !isHex(x.Target) {
		return 0, fmt.Errorf("target %s: %w", Quoted(x.Target, shown), ErrTarget)
	}
	if v, err := ParseAmount(x.Value); err != nil || v.BitLen() > MaxValueBits {
		return 0, fmt.Errorf("value %s: %w", Quoted(x.Value, shown), ErrValue)
	}
	if x.ChainID != r.ChainID {
		return 0, fmt.Errorf("chain_id %d, want %d: %w", x.ChainID, r.ChainID, ErrChain)
	}
	n := (len(x.CallData) - 2) / 2
	if n > MaxCallDataBytes {
		return 0, fmt.Errorf("call_data: %d bytes, limit %d: %w", n, MaxCallDataBytes, ErrTooLarge)
	}
	if len(x.CallData)%2 != 0 || !isHex(x.CallData) {
		return 0, fmt.Errorf("call_data %s: %w", Quoted(x.CallData, shown), ErrCallData)
	}
	return n, nil
}

// isHex reports whether s is a lower-case 0x and hex digits of either case.
func isHex(s string) bool {
	if len(s) < 2 || s[:2] != "0x" {
		return false
	}
	for i := 2; i < len(s); i++ {
		if _, ok := hexDigit(s[i]); !ok {
			return false
		}
	}
	return true
}

func validateMetadata(m map[string]any) error {
	if m == nil {
		return nil
	}
	b, err := Canonical(m)
	switch {
	case err != nil:
		return fmt.Errorf("metadata: %w: %w", ErrMetadata, err)
	case len(b) > MaxMetadataBytes:
		return fmt.Errorf("metadata: %d bytes, limit %d: %w", len(b), MaxMetadataBytes, ErrMetadata)
	case nesting(b) > MaxMetadataDepth:
		return fmt.Errorf("metadata: nested deeper than %d: %w", MaxMetadataDepth, ErrMetadata)
	}
	return nil
}

// nesting returns how deep the brackets of a well-formed document go.
func nesting(doc []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
