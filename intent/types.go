package intent

import "encoding/json"

// Trigger types of an app.
const (
	TriggerUser = "user_triggered"
	TriggerAuto = "auto_triggered"
)

// A Definition is one app: what its intents mean and how they are scored
// (AppIntentDefinition of the solver API). Solvers never see JSCode and
// SolidityCode; see [Definition.Public].
type Definition struct {
	AppID              string         `json:"app_id" strict:"required"`
	Name               string         `json:"name" strict:"required"`
	Version            string         `json:"version" strict:"required"`
	IntentType         string         `json:"intent_type" strict:"required"`
	JSCode             string         `json:"js_code,omitempty"`
	SolidityCode       string         `json:"solidity_code,omitempty"`
	Config             Config         `json:"config"`
	Deployer           string         `json:"deployer"`
	Description        string         `json:"description"`
	Manifest           *Manifest      `json:"manifest,omitempty"`
	ConstructorArgs    []any          `json:"constructor_args,omitempty"`
	SchemaID           string         `json:"schema_id,omitempty"`
	PolicyMetadata     map[string]any `json:"policy_metadata,omitempty"`
	ContractVersion    string         `json:"contract_version,omitempty"`
	RegistrationStatus string         `json:"registration_status,omitempty"`
}

// A Config is an app's configuration (AppIntentConfig). [DefaultConfig] gives
// the values an absent field has.
type Config struct {
	SupportedChains      []uint64    `json:"supported_chains"`
	ScoreThreshold       json.Number `json:"score_threshold"`    // decimal in [0,1]
	OnChainThreshold     uint64      `json:"on_chain_threshold"` // basis points
	TriggerType          string      `json:"trigger_type"`
	MaxGas               uint64      `json:"max_gas"` // gas for a whole plan
	PolicyTier           string      `json:"policy_tier"`
	SupportedPolicyTiers []string    `json:"supported_policy_tiers"`
	ManifestVersion      string      `json:"manifest_version"`
	FeeMode              string      `json:"fee_mode"`
}

// A Manifest declares an app's functions, how the core measures its value and what
// to try it with. [Definition.Validate] says whether it makes sense.
type Manifest struct {
	AppName              string            `json:"app_name,omitempty"`
	ManifestVersion      string            `json:"manifest_version,omitempty"`
	IntentFunctions      []Function        `json:"intent_functions,omitempty"`
	Value                *ValueRule        `json:"value,omitempty"`                  // absent: the value is the scorer's
	Quote                map[string]string `json:"quote,omitempty"`                  // param: field of the quote; non-empty asks for solver_quote
	PlanMetadata         bool              `json:"plan_metadata,omitempty"`          // pass plan.metadata to the scorer
	SupportedChains      []uint64          `json:"supported_chains,omitempty"`       // absent: the config's
	DefaultPolicyTier    string            `json:"default_policy_tier,omitempty"`    // absent: the config's
	SupportedPolicyTiers []string          `json:"supported_policy_tiers,omitempty"` // absent: the config's
	Scenarios            []Scenario        `json:"benchmark_scenarios,omitempty"`
}

// A Function is one entry point of an app. The order of Params is the ABI's.
type Function struct {
	Name          string         `json:"name" strict:"required"`
	Description   string         `json:"description,omitempty"`
	TriggerType   string         `json:"trigger_type,omitempty"` // absent: the config's
	Params        Params         `json:"params,omitempty"`
	ExampleParams map[string]any `json:"example_params,omitempty"` // for people and pages; nothing reads them
	ScoringHints  map[string]any `json:"scoring_hints,omitempty"`  // the same
}

// Params are the parameters of a [Function], in the order of its ABI. As JSON they
// are a list; the object form {name: {type, …}} is read too, in the order in which
// its names stand.
type Params []Param

// A Param is one parameter of a [Function].
type Param struct {
	Name        string `json:"name" strict:"required"`
	Type        string `json:"type" strict:"required"` // of the ABI; see [Function.Encode]
	Description string `json:"description,omitempty"`
	Source      string `json:"source,omitempty"` // a Source constant; absent: user
	QuoteField  string `json:"quote_field,omitempty"`
	Default     any    `json:"default,omitempty"`
	InSignature *bool  `json:"in_signature,omitempty"` // absent: true
}

// Sources of a parameter: who says what it is.
const (
	SourceUser   = "user"
	SourceQuote  = "quote"  // a field of the quote, before the user signs
	SourceSystem = "system" // whoever runs the app
	SourceSolver = "solver"
)

// A Scenario is an intent to try an app with, less what belongs to a chain and an
// account; see [Definition.Scenario].
type Scenario struct {
	Name        string            `json:"name" strict:"required"`
	Description string            `json:"description,omitempty"`
	Chains      []uint64          `json:"chains,omitempty"` // absent: all that the app supports
	Function    string            `json:"intent_function" strict:"required"`
	Fund        map[string]string `json:"fund,omitempty"` // token: base units; absent: input_amount of input_token
	Params      map[string]any    `json:"params" strict:"required"`
}

// A ValueRule names the parameters (keys of State.RawParams) from which the
// core measures a plan's value: the net receipt of Token by Account.
type ValueRule struct {
	Token   string `json:"token" strict:"required"`   // parameter with the token's address, the zero address for ETH
	Account string `json:"account" strict:"required"` // parameter with the receiver's address, or "owner"
	Minimum string `json:"minimum,omitempty"`         // parameter with the minimum; absent: 1 base unit
}

// A State is one intent of an app on one chain (IntentState).
//
// RawParams and Control are canonical. Extra is the merged view of both that
// older solvers read; [State.SyncExtra] makes it.
type State struct {
	ContractAddress string         `json:"contract_address" strict:"required"`
	ChainID         uint64         `json:"chain_id" strict:"required"`
	Nonce           uint64         `json:"nonce" strict:"required"`
	Owner           string         `json:"owner" strict:"required"`
	RawParams       map[string]any `json:"raw_params"`
	Control         map[string]any `json:"control"`
	Extra           map[string]any `json:"extra,omitempty"`
	ContextVersion  string         `json:"context_version,omitempty"`
	PolicyTier      string         `json:"policy_tier,omitempty"`
	TypedContext    any            `json:"typed_context,omitempty"`
}

// A Plan is what a solver answers (ExecutionPlan): ordered calls that fulfil
// one intent, all or nothing.
type Plan struct {
	IntentID     string         `json:"intent_id" strict:"required"`
	Interactions []Interaction  `json:"interactions" strict:"required"`
	Deadline     uint64         `json:"deadline" strict:"required"` // unix seconds
	Nonce        uint64         `json:"nonce" strict:"required"`    // the intent's nonce, not the account's
	Metadata     map[string]any `json:"metadata"`
}

// An Interaction is one on-chain call of a [Plan].
type Interaction struct {
	Target   string `json:"target" strict:"required"`
	Value    string `json:"value" strict:"required"`     // wei, decimal
	CallData string `json:"call_data" strict:"required"` // 0x and hex
	ChainID  uint64 `json:"chain_id"`                    // absent: 1
}

// A MarketSnapshot is market data of one chain at the pinned block.
type MarketSnapshot struct {
	ChainID     uint64                    `json:"chain_id" strict:"required"`
	BlockNumber uint64                    `json:"block_number" strict:"required"`
	Timestamp   uint64                    `json:"timestamp" strict:"required"`
	Prices      map[string]json.Number    `json:"prices"`
	PoolStates  map[string]map[string]any `json:"pool_states"`
	Balances    map[string]string         `json:"balances"`
	DexConfig   map[string]any            `json:"dex_config"`
	RawState    map[string]any            `json:"raw_state"`
}

// Metadata identifies a solver (SolverMetadata).
type Metadata struct {
	Name                 string   `json:"name" strict:"required"`
	Version              string   `json:"version" strict:"required"` // semantic version
	Author               string   `json:"author" strict:"required"`
	Description          string   `json:"description"`
	SupportedChains      []uint64 `json:"supported_chains"`
	SupportedIntentTypes []string `json:"supported_intent_types"`
}

// A Quote is a price without a plan (QuoteResult).
type Quote struct {
	EstimatedOutput   string            `json:"estimated_output" strict:"required"` // base units, decimal
	ComputedParams    map[string]string `json:"computed_params"`
	RouteSummary      string            `json:"route_summary"`
	GasEstimate       uint64            `json:"gas_estimate"`
	Metadata          map[string]any    `json:"metadata"`
	PlatformFeeWei    string            `json:"platform_fee_wei"`
	PlatformFeeToken  string            `json:"platform_fee_token"`
	PlatformFeeSymbol string            `json:"platform_fee_symbol"`
}

// InitConfig is what solver_initialize receives.
type InitConfig struct {
	ChainIDs           []uint64          `json:"chain_ids"`
	RPCURLs            map[string]string `json:"rpc_urls"` // decimal chain id: assay://chain/<id>
	TimeoutPerPlanMS   uint64            `json:"timeout_per_plan_ms"`
	SupportedProtocols []string          `json:"supported_protocols"`
}

// A Request is what check_trigger, generate_plan and quote receive.
type Request struct {
	IntentID string          `json:"intent_id"`
	Intent   Definition      `json:"intent"`
	State    State           `json:"state"`
	Snapshot *MarketSnapshot `json:"snapshot"` // nil when the market came before the batch
}

// A Result is one line of what on_benchmark_end receives.
type Result struct {
	IntentID  string      `json:"intent_id"`
	Score     json.Number `json:"score"`      // decimal in [0,1]
	ElapsedMS uint64      `json:"elapsed_ms"` // virtual
}
