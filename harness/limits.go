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
	OutputBytes int           `json:"output_bytes"`
}

// Limits bounds a session. The zero value stands for [DefaultLimits]; any other
// value must pass Validate. Limits are part of a pack's digest.
type Limits struct {
	Load time.Duration `json:"load_ns"` // wall of making one instance, _initialize included

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

	Session  time.Duration `json:"session_ns"` // wall, of all calls together
	Restarts int           `json:"restarts"`   // fresh instances after the first

	Read Cost `json:"read"` // per call; one request is bounded by the sandbox
}

// MessageBytes is how much of a solver's error message is kept.
const MessageBytes = 4 << 10

// nothing is the output limit of phases that answer nothing but, with status 1,
// a message. A message may be longer than what is kept of it.
const nothing = 64 << 10

// DefaultLimits returns the limits of the solver ABI v1.
func DefaultLimits() Limits {
	return Limits{
		Load: sandbox.InstantiateWall,

		Initialize: CallLimit{60 * time.Second, nothing},
		Metadata:   CallLimit{5 * time.Second, 64 << 10},
		Restore:    CallLimit{30 * time.Second, nothing},
		Market:     CallLimit{30 * time.Second, nothing},
		Start:      CallLimit{10 * time.Second, nothing},
		Trigger:    CallLimit{10 * time.Second, nothing},
		Plan:       CallLimit{30 * time.Second, 1 << 20},
		Quote:      CallLimit{15 * time.Second, 256 << 10},
		End:        CallLimit{30 * time.Second, nothing},
		Serialize:  CallLimit{30 * time.Second, 50 << 20},

		Session:  900 * time.Second,
		Restarts: 4,

		Read: Cost{Requests: 5_000, Gas: 300_000_000, Bytes: 32 << 20},
	}
}

// Validate returns everything that is wrong with l, joined.
func (l Limits) Validate() error {
	var errs []error
	for _, p := range []Phase{
		PhaseInitialize, PhaseMetadata, PhaseRestore, PhaseMarket, PhaseStart,
		PhaseTrigger, PhasePlan, PhaseQuote, PhaseEnd, PhaseSerialize,
	} {
		c := l.of(p)
		if c.Wall <= 0 {
			errs = append(errs, fmt.Errorf("limit %s: wall %v is not positive", p, c.Wall))
		}
		if c.OutputBytes <= 0 {
			errs = append(errs, fmt.Errorf("limit %s: output of %d bytes is not positive", p, c.OutputBytes))
		}
	}
	if l.Load <= 0 {
		errs = append(errs, fmt.Errorf("limit load: wall %v is not positive", l.Load))
	}
	if l.Session <= 0 {
		errs = append(errs, fmt.Errorf("limit session: wall %v is not positive", l.Session))
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
