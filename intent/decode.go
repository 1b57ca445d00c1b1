package intent

import (
	"encoding/json"
	"errors"
	"reflect"
)

// A DecodeError says why a document is not what the API names. Its text is safe
// to print: whatever came from the document is quoted and bounded.
type DecodeError struct {
	Path   string // where, for instance interactions[3].value; empty: the document itself
	Reason string
}

func (e *DecodeError) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// DecodePlan decodes what solver_generate_plan answered. Field names are
// snake_case; a camelCase twin stands for its field, and beside it only if both
// say the same. Everything but metadata and an interaction's chain_id is
// required. The error is a [*DecodeError]. Whether the plan may be executed is
// the business of [Plan.Validate].
func DecodePlan(b []byte) (Plan, error) { return decodeAnswer[Plan](b, MaxPlanBytes) }

// DecodeMetadata decodes what solver_metadata answered, spelled like a plan.
// Absent chains are [1], absent intent types ["swap"]. The error is a
// [*DecodeError].
func DecodeMetadata(b []byte) (Metadata, error) { return decodeAnswer[Metadata](b, MaxAnswerBytes) }

// DecodeQuote decodes what solver_quote answered, spelled like a plan. Its
// amounts are checked. The error is a [*DecodeError].
func DecodeQuote(b []byte) (Quote, error) { return decodeAnswer[Quote](b, MaxAnswerBytes) }

// DecodeTrigger decodes what solver_check_trigger answered: {"trigger": bool}.
// The error is a [*DecodeError].
func DecodeTrigger(b []byte) (bool, error) {
	answer, err := decodeAnswer[struct {
		Trigger bool `json:"trigger" strict:"required"`
	}](b, MaxTriggerBytes)
	return answer.Trigger, err
}

// DecodeDefinition decodes an app. Absent configuration has the values of
// [DefaultConfig]. The error is a [*DecodeError].
func DecodeDefinition(b []byte) (Definition, error) { return decodeDocument[Definition](b) }

// DecodeState decodes one intent and synthesises its Extra; see
// [State.SyncExtra]. The error is a [*DecodeError].
func DecodeState(b []byte) (State, error) { return decodeDocument[State](b) }

// DecodeMarket decodes a market snapshot. The error is a [*DecodeError].
func DecodeMarket(b []byte) (MarketSnapshot, error) { return decodeDocument[MarketSnapshot](b) }

// DecodeStrict decodes b into the struct that into points to, with the
// strictness of this package's own types: no unknown or repeated keys, exact
// case, no data after the document, numbers that a float64 holds exactly,
// integers within ±(2^53-1), valid UTF-8, at most MaxDocumentBytes and
// MaxDepth levels.
//
// Fields need json tags; `strict:"required"` refuses their absence, a null for
// any other field leaves it as it was. Types of this package get their
// defaults wherever they stand. Strings, booleans, integers, [json.Number],
// any, slices, maps with string keys, pointers, structs and
// [encoding.TextUnmarshaler] are supported, embedded structs are not.
//
// The error is a [*DecodeError] if the document is at fault. Anything else is
// a mistake in into's type. After an error, into is partly written.
func DecodeStrict(b []byte, into any) error {
	return decodePointer(&decoder{data: b}, into)
}

// DecodeOpen is [DecodeStrict] for the reader of a document that may grow, such
// as a guest that was built before its host: fields that into does not have are
// passed over. Everything else is as strict.
func DecodeOpen(b []byte, into any) error {
	return decodePointer(&decoder{data: b, open: true}, into)
}

func decodePointer(d *decoder, into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return errors.New("intent: decoding needs a pointer")
	}
	return d.decode(MaxDocumentBytes, v.Elem())
}

func decodeAnswer[T any](b []byte, limit int) (T, error) {
	return decodeWithin[T](&decoder{data: b, twins: true}, limit)
}

func decodeDocument[T any](b []byte) (T, error) {
	return decodeWithin[T](&decoder{data: b}, MaxDocumentBytes)
}

// decodeWithin returns the zero T with an error.
func decodeWithin[T any](d *decoder, limit int) (T, error) {
	var v, zero T
	if err := d.decode(limit, reflect.ValueOf(&v).Elem()); err != nil {
		return zero, err
	}
	return v, nil
}

// DefaultConfig returns the configuration of an app that sets nothing: half the
// score to pass, user triggered, 5,000,000 gas a plan, hybrid policy.
func DefaultConfig() Config {
	return Config{
		SupportedChains:      []uint64{},
		ScoreThreshold:       "0.5",
		OnChainThreshold:     5000,
		TriggerType:          TriggerUser,
		MaxGas:               5_000_000,
		PolicyTier:           "hybrid",
		SupportedPolicyTiers: []string{"strict", "hybrid", "expert"},
		ManifestVersion:      "v1",
	}
}

func (c *Config) setDefaults()      { *c = DefaultConfig() }
func (d *Definition) setDefaults()  { *d = Definition{Config: DefaultConfig()} }
func (p *Plan) setDefaults()        { *p = Plan{Metadata: map[string]any{}} }
func (i *Interaction) setDefaults() { *i = Interaction{ChainID: 1} }

func (s *State) setDefaults() {
	*s = State{
		RawParams:      map[string]any{},
		Control:        map[string]any{},
		ContextVersion: "v2",
		PolicyTier:     "hybrid",
	}
}

func (m *MarketSnapshot) setDefaults() { *m = EmptyMarket(0) }

func (m *Metadata) setDefaults() {
	*m = Metadata{SupportedChains: []uint64{1}, SupportedIntentTypes: []string{"swap"}}
}

func (q *Quote) setDefaults() {
	*q = Quote{ComputedParams: map[string]string{}, Metadata: map[string]any{}, PlatformFeeWei: "0"}
}

func (s *State) check() error { //nolint:unparam // checker wants an error; a state has no rule of its own
	s.SyncExtra()
	return nil
}

func (d *Definition) check() error {
	if d.AppID == "" {
		return errors.New("app_id is empty")
	}
	return nil
}

func (c *Config) check() error {
	if c.TriggerType != TriggerUser && c.TriggerType != TriggerAuto {
		return errors.New("trigger_type " + Quoted(c.TriggerType, maxQuotedKeyRunes) + " is neither " + TriggerUser + " nor " + TriggerAuto)
	}
	if c.OnChainThreshold > maxBPS {
		return errors.New("on_chain_threshold is above 10000 basis points")
	}
	if t := reduce(string(c.ScoreThreshold)); t.negative || t.exp > 0 && t != reduce("1") {
		return errors.New("score_threshold is outside [0,1]")
	}
	return nil
}

func (q *Quote) check() error {
	if _, err := ParseAmount(q.EstimatedOutput); err != nil {
		return errors.New("estimated_output " + Quoted(q.EstimatedOutput, maxQuotedKeyRunes) + ": " + err.Error())
	}
	if _, err := ParseAmount(q.PlatformFeeWei); err != nil {
		return errors.New("platform_fee_wei " + Quoted(q.PlatformFeeWei, maxQuotedKeyRunes) + ": " + err.Error())
	}
	return nil
}

const maxBPS = 10_000

// EmptyMarket returns a market of which nothing is known: block and time 0.
func EmptyMarket(chainID uint64) MarketSnapshot {
	return MarketSnapshot{
		ChainID:    chainID,
		Prices:     map[string]json.Number{},
		PoolStates: map[string]map[string]any{},
		Balances:   map[string]string{},
		DexConfig:  map[string]any{},
		RawState:   map[string]any{},
	}
}
