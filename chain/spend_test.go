package chain_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// withContract adds a contract to a snapshot, all of whose other slots are zero.
func withContract(s *chain.Snapshot, a common.Address, code []byte, slots ...chain.Slot) {
	s.Codes = append(s.Codes, code)
	s.Accounts = append(s.Accounts, chain.Account{
		Address: a, Nonce: 1, Balance: new(uint256.Int), CodeHash: crypto.Keccak256Hash(code), Complete: true, Slots: slots,
	})
}

// A plan must not use allowances that the owner gave somebody else: a token that
// the plan never calls itself, and the intent never names, is seen by its events.
func TestSpendingThroughSomebodyElse(t *testing.T) {
	t.Parallel()
	token, middle := common.Address{19: 0xe1}, common.Address{19: 0xe2}
	s := toySnapshot()
	withContract(s, token, asm(`
		0 CALLDATALOAD 224 SHR 0x70a08231 EQ @balanceOf JUMPI
		0 0 SSTORE 5 0 MSTORE
		`+toyReceiver.Hex()+` `+toyOwner.Hex()+` `+transferTopic+` 32 0 LOG3 STOP
	balanceOf:
		0 SLOAD 0 MSTORE 32 0 RETURN`), chain.Slot{Key: word(0), Value: word(5)})
	withContract(s, middle, asm(`0 0 0 0 0 `+token.Hex()+` GAS CALL POP STOP`))
	out, _ := execute(t, worldOf(t, s), toyOrder(toyToken, 300, toyVyper), toyPlan(callTo(middle, 0, nil)))
	want := "the owner lost 5 of token " + token.Hex() + " and may spend 0"
	if out.Cause != intent.CauseOverspent || out.Detail != want {
		t.Errorf("cause %q (%s), want overspent: %s", out.Cause, out.Detail, want)
	}
}

// A contract that claims to have moved the owner's tokens, and cannot say how
// many they had, is not a token.
func TestForgedTransfersCostNothing(t *testing.T) {
	t.Parallel()
	n := word(3)
	out, _ := execute(t, toyWorld(t), toyOrder(toyToken, 300, toyVyper), toyPlan(callTo(toyLogs, 0, n[:])))
	if out.Cause != intent.CauseNone || len(out.Transfers) != 3 {
		t.Errorf("outcome %+v, want three transfers and no cause", out)
	}
}

func TestTokensBesideTheIntentAreBounded(t *testing.T) {
	t.Parallel()
	s := toySnapshot()
	var calls []intent.Interaction
	for i := range byte(129) {
		a := common.Address{0: 0x77, 19: i}
		s.Absent = append(s.Absent, a)
		calls = append(calls, callTo(a, 0, nil))
	}
	w := worldOf(t, s)
	o := toyOrder(toyToken, 300, toyVyper)
	if out, _ := execute(t, w, o, toyPlan(calls[:128]...)); out.Cause != intent.CauseNone {
		t.Errorf("128 targets: %s: %s", out.Cause, out.Detail)
	}
	if out, _ := execute(t, w, o, toyPlan(calls...)); out.Cause != intent.CauseOverspent {
		t.Errorf("129 targets: cause %q, want overspent", out.Cause)
	}
}
