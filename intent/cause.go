package intent

import "fmt"

// A Cause says why a row has no value. The set is closed: a cause reaches rows,
// digests and metrics, so adding one is a change of the pack's rules.
type Cause string

// Causes. The zero Cause means the row has a value.
const (
	CauseNone            Cause = ""
	CauseSolverError     Cause = "solver_error"     // the solver answered status 1
	CauseNotImplemented  Cause = "not_implemented"  // the solver answered status 2
	CauseBadOutput       Cause = "bad_output"       // the answer does not decode
	CauseInvalidPlan     Cause = "invalid_plan"     // the plan breaks a structural rule
	CauseNotTriggered    Cause = "not_triggered"    // ground truth was true, the solver declined
	CauseFalseTrigger    Cause = "false_trigger"    // ground truth was false, the solver triggered
	CauseFuel            Cause = "fuel"             // fuel exhausted
	CauseDepth           Cause = "depth"            // call depth exhausted
	CauseMemory          Cause = "memory"           // trapped at the memory limit
	CauseTrap            Cause = "trap"             // any other trap
	CauseOutput          Cause = "output"           // more output than the call may produce
	CauseLog             Cause = "log"              // more log than the call may produce
	CauseBadPointer      Cause = "bad_pointer"      // a pointer outside the guest's memory
	CauseExit            Cause = "exit"             // the guest called proc_exit
	CauseStalled         Cause = "stalled"          // wall limit on a healthy host
	CauseSessionFuel     Cause = "session_fuel"     // the session's fuel is spent
	CauseSessionRestarts Cause = "session_restarts" // the session's restarts are spent
	CauseSessionEnded    Cause = "session_ended"    // the session stalled, or it never started
	CauseRPCBudget       Cause = "rpc_budget"       // the plan failed after read-budget errors
	CauseReverted        Cause = "reverted"         // an interaction reverted
	CauseOutOfGas        Cause = "out_of_gas"       // the plan ran out of the app's gas
	CauseStateMissing    Cause = "state_missing"    // the plan read state the snapshot does not know
	CauseOverspent       Cause = "overspent"        // the owner lost more than the grant
	CauseMinOutput       Cause = "min_output"       // less than the intent's minimum arrived
	CauseOnchainGate     Cause = "onchain_gate"     // the app's contract said no
	CauseScorerVeto      Cause = "scorer_veto"      // the app's scorer said no
	CauseScorerFailed    Cause = "scorer_failed"    // the app's scorer failed on this plan
	CauseRefused         Cause = "refused"          // the module was refused admission
	CauseBlocked         Cause = "blocked"          // the verdict gate said no
	CauseInfra           Cause = "infra"            // a fault of the validator's: the row is void
)

// The families of fault. A fault of one family never turns into another: a
// miner's costs the miner one row, the validator's own is never a zero for
// anybody, an app's takes its intents out of the pack, and a usage error stops
// the command before anything is written.

// A MinerFault is caused by the solver or its plan. It ends one row.
type MinerFault struct {
	Cause  Cause
	Detail string // made from guest or chain text: print it quoted
}

func (f *MinerFault) Error() string {
	if f.Detail == "" {
		return string(f.Cause)
	}
	return fmt.Sprintf("%s: %s", f.Cause, f.Detail)
}

// An InfraFault is the validator's own: nothing is decided by it.
type InfraFault struct{ Err error }

func (f *InfraFault) Error() string { return "infra: " + f.Err.Error() }
func (f *InfraFault) Unwrap() error { return f.Err }

// An AppFault is an app or fixture that fails its own known-good plan.
type AppFault struct {
	AppID string
	Err   error
}

func (f *AppFault) Error() string { return fmt.Sprintf("app %q: %v", f.AppID, f.Err) }
func (f *AppFault) Unwrap() error { return f.Err }

// A UsageFault is a wrong flag, file or configuration.
type UsageFault struct{ Err error }

func (f *UsageFault) Error() string { return f.Err.Error() }
func (f *UsageFault) Unwrap() error { return f.Err }
