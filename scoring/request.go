package scoring

import (
	"encoding/hex"
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// What a scorer sees. Every name of more than one word stands in both spellings,
// as scorers in the field use either. context.state and context.simulator are
// made by the engine: they are the state and the simulation once more. Fields
// stand in the order of canonical JSON, so that nothing has to be put in order.

type planView struct {
	Deadline      uint64            `json:"deadline"`
	IntentIDCamel string            `json:"intentId"`
	IntentID      string            `json:"intent_id"`
	Interactions  []interactionView `json:"interactions"`
	Metadata      map[string]any    `json:"metadata"`
	Nonce         uint64            `json:"nonce"`
}

type interactionView struct {
	CallDataCamel string `json:"callData"`
	CallData      string `json:"call_data"`
	ChainIDCamel  uint64 `json:"chainId"`
	ChainID       uint64 `json:"chain_id"`
	Target        string `json:"target"`
	Value         string `json:"value"`
}

type stateView struct {
	ChainIDCamel         uint64         `json:"chainId"`
	ChainID              uint64         `json:"chain_id"`
	ContractAddressCamel string         `json:"contractAddress"`
	ContractAddress      string         `json:"contract_address"`
	Control              map[string]any `json:"control"`
	Nonce                uint64         `json:"nonce"`
	Owner                string         `json:"owner"`
	RawParamsCamel       map[string]any `json:"rawParams"`
	RawParams            map[string]any `json:"raw_params"`
	TypedContextCamel    any            `json:"typedContext,omitempty"`
	TypedContext         any            `json:"typed_context,omitempty"`
}

type transferView struct {
	Amount        string `json:"amount"`
	FromAddrCamel string `json:"fromAddr"`
	FromAddr      string `json:"from_addr"`
	ToAddrCamel   string `json:"toAddr"`
	ToAddr        string `json:"to_addr"`
	Token         string `json:"token"`
}

type approvalView struct {
	Amount  string `json:"amount"`
	Owner   string `json:"owner"`
	Spender string `json:"spender"`
	Token   string `json:"token"`
}

// request is the input of one call, as canonical JSON. With an error, ofPlan tells
// whether the plan is at fault, not the intent.
func (a *App) request(in Input) (b []byte, ofPlan bool, err error) {
	plan, err := intent.Canonical(a.planView(in.Plan))
	if err != nil {
		return nil, true, err
	}
	state := in.Encoded
	if state == nil {
		if state, err = EncodeState(in.State); err != nil {
			return nil, false, err
		}
	}
	var o, c object
	c.number("blockNumber", in.Context.Number)
	c.number("chainId", in.State.ChainID)
	c.value("contractAddress", in.State.ContractAddress)
	c.add("oracle", []byte("{}"))
	c.add("simulation", c.simulation(in.Outcome))
	c.number("timestamp", in.Context.Time)
	o.add("context", c.end())
	o.add("plan", plan)
	o.value("seed", hex.EncodeToString(in.Seed[:]))
	o.add("state", state)
	o.number("time", in.Context.Time)
	return o.end(), false, errors.Join(c.err, o.err)
}

// EncodeState makes once what scorers see of an intent, for [Input].Encoded.
func EncodeState(s intent.State) ([]byte, error) { return intent.Canonical(newStateView(s)) }

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
		RawParams: orEmpty(s.RawParams), RawParamsCamel: orEmpty(s.RawParams),
		Control:      orEmpty(s.Control),
		TypedContext: s.TypedContext, TypedContextCamel: s.TypedContext,
	}
}

// orEmpty makes an absent object an empty one.
func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// simulation is what executing the plan did, null without an outcome. What stands
// there in both spellings is written twice and made once.
func (o *object) simulation(out *chain.Outcome) []byte {
	if out == nil {
		return []byte("null")
	}
	var fault, reason *string
	if out.Cause != intent.CauseNone {
		text := string(out.Cause)
		if out.Detail != "" {
			text += ": " + out.Detail
		}
		fault = &text
	}
	if out.Revert != nil {
		reason = &out.Revert.Reason
	}
	approvals, deltas, transfers := o.canonical(approvalsOf(out)), o.canonical(deltasOf(out)), o.canonical(transfersOf(out))
	none, noText := []byte("[]"), []byte("null")
	var s object
	s.add("approvalChanges", approvals)
	s.add("approval_changes", approvals)
	s.add("balanceDeltas", deltas)
	s.add("balance_deltas", deltas)
	s.value("error", fault)
	s.number("gasMetered", out.GasMetered)
	s.number("gasUsed", out.GasUsed)
	s.number("gas_metered", out.GasMetered)
	s.number("gas_used", out.GasUsed)
	s.add("onChainScore", noText) // no contract was asked
	s.add("on_chain_score", noText)
	s.value("revertReason", reason)
	s.value("revert_reason", reason)
	s.add("stateChanges", none)
	s.add("state_changes", none)
	s.value("success", out.Cause == intent.CauseNone)
	s.add("tokenTransfers", transfers)
	s.add("token_transfers", transfers)
	o.err = errors.Join(o.err, s.err)
	return s.end()
}

func transfersOf(o *chain.Outcome) []transferView {
	list := make([]transferView, 0, len(o.Transfers))
	for _, t := range o.Transfers {
		from, to := address(t.From), address(t.To)
		list = append(list, transferView{
			Token: address(t.Token), FromAddr: from, FromAddrCamel: from, ToAddr: to, ToAddrCamel: to, Amount: t.Amount.String(),
		})
	}
	return list
}

func approvalsOf(o *chain.Outcome) []approvalView {
	list := make([]approvalView, 0, len(o.Approvals))
	for _, a := range o.Approvals {
		list = append(list, approvalView{
			Token: address(a.Token), Owner: address(a.Owner), Spender: address(a.Spender), Amount: a.Amount.String(),
		})
	}
	return list
}

func deltasOf(o *chain.Outcome) map[string]map[string]string {
	deltas := map[string]map[string]string{}
	for _, d := range o.Deltas {
		account := address(d.Account)
		if deltas[account] == nil {
			deltas[account] = map[string]string{}
		}
		deltas[account][address(d.Token)] = d.Amount.String()
	}
	return deltas
}

// An object is canonical JSON under way. Its members are added in the order of
// their names, which need no escapes, and are canonical themselves.
type object struct {
	b   []byte
	err error // what could not be written
}

func (o *object) add(name string, value []byte) {
	if o.b == nil {
		o.b = make([]byte, 0, 256+len(value))
	}
	o.b = append(append(append(o.b, `,"`...), name...), `":`...)
	o.b = append(o.b, value...)
}

func (o *object) value(name string, v any)     { o.add(name, o.canonical(v)) }
func (o *object) number(name string, n uint64) { o.add(name, o.canonical(n)) }

func (o *object) canonical(v any) []byte {
	b, err := intent.Canonical(v)
	o.err = errors.Join(o.err, err)
	return b
}

func (o *object) end() []byte {
	o.b = append(o.b, '}')
	o.b[0] = '{' // there is a member
	return o.b
}

// address prints an address in lower case: scorers compare text.
func address(a common.Address) string { return hexutil.Encode(a[:]) }
