package sandbox

import (
	"context"
	"errors"
	"time"

	"github.com/subnet112/assay/sandbox/wasm"
)

// HealthyFuel is the fuel a second that a host must get through in the
// calibration guest to blame a guest for a wall stop. Ordinary hosts do several
// times as much.
const HealthyFuel = 500_000_000

const (
	calibrationFuel = 10_000_000 // of one round
	calibrations    = 3          // rounds; the best counts
)

// calibrationProfile admits the calibration guest.
var calibrationProfile = Profile{Name: "calibration", Exports: []Export{{Name: "spin"}}, MemoryPages: 1}

// calibrationGuest spins in a loop of local arithmetic for ever.
func calibrationGuest() []byte {
	op := func(b []byte, op wasm.Op, imm uint64) []byte {
		return wasm.AppendInstr(b, &wasm.Instr{Op: op, Imm: imm})
	}
	var body []byte
	body = op(body, wasm.OpLoop, 0)
	for range 8 {
		body = op(op(op(op(body, wasm.OpLocalGet, 0), wasm.OpI32Const, 3), wasm.OpI32Add, 0), wasm.OpLocalSet, 0)
	}
	body = op(op(op(op(body, wasm.OpBr, 0), wasm.OpEnd, 0), wasm.OpUnreachable, 0), wasm.OpEnd, 0)
	i32 := []wasm.ValType{wasm.I32}
	m := &wasm.Module{
		Types:    []wasm.FuncType{{Params: i32, Results: i32}},
		Funcs:    []uint32{0},
		Memories: []wasm.Limits{{}},
		Codes:    []wasm.Code{{Body: body}},
		Exports:  []wasm.Export{{Name: "spin", Kind: wasm.KindFunc}, {Name: "memory", Kind: wasm.KindMemory}},
	}
	return m.Encode()
}

// calibrationModule compiles the guest once, in this process; the caller holds
// e.probing.
func (e *Engine) calibrationModule() (*Module, error) {
	if e.probe != nil {
		return e.probe, nil
	}
	a, report, err := check(calibrationGuest(), calibrationProfile)
	if err != nil {
		return nil, err
	}
	c, err := e.translate(e.ctx, a.meter.Bytes, nil)
	if err != nil {
		return nil, err
	}
	c.users = 1 // for as long as the engine lives
	e.probe = e.module(a, c, report, calibrationProfile)
	e.probe.probe = true
	return e.probe, nil
}

// healthy times the calibration guest.
func (e *Engine) healthy() bool {
	e.probing.Lock()
	defer e.probing.Unlock()
	m, err := e.calibrationModule()
	if err != nil {
		return false
	}
	const limit = calibrationFuel * time.Second / HealthyFuel
	for range calibrations {
		i, err := m.Instantiate(e.ctx, Env{})
		if err != nil {
			return false
		}
		began := e.config.Clock()
		_, err = i.Call(e.ctx, Call{Export: "spin", Wall: 10 * limit, Fuel: calibrationFuel})
		took := e.config.Clock().Sub(began)
		fault := (*Fault)(nil)
		i.Close(context.Background())
		if errors.As(err, &fault) && fault.Cause == CauseFuel && took <= limit {
			return true
		}
	}
	return false
}

// wallStop is what a wall limit's end says about the guest: that it stalled, if
// the host is fast enough, and nothing otherwise.
func (e *Engine) wallStop(detail string) error {
	if e.interpreter || !e.healthy() {
		return ErrWall
	}
	return &Fault{CauseStalled, detail}
}
