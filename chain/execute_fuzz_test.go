package chain_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// executionCauses are all the causes an execution gives.
var executionCauses = []intent.Cause{
	intent.CauseNone, intent.CauseInvalidPlan, intent.CauseReverted,
	intent.CauseOutOfGas, intent.CauseStateMissing, intent.CauseOverspent,
}

// Whatever a plan holds, it ends in a cause of its own, the same each time.
func FuzzExecutePlan(f *testing.F) {
	ok := transfer(toyToken, toyReceiver, 300)
	f.Add(ok.Target, ok.Value, ok.CallData, uint64(1))
	f.Add(ok.Target, "-1", ok.CallData, uint64(1))
	f.Add("0x", "1", "0xabc", uint64(10))
	f.Add(toyUnknown.Hex(), "115792089237316195423570985008687907853269984665640564039457584007913129639935", "0x", uint64(1))
	w := toyWorld(f)
	f.Fuzz(func(t *testing.T, target, value, data string, chainID uint64) {
		x := intent.Interaction{Target: target, Value: value, CallData: data, ChainID: chainID}
		checkTotal(t, w, toyPlan(ok, x))
	})
}

// Whatever code a plan runs into, neither the EVM nor what measures it breaks.
func FuzzExecuteCode(f *testing.F) {
	f.Add(asm("1 0 SSTORE STOP"), []byte{1})
	f.Add(asm("again: 0 0 0 0 0 ADDRESS GAS CALL POP @again JUMP"), []byte{})
	f.Add(asm("32 0 "+transferTopic+" CALLER CALLER 32 0 LOG3"), []byte{})
	f.Add(asm("CALLER SELFDESTRUCT"), []byte{})
	f.Add(asm("0 0 CREATE 0 0 0 CREATE2 EXTCODEHASH"), []byte{})
	f.Fuzz(func(t *testing.T, code, input []byte) {
		if len(code) == 0 || len(code) > 1<<10 || len(input) > 1<<10 {
			return
		}
		s := toySnapshot()
		hash := crypto.Keccak256Hash(code)
		if !slices.ContainsFunc(s.Codes, func(c []byte) bool { return bytes.Equal(c, code) }) {
			s.Codes = append(s.Codes, code)
		}
		s.Accounts = append(s.Accounts, chain.Account{Address: toyUnknown, Nonce: 1, Balance: uint256.NewInt(1), CodeHash: hash, Complete: true})
		checkTotal(t, worldOf(t, s), toyPlan(callTo(toyUnknown, 1, input)))
	})
}

func checkTotal(t *testing.T, w *chain.World, p intent.Plan) {
	t.Helper()
	o := toyOrder(toyToken, 300, toyVyper)
	o.MaxGas = 300_000
	first, _ := execute(t, w, o, p)
	if !slices.Contains(executionCauses, first.Cause) {
		t.Errorf("cause %q", first.Cause)
	}
	if first.GasUsed > o.MaxGas {
		t.Errorf("%d gas of %d", first.GasUsed, o.MaxGas)
	}
	second, _ := execute(t, w, o, p)
	if a, b := outcomeBytes(t, first), outcomeBytes(t, second); !bytes.Equal(a, b) {
		t.Errorf("twice:\n%s\n%s", a, b)
	}
}
