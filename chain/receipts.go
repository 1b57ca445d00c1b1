package chain

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"

	"github.com/subnet112/assay/intent"
)

// A Receipt is what a node would say of one transaction of a plan, without what
// only a block gives it.
type Receipt struct {
	Status  bool   // it succeeded
	GasUsed uint64 // gas, refunds subtracted
	Return  []byte // what it returned, the reason of a revert included
	Logs    []Log  // in the order of the block, none where it failed
}

// A Log is an event as a contract emitted it.
type Log struct {
	Address common.Address
	Topics  []common.Hash
	Data    []byte
}

// Receipts runs a plan as [Funded.Execute] does, measures nothing, and returns a
// receipt for every transaction that a block would hold: the ones up to and with
// the first that failed. It is for comparing with a node.
//
// The error is an *[intent.MinerFault] for a plan that has no interactions to run
// or reads state the snapshot does not know, else an *[intent.InfraFault].
func (f *Funded) Receipts(ctx context.Context, p intent.Plan) (list []Receipt, err error) {
	defer recovered(&err)
	r, fault := f.newRun(p)
	if fault != nil {
		return nil, fault
	}
	r.sent = func(i int, result *core.ExecutionResult) { list = append(list, r.receipt(i, result)) }
	if err := r.play(ctx, nil); err != nil {
		return nil, err
	}
	if r.out.Missing != nil {
		return nil, &intent.MinerFault{Cause: r.out.Cause, Detail: r.out.Detail}
	}
	return list, nil
}

func (r *run) receipt(i int, result *core.ExecutionResult) Receipt {
	out := Receipt{Status: result.Err == nil, GasUsed: result.UsedGas, Return: result.ReturnData}
	for _, l := range r.sdb.Logs() {
		if l.TxIndex == uint(i) {
			out.Logs = append(out.Logs, Log{Address: l.Address, Topics: l.Topics, Data: l.Data})
		}
	}
	return out
}
