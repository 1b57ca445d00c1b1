package sdk

import (
	"errors"

	"github.com/subnet112/assay/intent"
)

// A Solver is what every miner implements. No method needs to be safe for
// concurrent use.
type Solver interface {
	// Initialize is called once, before everything but perhaps Metadata. An
	// error refuses the solver.
	Initialize(intent.InitConfig) error
	// GeneratePlan answers one intent. An error gives the intent no value and
	// leaves the others alone.
	//
	// The request's Snapshot is the market of the state's chain, nil only if
	// the validator sent none.
	GeneratePlan(intent.Request) (intent.Plan, error)
	// Metadata identifies the solver: a name and a semantic version at least.
	Metadata() intent.Metadata
}

// A Quoter prices an intent without a plan. Without it quoting is not
// implemented.
type Quoter interface {
	Quote(intent.Request) (intent.Quote, error)
}

// A TriggerChecker decides whether an auto-triggered intent executes now.
// Without it none ever does.
type TriggerChecker interface {
	CheckTrigger(intent.Request) (bool, error)
}

// A MarketReceiver hears of each chain's market before a batch. With or without
// it the market reaches the requests of that chain.
type MarketReceiver interface {
	SetMarket(intent.MarketSnapshot) error
}

// A BenchmarkStarter hears how many intents a batch holds.
type BenchmarkStarter interface {
	OnBenchmarkStart(intentCount int) error
}

// A BenchmarkEnder hears what became of each intent of a batch.
type BenchmarkEnder interface {
	OnBenchmarkEnd([]intent.Result) error
}

// A StateKeeper keeps what it learned from one epoch to the next.
type StateKeeper interface {
	// SerializeState returns at most 50 MiB, nothing if there is nothing to
	// keep. It is called after a batch.
	SerializeState() ([]byte, error)
	// RestoreState receives the exact bytes of the last epoch. It is called
	// after Initialize, and not at all without state. After an error the
	// session goes on, and the stored state stays what it was.
	RestoreState([]byte) error
}

// ErrNotImplemented is returned, wrapped or not, by a method that the solver
// has only in name.
var ErrNotImplemented = errors.New("not implemented")

// registered serves the exports of this module.
var registered dispatcher

// Register makes s the solver of this module. It belongs into init, once;
// another solver or nil is a mistake in the program and panics.
func Register(s Solver) {
	if s == nil || registered.solver != nil {
		panic("sdk: Register wants one solver, once")
	}
	registered.solver = s
}
