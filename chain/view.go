package chain

import (
	"context"
	"errors"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
)

// A View is what reads see: a world as it is, with an order's grant laid over
// it, or as a plan left it. Reads change nothing: each sees the same state.
//
// Any number of goroutines may use a view. On a view that a plan left behind they
// take turns; the others do not wait for each other.
type View struct {
	world *World
	over  *overlay // nil: none

	// A state that a plan left behind, nil on other views. It is copied for
	// each read, and its record of missing reads is shared by the copies.
	turn     sync.Mutex
	finished *state.StateDB
	missing  *holes
}

// View returns the bare snapshot's view.
func (w *World) View() *View { return &View{world: w} }

// overlaidView returns the view of the world with an overlay, which must not
// change any more.
func (w *World) overlaidView(over *overlay) *View { return &View{world: w, over: over} }

// finishedView returns the view of a state that ran and was finalised without
// error, with its record of missing reads. The view owns both from now on.
func (w *World) finishedView(sdb *state.StateDB, missing *holes) *View {
	return &View{world: w, finished: sdb, missing: missing}
}

// open returns a state to read from or run on, the record of what it misses,
// and a function that gives both back.
func (v *View) open() (*state.StateDB, *holes, func()) {
	if v.finished == nil {
		sdb, missing := v.world.newState(v.over)
		return sdb, missing, func() {}
	}
	v.turn.Lock()
	v.missing.reset()
	return v.finished.Copy(), v.missing, v.turn.Unlock
}

// read runs f on the view's state. The error is a *missingState or what broke
// the state.
func (v *View) read(f func(*state.StateDB)) error {
	sdb, missing, done := v.open()
	defer done()
	f(sdb)
	if err := missing.err(); err != nil {
		return err
	}
	return sdb.Error()
}

// A call is a message that is run and forgotten.
type call struct {
	from, to common.Address
	value    *uint256.Int // wei
	data     []byte
}

// A callResult is what running a call did.
type callResult struct {
	data []byte // returned, or the reason of a revert
	err  error  // of the EVM: why the call failed, nil when it did not
	used uint64 // gas a transaction would pay, refunds subtracted
	peak uint64 // gas it needs to be given at least
}

// run runs a call with a gas limit. Gas counts as in a transaction: intrinsic
// gas, calldata floor, warm addresses and refunds as core.ApplyMessage has them.
// Unlike there, the sender's account is not read unless the call sends value or
// asks for it: a read without a sender is one from the zero address, which few
// snapshots hold. The error is a *missingState, that of ctx, or the EVM's
// own failure to work.
//
// A call that misses state has a peak too, for it has done work: what it took
// until the EVM stopped, which is at its first jump after the missing read. Both
// happen in this goroutine, so the number is the same on every host.
func (v *View) run(ctx context.Context, c call, gas uint64) (callResult, error) {
	if err := ctx.Err(); err != nil {
		return callResult{}, err
	}
	sdb, missing, done := v.open()
	defer done()
	evm := v.world.newEVM(sdb, vm.Config{})
	defer evm.Release()
	stop := context.AfterFunc(ctx, evm.Cancel)
	defer stop()
	evm.Context.Transfer = transferValue

	rules := evm.GetRules()
	intrinsic, err := core.IntrinsicGas(c.data, nil, nil, c.from, &c.to, c.value, rules)
	if err != nil {
		return callResult{}, err
	}
	var floor uint64
	if rules.IsPrague {
		if floor, err = core.FloorDataGas(rules, c.from, &c.to, c.value, c.data, nil); err != nil {
			return callResult{}, err
		}
	}
	if gas < max(intrinsic, floor) {
		return callResult{err: vm.ErrOutOfGas, used: gas, peak: gas}, nil
	}

	sdb.Prepare(rules, c.from, v.world.context.Coinbase, &c.to, vm.ActivePrecompiles(rules), nil)
	evm.SetTxContext(vm.TxContext{Origin: c.from, GasPrice: new(uint256.Int)})
	if target, ok := types.ParseDelegation(sdb.GetCode(c.to)); ok {
		sdb.AddAddressToAccessList(target)
	}
	budget := vm.NewGasBudget(gas-intrinsic, 0)
	data, left, vmerr := evm.Call(c.from, c.to, c.data, budget, c.value)

	// A canceled run ends like one that succeeded: ask first who stopped it, and
	// first of all ctx, which stops it anywhere.
	if err := ctx.Err(); err != nil {
		return callResult{}, err
	}
	before := intrinsic + left.Used(budget)
	if err := missing.err(); err != nil {
		return callResult{peak: max(before, floor)}, err
	}
	if err := sdb.Error(); err != nil {
		return callResult{}, err
	}
	refund := min(before/params.RefundQuotientEIP3529, sdb.GetRefund())
	return callResult{
		data: data,
		err:  vmerr,
		used: max(before-refund, floor),
		peak: max(before, floor),
	}, nil
}

// transferValue is core.Transfer, but a transfer of nothing touches no account.
// Nothing a call can observe depends on the touch: an account that exists only
// because it was touched is as empty as one that does not.
func transferValue(db vm.StateDB, from, to common.Address, amount *uint256.Int, rules *params.Rules) {
	if !amount.IsZero() {
		core.Transfer(db, from, to, amount, rules)
	}
}

// estimate returns a gas limit that suffices for a call, at most limit. What the
// call takes when it is given all of limit mostly suffices; where it does not,
// because calls keep back a 64th or because code asks how much gas there is, the
// answer is bisected to within 1.5 %. The search depends on the view and the call
// alone. Its runs are paid from spend, each of which must be left all that the
// run may take.
func (v *View) estimate(ctx context.Context, c call, limit uint64, spend *meter) (uint64, callResult, error) {
	try := func(gas uint64) (callResult, error) {
		if gas > spend.left.Gas {
			return callResult{}, ErrBudget
		}
		r, err := v.run(ctx, c, gas)
		spend.gas(r.peak)
		return r, err
	}
	first, err := try(limit)
	if err != nil || first.err != nil || first.peak >= limit {
		return limit, first, err
	}
	exact, err := try(first.peak)
	if err != nil || exact.err == nil {
		return first.peak, first, err
	}
	// lo is known not to suffice, hi to suffice.
	lo, hi := first.peak, limit
	gas := min((first.peak+params.CallStipend)*64/63, hi-1)
	for lo < gas && (hi-lo)*1000 > hi*15 {
		r, err := try(gas)
		if err != nil {
			return 0, r, err
		}
		if r.err != nil {
			lo = gas
		} else {
			hi = gas
		}
		gas = lo + (hi-lo)/2
	}
	return hi, first, nil
}

// failed says how a call ended in words that are the same on every host.
func (r callResult) failed() *rpcError {
	switch {
	case r.err == nil:
		return nil
	case errors.Is(r.err, vm.ErrExecutionReverted):
		return &rpcError{code: codeReverted, message: msgReverted, data: quoteHex(r.data)}
	case errors.Is(r.err, vm.ErrOutOfGas):
		return &rpcError{code: codeServer, message: msgOutOfGas}
	case errors.Is(r.err, vm.ErrInsufficientBalance):
		return &rpcError{code: codeServer, message: msgInsufficientFunds}
	}
	return &rpcError{code: codeServer, message: msgExecution}
}
