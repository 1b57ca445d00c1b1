package harness

import (
	"errors"
	"fmt"
	"time"

	"github.com/subnet112/assay/sandbox"
)

// A CallLimit bounds one phase.
type CallLimit struct {
	Wall        time.Duration `json:"wall_ns"`
	Fuel        uint64        `json:"fuel"` // host calls included
	OutputBytes int           `json:"output_bytes"`
}

// Limits bounds a session. The zero value stands for [DefaultLimits]; any other
// value must pass Validate. Limits are part of a pack's digest.
type Limits struct {
	Load       CallLimit `json:"load"` // making one instance, _initialize included; as much again for the loading of a script
	Initialize CallLimit `json:"initialize"`
	Metadata   CallLimit `json:"metadata"`
	Restore    CallLimit `json:"restore_state"`
	Market     CallLimit `json:"set_market"`
	Start      CallLimit `json:"on_benchmark_start"`
	Trigger    CallLimit `json:"check_trigger"`
	Plan       CallLimit `json:"generate_plan"`
	Quote      CallLimit `json:"quote"`
	End        CallLimit `json:"on_benchmark_end"`
	Serialize  CallLimit `json:"serialize_state"` // OutputBytes is the largest state

	// Of all calls together, of all instances and of copies of their memory.
	Session              time.Duration `json:"session_ns"` // wall
	SessionFuel          uint64        `json:"session_fuel"`
	SessionFuelPerIntent uint64        `json:"session_fuel_per_intent"` // more fuel for every intent to come

	Restarts int `json:"restarts"` // instances after the first

	Read Cost `json:"read"` // per call; one request is bounded by the sandbox
}

// MessageBytes is how much of a solver's error message is kept.
const MessageBytes = 4 << 10

// nothing is the output limit of phases that answer nothing but, with status 1,
// a message. A message may be longer than what is kept of it.
const nothing = 64 << 10

const giga = 1_000_000_000 // of fuel

// DefaultLimits returns the limits of the solver ABI v1.
func DefaultLimits() Limits {
	return Limits{
		Load:       CallLimit{sandbox.InstantiateWall, 5 * giga, nothing},
		Initialize: CallLimit{60 * time.Second, 20 * giga, nothing},
		Metadata:   CallLimit{5 * time.Second, 2 * giga, 64 << 10},
		Restore:    CallLimit{30 * time.Second, 10 * giga, nothing},
		Market:     CallLimit{30 * time.Second, 10 * giga, nothing},
		Start:      CallLimit{10 * time.Second, 3 * giga, nothing},
		Trigger:    CallLimit{10 * time.Second, 3 * giga, nothing},
		Plan:       CallLimit{30 * time.Second, 10 * giga, 1 << 20},
		Quote:      CallLimit{15 * time.Second, 5 * giga, 256 << 10},
		End:        CallLimit{30 * time.Second, 10 * giga, nothing},
		Serialize:  CallLimit{30 * time.Second, 10 * giga, 50 << 20},

		Session:              900 * time.Second,
		SessionFuel:          60 * giga,
		SessionFuelPerIntent: 2 * giga,

		Restarts: 4,

		Read: Cost{Requests: 5_000, Gas: 300_000_000, Bytes: 32 << 20},
	}
}

// Validate returns everything that is wrong with l, joined.
func (l Limits) Validate() error {
	var errs []error
	for _, p := range []Phase{
		phaseLoad, PhaseInitialize, PhaseMetadata, PhaseRestore, PhaseMarket, PhaseStart,
		PhaseTrigger, PhasePlan, PhaseQuote, PhaseEnd, PhaseSerialize,
	} {
		c := l.of(p)
		if c.Wall <= 0 {
			errs = append(errs, fmt.Errorf("limit %s: wall %v is not positive", p, c.Wall))
		}
		if c.Fuel == 0 {
			errs = append(errs, fmt.Errorf("limit %s: there is no fuel", p))
		}
		if c.OutputBytes <= 0 {
			errs = append(errs, fmt.Errorf("limit %s: output of %d bytes is not positive", p, c.OutputBytes))
		}
	}
	if l.Session <= 0 {
		errs = append(errs, fmt.Errorf("limit session: wall %v is not positive", l.Session))
	}
	if l.SessionFuel == 0 {
		errs = append(errs, errors.New("limit session: there is no fuel"))
	}
	if l.Restarts < 0 {
		errs = append(errs, fmt.Errorf("limit restarts: %d is negative", l.Restarts))
	}
	if l.Read.Requests < 0 || l.Read.Bytes < 0 {
		errs = append(errs, errors.New("limit reads: a count is negative"))
	}
	return errors.Join(errs...)
}

func (l Limits) of(p Phase) CallLimit {
	switch p {
	case phaseLoad:
		return l.Load
	case PhaseInitialize:
		return l.Initialize
	case PhaseMetadata:
		return l.Metadata
	case PhaseRestore:
		return l.Restore
	case PhaseMarket:
		return l.Market
	case PhaseStart:
		return l.Start
	case PhaseTrigger:
		return l.Trigger
	case PhasePlan:
		return l.Plan
	case PhaseQuote:
		return l.Quote
	case PhaseEnd:
		return l.End
	case PhaseSerialize:
		return l.Serialize
	}
	return CallLimit{}
}
