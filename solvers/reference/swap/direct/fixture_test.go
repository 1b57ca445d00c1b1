package direct_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/intent"
)

// bestByTrying executes the order through every venue there is, with calldata
// made here, and returns the most that any of them pays, nil if none works.
// ETH is tried as WETH, which every pool takes it for.
func bestByTrying(t *testing.T, s intent.State) *big.Int {
	t.Helper()
	asWETH := func(a common.Address) common.Address {
		if a == eth {
			return weth
		}
		return a
	}
	in, out := asWETH(param(s, "input_token")), asWETH(param(s, "output_token"))
	amount, _ := new(big.Int).SetString(s.RawParams["input_amount"].(string), 10)
	trial := order(in, out, amount, alice)
	var best *big.Int
	try := func(router common.Address, swap string) {
		p := intent.Plan{IntentID: "app_swap", Interactions: []intent.Interaction{
			interaction(in, data("approve(address,uint256)", router, amount)),
			interaction(router, swap),
		}}
		if _, got := execute(t, trial, p); got != nil && (best == nil || got.Cmp(best) > 0) {
			best = got
		}
	}
	for _, fee := range []int{100, 500, 3000, 10000} {
		try(v3Router, data("exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))", in, out, fee, alice, amount, 0, 0))
	}
	deadline := big.NewInt(1 << 40)
	try(v2Router, data("swapExactTokensForTokens(uint256,uint256,address[],address,uint256)", amount, 0, 160, alice, deadline, 2, in, out))
	return best
}

// Every order of the pack gets what the best single pool pays, to the unit, or
// is declined because no pool pays its minimum.
func TestPlansGetTheBestPool(t *testing.T) {
	t.Parallel()
	solved := 0
	for _, s := range cases(t) {
		name := fmt.Sprintf("nonce %d", s.Nonce)
		switch in, out := param(s, "input_token"), param(s, "output_token"); {
		case in == sta || in == reb || out == reb:
			continue // what they keep, or count in shares, no quote says
		case in == weth && out == eth || in == eth && out == weth:
			continue // no pool
		}
		best := bestByTrying(t, s)
		minimum, _ := new(big.Int).SetString(s.RawParams["min_output_amount"].(string), 10)
		p, err := newSession(t).plan(t, s)
		if err != nil {
			if best != nil && best.Cmp(minimum) >= 0 {
				t.Errorf("%s: %v, but a pool pays %s of %s", name, err, best, minimum)
			}
			continue
		}
		solved++
		out, got := execute(t, s, p)
		if got == nil {
			t.Errorf("%s: %s %s", name, out.Cause, out.Detail)
			continue
		}
		if best == nil || got.Cmp(best) != 0 {
			t.Errorf("%s: got %s, the best pool pays %s", name, got, best)
		}
		if p.Metadata["quoted_output"] != got.String() {
			t.Errorf("%s: quoted %v, got %s", name, p.Metadata["quoted_output"], got)
		}
	}
	if solved < 8 {
		t.Errorf("%d orders solved, the pack has more with a direct route", solved)
	}
}

// Each way through the routers' functions, executed.
func TestEveryKindOfOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		in, out  common.Address
		amount   *big.Int
		receiver common.Address
		calls    int
	}{
		{"token for token", usdc, weth, units(1000, 6), alice, 2},
		{"token for token to another", usdc, weth, units(1000, 6), bob, 2},
		{"ETH for token", eth, usdc, units(1, 18), alice, 1},
		{"ETH for token to another", eth, usdc, units(1, 18), bob, 1},
		{"token for ETH", usdc, eth, units(1000, 6), alice, 2},
		{"token for ETH to another", usdc, eth, units(1000, 6), bob, 2},
		{"wrapping", eth, weth, units(1, 18), alice, 1},
		{"wrapping for another", eth, weth, units(1, 18), bob, 2},
		{"unwrapping", weth, eth, units(1, 18), alice, 1},
		{"unwrapping for another", weth, eth, units(1, 18), bob, 2},
		{"a token that returns nothing", usdt, weth, units(1000, 6), alice, 2},
		{"eight decimals", wbtc, weth, units(1, 7), alice, 2},
		{"a pair of V2 alone", weth, sta, units(1, 17), alice, 2},
		{"ETH into a pair of V2 alone", eth, sta, units(1, 17), alice, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := order(tt.in, tt.out, tt.amount, tt.receiver)
			p, err := newSession(t).plan(t, s)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Interactions) != tt.calls {
				t.Errorf("%d calls, want %d", len(p.Interactions), tt.calls)
			}
			out, got := execute(t, s, p)
			if out.Cause != intent.CauseNone {
				t.Fatalf("%s %s", out.Cause, out.Detail)
			}
			if got.Sign() <= 0 {
				t.Errorf("the receiver got %s", got)
			}
			if spent := out.Delta(alice, tt.in); spent.CmpAbs(tt.amount) != 0 || spent.Sign() > 0 {
				t.Errorf("the owner's input changed by %s, want -%s", spent, tt.amount)
			}
		})
	}
}

// USDT refuses to change an allowance that is not zero, WETH does not mind, and
// an allowance that suffices needs no call.
func TestApprovals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		token     common.Address
		allowance *big.Int
		want      []int64 // amounts approved before the swap, in whole tokens
	}{
		{"none before", usdt, new(big.Int), []int64{1000}},
		{"too little before, of a token that minds", usdt, units(999, 6), []int64{0, 1000}},
		{"too little before, of a token that does not", usdc, units(999, 6), []int64{1000}},
		{"exactly enough before", usdt, units(1000, 6), nil},
		{"more than enough before", usdc, units(5000, 6), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := order(tt.token, weth, units(1000, 6), alice)
			before := []intent.Interaction{
				interaction(tt.token, data("approve(address,uint256)", v3Router, tt.allowance)),
				interaction(tt.token, data("approve(address,uint256)", v2Router, tt.allowance)),
			}
			out, after, err := world(t).Execute(t.Context(), chainOrder(t, s), intent.Plan{Interactions: before})
			if err != nil || out.Cause != intent.CauseNone {
				t.Fatal(err, out)
			}
			solver := newSession(t)
			solver.at = &reader{t: t, view: after}
			p, err := solver.GeneratePlan(request(t, s))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			router := common.HexToAddress(p.Interactions[len(p.Interactions)-1].Target)
			for _, n := range tt.want {
				want = append(want, data("approve(address,uint256)", router, units(n, 6)))
			}
			var got []string
			for _, x := range p.Interactions[:len(p.Interactions)-1] {
				got = append(got, x.CallData)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("approvals (-want +got)\n%s", diff)
			}
			p.Interactions = append(before, p.Interactions...)
			if out, _ := execute(t, s, p); out.Cause != intent.CauseNone {
				t.Errorf("%s %s", out.Cause, out.Detail)
			}
		})
	}
}

// What one epoch learned makes the next one ask less and answer the same.
func TestLearnedPoolsSaveReads(t *testing.T) {
	t.Parallel()
	first := newSession(t)
	states := cases(t)
	plans, reads := make([]string, len(states)), make([]int, len(states))
	pairs := make(map[[2]common.Address]bool)
	for i, s := range states {
		p, err := first.plan(t, s)
		plans[i], reads[i] = fmt.Sprint(p, err), first.at.reads
	}
	saved, err := first.SerializeState()
	if err != nil {
		t.Fatal(err)
	}
	second := newSession(t)
	if err := second.RestoreState(saved); err != nil {
		t.Fatal(err)
	}
	for i, s := range states {
		p, err := second.plan(t, s)
		if got := fmt.Sprint(p, err); got != plans[i] {
			t.Errorf("nonce %d: another answer\n%s\n%s", s.Nonce, plans[i], got)
		}
		in, out := param(s, "input_token"), param(s, "output_token")
		if in == eth {
			in = weth
		}
		if out == eth {
			out = weth
		}
		pair := [2]common.Address{in, out}
		if bytes.Compare(in[:], out[:]) > 0 {
			pair = [2]common.Address{out, in}
		}
		// The first order of a pair asked five factories; one without pools asks again.
		if pair[0] == pair[1] {
			continue // ETH and WETH need no pool
		}
		if known := pairs[pair]; !known && !strings.Contains(plans[i], "no direct route") && second.at.reads != reads[i]-5 {
			t.Errorf("nonce %d: %d reads, first %d", s.Nonce, second.at.reads, reads[i])
		}
		pairs[pair] = true
	}
	again, err := second.SerializeState()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(saved, again) {
		t.Errorf("the state changed although nothing was learned\n%s\n%s", saved, again)
	}
	if canonical, err := intent.Canonical(json.RawMessage(saved)); err != nil || !bytes.Equal(saved, canonical) {
		t.Errorf("the state is not canonical: %v", err)
	}
}

// A token that keeps a fee fails a plain swap once; the solver hears of it and
// swaps it as its kind is swapped from then on, for tokens and for ETH.
func TestLearnsOfTokensThatKeepAFee(t *testing.T) {
	t.Parallel()
	s := order(sta, weth, units(100, 18), alice)
	first := newSession(t)
	if err := first.OnBenchmarkStart(1); err != nil {
		t.Fatal(err)
	}
	p, err := first.plan(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := execute(t, s, p); out.Cause != intent.CauseReverted {
		t.Fatalf("a plain swap ended with %q: the token keeps no fee", out.Cause)
	}
	if err := first.OnBenchmarkEnd([]intent.Result{{IntentID: p.IntentID, Score: "0"}, {IntentID: "i_other", Score: "0"}}); err != nil {
		t.Fatal(err)
	}
	saved, err := first.SerializeState()
	if err != nil {
		t.Fatal(err)
	}
	second := newSession(t)
	if err := second.RestoreState(saved); err != nil {
		t.Fatal(err)
	}
	for _, s := range []intent.State{s, order(sta, eth, units(100, 18), bob), order(eth, sta, units(1, 17), alice)} {
		p, err := second.plan(t, s)
		if err != nil {
			t.Fatal(err)
		}
		if out, got := execute(t, s, p); out.Cause != intent.CauseNone || got.Sign() <= 0 {
			t.Errorf("%v: %s %s", s.RawParams, out.Cause, out.Detail)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	s := order(usdc, weth, units(1000, 6), alice)
	solver := newSession(t)
	p, err := solver.plan(t, s)
	if err != nil {
		t.Fatal(err)
	}
	_, got := execute(t, s, p)
	solver.at = funded(t, s)
	q, err := solver.Quote(request(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if q.EstimatedOutput != got.String() {
		t.Errorf("estimated %s, executing gave %s", q.EstimatedOutput, got)
	}
	// The app asks for one parameter: the minimum, half a percent below.
	least := new(big.Int).Div(new(big.Int).Mul(got, big.NewInt(9950)), big.NewInt(10000))
	if diff := cmp.Diff(map[string]string{"min_output_amount": least.String()}, q.ComputedParams); diff != "" {
		t.Errorf("computed (-want +got)\n%s", diff)
	}
	out, _ := execute(t, s, p)
	if q.GasEstimate < out.GasUsed || q.GasEstimate > 2*out.GasUsed {
		t.Errorf("estimated %d gas, took %d", q.GasEstimate, out.GasUsed)
	}
}

// The router is told the intent's minimum, or half a percent below the offer if
// that is more.
func TestSwapRevertsBelowItsFloor(t *testing.T) {
	t.Parallel()
	s := order(usdc, weth, units(1000, 6), alice)
	p, err := newSession(t).plan(t, s)
	if err != nil {
		t.Fatal(err)
	}
	_, got := execute(t, s, p)
	ownBound := new(big.Int).Div(new(big.Int).Mul(got, big.NewInt(9950)), big.NewInt(10000))
	justAbove := new(big.Int).Add(ownBound, big.NewInt(1))
	for _, tt := range []struct{ minimum, want *big.Int }{
		{big.NewInt(1), ownBound}, {ownBound, ownBound}, {justAbove, justAbove}, {got, got},
	} {
		s.RawParams["min_output_amount"] = tt.minimum.String()
		p, err := newSession(t).plan(t, s)
		if err != nil {
			t.Fatal(err)
		}
		// exactInputSingle's sixth word is amountOutMinimum.
		call := common.FromHex(p.Interactions[len(p.Interactions)-1].CallData)
		if floor := new(big.Int).SetBytes(call[4+5*32 : 4+6*32]); floor.Cmp(tt.want) != 0 {
			t.Errorf("minimum %s: the router is told %s, want %s", tt.minimum, floor, tt.want)
		}
	}
}

// A limit order waits for its price.
func TestCheckTrigger(t *testing.T) {
	t.Parallel()
	s := order(usdc, weth, units(1000, 6), alice)
	solver := newSession(t)
	p, err := solver.plan(t, s)
	if err != nil {
		t.Fatal(err)
	}
	_, got := execute(t, s, p)
	for minimum, want := range map[string]bool{
		got.String(): true,
		new(big.Int).Add(got, big.NewInt(1)).String(): false,
	} {
		s.RawParams["min_output_amount"] = minimum
		solver.at = funded(t, s)
		if trigger, err := solver.CheckTrigger(request(t, s)); err != nil || trigger != want {
			t.Errorf("minimum %s: trigger %v, %v", minimum, trigger, err)
		}
		if _, err := solver.plan(t, s); (err == nil) != want {
			t.Errorf("minimum %s: plan %v", minimum, err)
		}
	}
}

// Without a market the time is the pinned block's.
func TestTimeWithoutMarket(t *testing.T) {
	t.Parallel()
	s := order(usdc, weth, units(1000, 6), alice)
	solver := newSession(t)
	solver.at = funded(t, s)
	r := request(t, s)
	r.Snapshot = nil
	p, err := solver.GeneratePlan(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := world(t).Context().Time + 300; p.Deadline != want {
		t.Errorf("deadline %d, want %d", p.Deadline, want)
	}
}

func BenchmarkGeneratePlan(b *testing.B) {
	s := order(usdc, weth, units(1000, 6), alice)
	r := request(b, s)
	at := funded(b, s)
	b.ReportAllocs()
	for b.Loop() {
		solver := newSession(b)
		solver.at = at
		if _, err := solver.GeneratePlan(r); err != nil {
			b.Fatal(err)
		}
	}
}
