package oracle_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/benchmark/oracle"
	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/fixtures"
	"github.com/subnet112/assay/intent"
)

// Addresses of Ethereum mainnet.
var (
	eth      common.Address
	weth     = common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	usdc     = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	dai      = common.HexToAddress("0x6B175474E89094C44Da98b954EedeAC495271d0F")
	wbtc     = common.HexToAddress("0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599")
	usdt     = common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")
	crv      = common.HexToAddress("0xD533a949740bb3306d119CC777fa900bA034cd52")
	sta      = common.HexToAddress("0xa7DE087329BFcda5639247F96140f9DAbe3DeED1") // burns a hundredth of each transfer
	v2Router = common.HexToAddress("0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D")
	quoter   = common.HexToAddress("0x61fFE014bA17989E743c5F6cB21bF9697530B21e")

	owner    = common.HexToAddress("0x1000000000000000000000000000000000000001")
	receiver = common.HexToAddress("0x2000000000000000000000000000000000000002")
)

// decimals of the tokens that test amounts are drawn for.
var decimals = map[common.Address]int{weth: 18, usdc: 6, dai: 18, wbtc: 8, usdt: 6, crv: 18}

// ordinary are those tokens, in one order.
var ordinary = []common.Address{weth, usdc, dai, wbtc, usdt, crv}

// A packFile is what the tests read of a pack.
type packFile struct {
	Chains []struct {
		Market intent.MarketSnapshot `json:"market"`
	} `json:"chains"`
	Apps  []intent.Definition `json:"apps"`
	Cases []struct {
		App   string       `json:"app_id"`
		State intent.State `json:"state"`
		Truth *bool        `json:"truth"`
		Best  string       `json:"best"`
	} `json:"cases"`
}

var pack = sync.OnceValue(func() (p packFile) {
	if err := json.Unmarshal(fixtures.Pack(), &p); err != nil {
		panic(err)
	}
	return p
})

var world = sync.OnceValue(func() *chain.World {
	s, err := chain.DecodeSnapshot(fixtures.Snapshot())
	if err != nil {
		panic(err)
	}
	w, err := chain.NewWorld(s)
	if err != nil {
		panic(err)
	}
	return w
})

// open returns an oracle of its own over the fixture chain.
func open(t testing.TB) *oracle.Oracle {
	t.Helper()
	venues, routers, err := oracle.Venues(pack().Chains[0].Market)
	if err != nil {
		t.Fatal(err)
	}
	o, err := oracle.New(t.Context(), world(), venues, routers)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// ofPack returns an app of the pack.
func ofPack(t testing.TB, id string) intent.Definition {
	t.Helper()
	for _, d := range pack().Apps {
		if d.AppID == id {
			return d
		}
	}
	t.Fatalf("the pack has no app %s", id)
	return intent.Definition{}
}

// app reads an app of the fixtures, whether the pack has intents of it or not.
func app(t testing.TB, name string) intent.Definition {
	t.Helper()
	text, err := os.ReadFile("../../fixtures/apps/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := intent.DecodeDefinition(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// swap is an intent of the swap app.
func swap(in, out common.Address, amount *uint256.Int, edits ...func(*intent.State)) intent.State {
	s := intent.State{
		ChainID: 1, Nonce: 9, Owner: owner.Hex(),
		RawParams: map[string]any{
			"input_token": in.Hex(), "output_token": out.Hex(), "input_amount": amount.Dec(),
			"min_output_amount": "1", "receiver": owner.Hex(),
		},
		Control: map[string]any{"_intent_function": "swap"},
	}
	for _, edit := range edits {
		edit(&s)
	}
	return s
}

func param(name string, value any) func(*intent.State) {
	return func(s *intent.State) { s.RawParams[name] = value }
}

// units is n whole tokens of so many decimals.
func units(n uint64, decimals int) *uint256.Int {
	z := new(uint256.Int).Exp(uint256.NewInt(10), uint256.NewInt(uint64(decimals)))
	return z.Mul(z, uint256.NewInt(n))
}

// execute runs a plan.
func execute(ctx context.Context, d intent.Definition, s intent.State, p intent.Plan) (*chain.Outcome, error) {
	order, err := chain.NewOrder(d, s)
	if err != nil {
		return nil, err
	}
	outcome, _, err := world().Execute(ctx, order, p)
	return outcome, err
}

// view calls a contract and returns the words of its answer, nil where it reverts.
func view(ctx context.Context, to common.Address, data []byte) ([]*big.Int, error) {
	request := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"%s","data":"0x%x"},"latest"]}`, to.Hex(), data)
	reply, _, err := world().View().Serve(ctx, []byte(request), chain.Cost{Requests: 1, Gas: chain.LimitReadGas, Bytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	var answer struct{ Result string }
	if err := json.Unmarshal(reply, &answer); err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(strings.TrimPrefix(answer.Result, "0x"))
	if err != nil {
		return nil, err
	}
	var words []*big.Int
	for w := range slices.Chunk(b, 32) {
		words = append(words, new(big.Int).SetBytes(w))
	}
	return words, nil
}

// calldata is a selector and words.
func calldata(signature string, words ...any) []byte {
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, w := range words {
		switch v := w.(type) {
		case common.Address:
			data = append(data, common.LeftPadBytes(v[:], 32)...)
		case *big.Int:
			data = append(data, common.LeftPadBytes(v.Bytes(), 32)...)
		case int:
			data = append(data, common.LeftPadBytes(big.NewInt(int64(v)).Bytes(), 32)...)
		case []byte: // as it is, padded to whole words
			data = append(data, v...)
			data = append(data, make([]byte, (32-len(v)%32)%32)...)
		}
	}
	return data
}
