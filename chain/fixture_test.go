package chain_test

import (
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/fixtures"
	"github.com/subnet112/assay/intent"
)

// A knownPlan is a plan of the fixture pack that is known to be good.
type knownPlan struct {
	App   string       `json:"app_id"`
	State intent.State `json:"state"`
	Plan  intent.Plan  `json:"plan"`

	order chain.Order
}

func fixtureWorld(t testing.TB) *chain.World {
	t.Helper()
	s, err := chain.DecodeSnapshot(fixtures.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	return worldOf(t, s)
}

func knownPlans(t testing.TB) []knownPlan {
	t.Helper()
	var pack struct {
		SelfTests []knownPlan `json:"self_tests"`
	}
	if err := json.Unmarshal(fixtures.Pack(), &pack); err != nil {
		t.Fatal(err)
	}
	d, err := intent.DecodeDefinition(fixtures.SwapApp())
	if err != nil {
		t.Fatal(err)
	}
	pack.SelfTests = slices.DeleteFunc(pack.SelfTests, func(k knownPlan) bool { return k.App != d.AppID })
	for i := range pack.SelfTests {
		k := &pack.SelfTests[i]
		if k.order, err = chain.NewOrder(d, k.State); err != nil {
			t.Fatal(err)
		}
	}
	if len(pack.SelfTests) == 0 {
		t.Fatal("the fixture pack knows no good plan")
	}
	return pack.SelfTests
}

func (k knownPlan) amount(t testing.TB, param string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(k.State.RawParams[param].(string), 10)
	if !ok {
		t.Fatalf("%s = %v", param, k.State.RawParams[param])
	}
	return n
}

func (k knownPlan) address(param string) common.Address {
	return common.HexToAddress(k.State.RawParams[param].(string))
}

// A known plan spends exactly what it was given and brings what it must, on
// Uniswap's own bytecode, for an owner who had to be funded.
func TestFixtureKnownPlans(t *testing.T) {
	t.Parallel()
	w := fixtureWorld(t)
	for _, k := range knownPlans(t) {
		out, after := execute(t, w, k.order, k.Plan)
		if out.Cause != intent.CauseNone {
			t.Errorf("%s: %s", out.Cause, out.Detail)
			continue
		}
		in, to := k.address("input_token"), k.address("output_token")
		if want := new(big.Int).Neg(k.amount(t, "input_amount")); out.Delta(k.order.Owner, in).Cmp(want) != 0 {
			t.Errorf("spent %s, want %s", out.Delta(k.order.Owner, in), want)
		}
		value := out.Delta(k.address("receiver"), to)
		if value.Cmp(k.amount(t, "min_output_amount")) < 0 {
			t.Errorf("value %s, less than the minimum", value)
		}
		// The view is of the state the deltas were measured in.
		before, err := w.FundedView(t.Context(), k.order)
		if err != nil {
			t.Fatal(err)
		}
		gained := balanceOf(t, after, to, k.address("receiver"))
		if gained.Sub(gained, balanceOf(t, before, to, k.address("receiver"))).Cmp(value) != 0 {
			t.Errorf("the views differ by %s, the delta is %s", gained, value)
		}
	}
}

// The fixture knows every slot, so wrapping ETH that nobody granted is what it
// is: the owner loses ETH. Here an owner who has some pays for another's swap.
func TestFixtureWrappingSpareETHIsOverspent(t *testing.T) {
	t.Parallel()
	w := fixtureWorld(t)
	rich := common.BytesToAddress(crypto.Keccak256([]byte("assay fixture: owner rich")))
	rest := balanceOf(t, w.View(), chain.ETH, rich)
	if rest.Sign() == 0 {
		t.Fatal("the rich owner has no ETH")
	}
	k := knownPlans(t)[0]
	d := intent.Definition{AppID: "app_swap"}
	s := k.State
	s.Owner = rich.Hex()
	o, err := chain.NewOrder(d, s)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := execute(t, w, o, k.Plan)
	if out.Cause != intent.CauseNone || out.Delta(k.address("receiver"), k.address("output_token")).Sign() <= 0 {
		t.Fatalf("without wrapping: outcome %+v, want a value", out)
	}
	plan := k.Plan
	plan.Interactions = append(plan.Interactions[:len(plan.Interactions):len(plan.Interactions)],
		intent.Interaction{Target: mainnetWETH.Hex(), Value: rest.String(), CallData: "0xd0e30db0", ChainID: 1})
	out, _ = execute(t, w, o, plan)
	if out.Cause != intent.CauseOverspent || out.Delta(rich, chain.ETH).CmpAbs(rest) != 0 {
		t.Errorf("outcome %+v, want overspent by %s", out, rest)
	}
}

// Balance slots of tokens with mainnet's layouts: WETH9 (slot 3), a proxy with a
// flag in the balance's word (9), Solidity mappings of old and new compilers,
// a Vyper mapping, and a token that burns a share of each transfer.
func TestFixtureFunding(t *testing.T) {
	t.Parallel()
	w := fixtureWorld(t)
	for name, token := range map[string]string{
		"WETH": "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
		"USDC": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
		"DAI":  "0x6B175474E89094C44Da98b954EedeAC495271d0F",
		"WBTC": "0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599",
		"USDT": "0xdAC17F958D2ee523a2206206994597C13D831ec7",
		"CRV":  "0xD533a949740bb3306d119CC777fa900bA034cd52",
		"STA":  "0xa7DE087329BFcda5639247F96140f9DAbe3DeED1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := orderOf(toyAbsent, 0, common.HexToAddress(token))
			o.Grant[0].Amount = uint256.MustFromDecimal("123456789012345678901")
			v, err := w.FundedView(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := balanceOf(t, v, o.Grant[0].Token, toyAbsent); got.Cmp(o.Grant[0].Amount.ToBig()) != 0 {
				t.Errorf("balance = %s, want %s", got, o.Grant[0].Amount.Dec())
			}
		})
	}
}

// A tracer watches and changes nothing.
func TestTracedIsUntraced(t *testing.T) {
	t.Parallel()
	w := fixtureWorld(t)
	for _, k := range knownPlans(t) {
		plain, _ := execute(t, w, k.order, k.Plan)
		opcodes := 0
		traced, _, err := w.ExecuteTraced(t.Context(), k.order, k.Plan, countOpcodes(&opcodes))
		if err != nil {
			t.Fatal(err)
		}
		if opcodes == 0 {
			t.Error("nothing was traced")
		}
		if diff := cmp.Diff(plain, traced, bigInts); diff != "" {
			t.Errorf("traced (-untraced +traced):\n%s", diff)
		}
	}
}
