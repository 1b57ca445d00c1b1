package direct_test

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/fixtures"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/reference/swap/direct"
	"github.com/subnet112/assay/solvers/sdk"
)

// Addresses of Ethereum mainnet, and of the fixture chain.
var (
	eth      = common.Address{}
	weth     = common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	usdc     = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	wbtc     = common.HexToAddress("0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599")
	usdt     = common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")
	sta      = common.HexToAddress("0xa7DE087329BFcda5639247F96140f9DAbe3DeED1") // keeps a fee on transfers
	reb      = common.HexToAddress("0x39C9448D07592C1e97DE67Fb0BB15104015827FA") // counts in shares
	v2Router = common.HexToAddress("0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D")
	v3Router = common.HexToAddress("0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45")
	alice    = common.HexToAddress("0xA11ce00000000000000000000000000000000001")
	bob      = common.HexToAddress("0xB0b0000000000000000000000000000000000002")
)

var opened = sync.OnceValues(func() (*chain.World, error) {
	s, err := chain.DecodeSnapshot(fixtures.Snapshot())
	if err != nil {
		return nil, err
	}
	return chain.NewWorld(s)
})

func world(t testing.TB) *chain.World {
	t.Helper()
	w, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func app(t testing.TB) intent.Definition {
	t.Helper()
	d, err := intent.DecodeDefinition(fixtures.SwapApp())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// cases are the swaps of the fixture's pack.
func cases(t testing.TB) []intent.State {
	t.Helper()
	var pack struct {
		Cases []struct {
			App   string          `json:"app_id"`
			State json.RawMessage `json:"state"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(fixtures.Pack(), &pack); err != nil {
		t.Fatal(err)
	}
	var states []intent.State
	for _, c := range pack.Cases {
		if c.App != app(t).AppID {
			continue
		}
		s, err := intent.DecodeState(c.State)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, s)
	}
	if len(states) == 0 {
		t.Fatal("the pack has no cases")
	}
	return states
}

func units(n, decimals int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(n), new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil))
}

// order is an intent of alice's.
func order(in, out common.Address, amount *big.Int, receiver common.Address) intent.State {
	s := intent.State{
		ChainID: 1, Nonce: 7, Owner: alice.Hex(),
		RawParams: map[string]any{
			"input_token": in.Hex(), "output_token": out.Hex(), "input_amount": amount.String(),
			"min_output_amount": "1", "receiver": receiver.Hex(),
		},
	}
	s.SyncExtra()
	return s
}

func request(t testing.TB, s intent.State) intent.Request {
	t.Helper()
	at := world(t).Context()
	market := intent.EmptyMarket(s.ChainID)
	market.BlockNumber, market.Timestamp = at.Number, at.Time
	key, err := intent.Key(app(t), s)
	if err != nil {
		t.Fatal(err)
	}
	return intent.Request{IntentID: key, Intent: app(t).Public(), State: s, Snapshot: &market}
}

func chainOrder(t testing.TB, s intent.State) chain.Order {
	t.Helper()
	o, err := chain.NewOrder(app(t), s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// reader connects solvers to one view and counts what they ask.
type reader struct {
	t     testing.TB
	view  *chain.View
	reads int
}

func (r *reader) connect(uint64) *sdk.Client {
	return sdk.NewClient(func(request []byte) ([]byte, error) {
		reply, used, err := r.view.Serve(r.t.Context(), request, chain.Cost{Requests: 5000, Gas: 300_000_000, Bytes: 32 << 20})
		r.reads += used.Requests
		return reply, err
	})
}

// funded returns a reader of what a solver sees while it plans for s.
func funded(t testing.TB, s intent.State) *reader {
	t.Helper()
	view, err := world(t).FundedView(t.Context(), chainOrder(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return &reader{t: t, view: view}
}

// session is one solver over the requests of one epoch, each with its own view.
type session struct {
	*direct.Solver
	at *reader
}

func newSession(t testing.TB) *session {
	s := &session{}
	s.Solver = direct.New(func(id uint64) *sdk.Client { return s.at.connect(id) })
	if err := s.Initialize(intent.InitConfig{ChainIDs: []uint64{1}}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *session) plan(t testing.TB, state intent.State) (intent.Plan, error) {
	t.Helper()
	s.at = funded(t, state)
	p, err := s.GeneratePlan(request(t, state))
	if err != nil {
		return p, err
	}
	r := request(t, state)
	rules := intent.PlanRules{AppID: r.Intent.AppID, IntentID: r.IntentID, ChainID: state.ChainID, Nonce: state.Nonce, Time: world(t).Context().Time}
	if err := p.Validate(rules); err != nil {
		t.Errorf("the plan breaks a rule: %v", err)
	}
	return p, nil
}

// execute runs a plan for s and returns the outcome and what the receiver got.
func execute(t testing.TB, s intent.State, p intent.Plan) (*chain.Outcome, *big.Int) {
	t.Helper()
	out, _, err := world(t).Execute(t.Context(), chainOrder(t, s), p)
	if err != nil {
		t.Fatal(err)
	}
	if out.Cause != intent.CauseNone {
		return out, nil
	}
	return out, out.Delta(param(s, "receiver"), param(s, "output_token"))
}

func param(s intent.State, name string) common.Address {
	text, _ := s.RawParams[name].(string)
	return common.HexToAddress(text)
}

// data encodes a call whose arguments are one word each.
func data(signature string, args ...any) string {
	b := crypto.Keccak256([]byte(signature))[:4]
	for _, arg := range args {
		switch v := arg.(type) {
		case common.Address:
			b = append(b, common.LeftPadBytes(v.Bytes(), 32)...)
		case *big.Int:
			b = append(b, common.BigToHash(v).Bytes()...)
		case int:
			b = append(b, common.BigToHash(big.NewInt(int64(v))).Bytes()...)
		}
	}
	return "0x" + hex.EncodeToString(b)
}

func interaction(to common.Address, input string) intent.Interaction {
	return intent.Interaction{Target: to.Hex(), Value: "0", CallData: input, ChainID: 1}
}
