package intent

import "github.com/holiman/uint256"

// ContextVersion is the version of the typed contexts.
const ContextVersion = "v3"

// A BaseContext is the typed view of an intent whose kind has no context of its
// own, or whose parameters are not those of its kind. It is part of every other
// context.
type BaseContext struct {
	AppID           string         `json:"app_id"`
	IntentFunction  string         `json:"intent_function"` // "" if neither the state nor the manifest names one
	ChainID         uint64         `json:"chain_id"`
	Owner           string         `json:"owner"`
	ContractAddress string         `json:"contract_address"`
	Nonce           uint64         `json:"nonce"`
	RawParams       map[string]any `json:"raw_params"` // the intent's own, all of them, as they are
	ContextVersion  string         `json:"context_version"`
}

// A SwapContext is the typed view of a swap and of a limit order.
type SwapContext struct {
	BaseContext
	InputToken      string `json:"input_token"`
	OutputToken     string `json:"output_token"`
	InputAmount     string `json:"input_amount"`      // base units
	MinOutputAmount string `json:"min_output_amount"` // base units; "0": the intent names none
	Receiver        string `json:"receiver"`          // the owner where the intent names nobody
	FeeTier         uint64 `json:"fee_tier"`          // hundredths of a basis point
	PermitDeadline  string `json:"permit_deadline"`   // unix seconds, up to 256 bits
	PermitV         uint64 `json:"permit_v"`
	PermitR         string `json:"permit_r"` // 32 bytes
	PermitS         string `json:"permit_s"`
}

// A TwapContext is the typed view of one chunk of a swap spread over time.
type TwapContext struct {
	BaseContext
	InputToken        string `json:"input_token"`
	OutputToken       string `json:"output_token"`
	TotalAmount       string `json:"total_amount"` // base units, of all chunks
	NumChunks         uint64 `json:"num_chunks"`   // at least 1
	IntervalSeconds   uint64 `json:"interval_seconds"`
	ChunksExecuted    uint64 `json:"chunks_executed"`
	LastChunkTime     uint64 `json:"last_chunk_time"`      // unix seconds, 0: none yet
	MinOutputPerChunk string `json:"min_output_per_chunk"` // base units; "0": the intent names none
	Receiver          string `json:"receiver"`             // the owner where the intent names nobody
	FeeTier           uint64 `json:"fee_tier"`             // hundredths of a basis point
}

// A RebalanceContext is the typed view of a portfolio that is to get other weights.
// Maps have the keys by which the intent names its tokens, mostly addresses.
// Percentages and dollars are decimal strings.
type RebalanceContext struct {
	BaseContext
	TargetAllocations  map[string]string `json:"target_allocations"`  // percent
	CurrentAllocations map[string]string `json:"current_allocations"` // percent, rounded down to hundredths; empty: not known
	ThresholdPct       string            `json:"threshold_pct"`       // percentage points
	TotalValueUSD      string            `json:"total_value_usd"`     // "0" where it is not known
	TokenAddresses     map[string]string `json:"token_addresses"`
	TokenDecimals      map[string]uint64 `json:"token_decimals"`
}

// defaultFeeTier is the pool fee of an intent that names none.
const defaultFeeTier = "3000"

// zeroWord is 32 bytes of an absent signature.
const zeroWord = "0x0000000000000000000000000000000000000000000000000000000000000000"

// BuildContext gives the typed view of an intent: a [SwapContext], [TwapContext] or
// [RebalanceContext] by the app's intent type or else the function's name, and a
// [BaseContext] for other kinds and for parameters that are absent or of another
// type. Parameters are read under the names in the field's use, such as token_in
// for input_token; whatever an app adds stays in RawParams. The context shares the
// state's maps.
func BuildContext(d Definition, s State) any {
	base := BaseContext{
		AppID: d.AppID, IntentFunction: functionOf(d, s), ChainID: s.ChainID, Owner: s.Owner,
		ContractAddress: s.ContractAddress, Nonce: s.Nonce, RawParams: s.RawParams, ContextVersion: ContextVersion,
	}
	if base.RawParams == nil {
		base.RawParams = map[string]any{}
	}
	kind := kinds[d.IntentType]
	if kind == nil {
		kind = kinds[base.IntentFunction]
	}
	if kind != nil {
		if c, ok := kind(base, s); ok {
			return c
		}
	}
	return base
}

// kinds are the makers of contexts, by intent type and by function name.
var kinds = map[string]func(BaseContext, State) (any, bool){
	"swap":        newSwap,
	"limit_order": newSwap,
	"twap":        newTwap,
	"twap_chunk":  newTwap,
	"rebalance":   newRebalance,
}

// functionOf names the intent's function: what control says, or the only one of
// the manifest.
func functionOf(d Definition, s State) string {
	if name, ok := s.Control["_intent_function"].(string); ok {
		return name
	}
	if d.Manifest != nil && len(d.Manifest.IntentFunctions) == 1 {
		return d.Manifest.IntentFunctions[0].Name
	}
	return ""
}

var (
	inputTokenNames  = []string{"input_token", "tokenIn", "token_in"}
	outputTokenNames = []string{"output_token", "tokenOut", "token_out"}
	inputNames       = []string{"input_amount", "amountPerBuy", "amount_per_buy", "amount"}
	minimumNames     = []string{"min_output_amount", "output_amount", "minAmountOut", "min_amount_out"}
	receiverNames    = []string{"receiver", "recipient"}
)

func newSwap(base BaseContext, s State) (any, bool) {
	p := reader{m: base.RawParams}
	c := p.swap(base, s.Owner)
	return c, !p.bad
}

func newTwap(base BaseContext, s State) (any, bool) {
	p := reader{m: base.RawParams}
	c := p.twap(base, s.Owner)
	return c, !p.bad
}

func (p *reader) swap(base BaseContext, owner string) SwapContext {
	return SwapContext{
		BaseContext:     base,
		InputToken:      p.address("", inputTokenNames...),
		OutputToken:     p.address("", outputTokenNames...),
		InputAmount:     p.amount("", inputNames...),
		MinOutputAmount: p.amount("0", minimumNames...),
		Receiver:        p.address(owner, receiverNames...),
		FeeTier:         p.count(defaultFeeTier, "fee_tier"),
		PermitDeadline:  p.amount("0", "permit_deadline"),
		PermitV:         p.count("0", "permit_v"),
		PermitR:         p.text(zeroWord, "permit_r"),
		PermitS:         p.text(zeroWord, "permit_s"),
	}
}

func (p *reader) twap(base BaseContext, owner string) TwapContext {
	c := TwapContext{
		BaseContext:       base,
		InputToken:        p.address("", inputTokenNames...),
		OutputToken:       p.address("", outputTokenNames...),
		TotalAmount:       p.amount("", "total_amount"),
		NumChunks:         p.count("", "num_chunks"),
		IntervalSeconds:   p.count("", "interval_seconds"),
		ChunksExecuted:    p.count("0", "chunks_executed"),
		LastChunkTime:     p.count("0", "last_chunk_time"),
		MinOutputPerChunk: p.amount("0", "min_output_per_chunk"),
		Receiver:          p.address(owner, receiverNames...),
		FeeTier:           p.count(defaultFeeTier, "fee_tier"),
	}
	p.bad = p.bad || c.NumChunks == 0
	return c
}

// Chunk is the amount of the next chunk in base units: the whole divided by the
// number of chunks, rounded down, and the rest with the last one. It is "0" when
// all were executed.
func (c TwapContext) Chunk() string {
	total, err := ParseAmount(c.TotalAmount)
	if err != nil || c.ChunksExecuted >= c.NumChunks {
		return "0"
	}
	rest, count := new(uint256.Int), uint256.NewInt(c.NumChunks)
	chunk, _ := new(uint256.Int).DivMod(total, count, rest)
	if c.ChunksExecuted == c.NumChunks-1 {
		chunk.Add(chunk, rest)
	}
	return chunk.Dec()
}
