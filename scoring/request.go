package scoring

import (
	"encoding/hex"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// What a scorer sees. Every name of more than one word stands in both spellings,
// as scorers in the field use either. context.state and context.simulator are
// made by the engine: they are the state and the simulation once more.

type request struct {
	Time    uint64      `json:"time"`
	Seed    string      `json:"seed"`
	Plan    planView    `json:"plan"`
	State   stateView   `json:"state"`
	Context contextView `json:"context"`
}

type planView struct {
	IntentID      string            `json:"intent_id"`
	IntentIDCamel string            `json:"intentId"`
	Interactions  []interactionView `json:"interactions"`
	Deadline      uint64            `json:"deadline"`
	Nonce         uint64            `json:"nonce"`
	Metadata      map[string]any    `json:"metadata"`
}

type interactionView struct {
	Target        string `json:"target"`
	Value         string `json:"value"`
	CallData      string `json:"call_data"`
	CallDataCamel string `json:"callData"`
	ChainID       uint64 `json:"chain_id"`
	ChainIDCamel  uint64 `json:"chainId"`
}

type stateView struct {
	ContractAddress      string         `json:"contract_address"`
	ContractAddressCamel string         `json:"contractAddress"`
	ChainID              uint64         `json:"chain_id"`
	ChainIDCamel         uint64         `json:"chainId"`
	Nonce                uint64         `json:"nonce"`
	Owner                string         `json:"owner"`
	RawParams            map[string]any `json:"raw_params"`
	RawParamsCamel       map[string]any `json:"rawParams"`
	Control              map[string]any `json:"control"`
	TypedContext         any            `json:"typed_context,omitempty"`
	TypedContextCamel    any            `json:"typedContext,omitempty"`
}

type contextView struct {
	Simulation      *simulationView `json:"simulation"` // null: no plan was executed
	Oracle          struct{}        `json:"oracle"`
	Timestamp       uint64          `json:"timestamp"`
	BlockNumber     uint64          `json:"blockNumber"`
	ChainID         uint64          `json:"chainId"`
	ContractAddress string          `json:"contractAddress"`
}

type simulationView struct {
	Success              bool                         `json:"success"`
	Error                *string                      `json:"error"`
	RevertReason         *string                      `json:"revert_reason"`
	RevertReasonCamel    *string                      `json:"revertReason"`
	GasUsed              uint64                       `json:"gas_used"`
	GasUsedCamel         uint64                       `json:"gasUsed"`
	GasMetered           uint64                       `json:"gas_metered"`
	GasMeteredCamel      uint64                       `json:"gasMetered"`
	OnChainScore         *uint64                      `json:"on_chain_score"` // null: no contract was asked
	OnChainScoreCamel    *uint64                      `json:"onChainScore"`
	TokenTransfers       []transferView               `json:"token_transfers"`
	TokenTransfersCamel  []transferView               `json:"tokenTransfers"`
	BalanceDeltas        map[string]map[string]string `json:"balance_deltas"`
	BalanceDeltasCamel   map[string]map[string]string `json:"balanceDeltas"`
	StateChanges         []struct{}                   `json:"state_changes"`
	StateChangesCamel    []struct{}                   `json:"stateChanges"`
	ApprovalChanges      []approvalView               `json:"approval_changes"`
	ApprovalChangesCamel []approvalView               `json:"approvalChanges"`
}

type transferView struct {
	Token         string `json:"token"`
	FromAddr      string `json:"from_addr"`
	FromAddrCamel string `json:"fromAddr"`
	ToAddr        string `json:"to_addr"`
	ToAddrCamel   string `json:"toAddr"`
	Amount        string `json:"amount"`
}

type approvalView struct {
	Token   string `json:"token"`
	Owner   string `json:"owner"`
	Spender string `json:"spender"`
	Amount  string `json:"amount"`
}

// request is the input of one call, as canonical JSON. With an error, ofPlan tells
// whether the plan is at fault, not the intent.
func (a *App) request(in Input) (b []byte, ofPlan bool, err error) {
	plan := a.planView(in.Plan)
	b, err = intent.Canonical(request{
		Time:  in.Context.Time,
		Seed:  hex.EncodeToString(in.Seed[:]),
		Plan:  plan,
		State: newStateView(in.State),
		Context: contextView{
			Simulation:      newSimulationView(in.Outcome),
			Timestamp:       in.Context.Time,
			BlockNumber:     in.Context.Number,
			ChainID:         in.State.ChainID,
			ContractAddress: in.State.ContractAddress,
		},
	})
	if err != nil {
		_, bad := intent.Canonical(plan)
		return nil, bad != nil, err
	}
	return b, false, nil
}

// planView leaves the plan's metadata out unless the app asked for it: a plan
// proves nothing about itself.
func (a *App) planView(p intent.Plan) planView {
	v := planView{
		IntentID:      p.IntentID,
		IntentIDCamel: p.IntentID,
		Interactions:  make([]interactionView, 0, len(p.Interactions)),
		Deadline:      p.Deadline,
		Nonce:         p.Nonce,
		Metadata:      map[string]any{},
	}
	for _, i := range p.Interactions {
		v.Interactions = append(v.Interactions, interactionView{
			Target: i.Target, Value: i.Value,
			CallData: i.CallData, CallDataCamel: i.CallData,
			ChainID: i.ChainID, ChainIDCamel: i.ChainID,
		})
	}
	if m := a.definition.Manifest; m != nil && m.PlanMetadata && p.Metadata != nil {
		v.Metadata = p.Metadata
	}
	return v
}

func newStateView(s intent.State) stateView {
	return stateView{
		ContractAddress: s.ContractAddress, ContractAddressCamel: s.ContractAddress,
		ChainID: s.ChainID, ChainIDCamel: s.ChainID,
		Nonce:     s.Nonce,
		Owner:     s.Owner,
		RawParams: object(s.RawParams), RawParamsCamel: object(s.RawParams),
		Control:      object(s.Control),
		TypedContext: s.TypedContext, TypedContextCamel: s.TypedContext,
	}
}

// object makes an absent object an empty one.
func object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func newSimulationView(o *chain.Outcome) *simulationView {
	if o == nil {
		return nil
	}
	v := &simulationView{
		Success: o.Cause == intent.CauseNone,
		GasUsed: o.GasUsed, GasUsedCamel: o.GasUsed,
		GasMetered: o.GasMetered, GasMeteredCamel: o.GasMetered,
		StateChanges: []struct{}{}, StateChangesCamel: []struct{}{},
	}
	if !v.Success {
		text := string(o.Cause)
		if o.Detail != "" {
			text += ": " + o.Detail
		}
		v.Error = &text
	}
	if o.Revert != nil {
		v.RevertReason, v.RevertReasonCamel = &o.Revert.Reason, &o.Revert.Reason
	}
	transfers := make([]transferView, 0, len(o.Transfers))
	for _, t := range o.Transfers {
		from, to := address(t.From), address(t.To)
		transfers = append(transfers, transferView{
			Token: address(t.Token), FromAddr: from, FromAddrCamel: from, ToAddr: to, ToAddrCamel: to, Amount: t.Amount.String(),
		})
	}
	v.TokenTransfers, v.TokenTransfersCamel = transfers, transfers
	approvals := make([]approvalView, 0, len(o.Approvals))
	for _, a := range o.Approvals {
		approvals = append(approvals, approvalView{address(a.Token), address(a.Owner), address(a.Spender), a.Amount.String()})
	}
	v.ApprovalChanges, v.ApprovalChangesCamel = approvals, approvals
	deltas := map[string]map[string]string{}
	for _, d := range o.Deltas {
		account := address(d.Account)
		if deltas[account] == nil {
			deltas[account] = map[string]string{}
		}
		deltas[account][address(d.Token)] = d.Amount.String()
	}
	v.BalanceDeltas, v.BalanceDeltasCamel = deltas, deltas
	return v
}

// address prints an address in lower case: scorers compare text.
func address(a common.Address) string { return hexutil.Encode(a[:]) }
