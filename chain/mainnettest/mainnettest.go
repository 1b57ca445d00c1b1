// Package mainnettest finds the real mainnet blocks that tests replay.
//
// The blocks are not part of the project: they lie in a folder named by the
// environment variable ASSAY_MAINNET, or in the first shared/mainnet found from
// the working directory upwards. A test that needs them is skipped with the
// message "mainnet: absent" where there is no such folder; a folder that is
// there but broken fails the test.
//
// It is a test-support package: it imports nothing of the project and nothing
// but tests imports it.
package mainnettest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"testing"
)

// Env names the folder of blocks.
const Env = "ASSAY_MAINNET"

// limitBytes bounds what one gzipped file may expand to.
const limitBytes = 64 << 20

// A Block is one block folder, gunzipped and undecoded but for the trades.
// BlockHashes is nil where the block reads no BLOCKHASH.
type Block struct {
	Number      uint64
	Prestate    []byte  // prestate.json: the state before the block, what it touches
	Block       []byte  // block.json, as eth_getBlockByNumber(n, true) answers
	BlockHashes []byte  // block_hashes.json
	Trades      []Trade // trades.json
}

// A Trade is a transaction of the block that is a plain trade, executed alone on
// the state before the block. The zero address stands for ETH. Amounts are
// decimal strings in base units.
//
// One trade, 0x44c3119a of block 19932148, failed in its block, so the trace
// lacks four slots of the token it buys. What is recorded holds if they are zero.
type Trade struct {
	Tx        string `json:"tx"`
	From      string `json:"from"`
	To        string `json:"to"`
	Value     string `json:"value"`
	CallData  string `json:"call_data"`
	TokenIn   string `json:"token_in"`
	AmountIn  string `json:"amount_in"`
	TokenOut  string `json:"token_out"`
	AmountOut string `json:"amount_out"`
	GasUsed   uint64 `json:"gas_used"`
	Logs      int    `json:"logs"`
}

// Dir returns the folder of blocks. It skips the test when there is none, and
// fails it when ASSAY_MAINNET names a folder that does not exist.
func Dir(tb testing.TB) string {
	tb.Helper()
	if dir := os.Getenv(Env); dir != "" {
		if !isDir(dir) {
			tb.Fatalf("%s: no folder %q", Env, dir)
		}
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if found := filepath.Join(dir, "shared", "mainnet"); isDir(found) {
			return found
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Skip("mainnet: absent")
		}
		dir = parent
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Blocks returns every block of [Dir], ascending by number.
func Blocks(tb testing.TB) []Block {
	tb.Helper()
	dir := Dir(tb)
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var blocks []Block
	for _, e := range entries {
		number, err := strconv.ParseUint(e.Name(), 10, 64)
		if err != nil || !e.IsDir() {
			continue
		}
		folder := filepath.Join(dir, e.Name())
		b := Block{
			Number:      number,
			Prestate:    read(tb, filepath.Join(folder, "prestate.json.gz")),
			Block:       read(tb, filepath.Join(folder, "block.json.gz")),
			BlockHashes: readOptional(tb, filepath.Join(folder, "block_hashes.json.gz")),
		}
		dec := json.NewDecoder(bytes.NewReader(read(tb, filepath.Join(folder, "trades.json.gz"))))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&b.Trades); err != nil {
			tb.Fatalf("block %d: trades: %v", number, err)
		}
		blocks = append(blocks, b)
	}
	if len(blocks) == 0 {
		tb.Fatalf("mainnet: no blocks in %q", dir)
	}
	sort.Slice(blocks, func(i, j int) bool { return blocks[i].Number < blocks[j].Number })
	return blocks
}

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := gunzip(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func readOptional(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := gunzip(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func gunzip(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(zr, limitBytes))
}
