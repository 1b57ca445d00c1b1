package chain_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"
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

// A token need not say so when it takes a balance away: where the owner has code,
// a plan can make them burn it. Here anybody can, which is the same to the core.
func TestSpendingWithoutATransfer(t *testing.T) {
	t.Parallel()
	const balanceOf = `balanceOf: 0 SLOAD 0 MSTORE 32 0 RETURN`
	token, state, middle := common.Address{19: 0xe1}, common.Address{19: 0xe2}, common.Address{19: 0xe3}
	five := chain.Slot{Key: word(0), Value: word(5)}
	for _, tt := range []struct {
		name  string
		state func(*chain.Snapshot)
	}{
		{"another event", func(s *chain.Snapshot) {
			withContract(s, token, asm(`0 CALLDATALOAD @balanceOf JUMPI 0 0 SSTORE 0xee 0 0 LOG1 STOP `+balanceOf), five)
		}},
		{"no event", func(s *chain.Snapshot) {
			withContract(s, token, asm(`0 CALLDATALOAD @balanceOf JUMPI 0 0 SSTORE STOP `+balanceOf), five)
		}},
		{"balances kept elsewhere, and another event", func(s *chain.Snapshot) {
			withContract(s, state, asm(`0 CALLDATALOAD @balanceOf JUMPI 0 0 SSTORE STOP `+balanceOf), five)
			withContract(s, token, asm(`
				0 CALLDATALOAD @balanceOf JUMPI
				0 0 0 0 0 `+state.Hex()+` GAS CALL 0 0 LOG0 STOP
			balanceOf:
				1 0 MSTORE 32 0 32 0 `+state.Hex()+` GAS STATICCALL 32 0 RETURN`))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := toySnapshot()
			tt.state(s)
			withContract(s, middle, asm(`0 0 0 0 0 `+token.Hex()+` GAS CALL POP STOP`))
			out, _ := execute(t, worldOf(t, s), toyOrder(toyToken, 300, toyVyper), toyPlan(callTo(middle, 0, nil)))
			if want := "the owner lost 5 of token " + token.Hex() + " and may spend 0"; out.Cause != intent.CauseOverspent || out.Detail != want {
				t.Errorf("cause %q (%s), want overspent: %s", out.Cause, out.Detail, want)
			}
		})
	}
}

// What an owner with code wraps nobody granted: withdraw pays ETH and emits
// Withdrawal, and the owner's code sends that ETH to the receiver.
func TestOwnerWithCodeUnwraps(t *testing.T) {
	t.Parallel()
	weth := common.Address{19: 0xe1}
	s := toySnapshot()
	withContract(s, weth, asm(`
		0 CALLDATALOAD @balanceOf JUMPI
		0 0 SSTORE 0 0 0 0 5 CALLER GAS CALL POP
		5 0 MSTORE CALLER 0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65 32 0 LOG2 STOP
	balanceOf:
		0 SLOAD 0 MSTORE 32 0 RETURN`), chain.Slot{Key: word(0), Value: word(5)})
	s.Accounts[len(s.Accounts)-1].Balance = uint256.NewInt(5)
	wallet := common.Address{19: 0xe2}
	withContract(s, wallet, asm(`
		CALLVALUE @done JUMPI
		0 0 0 0 0 `+weth.Hex()+` GAS CALL POP
		0 0 0 0 5 `+toyReceiver.Hex()+` GAS CALL POP
	done: STOP`))
	o := toyOrder(toyToken, 0, toyVyper)
	o.Owner, o.Watch = wallet, []common.Address{toyReceiver, wallet}
	out, _ := execute(t, worldOf(t, s), o, toyPlan(callTo(wallet, 0, nil)))
	if want := "the owner lost 5 of token " + weth.Hex() + " and may spend 0"; out.Cause != intent.CauseOverspent || out.Detail != want {
		t.Errorf("cause %q (%s), want overspent: %s", out.Cause, out.Detail, want)
	}
}

// A contract whose balances the snapshot does not know must not hide the next.
func TestSpendingBehindAnUnknownBalance(t *testing.T) {
	t.Parallel()
	unknown := common.Address{19: 0xe1}
	s := toySnapshot()
	withContract(s, unknown, asm(`0 CALLDATALOAD @balanceOf JUMPI STOP balanceOf: 0 SLOAD STOP`))
	s.Accounts[len(s.Accounts)-1].Complete = false
	out, _ := execute(t, worldOf(t, s), toyOrder(toyToken, 300, toyVyper), toyPlan(callTo(unknown, 0, nil), transfer(toyProxy, toyReceiver, 5)))
	if want := "the owner lost 5 of token " + toyProxy.Hex() + " and may spend 0"; out.Cause != intent.CauseOverspent || out.Detail != want {
		t.Errorf("cause %q (%s), want overspent: %s", out.Cause, out.Detail, want)
	}
}

// A plan after which a balance depends on state that nobody captured has left the
// captured area, as one that reads it itself.
func TestMeasurementThatThePlanLeadsAstray(t *testing.T) {
	t.Parallel()
	token := common.Address{19: 0xe1}
	s := toySnapshot()
	withContract(s, token, asm(`
		0 CALLDATALOAD @balanceOf JUMPI 1 0 SSTORE STOP
	balanceOf:
		0 SLOAD @astray JUMPI 32 0 RETURN
	astray:
		`+toyUnknown.Hex()+` BALANCE 0 MSTORE 32 0 RETURN`))
	o := toyOrder(token, 0, toyVyper)
	out, _ := execute(t, worldOf(t, s), o, toyPlan(callTo(token, 0, nil)))
	want := &chain.Outcome{
		Cause: intent.CauseStateMissing, Detail: "after interaction 0: account " + lower(toyUnknown),
		Missing: &chain.Hole{Address: toyUnknown},
	}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
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
