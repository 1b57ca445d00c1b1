package scoring_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/scoring"
)

const (
	pinnedTime   = 1_769_991_048
	pinnedNumber = 24_199_254
)

var (
	owner    = common.HexToAddress("0x1000000000000000000000000000000000000001")
	receiver = common.HexToAddress("0x1000000000000000000000000000000000000002")
	coinbase = common.HexToAddress("0x1000000000000000000000000000000000000003")
	token    = common.HexToAddress("0x20000000000000000000000000000000000000aB")
	register = common.HexToAddress("0x3000000000000000000000000000000000000001")
)

// An engine is a sandbox that tests share: compiling takes most of a second.
type engine struct {
	once    sync.Once
	config  sandbox.Config
	sandbox *sandbox.Engine
	err     error
}

var compiled, interpreted = &engine{}, &engine{config: sandbox.Config{Interpreter: true}}

func (e *engine) open(t testing.TB) *sandbox.Engine {
	t.Helper()
	e.once.Do(func() { e.sandbox, e.err = sandbox.New(context.Background(), e.config) })
	if e.err != nil {
		t.Fatal(e.err)
	}
	return e.sandbox
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, e := range []*engine{compiled, interpreted} {
		if e.sandbox == nil {
			continue
		}
		if err := e.sandbox.Close(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// patient has walls that no busy machine reaches: tests that use it end by
// themselves.
func patient() scoring.Limits {
	l := scoring.DefaultLimits()
	l.LoadWall, l.Wall = time.Minute, time.Minute
	return l
}

func newScorer(t testing.TB, e *engine, l scoring.Limits) *scoring.Scorer {
	t.Helper()
	s, err := scoring.NewWithLimits(t.Context(), e.open(t), l)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// app is a definition without a declared value.
func app(code string) intent.Definition {
	config := intent.DefaultConfig()
	config.ScoreThreshold = "0" // tests of the score itself want no veto
	return intent.Definition{AppID: "app-1", Name: "App", Version: "1.0.0", JSCode: code, Config: config}
}

// valued is a definition whose value is what receiver gets of output_token.
func valued(code string) intent.Definition {
	d := app(code)
	d.Config.ScoreThreshold = "0.5"
	d.Manifest = &intent.Manifest{IntentFunctions: functions(), Value: &intent.ValueRule{Token: "output_token", Account: "receiver", Minimum: "min_output_amount"}}
	return d
}

// functions are those of a manifest whose value rule [valued] has.
func functions() []intent.Function {
	return []intent.Function{{Name: "swap", Params: []intent.Param{
		{Name: "output_token", Type: "address"}, {Name: "receiver", Type: "address"}, {Name: "min_output_amount", Type: "uint256"},
	}}}
}

func load(t testing.TB, s *scoring.Scorer, d intent.Definition) *scoring.App {
	t.Helper()
	a, err := s.Load(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// input is a plan that succeeded and brought receiver some token.
func input(received int64) scoring.Input {
	return scoring.Input{
		Plan: intent.Plan{
			IntentID:     "app-1",
			Interactions: []intent.Interaction{{Target: token.Hex(), Value: "0", CallData: "0xd0e30db0", ChainID: 1}},
			Deadline:     pinnedTime + 300,
			Nonce:        4,
			Metadata:     map[string]any{"raw_output": "999"},
		},
		State: intent.State{
			ChainID:   1,
			Nonce:     4,
			Owner:     owner.Hex(),
			RawParams: map[string]any{"output_token": token.Hex(), "receiver": receiver.Hex(), "min_output_amount": "100"},
			Control:   map[string]any{"_intent_function": "swap"},
		},
		Outcome: &chain.Outcome{
			GasUsed: 150_000, GasMetered: 170_000,
			Deltas: []chain.Delta{
				{Account: owner, Token: token, Amount: big.NewInt(-7)},
				{Account: receiver, Token: token, Amount: big.NewInt(received)},
			},
			Transfers: []chain.Transfer{{Token: token, From: owner, To: receiver, Amount: big.NewInt(received)}},
			Approvals: []chain.Approval{{Token: token, Owner: owner, Spender: register, Amount: big.NewInt(5)}},
			Logs:      2,
		},
		Context: chain.Context{Number: pinnedNumber, Time: pinnedTime},
		Seed:    [32]byte{1, 2, 3},
	}
}

func score(t testing.TB, a *scoring.App, in scoring.Input) scoring.Score {
	t.Helper()
	s, err := a.Score(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// world is a chain with one contract: called with a word it stores it, called
// without anything it returns what it stores, 7 at first.
func world(t testing.TB) *chain.World {
	t.Helper()
	// CALLDATASIZE PUSH1 13 JUMPI; PUSH1 0 SLOAD PUSH1 0 MSTORE PUSH1 32 PUSH1 0
	// RETURN; JUMPDEST PUSH1 0 CALLDATALOAD PUSH1 0 SSTORE
	code := common.FromHex("36600f57" + "60005460005260206000f3" + "5b60003560005500")
	s := &chain.Snapshot{
		ChainID: 1, ForkRules: "mainnet/osaka", Provenance: chain.Imported,
		Context: chain.Context{
			Number: pinnedNumber, Time: pinnedTime, BaseFee: uint256.NewInt(1), BlobBaseFee: uint256.NewInt(1),
			PrevRandao: common.Hash{1}, Coinbase: coinbase, GasLimit: 60_000_000,
		},
		BlockHashes: []chain.BlockHash{{Number: pinnedNumber - 1, Hash: common.Hash{0xaa}}},
		Absent:      []common.Address{receiver, common.BytesToAddress([]byte{1, 0})},
		Codes:       [][]byte{code},
		Accounts: []chain.Account{
			{Address: owner, Nonce: 1, Balance: uint256.NewInt(1), CodeHash: types.EmptyCodeHash},
			{Address: coinbase, Nonce: 1, Balance: uint256.NewInt(1), CodeHash: types.EmptyCodeHash},
			{Address: register, Nonce: 1, Balance: new(uint256.Int), CodeHash: crypto.Keccak256Hash(code), Complete: true,
				Slots: []chain.Slot{{Value: common.BigToHash(big.NewInt(7))}}},
		},
	}
	for i := byte(1); i <= 0x11; i++ {
		s.Absent = append(s.Absent, common.BytesToAddress([]byte{i}))
	}
	w, err := chain.NewWorld(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The family of a fault.
func isAppFault(err error) bool   { var f *intent.AppFault; return errors.As(err, &f) }
func isInfraFault(err error) bool { var f *intent.InfraFault; return errors.As(err, &f) }
