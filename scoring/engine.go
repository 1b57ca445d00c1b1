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

// Engine returns the engine that scorers run in, a WebAssembly module; solvers
// written in JavaScript run in it too. The bytes are not to be changed.
func Engine() []byte { return engine }

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
	KnownFrames: true,
}

const (
	exportLoad          = "js_load"
	exportConfig        = "scorer_config"
	exportManifest      = "scorer_manifest"
	exportScore         = "scorer_score"
	exportValidate      = "scorer_validate"
	exportShouldTrigger = "scorer_should_trigger"
)

// Limits bound one call of an app's code. They are part of a pack's digest. More
// fuel is the app's fault while it loads, and the cause scorer_failed on a plan;
// code that a wall stops first is the app's fault, and the cause stalled.
type Limits struct {
	LoadFuel    uint64        `json:"load_fuel"`    // of evaluating the module
	LoadWall    time.Duration `json:"load_ns"`      // the same
	Fuel        uint64        `json:"fuel"`         // of a call
	Wall        time.Duration `json:"wall_ns"`      // the same
	ResultBytes int           `json:"result_bytes"` // of what it returns
	Reads       int           `json:"reads"`        // chain reads, each of a batch counted
	ReadGas     uint64        `json:"read_gas"`     // EVM gas of one read
	ReadBytes   int           `json:"read_bytes"`   // of all replies
}

// DefaultLimits returns the limits that scores are made with.
func DefaultLimits() Limits {
	return Limits{
		LoadFuel:    2_000_000_000,
		LoadWall:    30 * time.Second,
		Fuel:        2_000_000_000,
		Wall:        30 * time.Second,
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
	if err := module.Checkpointable(); err != nil {
		return nil, infra(fmt.Errorf("scorer engine: %w", err))
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
		return sandbox.Reply{Body: reply, Status: status, Fuel: intent.FuelPerGas * used.Gas}, err
	}
}
