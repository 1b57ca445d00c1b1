package chain

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/holiman/uint256"
)

// What tests of the state seam need from inside of the package.

// NewState returns a fresh state of the world and a function that returns what
// it missed.
func (w *World) NewState() (*state.StateDB, func() *Hole) {
	sdb, missing := w.newState(nil)
	return sdb, missing.missing
}

// NewEVM returns an EVM over a state of NewState.
func (w *World) NewEVM(sdb *state.StateDB) *vm.EVM { return w.newEVM(sdb, vm.Config{}) }

// OverlaidView returns a view with one balance and one slot replaced.
func (w *World) OverlaidView(addr common.Address, wei *uint256.Int, contract common.Address, key, value common.Hash) *View {
	over := newOverlay()
	over.setBalance(addr, wei)
	over.setSlot(contract, key, value)
	return w.overlaidView(over)
}

// FinishedView returns the view that is left behind by f.
func (w *World) FinishedView(f func(*state.StateDB)) *View {
	sdb, missing := w.newState(nil)
	f(sdb)
	sdb.Finalise(w.config.Rules(w.context.number(), true, w.context.Time))
	return w.finishedView(sdb, missing)
}

// Run runs a call on a view, as eth_call does, and returns what it returned,
// its gas after and before refunds, and the EVM's error.
func (v *View) Run(ctx context.Context, from, to common.Address, value *uint256.Int, data []byte, gas uint64) (ret []byte, used, peak uint64, vmerr, err error) {
	r, err := v.run(ctx, call{from: from, to: to, value: value, data: data}, gas)
	return r.data, r.used, r.peak, r.err, err
}
