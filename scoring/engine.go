package scoring

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"time"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

//go:embed engine/quickjs.wasm
var engine []byte

// EngineHash is the SHA-256 of the engine that scorers run in. It is part of the
// rules: another engine may give other scores.
func EngineHash() [32]byte { return sha256.Sum256(engine) }

// profile is what the engine must look like to run scorers.
var profile = sandbox.Profile{
	Name: "scorer",
	ABI:  "solver_abi",
	Exports: []sandbox.Export{
		{Name: exportLoad},
		{Name: exportConfig},
		{Name: exportManifest},
		{Name: exportScore},
		{Name: exportValidate},
		{Name: exportShouldTrigger},
	},
	MemoryPages: 64 << 20 / (64 << 10),
}

const (
	exportLoad          = "js_load"
	exportConfig        = "scorer_config"
	exportManifest      = "scorer_manifest"
	exportScore         = "scorer_score"
	exportValidate      = "scorer_validate"
	exportShouldTrigger = "scorer_should_trigger"
)

// Limits bound one call of an app's code. They are part of a pack's digest.
type Limits struct {
	LoadWall    time.Duration `json:"load_ns"`      // of evaluating the module; more is the app's fault, or the cause timeout
	Wall        time.Duration `json:"wall_ns"`      // of the call; more is the same
	ResultBytes int           `json:"result_bytes"` // of what it returns
	Reads       int           `json:"reads"`        // chain reads, each of a batch counted
	ReadGas     uint64        `json:"read_gas"`     // EVM gas of one read
	ReadBytes   int           `json:"read_bytes"`   // of all replies
}

// DefaultLimits returns the limits that scores are made with.
func DefaultLimits() Limits {
	return Limits{
		LoadWall:    5 * time.Second,
		Wall:        5 * time.Second,
		ResultBytes: 256 << 10,
		Reads:       16,
		ReadGas:     5_000_000,
		ReadBytes:   1 << 20,
	}
}

// A Scorer loads apps. Any number of goroutines may use it; it lives as long as
// the sandbox engine it was made with.
type Scorer struct {
	module *sandbox.Module
	limits Limits
}

// New compiles the engine. Errors are the validator's own.
func New(ctx context.Context, e *sandbox.Engine) (*Scorer, error) {
	return NewWithLimits(ctx, e, DefaultLimits())
}

// NewWithLimits is [New] with other limits, for tests and tools: scores made with
// them are not those of an epoch.
func NewWithLimits(ctx context.Context, e *sandbox.Engine, l Limits) (*Scorer, error) {
	module, err := e.Compile(ctx, engine, profile)
	if err != nil {
		return nil, infra(fmt.Errorf("compile scorer engine: %w", err))
	}
	return &Scorer{module: module, limits: l}, nil
}

// infra marks err as the validator's own.
func infra(err error) error { return &intent.InfraFault{Err: err} }

// reads serves a call's chain reads from view, nil for none.
func (l Limits) reads(view *chain.View, chainID uint64) sandbox.ReadFunc {
	left := l.Reads
	return func(ctx context.Context, id uint64, req []byte) (sandbox.Reply, error) {
		if view == nil || id != chainID {
			return sandbox.Reply{Status: sandbox.ReadUnknownChain}, nil
		}
		reply, used, err := view.Serve(ctx, req, chain.Cost{Requests: left, Gas: l.ReadGas, Bytes: l.ReadBytes})
		left -= used.Requests
		status, err := readStatus(err)
		return sandbox.Reply{Body: reply, Status: status}, err
	}
}
