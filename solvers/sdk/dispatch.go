package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/subnet112/assay/intent"
)

// Statuses of a call, as the ABI numbers them.
const (
	statusOK             int32 = 0
	statusFailed         int32 = 1 // the output is the message
	statusNotImplemented int32 = 2
)

// What a validator keeps of a message, and what a panic's stack may take of the
// log, in bytes.
const (
	maxMessage = 4 << 10
	maxStack   = 8 << 10
)

// An export is one function of the ABI: input to output.
type export func(*dispatcher, []byte) ([]byte, error)

// A dispatcher serves the exports of a module from one solver.
type dispatcher struct {
	solver  Solver
	markets map[uint64]*intent.MarketSnapshot // by chain, from set_market
}

// run calls one export and never panics.
func (d *dispatcher) run(f export, input []byte) (status int32, output []byte) {
	defer func() {
		if p := recover(); p != nil {
			stack := debug.Stack()
			Log(LevelError, "panic: %v\n%s", p, stack[:min(len(stack), maxStack)])
			status, output = failed(fmt.Errorf("panic: %v", p))
		}
	}()
	if d.solver == nil {
		return failed(errors.New("no solver is registered: call sdk.Register in init"))
	}
	output, err := f(d, input)
	if err != nil {
		return failed(err)
	}
	return statusOK, output
}

func failed(err error) (int32, []byte) {
	message := err.Error()
	message = message[:min(len(message), maxMessage)]
	if errors.Is(err, ErrNotImplemented) {
		return statusNotImplemented, []byte(message)
	}
	return statusFailed, []byte(message)
}

func (d *dispatcher) metadata([]byte) ([]byte, error) {
	return json.Marshal(d.solver.Metadata())
}

func (d *dispatcher) initialize(input []byte) ([]byte, error) {
	var c intent.InitConfig
	if err := decode(input, &c); err != nil {
		return nil, err
	}
	return nil, d.solver.Initialize(c)
}

func (d *dispatcher) restoreState(input []byte) ([]byte, error) {
	s, ok := d.solver.(StateKeeper)
	if !ok {
		return nil, ErrNotImplemented
	}
	return nil, s.RestoreState(input)
}

func (d *dispatcher) serializeState([]byte) ([]byte, error) {
	s, ok := d.solver.(StateKeeper)
	if !ok {
		return nil, ErrNotImplemented
	}
	return s.SerializeState()
}

func (d *dispatcher) setMarket(input []byte) ([]byte, error) {
	var m intent.MarketSnapshot
	if err := decode(input, &m); err != nil {
		return nil, err
	}
	if d.markets == nil {
		d.markets = make(map[uint64]*intent.MarketSnapshot)
	}
	d.markets[m.ChainID] = &m
	if s, ok := d.solver.(MarketReceiver); ok {
		return nil, s.SetMarket(m)
	}
	return nil, nil
}

func (d *dispatcher) benchmarkStart(input []byte) ([]byte, error) {
	s, ok := d.solver.(BenchmarkStarter)
	if !ok {
		return nil, ErrNotImplemented
	}
	var batch struct {
		IntentCount int `json:"intent_count"`
	}
	if err := decode(input, &batch); err != nil {
		return nil, err
	}
	return nil, s.OnBenchmarkStart(batch.IntentCount)
}

func (d *dispatcher) benchmarkEnd(input []byte) ([]byte, error) {
	s, ok := d.solver.(BenchmarkEnder)
	if !ok {
		return nil, ErrNotImplemented
	}
	var results []intent.Result
	if err := decode(input, &results); err != nil {
		return nil, err
	}
	return nil, s.OnBenchmarkEnd(results)
}

func (d *dispatcher) checkTrigger(input []byte) ([]byte, error) {
	s, ok := d.solver.(TriggerChecker)
	if !ok {
		return nil, ErrNotImplemented
	}
	r, err := d.request(input)
	if err != nil {
		return nil, err
	}
	trigger, err := s.CheckTrigger(r)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]bool{"trigger": trigger})
}

func (d *dispatcher) generatePlan(input []byte) ([]byte, error) {
	r, err := d.request(input)
	if err != nil {
		return nil, err
	}
	p, err := d.solver.GeneratePlan(r)
	if err != nil {
		return nil, err
	}
	if p.Interactions == nil {
		p.Interactions = []intent.Interaction{} // an empty plan, not a malformed one
	}
	return json.Marshal(p)
}

func (d *dispatcher) quote(input []byte) ([]byte, error) {
	s, ok := d.solver.(Quoter)
	if !ok {
		return nil, ErrNotImplemented
	}
	r, err := d.request(input)
	if err != nil {
		return nil, err
	}
	q, err := s.Quote(r)
	if err != nil {
		return nil, err
	}
	if q.PlatformFeeWei == "" {
		q.PlatformFeeWei = "0"
	}
	return json.Marshal(q)
}

// request decodes a request and gives it the market that came before the batch.
func (d *dispatcher) request(input []byte) (intent.Request, error) {
	var r intent.Request
	if err := decode(input, &r); err != nil {
		return r, err
	}
	if r.Snapshot == nil {
		r.Snapshot = d.markets[r.State.ChainID]
	}
	return r, nil
}

// decode reads what a validator sent. Fields of a later version of the ABI are
// passed over, numbers of free values keep their text.
func decode(input []byte, into any) error {
	if err := intent.DecodeOpen(input, into); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	return nil
}
