package chain

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
)

// ErrContractPath means that an intent names a contract that has code, whose
// plans run through that contract: this build only runs plans as the owner's own
// transactions, and running one the wrong way would measure something else.
var ErrContractPath = errors.New("contract path not supported by this build")

// A Funded is an order made ready on a world: its owner topped up to the grant,
// and measured. Plans for one order, of however many solvers, start from it. Any
// number of goroutines may use one.
type Funded struct {
	world  *World
	order  *Order
	over   *overlay // the grant
	before balances

	mu    sync.Mutex
	sides map[common.Address]*uint256.Int // see side
}

// Fund tops the owner of an order up to the grant and measures what Execute
// measures before a plan. Errors are *[intent.AppFault] where a token's balance
// cannot be set or read and *[intent.InfraFault] else, a canceled ctx among them;
// an InfraFault that wraps a *[MissingError] names state the snapshot should have
// held.
func (w *World) Fund(ctx context.Context, o Order) (f *Funded, err error) {
	defer recovered(&err)
	over, err := w.fund(ctx, &o)
	if err != nil {
		return nil, err
	}
	before, err := w.measureBefore(over, &o)
	if err != nil {
		return nil, err
	}
	return &Funded{world: w, order: &o, over: over, before: before, sides: map[common.Address]*uint256.Int{}}, nil
}

// View returns what a solver sees while it plans for the order.
func (f *Funded) View() *View { return f.world.overlaidView(f.over) }

// Execute runs a plan for the order and measures what it did.
//
// The owner sends each interaction as a transaction of their own in the world's
// context: nonce from the state, no fee, at most the fork's gas limit for a
// transaction, the block's and what is left of the order's. A plan is all or
// nothing: the first interaction that fails ends it. It fails too where it reads
// state the snapshot does not know, whatever came of it, or leaves a state behind
// in which that happens to a measurement. It fails where the owner has lost more
// of any token than the grant: of the order's tokens, and of every contract that
// an interaction targets, that emitted an event or whose storage changed. An owner
// who is also the receiver or the block's fee recipient is measured the same way:
// what they send themselves is not lost.
//
// The outcome has a cause for whatever the plan did; the view, nil unless the
// plan succeeded, reads the state it left behind. The error is an
// *[intent.AppFault] or an *[intent.InfraFault] and says nothing about the plan;
// a canceled ctx is one of the latter.
func (f *Funded) Execute(ctx context.Context, p intent.Plan) (*Outcome, *View, error) {
	return f.execute(ctx, p, nil)
}

// Execute is [World.Fund] and [Funded.Execute], for one plan.
func (w *World) Execute(ctx context.Context, o Order, p intent.Plan) (*Outcome, *View, error) {
	return w.execute(ctx, &o, p, nil)
}

// execute is Execute under an optional tracer of the plan, which changes no
// result.
func (w *World) execute(ctx context.Context, o *Order, p intent.Plan, hooks *tracing.Hooks) (*Outcome, *View, error) {
	f, err := w.Fund(ctx, *o)
	if err != nil {
		return nil, nil, err
	}
	return f.execute(ctx, p, hooks)
}

func (f *Funded) execute(ctx context.Context, p intent.Plan, hooks *tracing.Hooks) (out *Outcome, after *View, err error) {
	defer recovered(&err)
	r, fault := f.newRun(p)
	if fault != nil {
		return &Outcome{Cause: fault.Cause, Detail: fault.Detail}, nil, nil
	}
	r.sdb.Reader().(*reader).keep = true
	if err := r.play(ctx, hooks); err != nil {
		return nil, nil, err
	}
	if r.out.Cause == intent.CauseNone {
		if err := r.measureAfter(); err != nil {
			return nil, nil, err
		}
	}
	if r.out.Cause != intent.CauseNone {
		return r.out, nil, nil
	}
	return r.out, f.world.finishedView(r.sdb, r.missing), nil
}

// recovered turns a panic of the EVM into an error: none crosses this package's
// edge.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = &intent.InfraFault{Err: fmt.Errorf("executor panicked: %v", r)}
	}
}

// A step is one interaction, read.
type step struct {
	to    common.Address
	value *uint256.Int
	data  []byte
}

// steps reads a plan's interactions. A plan that [intent.Plan.Validate] accepts
// has no fault.
func (w *World) steps(p intent.Plan) ([]step, *intent.MinerFault) {
	invalid := func(i int, format string, args ...any) *intent.MinerFault {
		return &intent.MinerFault{Cause: intent.CauseInvalidPlan, Detail: fmt.Sprintf("interactions[%d].", i) + fmt.Sprintf(format, args...)}
	}
	if len(p.Interactions) == 0 {
		return nil, &intent.MinerFault{Cause: intent.CauseInvalidPlan, Detail: "no interactions"}
	}
	list := make([]step, len(p.Interactions))
	for i, x := range p.Interactions {
		if x.ChainID != w.chainID {
			return nil, invalid(i, "chain_id: %d, the intent is on chain %d", x.ChainID, w.chainID)
		}
		to, err := ParseAddress(x.Target)
		if err != nil {
			return nil, invalid(i, "target: %v", err)
		}
		value, err := intent.ParseAmount(x.Value)
		if err != nil {
			return nil, invalid(i, "value: %s: %v", intent.Quoted(x.Value, 64), err)
		}
		digits, prefixed := strings.CutPrefix(x.CallData, "0x")
		data, err := hex.DecodeString(digits)
		if err != nil || !prefixed {
			return nil, invalid(i, "call_data: %s is not 0x and pairs of hex digits", intent.Quoted(x.CallData, 64))
		}
		list[i] = step{to: to, value: value, data: data}
	}
	return list, nil
}

// measureBefore reads the balances that the plan starts from, and refuses an
// order that is not for the owner's transactions.
func (w *World) measureBefore(over *overlay, o *Order) (balances, error) {
	p := w.newProbe(over, nil)
	defer p.close()
	if o.Contract != (common.Address{}) {
		code, err := p.code(o.Contract)
		if err != nil {
			return nil, o.coreFault("contract "+o.Contract.Hex(), err)
		}
		if code {
			return nil, &intent.AppFault{AppID: o.App, Err: fmt.Errorf("%w: %s", ErrContractPath, o.Contract.Hex())}
		}
	}
	list, err := p.measure(o)
	if err != nil {
		return nil, o.coreFault("measuring before the plan", err)
	}
	return list, nil
}

// A run is one execution of a plan.
type run struct {
	world   *World
	order   *Order
	funded  *Funded
	steps   []step
	out     *Outcome
	sdb     *state.StateDB
	missing *holes

	// sent, where it is not nil, is told of every transaction that a block would
	// hold.
	sent func(i int, result *core.ExecutionResult)
}

// newRun makes a plan ready to be played, on a state of its own.
func (f *Funded) newRun(p intent.Plan) (*run, *intent.MinerFault) {
	steps, fault := f.world.steps(p)
	if fault != nil {
		return nil, fault
	}
	r := &run{world: f.world, order: f.order, funded: f, steps: steps, out: &Outcome{}}
	r.sdb, r.missing = f.world.newState(f.over)
	return r, nil
}

// play runs the interactions and leaves a cause in the outcome at the first that
// fails.
func (r *run) play(ctx context.Context, hooks *tracing.Hooks) error {
	evm := r.world.newEVM(r.sdb, vm.Config{Tracer: hooks})
	defer evm.Release()
	stop := context.AfterFunc(ctx, evm.Cancel)
	defer stop()
	for i := range r.steps {
		limit := r.gasLimit(evm.GetRules())
		result, err := r.apply(evm, i, limit)
		// A run that was stopped looks like one that succeeded: ask first.
		if err := ctx.Err(); err != nil {
			return &intent.InfraFault{Err: err}
		}
		if hole := r.missing.missing(); hole != nil {
			r.stateMissing(hole, fmt.Sprintf("interaction %d", i))
			return nil
		}
		if err := r.sdb.Error(); err != nil {
			return &intent.InfraFault{Err: err}
		}
		if err != nil {
			return r.refuse(i, limit, err)
		}
		r.out.GasUsed += result.UsedGas
		r.out.GasMetered += result.MaxUsedGas
		if r.sent != nil {
			r.sent(i, result)
		}
		if result.Err != nil {
			r.fail(i, limit, result)
			return nil
		}
	}
	return nil
}

// gasLimit returns the gas the next transaction may use.
func (r *run) gasLimit(rules params.Rules) uint64 {
	limit := min(r.order.MaxGas-r.out.GasUsed, r.world.context.GasLimit)
	if rules.IsOsaka {
		limit = min(limit, params.MaxTxGas) // EIP-7825
	}
	return limit
}

// apply sends interaction i as a transaction of the owner's. Owners may have
// code of their own: their wallet's signature check is not what is measured.
func (r *run) apply(evm *vm.EVM, i int, limit uint64) (*core.ExecutionResult, error) {
	c := r.steps[i]
	msg := &core.Message{
		From:      r.order.Owner,
		To:        &c.to,
		Nonce:     r.sdb.GetNonce(r.order.Owner),
		Value:     c.value,
		Data:      c.data,
		GasLimit:  limit,
		GasPrice:  new(uint256.Int),
		GasFeeCap: new(uint256.Int),
		GasTipCap: new(uint256.Int),
	}
	r.sdb.SetTxContext(common.Hash{}, i, uint32(i+1))
	result, err := core.ApplyMessage(evm, msg.SkipEOACheck(), nil)
	if err == nil {
		r.sdb.Finalise(evm.GetRules())
	}
	return result, err
}

// refuse gives a transaction that no block could hold its cause.
func (r *run) refuse(i int, limit uint64, err error) error {
	switch {
	case errors.Is(err, core.ErrIntrinsicGas), errors.Is(err, core.ErrFloorDataGas):
		r.outOfGas(i, limit)
	case errors.Is(err, core.ErrInsufficientFunds), errors.Is(err, core.ErrInsufficientFundsForTransfer):
		r.reverted(i, fmt.Sprintf("the owner has %s wei and sends %s",
			r.sdb.GetBalance(r.order.Owner).Dec(), r.steps[i].value.Dec()), nil)
	default:
		return &intent.InfraFault{Err: fmt.Errorf("interaction %d: %w", i, err)}
	}
	return nil
}

// fail gives a transaction that a block would hold as failed its cause. Gas that
// ran out in an inner call is a revert like any other: whoever made the call
// decided what comes of it.
func (r *run) fail(i int, limit uint64, result *core.ExecutionResult) {
	switch {
	case errors.Is(result.Err, vm.ErrExecutionReverted):
		r.reverted(i, RevertReason(result.ReturnData), result.ReturnData)
	case errors.Is(result.Err, vm.ErrOutOfGas), errors.Is(result.Err, vm.ErrGasUintOverflow):
		r.outOfGas(i, limit)
	default:
		r.reverted(i, haltReason(result.Err), nil)
	}
}

func (r *run) stateMissing(hole *Hole, where string) {
	r.out = &Outcome{Cause: intent.CauseStateMissing, Detail: where + ": " + hole.String(), Missing: hole}
}

func (r *run) outOfGas(i int, limit uint64) {
	r.out.Cause = intent.CauseOutOfGas
	r.out.Detail = fmt.Sprintf("interaction %d: %d gas is not enough, the plan may use %d", i, limit, r.order.MaxGas)
	r.out.Revert = &Revert{Index: i, Reason: "out of gas"}
}

func (r *run) reverted(i int, reason string, data []byte) {
	r.out.Cause = intent.CauseReverted
	r.out.Detail = fmt.Sprintf("interaction %d: %s", i, reason)
	r.out.Revert = &Revert{Index: i, Reason: reason, Data: common.CopyBytes(data[:min(len(data), revertDataMax)])}
}

// haltReason names what stopped the EVM in words of this package's, so that an
// upgrade of the library changes no digest.
func haltReason(err error) string {
	var (
		opcode    *vm.ErrInvalidOpCode
		underflow *vm.ErrStackUnderflow
		overflow  *vm.ErrStackOverflow
	)
	switch {
	case errors.As(err, &opcode):
		return "halted: invalid opcode"
	case errors.As(err, &underflow), errors.As(err, &overflow):
		return "halted: stack limits"
	case errors.Is(err, vm.ErrInvalidJump):
		return "halted: invalid jump"
	case errors.Is(err, vm.ErrReturnDataOutOfBounds):
		return "halted: return data out of bounds"
	}
	return "halted"
}
