package chain_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// What an execution costs, from the yellow paper's schedule, is asserted on the
// mainnet trades; here the numbers are those that follow from the toy contracts.

func execute(t testing.TB, w *chain.World, o chain.Order, p intent.Plan) (*chain.Outcome, *chain.View) {
	t.Helper()
	out, after, err := w.Execute(t.Context(), o, p)
	if err != nil {
		t.Fatalf("Execute: %v", err)
	}
	if (after == nil) != (out.Cause != intent.CauseNone) {
		t.Errorf("cause %q with view %v", out.Cause, after)
	}
	return out, after
}

func TestExecuteMeasuresWhatHappened(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	out, _ := execute(t, w, toyOrder(toyToken, 300, toyVyper), toyPlan(
		approve(toyToken, toyAbsent, 7),
		transfer(toyToken, toyReceiver, 200),
		callTo(toyReceiver, 0, nil),
		transfer(toyToken, toyPoor, 100),
	))
	n := big.NewInt
	want := &chain.Outcome{
		GasUsed: out.GasUsed, GasMetered: out.GasMetered, // see TestGas
		Deltas: []chain.Delta{
			{Account: toyOwner, Token: chain.ETH, Amount: n(0)},
			{Account: toyOwner, Token: toyToken, Amount: n(-300)},
			{Account: toyOwner, Token: toyVyper, Amount: n(0)},
			{Account: toyReceiver, Token: chain.ETH, Amount: n(0)},
			{Account: toyReceiver, Token: toyToken, Amount: n(200)},
			{Account: toyReceiver, Token: toyVyper, Amount: n(0)},
		},
		Transfers: []chain.Transfer{
			{Token: toyToken, From: toyOwner, To: toyReceiver, Amount: n(200)},
			{Token: toyToken, From: toyOwner, To: toyPoor, Amount: n(100)},
		},
		Approvals: []chain.Approval{{Token: toyToken, Owner: toyOwner, Spender: toyAbsent, Amount: n(7)}},
		Logs:      3,
	}
	if diff := cmp.Diff(want, out, bigInts); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if got := out.Delta(toyReceiver, toyToken); got.Cmp(n(200)) != 0 {
		t.Errorf("Delta = %s, want 200", got)
	}
	if got := out.Delta(toyPoor, toyToken); got != nil {
		t.Errorf("Delta of an unwatched account = %s, want nil: it was not measured", got)
	}
}

var bigInts = cmp.Comparer(func(a, b *big.Int) bool { return a == nil && b == nil || a != nil && b != nil && a.Cmp(b) == 0 })

func TestExecuteCauses(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	pay := transfer(toyToken, toyReceiver, 300)
	wide := func(target common.Address, words ...uint64) intent.Interaction {
		var data []byte
		for _, n := range words {
			h := word(n)
			data = append(data, h[:]...)
		}
		return callTo(target, 0, data)
	}
	bad := func(change func(*intent.Interaction)) intent.Plan {
		x := pay
		change(&x)
		return toyPlan(pay, x)
	}
	for _, tt := range []struct {
		name   string
		plan   intent.Plan
		cause  intent.Cause
		detail string
		index  int // of the failed interaction, -1 for none
	}{
		{"spending the grant", toyPlan(pay), intent.CauseNone, "", -1},
		{"spending a unit more", toyPlan(pay, transfer(toyToken, toyReceiver, 1)), intent.CauseOverspent,
			"the owner lost 301 of token " + toyToken.Hex() + " and may spend 300", -1},
		{"sending ETH nobody granted", toyPlan(pay, callTo(toyCoinbase, 1, nil)), intent.CauseOverspent,
			"the owner lost 1 of token 0x0000000000000000000000000000000000000000 and may spend 0", -1},
		{"spending a token the intent does not name", toyPlan(pay, transfer(toyFlag, toyReceiver, 0), transfer(toyProxy, toyReceiver, 5)), intent.CauseOverspent,
			"the owner lost 5 of token " + toyProxy.Hex() + " and may spend 0", -1},
		{"sending oneself everything", toyPlan(transfer(toyVyper, toyOwner, toyRich), callTo(toyOwner, toySpare, nil)), intent.CauseNone, "", -1},
		{"a revert with a reason", toyPlan(pay, callTo(toyThrows, 0, packed(t, "Error(string)", "no\nway"))), intent.CauseReverted,
			`interaction 1: Error("no\nway")`, 1},
		{"a revert without one", toyPlan(transfer(toyToken, toyReceiver, toyRich+1)), intent.CauseReverted, "interaction 0: (no reason)", 0},
		{"an invalid opcode", toyPlan(callTo(toyBad, 0, nil)), intent.CauseReverted, "interaction 0: halted: invalid opcode", 0},
		{"more ETH than the owner has", toyPlan(callTo(toyReceiver, toySpare+1, nil)), intent.CauseReverted,
			"interaction 0: the owner has 5000000 wei and sends 5000001", 0},
		{"a loop", toyPlan(pay, callTo(toyLoop, 0, nil)), intent.CauseOutOfGas, "", 1},
		{"a loop in an inner call, swallowed", toyPlan(callTo(toyReenter, 0, nil)), intent.CauseReverted, "interaction 0: (no reason)", 0},
		{"calldata dearer than what is left", toyPlan(callTo(toyReceiver, 0, make([]byte, 600_000))), intent.CauseOutOfGas, "", 0},
		{"an unknown account", toyPlan(callTo(toyUnknown, 0, nil)), intent.CauseStateMissing, "interaction 0: account " + lower(toyUnknown), -1},
		{"an unknown slot", toyPlan(transfer(toyOpen, toyPoor, 0)), intent.CauseStateMissing,
			"interaction 0: account " + lower(toyOpen) + " slot " + mappingSlot(toyPoor, 7).Hex(), -1},
		{"a hash of a block the snapshot does not hold", toyPlan(wide(toyBlock, 2)), intent.CauseStateMissing, fmt.Sprintf("interaction 0: block hash %d", toyNumber-2), -1},
		{"the parent's hash", toyPlan(wide(toyBlock, 1)), intent.CauseNone, "", -1},
		{"a hash outside of the window, which is zero", toyPlan(wide(toyBlock, 257)), intent.CauseNone, "", -1},
		{"an absent account", toyPlan(callTo(toyAbsent, 0, nil)), intent.CauseNone, "", -1},
		{"no interactions", toyPlan(), intent.CauseInvalidPlan, "no interactions", -1},
		{"another chain", bad(func(x *intent.Interaction) { x.ChainID = 10 }), intent.CauseInvalidPlan,
			"interactions[1].chain_id: 10, the intent is on chain 1", -1},
		{"a target that is no address", bad(func(x *intent.Interaction) { x.Target = "0x\x1b[2J" }), intent.CauseInvalidPlan,
			`interactions[1].target: "0x\x1b[2J" is not 0x and 40 hex digits`, -1},
		{"a target without 0x", bad(func(x *intent.Interaction) { x.Target = strings.Repeat("11", 21) }), intent.CauseInvalidPlan,
			`interactions[1].target: "` + strings.Repeat("11", 21) + `" is not 0x and 40 hex digits`, -1},
		{"a negative value", bad(func(x *intent.Interaction) { x.Value = "-1" }), intent.CauseInvalidPlan,
			`interactions[1].value: "-1": ` + intent.ErrAmount.Error(), -1},
		{"odd calldata", bad(func(x *intent.Interaction) { x.CallData = "0xabc" }), intent.CauseInvalidPlan,
			`interactions[1].call_data: "0xabc" is not 0x and pairs of hex digits`, -1},
		{"calldata without 0x", bad(func(x *intent.Interaction) { x.CallData = "abcd" }), intent.CauseInvalidPlan,
			`interactions[1].call_data: "abcd" is not 0x and pairs of hex digits`, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := toyOrder(toyToken, 300, toyVyper)
			out, _ := execute(t, w, o, tt.plan)
			if out.Cause != tt.cause {
				t.Fatalf("cause = %q (%s), want %q", out.Cause, out.Detail, tt.cause)
			}
			if tt.detail != "" && out.Detail != tt.detail {
				t.Errorf("detail\n got %s\nwant %s", out.Detail, tt.detail)
			}
			if index := revertIndex(out); index != tt.index {
				t.Errorf("failed interaction = %d, want %d", index, tt.index)
			}
			if failed := tt.cause != intent.CauseNone && tt.cause != intent.CauseOverspent; failed && (out.Deltas != nil || out.Logs != 0 || out.Transfers != nil) {
				t.Errorf("a plan that failed left effects: %+v", out)
			}
			if (tt.cause == intent.CauseStateMissing) != (out.Missing != nil) {
				t.Errorf("missing = %v", out.Missing)
			}
			if tt.cause == intent.CauseStateMissing && out.GasUsed != 0 {
				t.Errorf("gas of a world that does not exist: %d", out.GasUsed)
			}
		})
	}
}

func lower(a common.Address) string { return fmt.Sprintf("0x%x", a[:]) }

func revertIndex(out *chain.Outcome) int {
	if out.Revert == nil {
		return -1
	}
	return out.Revert.Index
}

// Gas of a bare transfer of nothing is the transaction's 21,000; clearing a slot
// costs 5,000 (cold, EIP-2929) on top and the two words of calldata, and refunds
// 4,800 (EIP-3529), though never below what calldata costs at least (EIP-7623).
func TestGas(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	o := toyOrder(toyToken, 0, toyVyper)
	out, _ := execute(t, w, o, toyPlan(callTo(toyReceiver, 0, nil), callTo(toyReceiver, 0, nil)))
	if out.GasUsed != 42_000 || out.GasMetered != 42_000 {
		t.Errorf("two empty calls: gas %d, before refunds %d, want 42,000 twice", out.GasUsed, out.GasMetered)
	}
	one := word(1)
	out, _ = execute(t, w, o, toyPlan(callTo(toyStore, 0, append(one[:], make([]byte, 32)...))))
	// 63 zero bytes at 4 gas, or 10 at least, and another byte at 16, or 40; four
	// opcodes of 3 gas; SSTORE 2,100 + 2,900.
	const peak, floor = 21_000 + 63*4 + 16 + 4*3 + 5_000, 21_000 + 63*10 + 40
	if out.GasMetered != peak || out.GasUsed != max(peak-4_800, floor) {
		t.Errorf("clearing a slot: gas %d, before refunds %d, want %d and %d", out.GasUsed, out.GasMetered, max(peak-4_800, floor), peak)
	}
}

func TestGasLimits(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	o := toyOrder(toyToken, 300, toyVyper)
	for _, tt := range []struct {
		name   string
		maxGas uint64
		plan   intent.Plan
		used   uint64
		cause  intent.Cause
	}{
		{"exactly enough", 42_000, toyPlan(callTo(toyReceiver, 0, nil), callTo(toyReceiver, 0, nil)), 42_000, intent.CauseNone},
		{"one less: the second transaction is never sent", 41_999, toyPlan(callTo(toyReceiver, 0, nil), callTo(toyReceiver, 0, nil)), 21_000, intent.CauseOutOfGas},
		{"a loop takes all that the plan may use", 1_000_000, toyPlan(callTo(toyReceiver, 0, nil), callTo(toyLoop, 0, nil)), 1_000_000, intent.CauseOutOfGas},
		{"a transaction has the fork's cap (EIP-7825)", 30_000_000, toyPlan(callTo(toyLoop, 0, nil)), 16_777_216, intent.CauseOutOfGas},
		{"no gas at all", 0, toyPlan(callTo(toyReceiver, 0, nil)), 0, intent.CauseOutOfGas},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := o
			o.MaxGas = tt.maxGas
			out, _ := execute(t, w, o, tt.plan)
			if out.Cause != tt.cause || out.GasUsed != tt.used {
				t.Errorf("cause %q with gas %d, want %q with %d", out.Cause, out.GasUsed, tt.cause, tt.used)
			}
		})
	}
}

// Measuring must be invisible to the plan: an order that measures more gives the
// same gas to the same plan.
func TestMeasuringCostsThePlanNothing(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	plan := toyPlan(transfer(toyToken, toyReceiver, 200), transfer(toyVyper, toyReceiver, 0))
	little := toyOrder(toyToken, 300, toyToken)
	much := toyOrder(toyToken, 300, toyVyper)
	much.Tokens = append(much.Tokens, toyProxy, toyFlag, toyPacked)
	a, _ := execute(t, w, little, plan)
	b, _ := execute(t, w, much, plan)
	if a.GasUsed != b.GasUsed || a.GasMetered != b.GasMetered {
		t.Errorf("gas %d/%d where little is measured, %d/%d where much is", a.GasUsed, a.GasMetered, b.GasUsed, b.GasMetered)
	}
}

// An owner may be a contract, and no wallet's own rules stand between a plan and
// its execution.
func TestOwnerWithCode(t *testing.T) {
	t.Parallel()
	o := toyOrder(toyToken, 300, toyVyper)
	o.Owner, o.Watch = toyWallet, []common.Address{toyWallet, toyReceiver}
	out, _ := execute(t, toyWorld(t), o, toyPlan(transfer(toyToken, toyReceiver, 300)))
	if out.Cause != intent.CauseNone {
		t.Fatalf("cause = %q (%s)", out.Cause, out.Detail)
	}
	if got := out.Delta(toyReceiver, toyToken); got.Cmp(big.NewInt(300)) != 0 {
		t.Errorf("received %s, want 300", got)
	}
}

// A plan that makes a measured token stop answering is to blame for it.
func TestTokenBrokenByThePlan(t *testing.T) {
	t.Parallel()
	o := toyOrder(toyMutes, 0, toyToken)
	out, _ := execute(t, toyWorld(t), o, toyPlan(transfer(toyToken, toyReceiver, 0), callTo(toyMutes, 0, nil)))
	want := "interaction 1: after it, token " + toyMutes.Hex() + " does not answer balanceOf"
	if out.Cause != intent.CauseReverted || out.Detail != want || out.Logs != 0 {
		t.Errorf("cause %q with %d logs: %s; want reverted without: %s", out.Cause, out.Logs, out.Detail, want)
	}
}

func TestEventsBeyondTheLimitAreCounted(t *testing.T) {
	t.Parallel()
	n := word(300)
	out, _ := execute(t, toyWorld(t), toyOrder(toyToken, 0, toyVyper), toyPlan(callTo(toyLogs, 0, n[:])))
	if out.Logs != 300 || len(out.Transfers) != chain.LogLimit || out.Dropped != 300-chain.LogLimit {
		t.Errorf("%d logs, %d transfers, %d dropped; want 300, %d, %d", out.Logs, len(out.Transfers), out.Dropped, chain.LogLimit, 300-chain.LogLimit)
	}
}

func TestExecuteFaults(t *testing.T) {
	t.Parallel()
	w := toyWorld(t)
	base := toyOrder(toyToken, 300, toyVyper)
	plan := toyPlan(transfer(toyToken, toyReceiver, 300))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		change func(*chain.Order)
		app    bool  // an app fault; else infra
		is     error // nil: any
		hole   bool
	}{
		{"a contract with code is the contract path", t.Context(), func(o *chain.Order) { o.Contract = toyStore }, true, chain.ErrContractPath, false},
		{"an order for another chain", t.Context(), func(o *chain.Order) { o.ChainID = 10 }, false, nil, false},
		{"a canceled context", canceled, func(*chain.Order) {}, false, context.Canceled, false},
		{"a token that answers with 31 bytes", t.Context(), func(o *chain.Order) { o.Tokens = append(o.Tokens, toyShort) }, true, nil, false},
		{"a token that reverts", t.Context(), func(o *chain.Order) { o.Tokens = append(o.Tokens, toyAngry) }, true, nil, false},
		{"a token that never ends", t.Context(), func(o *chain.Order) { o.Tokens = append(o.Tokens, toyLoop) }, true, nil, false},
		{"a token without code", t.Context(), func(o *chain.Order) { o.Tokens = append(o.Tokens, toyAbsent) }, true, nil, false},
		{"a receiver the snapshot does not know", t.Context(), func(o *chain.Order) { o.Watch = append(o.Watch, toyUnknown) }, false, nil, true},
		{"a balance the snapshot does not know", t.Context(), func(o *chain.Order) { o.Tokens = append(o.Tokens, toyOpen) }, false, nil, true},
		{"a contract the snapshot does not know", t.Context(), func(o *chain.Order) { o.Contract = toyUnknown }, false, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := base
			o.Watch = append([]common.Address(nil), o.Watch...)
			o.Tokens = append([]common.Address(nil), o.Tokens...)
			tt.change(&o)
			out, after, err := w.Execute(tt.ctx, o, plan)
			if out != nil || after != nil {
				t.Errorf("outcome %+v beside error %v", out, err)
			}
			checkFault(t, err, tt.app, tt.hole)
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v is not %v", err, tt.is)
			}
		})
	}
}

// checkFault asserts the family of a fault and whether it names a hole.
func checkFault(t *testing.T, err error, isApp, hole bool) {
	t.Helper()
	var (
		app     *intent.AppFault
		infra   *intent.InfraFault
		missing *chain.MissingError
	)
	if errors.As(err, &app) != isApp || errors.As(err, &infra) == isApp {
		t.Errorf("error %v (%T), want app fault %t", err, err, isApp)
	}
	if got := errors.As(err, &missing); got != hole {
		t.Errorf("error %v, want a hole: %t", err, hole)
	}
}

// A contract address without code is the owner's path, and is measured.
func TestContractWithoutCode(t *testing.T) {
	t.Parallel()
	o, err := chain.NewOrder(intent.Definition{AppID: "toy"}, intent.State{ChainID: 1, Owner: toyOwner.Hex(), ContractAddress: toyAbsent.Hex()})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := execute(t, toyWorld(t), o, toyPlan(callTo(toyOwner, 0, nil)))
	if got := out.Delta(toyAbsent, chain.ETH); out.Cause != intent.CauseNone || got == nil || got.Sign() != 0 {
		t.Errorf("cause %q, delta of the contract %v", out.Cause, got)
	}
}
