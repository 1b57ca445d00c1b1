package sandbox_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest/hostile"
)

// reads serves the reads of one call.
func reads(t *testing.T, kind hostile.Reads) sandbox.ReadFunc {
	t.Helper()
	switch kind {
	case hostile.Replies:
		requests := 0
		return func(context.Context, uint64, []byte) (sandbox.Reply, error) {
			if requests++; requests > 5000 {
				return sandbox.Reply{Status: sandbox.ReadBudget}, nil
			}
			return sandbox.Reply{Body: []byte(`{"jsonrpc":"2.0","id":1,"result":"0x1"}`)}, nil
		}
	case hostile.Chain:
		return chainReads(t)
	}
	return nil
}

// chainReads serves a guest as the harness does: budgets and prices of DESIGN §5.
func chainReads(t *testing.T) sandbox.ReadFunc {
	t.Helper()
	view := hasherWorld(t).View()
	left := chain.Cost{Requests: 5000, Gas: 300_000_000, Bytes: 32 << 20}
	return func(ctx context.Context, _ uint64, req []byte) (sandbox.Reply, error) {
		reply, used, err := view.Serve(ctx, req, left)
		left.Requests -= used.Requests
		left.Gas -= used.Gas
		left.Bytes -= used.Bytes
		r := sandbox.Reply{Body: reply, Fuel: 25 * used.Gas}
		if errors.Is(err, chain.ErrBudget) {
			r.Status, err = sandbox.ReadBudget, nil
		}
		return r, err
	}
}

// hasherWorld is a chain with one contract.
func hasherWorld(t *testing.T) *chain.World {
	t.Helper()
	s := &chain.Snapshot{
		ChainID:    1,
		ForkRules:  "mainnet/cancun",
		Provenance: chain.Imported,
		Context: chain.Context{
			Number: 20_000_000, Time: 1_720_000_000, GasLimit: 30_000_000,
			BaseFee: uint256.NewInt(7), BlobBaseFee: uint256.NewInt(1), Coinbase: common.HexToAddress("0xc0"),
		},
		BlockHashes: []chain.BlockHash{{Number: 19_999_999, Hash: common.Hash{1}}},
		Absent:      []common.Address{common.HexToAddress("0xc0"), {}}, // {} is whom a call without from is from
		Codes:       [][]byte{hostile.HasherCode},
		Accounts: []chain.Account{{
			Address: common.HexToAddress(hostile.HasherAddress), Nonce: 1, Balance: new(uint256.Int),
			CodeHash: crypto.Keccak256Hash(hostile.HasherCode), Complete: true,
		}},
	}
	for i := byte(1); i <= 10; i++ { // the precompiles
		s.Absent = append(s.Absent, common.BytesToAddress([]byte{i}))
	}
	w, err := chain.NewWorld(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
