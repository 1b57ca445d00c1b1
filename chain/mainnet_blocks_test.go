package chain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/google/go-cmp/cmp"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/chain/mainnettest"
)

// importBlock makes a snapshot of a mainnet block.
func importBlock(tb testing.TB, b mainnettest.Block) *chain.Snapshot {
	tb.Helper()
	s, err := chain.ImportPrestate(bytes.NewReader(b.Prestate), bytes.NewReader(b.Block), blockHashes(b), 1)
	if err != nil {
		tb.Fatalf("block %d: %v", b.Number, err)
	}
	return s
}

func blockHashes(b mainnettest.Block) *bytes.Reader {
	if b.BlockHashes == nil {
		return bytes.NewReader([]byte("{}"))
	}
	return bytes.NewReader(b.BlockHashes)
}

func worldOf(tb testing.TB, s *chain.Snapshot) *chain.World {
	tb.Helper()
	w, err := chain.NewWorld(s)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// Executing a real block in order reproduces what the network agreed on. The
// beacon root's system call is left out: receipts do not depend on it.
func TestMainnetBlocks(t *testing.T) {
	for _, b := range mainnettest.Blocks(t) {
		t.Run(fmt.Sprint(b.Number), func(t *testing.T) {
			t.Parallel()
			replay(t, b)
		})
	}
}

func replay(t *testing.T, b mainnettest.Block) {
	var block struct {
		Transactions []*types.Transaction
	}
	header := new(types.Header)
	if err := json.Unmarshal(b.Block, &block); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Block, header); err != nil {
		t.Fatal(err)
	}

	w := worldOf(t, importBlock(t, b))
	sdb, missing := w.NewState()
	evm := w.NewEVM(sdb)
	defer evm.Release()
	signer := types.MakeSigner(params.MainnetChainConfig, header.Number, header.Time)
	pool := core.NewGasPool(header.GasLimit)
	var receipts types.Receipts
	for i, tx := range block.Transactions {
		msg, err := core.TransactionToMessage(tx, signer, header.BaseFee)
		if err != nil {
			t.Fatal(err)
		}
		sdb.SetTxContext(tx.Hash(), i, uint32(i+1))
		receipt, _, err := core.ApplyTransactionWithEVM(context.Background(), msg, pool, sdb, header.Number, header.Hash(), header.Time, tx, evm)
		if err != nil {
			t.Fatalf("transaction %d: %v", i, err)
		}
		receipts = append(receipts, receipt)
	}
	if hole := missing(); hole != nil || sdb.Error() != nil {
		t.Fatalf("state missing: %v (%v)", hole, sdb.Error())
	}
	if got := pool.Used(); got != header.GasUsed {
		t.Errorf("gas used = %d, want %d", got, header.GasUsed)
	}
	if got := types.DeriveSha(receipts, trie.NewStackTrie(nil)); got != header.ReceiptHash {
		t.Errorf("receipts root = %s, want %s", got, header.ReceiptHash)
	}
	if got := types.MergeBloom(receipts); got != header.Bloom {
		t.Errorf("logs bloom = %x, want %x", got, header.Bloom)
	}
}

// A snapshot's context is what its block says; nothing is derived from a clock.
func TestMainnetImportTakesTheContextFromTheBlock(t *testing.T) {
	for _, b := range mainnettest.Blocks(t) {
		header := new(types.Header)
		if err := json.Unmarshal(b.Block, header); err != nil {
			t.Fatal(err)
		}
		s := importBlock(t, b)
		want := chain.Context{
			Number:      header.Number.Uint64(),
			Time:        header.Time,
			BaseFee:     uint256.MustFromBig(header.BaseFee),
			BlobBaseFee: s.Context.BlobBaseFee, // below
			PrevRandao:  header.MixDigest,
			Coinbase:    header.Coinbase,
			GasLimit:    header.GasLimit,
		}
		if diff := cmp.Diff(want, s.Context); diff != "" {
			t.Errorf("block %d: context (-want +got):\n%s", b.Number, diff)
		}
		if want := blobFee(*header.ExcessBlobGas); s.Context.BlobBaseFee.ToBig().Cmp(want) != 0 {
			t.Errorf("block %d: blob base fee = %s, want %s", b.Number, s.Context.BlobBaseFee, want)
		}
		if s.ForkRules != "mainnet/cancun" || s.Provenance != chain.Imported || s.Closed || s.Anchor != nil {
			t.Errorf("block %d: %s, %s, closed %t, anchor %v", b.Number, s.ForkRules, s.Provenance, s.Closed, s.Anchor)
		}
	}
}

// blobFee is fake_exponential of EIP-4844 with Cancun's constants, written out.
func blobFee(excess uint64) *big.Int {
	const fraction = 3338477
	var (
		numerator   = new(big.Int).SetUint64(excess)
		denominator = big.NewInt(fraction)
		out         = new(big.Int)
		term        = big.NewInt(fraction)
	)
	for i := int64(1); term.Sign() > 0; i++ {
		out.Add(out, term)
		term.Mul(term, numerator)
		term.Div(term, new(big.Int).Mul(denominator, big.NewInt(i)))
	}
	return out.Div(out, denominator)
}

// A read of a call costs what a transaction would: the gas and the data that
// core.ApplyMessage reports for every trade.
func TestMainnetCallsCountGasAsTransactionsDo(t *testing.T) {
	mainnetTrades(t, func(w *chain.World, trade mainnettest.Trade) {
		from, to := common.HexToAddress(trade.From), common.HexToAddress(trade.To)
		value, data := uint256.MustFromDecimal(trade.Value), common.FromHex(trade.CallData)

		sdb, missing := w.NewState()
		evm := w.NewEVM(sdb)
		defer evm.Release()
		msg := &core.Message{
			From: from, To: &to, Value: value, Data: data, GasLimit: chain.LimitReadGas,
			GasPrice: new(uint256.Int), GasFeeCap: new(uint256.Int), GasTipCap: new(uint256.Int),
		}
		want, err := core.ApplyMessage(evm, msg.SkipNonceCheck().SkipEOACheck(), nil)
		if err != nil || missing() != nil {
			t.Fatalf("%s: %v, missing %v", trade.Tx, err, missing())
		}
		ret, used, peak, vmerr, err := w.View().Run(t.Context(), from, to, value, data, chain.LimitReadGas)
		if err != nil || vmerr != nil {
			t.Fatalf("%s: %v, %v", trade.Tx, vmerr, err)
		}
		if used != want.UsedGas || peak != want.MaxUsedGas || used != trade.GasUsed || !bytes.Equal(ret, want.ReturnData) {
			t.Errorf("%s: gas %d, peak %d, want %d, %d and %d", trade.Tx, used, peak, want.UsedGas, want.MaxUsedGas, trade.GasUsed)
		}
	})
}
