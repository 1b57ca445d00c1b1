// Package solvers_test builds the solvers of this folder as validators receive
// them and runs them as validators do.
package solvers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/fixtures"
	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/solvers/reference/swap/direct"
	"github.com/subnet112/assay/solvers/sdk"
)

// shared is one engine for all tests: it compiles a module once.
var shared *sandbox.Engine

func TestMain(m *testing.M) {
	var err error
	if shared, err = sandbox.New(context.Background(), sandbox.Config{}); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	if err := shared.Close(context.Background()); err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

var (
	buildFallback = sync.OnceValues(func() ([]byte, error) { return build("reference/fallback") })
	buildSwap     = sync.OnceValues(func() ([]byte, error) { return build("reference/swap") })
	buildTemplate = sync.OnceValues(func() ([]byte, error) { return build("templates/go") })
)

// build compiles a solver of this folder the way its documentation says.
func build(dir string) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "solver")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, "solver.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, "./"+dir)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return os.ReadFile(out)
}

// open starts a session of a solver.
func open(t testing.TB, built func() ([]byte, error), o harness.Options) *harness.Solver {
	t.Helper()
	wasm, err := built()
	if err != nil {
		t.Fatal(err)
	}
	m, err := harness.Compile(t.Context(), shared, harness.Source{Code: wasm})
	if err != nil {
		t.Fatal(err)
	}
	s, err := harness.Open(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// A venue is the fixture's chain and its app.
type venue struct {
	world  *chain.World
	app    intent.Definition
	cases  []intent.State
	smoke  []intent.State
	market intent.MarketSnapshot
}

func openVenue(t testing.TB) *venue {
	t.Helper()
	s, err := chain.DecodeSnapshot(fixtures.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	v := &venue{}
	if v.world, err = chain.NewWorld(s); err != nil {
		t.Fatal(err)
	}
	if v.app, err = intent.DecodeDefinition(fixtures.SwapApp()); err != nil {
		t.Fatal(err)
	}
	type entry struct {
		App   string          `json:"app_id"`
		State json.RawMessage `json:"state"`
	}
	var pack struct {
		Cases []entry `json:"cases"`
		Smoke []entry `json:"smoke"`
	}
	if err := json.Unmarshal(fixtures.Pack(), &pack); err != nil {
		t.Fatal(err)
	}
	states := func(entries []entry) (states []intent.State) {
		for _, e := range entries {
			if e.App != v.app.AppID {
				continue // these solvers only swap
			}
			s, err := intent.DecodeState(e.State)
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, s)
		}
		return states
	}
	v.cases, v.smoke = states(pack.Cases), states(pack.Smoke)
	if len(v.cases) == 0 || len(v.smoke) == 0 {
		t.Fatal("the pack is empty")
	}
	at := v.world.Context()
	v.market = intent.EmptyMarket(1)
	v.market.BlockNumber, v.market.Timestamp = at.Number, at.Time
	return v
}

func (v *venue) order(t testing.TB, s intent.State) chain.Order {
	t.Helper()
	o, err := chain.NewOrder(v.app, s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (v *venue) view(t testing.TB, s intent.State) *chain.View {
	t.Helper()
	view, err := v.world.FundedView(t.Context(), v.order(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return view
}

func reads(view *chain.View) harness.Reads {
	return func(ctx context.Context, id uint64, req []byte, left harness.Cost) ([]byte, harness.Cost, error) {
		if id != 1 {
			return nil, harness.Cost{}, harness.ErrUnknownChain
		}
		reply, used, err := view.Serve(ctx, req, chain.Cost(left))
		return reply, harness.Cost(used), err
	}
}

func (v *venue) task(t testing.TB, s intent.State) harness.Task {
	t.Helper()
	key, err := intent.Key(v.app, s)
	if err != nil {
		t.Fatal(err)
	}
	return harness.Task{
		Intent: v.app, State: s, IntentID: key, Reads: reads(v.view(t, s)), AskQuote: true,
		Rules: intent.PlanRules{AppID: v.app.AppID, IntentID: key, ChainID: 1, Nonce: s.Nonce, Time: v.market.Timestamp},
	}
}

func (v *venue) options(state []byte, n int) harness.Options {
	return harness.Options{
		Init: intent.InitConfig{
			ChainIDs: []uint64{1}, RPCURLs: map[string]string{"1": "assay://chain/1"},
			TimeoutPerPlanMS: 30_000, SupportedProtocols: []string{"uniswap_v2", "uniswap_v3"},
		},
		State: state, Market: []intent.MarketSnapshot{v.market}, Count: n, Time: v.market.Timestamp,
		Reads: reads(v.world.View()),
	}
}

// value is what the intent's receiver got of its output, nil if the plan failed.
func (v *venue) value(t testing.TB, s intent.State, p intent.Plan) *big.Int {
	t.Helper()
	out, _, err := v.world.Execute(t.Context(), v.order(t, s), p)
	if err != nil {
		t.Fatal(err)
	}
	if out.Cause != intent.CauseNone {
		return nil
	}
	address := func(name string) common.Address {
		text, _ := s.RawParams[name].(string)
		return common.HexToAddress(text)
	}
	return out.Delta(address("receiver"), address("output_token"))
}

func TestReferenceSolversPassScreening(t *testing.T) {
	t.Parallel()
	v := openVenue(t)
	for name, built := range map[string]func() ([]byte, error){"fallback": buildFallback, "swap": buildSwap} {
		wasm, err := built()
		if err != nil {
			t.Fatal(err)
		}
		var smoke []harness.Task
		for _, s := range v.smoke {
			smoke = append(smoke, v.task(t, s))
		}
		got, err := harness.Screen(t.Context(), shared, harness.Source{Code: wasm}, harness.ScreenOptions{Options: v.options(nil, 0), Smoke: smoke})
		if err != nil {
			t.Fatal(err)
		}
		if !got.Passed {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The module answers exactly what the same code answers outside WebAssembly, in
// a first epoch and in one that begins with what the first learned.
func TestSwapModuleAnswersAsItsCode(t *testing.T) {
	t.Parallel()
	v := openVenue(t)
	var state []byte
	for epoch := range 2 {
		var view *chain.View
		native := direct.New(func(uint64) *sdk.Client {
			return sdk.NewClient(func(req []byte) ([]byte, error) {
				reply, _, err := view.Serve(t.Context(), req, chain.Cost(harness.DefaultLimits().Read))
				return reply, err
			})
		})
		if len(state) > 0 {
			if err := native.RestoreState(state); err != nil {
				t.Fatal(err)
			}
		}
		guest := open(t, buildSwap, v.options(state, len(v.cases)))
		if why := guest.StateRefused(); why != "" {
			t.Fatal(why)
		}
		requests := 0
		for _, s := range v.cases {
			task := v.task(t, s)
			answer, err := guest.Run(t.Context(), task)
			if err != nil {
				t.Fatal(err)
			}
			requests += answer.Reads.Requests
			view = v.view(t, s)
			want, err := native.GeneratePlan(intent.Request{IntentID: task.IntentID, Intent: v.app.Public(), State: s, Snapshot: &v.market})
			if err != nil {
				if answer.Cause != intent.CauseSolverError || answer.Detail != err.Error() {
					t.Errorf("nonce %d: %s %q, want the error %q", s.Nonce, answer.Cause, answer.Detail, err)
				}
				continue
			}
			hash, err := want.Hash()
			if err != nil {
				t.Fatal(err)
			}
			if answer.PlanHash != hash {
				t.Errorf("nonce %d: %s %q %+v\nwant %+v", s.Nonce, answer.Cause, answer.Detail, answer.Plan, want)
			}
			if answer.Quote == nil || answer.Quote.EstimatedOutput != want.Metadata["quoted_output"] {
				t.Errorf("nonce %d: quote %+v, %s", s.Nonce, answer.Quote, answer.QuoteDetail)
			}
		}
		final, err := guest.Finish(t.Context(), nil)
		if err != nil || !final.Saved {
			t.Fatal(final.Note, err)
		}
		saved, err := native.SerializeState()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(saved), string(final.State)); diff != "" {
			t.Errorf("state (-native +guest)\n%s", diff)
		}
		t.Logf("epoch %d: %d reads", epoch+1, requests)
		state = final.State
	}
}

// The fallback's plans are well formed and bring no intent anywhere near its
// minimum.
func TestFallbackEarnsNothing(t *testing.T) {
	t.Parallel()
	v := openVenue(t)
	guest := open(t, buildFallback, v.options(nil, len(v.cases)))
	for _, s := range v.cases {
		answer, err := guest.Run(t.Context(), v.task(t, s))
		if err != nil {
			t.Fatal(err)
		}
		if answer.Plan == nil {
			t.Errorf("nonce %d: %s %s", s.Nonce, answer.Cause, answer.Detail)
			continue
		}
		if answer.QuoteCause != intent.CauseNotImplemented {
			t.Errorf("nonce %d: quote %v, %s", s.Nonce, answer.Quote, answer.QuoteCause)
		}
		minimum, _ := new(big.Int).SetString(s.RawParams["min_output_amount"].(string), 10)
		if got := v.value(t, s, *answer.Plan); got != nil && got.Cmp(minimum) >= 0 {
			t.Errorf("nonce %d: the fallback earned %s", s.Nonce, got)
		}
	}
	if final, err := guest.Finish(t.Context(), nil); err != nil || final.Saved {
		t.Errorf("a solver without state ended with %+v, %v", final, err)
	}
}

// The template earns where Uniswap V2 has the best pair, and declines what is no
// swap.
func TestTemplateEarnsOnV2(t *testing.T) {
	t.Parallel()
	v := openVenue(t)
	guest := open(t, buildTemplate, v.options(nil, 2))
	const crv = "0xD533a949740bb3306d119CC777fa900bA034cd52" // its V2 pair is the deepest
	i := slices.IndexFunc(v.cases, func(s intent.State) bool { return s.RawParams["input_token"] == crv })
	if i < 0 {
		t.Fatal("no case sells CRV")
	}
	s := v.cases[i]
	answer, err := guest.Run(t.Context(), v.task(t, s))
	if err != nil || answer.Plan == nil {
		t.Fatal(answer, err)
	}
	minimum, _ := new(big.Int).SetString(s.RawParams["min_output_amount"].(string), 10)
	if got := v.value(t, s, *answer.Plan); got == nil || got.Cmp(minimum) < 0 {
		t.Errorf("earned %s, want at least %s", got, minimum)
	}
	s.RawParams = maps.Clone(s.RawParams)
	s.RawParams["min_output_amount"] = "as much as there is"
	if answer, err = guest.Run(t.Context(), v.task(t, s)); err != nil || answer.Cause != intent.CauseSolverError {
		t.Errorf("an intent without a minimum: %+v, %v", answer, err)
	}
}
