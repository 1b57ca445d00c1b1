package chain

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/intent"
)

// measureGas bounds one balanceOf call of the core's. Proxies, rebasing and
// reflecting tokens answer for a tenth of it.
const measureGas = 1_000_000

var balanceOfSelector = crypto.Keccak256([]byte("balanceOf(address)"))[:4]

// errNoBalance says that a token did not answer balanceOf with a word. What that
// means is the caller's to say.
var errNoBalance = errors.New("does not answer balanceOf")

// A probe reads balances. It has a state of its own: what a measurement loads,
// touches and warms must not change what the plan costs or sees.
type probe struct {
	sdb     *state.StateDB
	missing *holes
	evm     *vm.EVM
}

// newProbe opens a probe on the world with an overlay. hooks trace it, nil does
// not. The caller closes it.
func (w *World) newProbe(over *overlay, hooks *tracing.Hooks) *probe {
	sdb, missing := w.newState(over)
	return w.probeOn(sdb, missing, hooks)
}

// probeOn opens a probe on a state that is the probe's from now on.
func (w *World) probeOn(sdb *state.StateDB, missing *holes, hooks *tracing.Hooks) *probe {
	p := &probe{sdb: sdb, missing: missing, evm: w.newEVM(sdb, vm.Config{Tracer: hooks})}
	// A transaction of nobody: what the last one left in transient storage is gone.
	rules := p.evm.GetRules()
	sdb.Prepare(rules, common.Address{}, w.context.Coinbase, nil, vm.ActivePrecompiles(rules), nil)
	p.evm.SetTxContext(vm.TxContext{GasPrice: new(uint256.Int)})
	return p
}

func (p *probe) close() { p.evm.Release() }

// balance returns account's balance of token, the zero address being ETH. The
// error is errNoBalance, a *MissingError or the library's.
func (p *probe) balance(token, account common.Address) (*uint256.Int, error) {
	if token == ETH {
		balance := p.sdb.GetBalance(account).Clone()
		return balance, p.fault(token, account)
	}
	input := append(balanceOfSelector[:4:4], common.LeftPadBytes(account[:], 32)...)
	ret, _, err := p.evm.StaticCall(common.Address{}, token, input, vm.NewGasBudget(measureGas, 0))
	if fault := p.fault(token, account); fault != nil {
		return nil, fault
	}
	if err != nil || len(ret) < 32 {
		return nil, errNoBalance
	}
	return new(uint256.Int).SetBytes(ret[:32]), nil
}

// code reports whether account has code.
func (p *probe) code(account common.Address) (bool, error) {
	size := p.sdb.GetCodeSize(account)
	return size > 0, p.fault(ETH, account)
}

func (p *probe) fault(token, account common.Address) error {
	if hole := p.missing.missing(); hole != nil {
		return &MissingError{Token: token, Account: account, Hole: *hole}
	}
	return p.sdb.Error()
}

// A balances holds what the core measured, by account and token in the order's
// order.
type balances []*uint256.Int

// measure reads the balance of every watched account in every token.
func (p *probe) measure(o *Order) (balances, error) {
	list := make(balances, 0, len(o.Watch)*len(o.Tokens))
	for _, account := range o.Watch {
		for _, token := range o.Tokens {
			b, err := p.balance(token, account)
			if err != nil {
				return nil, tokenError(token, err)
			}
			list = append(list, b)
		}
	}
	return list, nil
}

// deltas pairs two measurements of one order.
func (o *Order) deltas(before, after balances) []Delta {
	list := make([]Delta, 0, len(before))
	for _, account := range o.Watch {
		for _, token := range o.Tokens {
			i := len(list)
			change := new(big.Int).Sub(after[i].ToBig(), before[i].ToBig())
			list = append(list, Delta{Account: account, Token: token, Amount: change})
		}
	}
	return list
}

// tokenError names the token that an error is about.
func tokenError(token common.Address, err error) error {
	if errors.Is(err, errNoBalance) || errors.Is(err, errNoSlot) {
		return fmt.Errorf("token %s %w", token.Hex(), err)
	}
	return err
}

// coreFault gives an error of the core's own reading its family: a token that
// does not answer is the app's fault, and everything else, holes included, the
// validator's.
func (o *Order) coreFault(doing string, err error) error {
	err = fmt.Errorf("%s: %w", doing, err)
	if errors.Is(err, errNoBalance) || errors.Is(err, errNoSlot) {
		return &intent.AppFault{AppID: o.App, Err: err}
	}
	return &intent.InfraFault{Err: err}
}
