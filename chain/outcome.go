package chain

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/intent"
)

// An Outcome is what executing one plan did, measured by the core.
//
// It is a pure function of a [World], an [Order] and a plan: slices are in the
// order their comment names, and no text in it comes from a library or a host.
// The fields that describe effects (Deltas, Transfers, Approvals, Logs, Dropped)
// are empty unless every interaction succeeded, for a plan is all or nothing;
// they are kept when the cause is [intent.CauseOverspent], which they explain.
type Outcome struct {
	// Cause says why the plan earns nothing. Execution sets CauseNone,
	// CauseInvalidPlan, CauseReverted, CauseOutOfGas, CauseStateMissing or
	// CauseOverspent; Detail then tells more in one safe line.
	Cause  intent.Cause
	Detail string

	Revert *Revert // the interaction that failed; nil unless reverted or out of gas

	// Gas of all interactions up to and including one that failed, intrinsic
	// gas included: what their transactions pay, and what they took at their
	// peak, before refunds. Both are 0 when state was missing, because the
	// numbers would describe a world that does not exist.
	GasUsed    uint64
	GasMetered uint64

	Deltas    []Delta    // every watched account with every token, by account, then token
	Transfers []Transfer // in log order, at most LogLimit
	Approvals []Approval // in log order, at most LogLimit
	Logs      int        // all logs, whatever they say
	Dropped   int        // transfers and approvals beyond LogLimit

	Missing *Hole // the read that ended the plan, for the snapshot does not know it; nil unless state was missing
}

// A Revert is a failed interaction.
type Revert struct {
	Index  int    // of the interaction in the plan
	Reason string // decoded, one safe line of at most 200 runes; see [RevertReason]
	Data   []byte // the first bytes of what it returned, at most 1,024
}

// A Delta is the net change of an account's balance, in base units, from after
// the funding to after the plan. Token is the zero address for ETH.
type Delta struct {
	Account, Token common.Address
	Amount         *big.Int
}

// A Transfer is an ERC-20 Transfer event. It is what a contract said, not what
// happened: only a [Delta] is a measurement.
type Transfer struct {
	Token, From, To common.Address
	Amount          *big.Int
}

// An Approval is an ERC-20 Approval event.
type Approval struct {
	Token, Owner, Spender common.Address
	Amount                *big.Int
}

// Delta returns the net change of account's balance of token (the zero address
// is ETH), or nil where that pair was not measured: an unmeasured change is
// unknown, not zero. The caller must not change the result.
func (o *Outcome) Delta(account, token common.Address) *big.Int {
	for i := range o.Deltas {
		if o.Deltas[i].Account == account && o.Deltas[i].Token == token {
			return o.Deltas[i].Amount
		}
	}
	return nil
}

// A MissingError reports that the core itself, while funding an owner or
// measuring a balance, read state the snapshot does not know. It arrives inside
// an [intent.InfraFault]: no plan is to blame. A self-test, where the same hole
// means an app the snapshot cannot serve, turns it into an [intent.AppFault].
type MissingError struct {
	Token, Account common.Address // whose balance was read; Token zero: ETH
	Hole           Hole           // the first missing read; what follows from it is no fact
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("balance of %s in token %s: state missing: %s", e.Account.Hex(), e.Token.Hex(), e.Hole)
}
