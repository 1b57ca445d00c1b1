package route_test

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/fixtures"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/reference/router/route"
	"github.com/subnet112/assay/solvers/sdk"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

// A desk over the fixture chain, and what it has read.
type desk struct {
	*route.Desk
	view  *chain.View
	reads int
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{}
	d.Desk = route.NewDesk(func(uint64) *sdk.Client {
		return sdk.NewClient(func(request []byte) ([]byte, error) {
			reply, used, err := d.view.Serve(t.Context(), request, chain.Cost{Requests: 5000, Gas: 300_000_000, Bytes: 32 << 20})
			d.reads += used.Requests
			return reply, err
		})
	})
	return d
}

func open(t testing.TB) (*chain.World, *benchmark.Pack) {
	t.Helper()
	s, err := chain.DecodeSnapshot(fixtures.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	w, err := chain.NewWorld(s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := benchmark.DecodePack(fixtures.Pack())
	if err != nil {
		t.Fatal(err)
	}
	return w, p
}

func request(p *benchmark.Pack, c benchmark.Case) intent.Request {
	r := intent.Request{IntentID: c.ID, State: c.State, Snapshot: p.Chains[0].Market}
	for _, d := range p.Apps {
		if d.AppID == c.App {
			r.Intent = d
		}
	}
	return r
}

func swaps(p *benchmark.Pack) []benchmark.Case {
	var out []benchmark.Case
	for _, c := range p.Cases {
		if c.App == "app_swap" {
			out = append(out, c)
		}
	}
	return out
}

// What a plan says it brings it brings, on the pools' own code, to a hundred-thousandth: the
// pools round at ticks that nobody uses as well, and what tokens keep is measured in
// millionths.
func TestPlansBringWhatWasComputed(t *testing.T) {
	t.Parallel()
	w, p := open(t)
	d := newDesk(t)
	s := route.NewSwap(d.Desk)
	planned := 0
	for _, c := range swaps(p) {
		r := request(p, c)
		order, err := chain.NewOrder(r.Intent, c.State)
		if err != nil {
			t.Fatal(err)
		}
		funded, err := w.Fund(t.Context(), order)
		if err != nil {
			t.Fatal(err)
		}
		d.view = funded.View()
		plan, err := s.GeneratePlan(r)
		if err != nil {
			if c.Best != "" {
				t.Errorf("nonce %d: %v", c.State.Nonce, err)
			}
			continue
		}
		planned++
		rules := intent.PlanRules{AppID: c.App, IntentID: c.ID, ChainID: 1, Nonce: c.State.Nonce, Time: w.Context().Time}
		if err := plan.Validate(rules); err != nil {
			t.Errorf("nonce %d: %v", c.State.Nonce, err)
		}
		out, _, err := funded.Execute(t.Context(), plan)
		if err != nil || out.Cause != intent.CauseNone {
			t.Errorf("nonce %d: %v %s %s", c.State.Nonce, err, out.Cause, out.Detail)
			continue
		}
		got := out.Delta(common.HexToAddress(c.State.RawParams["receiver"].(string)), common.HexToAddress(c.State.RawParams["output_token"].(string)))
		want, _ := new(big.Int).SetString(plan.Metadata["quoted_output"].(string), 10)
		off := new(big.Int).Sub(got, want)
		if off.Abs(off).Mul(off, big.NewInt(100_000)).Cmp(want) > 0 && new(big.Int).Sub(got, want).CmpAbs(big.NewInt(2)) > 0 {
			t.Errorf("nonce %d: brought %s, said %s", c.State.Nonce, got, want)
		}
		q, err := s.Quote(r)
		if err != nil || q.EstimatedOutput != want.String() {
			t.Errorf("nonce %d: quote %s, %v, the plan says %s", c.State.Nonce, q.EstimatedOutput, err, want)
		}
	}
	if planned < 31 {
		t.Errorf("%d plans, the pack has 31 swaps that can be served", planned)
	}
}

// What one epoch learned saves the next one reads; what is damaged is refused.
func TestWhatIsLearned(t *testing.T) {
	t.Parallel()
	w, p := open(t)
	r := request(p, swaps(p)[0])
	var saved []byte
	var reads []int
	for range 2 {
		d := newDesk(t)
		d.view = w.View()
		s := route.NewSwap(d.Desk)
		if saved != nil {
			if err := s.RestoreState(saved); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Quote(r); err != nil {
			t.Fatal(err)
		}
		again, err := s.SerializeState()
		if err != nil || saved != nil && !bytes.Equal(again, saved) {
			t.Errorf("state %s, %v, was %s", again, err, saved)
		}
		saved, reads = again, append(reads, d.reads)
	}
	if reads[1] != 2 || reads[0] <= 4 {
		t.Errorf("%d reads at first, then %d: want more than 4, then the ticks and the gas price", reads[0], reads[1])
	}
	for rule, bad := range map[string]string{
		"no JSON": "x", "another version": `{"version":9,"pools":{},"tokens":{}}`,
		"ticks in disorder": `{"version":1,"pools":{"a":{"block":1,"ticks":[2,1]}},"tokens":{}}`,
	} {
		if err := route.NewSwap(newDesk(t).Desk).RestoreState([]byte(bad)); err == nil {
			t.Errorf("%s is restored", rule)
		}
	}
}

// An order without a market, or with parameters that make no sense, has no plan.
func TestOrdersThatMakeNoSense(t *testing.T) {
	t.Parallel()
	w, p := open(t)
	d := newDesk(t)
	d.view = w.View()
	for rule, edit := range map[string]func(*intent.Request){
		"no market":        func(r *intent.Request) { r.Snapshot = nil },
		"no amount":        func(r *intent.Request) { delete(r.State.RawParams, "input_amount") },
		"amount 0":         func(r *intent.Request) { r.State.RawParams["input_amount"] = "0" },
		"no token":         func(r *intent.Request) { r.State.RawParams["output_token"] = "weth" },
		"no owner":         func(r *intent.Request) { r.State.Owner = "" },
		"no such token":    func(r *intent.Request) { r.State.RawParams["output_token"] = abi.Address{9}.String() },
		"the same, to one": func(r *intent.Request) { r.State.RawParams["output_token"] = r.State.RawParams["input_token"] },
	} {
		_, fresh := open(t)
		r := request(p, swaps(fresh)[0])
		edit(&r)
		if plan, err := route.NewSwap(d.Desk).GeneratePlan(r); err == nil {
			t.Errorf("%s: %+v", rule, plan)
		}
	}
}

// A pool that does not answer as one is left out, and the others are traded on.
func TestPoolsThatAreNoneAreLeftOut(t *testing.T) {
	t.Parallel()
	w, p := open(t)
	d := newDesk(t)
	d.view = w.View()
	r := request(p, swaps(p)[0])
	s := route.NewSwap(d.Desk)
	want, err := s.Quote(r)
	if err != nil {
		t.Fatal(err)
	}
	_, fresh := open(t)
	r.Snapshot = fresh.Chains[0].Market
	r.Snapshot.PoolStates[abi.Address{19: 0xff}.String()] = map[string]any{
		"protocol": "uniswap_v3", "fee": "3000", "liquidity": "1", "sqrtPriceX96": "79228162514264337593543950336",
		"token0": r.State.RawParams["output_token"], "token1": r.State.RawParams["input_token"],
	}
	other := newDesk(t)
	other.view = w.View()
	if got, err := route.NewSwap(other.Desk).Quote(r); err != nil || got.EstimatedOutput != want.EstimatedOutput {
		t.Errorf("quote %s, %v, without that pool %s", got.EstimatedOutput, err, want.EstimatedOutput)
	}
}
