package benchmark_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// The standard pack lives on a chain without contracts: an app pays for ETH
// that arrives at a receiver, so that a plan is one transfer, and what it is
// worth can be told by reading it.
const (
	blockTime   = 1_712_000_000 // of block N+1: mainnet, after Cancun
	blockNumber = 19_600_001
	zeroAddress = "0x0000000000000000000000000000000000000000"
	owner       = "0x1111111111111111111111111111111111111111"
	receiver    = "0x2222222222222222222222222222222222222221"
	stranger    = "0x3333333333333333333333333333333333333333" // not in the snapshot
	grant       = "1000"
	minimum     = "100"
	intents     = 8
)

// tipScore gives a plan the share of the grant that it delivered.
const tipScore = `exports.score = (plan, state, context) => {
  const got = Number((context.simulation.balance_deltas[state.raw_params.receiver] || {})["` + zeroAddress + `"] || "0");
  return { score: got / 1000, valid: true, reason: "delivered " + got };
};`

func tipApp() file {
	return file{
		"app_id": "tip", "name": "Tip", "version": "1.0.0", "intent_type": "tip", "js_code": tipScore,
		"config":   file{"supported_chains": []any{1}, "score_threshold": 0.1},
		"deployer": owner, "description": "ETH to a receiver",
		"manifest": file{
			"intent_functions": []any{file{"name": "tip", "params": []any{
				file{"name": "token", "type": "address"}, file{"name": "receiver", "type": "address"}, file{"name": "minimum", "type": "uint256"},
			}}},
			"value": file{"token": "token", "account": "receiver", "minimum": "minimum"},
		},
	}
}

func tipState(tag string) file {
	return file{
		"contract_address": "", "chain_id": 1, "nonce": 7, "owner": owner,
		"raw_params": file{
			"token": zeroAddress, "receiver": receiver, "minimum": minimum,
			"input_token": zeroAddress, "input_amount": grant, "tag": tag,
		},
	}
}

// tipPlan sends wei to the receiver.
func tipPlan(wei string) file { return planTo(receiver, wei) }

func planTo(target, wei string) file {
	return file{
		"intent_id": "tip", "deadline": blockTime + 300, "nonce": 7, "metadata": file{},
		"interactions": []any{file{"target": target, "value": wei, "call_data": "0x", "chain_id": 1}},
	}
}

func standardFile(t testing.TB) file {
	t.Helper()
	hash, err := testSnapshot().Hash()
	if err != nil {
		t.Fatal(err)
	}
	f := file{
		"schema": 1, "name": "standard", "seed": strings.Repeat("01", 32), "close": blockTime - 60,
		"chains":     []any{file{"chain_id": 1, "snapshot": hex.EncodeToString(hash[:])}},
		"apps":       []any{tipApp()},
		"self_tests": []any{file{"app_id": "tip", "state": tipState("self-test"), "plan": tipPlan("900")}},
	}
	var cases, smoke []any
	for i := range intents {
		cases = append(cases, file{"app_id": "tip", "state": tipState(fmt.Sprint("case ", i, "x"))})
	}
	for i := range benchmark.SmokeIntents {
		smoke = append(smoke, file{"app_id": "tip", "state": tipState(fmt.Sprint("smoke ", i, "x"))})
	}
	f["cases"], f["smoke"] = cases, smoke
	return f
}

// fullFile uses every field a pack has.
func fullFile(t testing.TB) file {
	t.Helper()
	f := standardFile(t)
	f["chains"] = append(f["chains"].([]any), file{
		"chain_id": 2, "snapshot": strings.Repeat("c1", 32),
		"market": file{
			"chain_id": 2, "block_number": 5, "timestamp": 6, "prices": file{"ETH": 2.5},
			"pool_states": file{"p": file{"fee": 30}}, "balances": file{"b": "1"}, "dex_config": file{"d": "e"}, "raw_state": file{"r": true},
		},
	})
	alarm := tipApp()
	alarm["app_id"] = "alarm"
	alarm["solidity_code"], alarm["schema_id"], alarm["contract_version"], alarm["registration_status"] = "contract", "s", "v", "r"
	alarm["constructor_args"], alarm["policy_metadata"] = []any{1, "x"}, file{"k": "v"}
	alarm["config"] = file{
		"supported_chains": []any{1, 2}, "score_threshold": 0.5, "on_chain_threshold": 4000, "trigger_type": intent.TriggerAuto,
		"max_gas": 100_000, "policy_tier": "strict", "supported_policy_tiers": []any{"strict"}, "manifest_version": "v2", "fee_mode": "f",
	}
	alarm["manifest"] = file{
		"value": file{"token": "token", "account": "receiver", "minimum": "minimum"},
		"quote": file{"minimum": "estimated_output"}, "plan_metadata": true,
		"intent_functions": []any{file{
			"name": "ring", "description": "d", "trigger_type": "t",
			"params": []any{file{
				"name": "n", "type": "uint256", "description": "d", "source": "quote", "quote_field": "q", "default": "1", "in_signature": false,
			}},
		}},
	}
	f["apps"] = append(f["apps"].([]any), alarm)
	state := tipState("alarm")
	state["control"], state["extra"] = file{"_intent_function": "ring"}, file{"legacy": "1"}
	state["context_version"], state["policy_tier"], state["typed_context"] = "v3", "strict", file{"kind": "swap"}
	f["cases"] = append(f["cases"].([]any), file{"app_id": "alarm", "state": state, "truth": true, "best": "700", "held_out": true})
	plan := tipPlan("900")
	plan["metadata"] = file{"route": "direct"}
	f["self_tests"] = append(f["self_tests"].([]any), file{"app_id": "alarm", "state": tipState("alarm test"), "plan": plan})
	f["rules"], f["isolation"] = rulesOf(t), "intent"
	return f
}

// testSnapshot is block N of a chain on which nobody has code.
var testSnapshot = sync.OnceValue(func() *chain.Snapshot {
	s := &chain.Snapshot{
		ChainID:    1,
		ForkRules:  "mainnet/cancun",
		Provenance: chain.Imported,
		Context: chain.Context{
			Number: blockNumber, Time: blockTime, GasLimit: 30_000_000,
			BaseFee: uint256.NewInt(7), BlobBaseFee: uint256.NewInt(1),
			PrevRandao: common.Hash{1}, Coinbase: common.HexToAddress("0xc0"),
		},
		BlockHashes: []chain.BlockHash{{Number: blockNumber - 1, Hash: common.Hash{2}}},
		Absent:      []common.Address{common.HexToAddress("0xc0")},
	}
	for i := byte(1); i <= 10; i++ { // the precompiles of Cancun
		s.Absent = append(s.Absent, common.BytesToAddress([]byte{i}))
	}
	for _, a := range []string{owner, receiver} {
		s.Accounts = append(s.Accounts, chain.Account{
			Address: common.HexToAddress(a), Balance: uint256.NewInt(5000), CodeHash: types.EmptyCodeHash,
		})
	}
	return s
})

func snapshots(t testing.TB) map[common.Hash]*chain.Snapshot {
	t.Helper()
	hash, err := testSnapshot().Hash()
	if err != nil {
		t.Fatal(err)
	}
	return map[common.Hash]*chain.Snapshot{hash: testSnapshot()}
}

// newEngine is an engine that ends with the test.
func newEngine(t testing.TB) *sandbox.Engine {
	t.Helper()
	e, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: cacheDir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func prepare(t testing.TB, e *sandbox.Engine, p *benchmark.Pack) *benchmark.Prepared {
	t.Helper()
	ready, err := benchmark.Prepare(t.Context(), p, snapshots(t), e)
	if err != nil {
		t.Fatal(err)
	}
	return ready
}
