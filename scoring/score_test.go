package scoring_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

const accept = `exports.score = () => 1;`

// output makes a score function that says score 1 and a raw_output.
func output(raw string) string {
	return `exports.score = () => ({ score: 1, metadata: { raw_output: ` + raw + ` } });`
}

func TestValueIsTheCores(t *testing.T) {
	s := newScorer(t, compiled, patient())
	for _, tt := range []struct {
		name string
		code string
		in   scoring.Input
		edit func(*intent.Definition, *scoring.Input)
		want scoring.Score
	}{
		{name: "the net receipt is the value", code: accept, in: input(250),
			want: scoring.Score{Value: "250", Credited: "250", Score: "1"}},
		{name: "the minimum itself is enough", code: accept, in: input(100),
			want: scoring.Score{Value: "100", Credited: "100", Score: "1"}},
		{name: "less than the minimum is none, and the scorer is not asked", code: `exports.score = () => { throw 1 };`, in: input(99),
			want: scoring.Score{Cause: intent.CauseMinOutput, Score: "0"}},
		{name: "without a minimum one base unit is enough", code: accept, in: input(1),
			edit: func(_ *intent.Definition, in *scoring.Input) { delete(in.State.RawParams, "min_output_amount") },
			want: scoring.Score{Value: "1", Credited: "1", Score: "1"}},
		{name: "a minimum of zero is one base unit", code: accept, in: input(0),
			edit: func(_ *intent.Definition, in *scoring.Input) { in.State.RawParams["min_output_amount"] = "0" },
			want: scoring.Score{Cause: intent.CauseMinOutput, Score: "0"}},
		{name: "a loss is below any minimum", code: accept, in: input(-5),
			want: scoring.Score{Cause: intent.CauseMinOutput, Score: "0"}},
		{name: "the account may be the owner", code: accept, in: input(1),
			edit: func(d *intent.Definition, in *scoring.Input) {
				d.Manifest.Value.Account = "owner"
				in.Outcome.Deltas[0].Amount = big.NewInt(300)
			},
			want: scoring.Score{Value: "300", Credited: "300", Score: "1"}},
		{name: "the token may be ETH", code: accept, in: input(1),
			edit: func(_ *intent.Definition, in *scoring.Input) {
				in.State.RawParams["output_token"] = common.Address{}.Hex()
				in.Outcome.Deltas = append(in.Outcome.Deltas, chain.Delta{Account: receiver, Amount: big.NewInt(400)})
			},
			want: scoring.Score{Value: "400", Credited: "400", Score: "1"}},
		{name: "a failed plan keeps its cause, and the scorer is not asked", code: `exports.score = () => { throw 1 };`, in: input(250),
			edit: func(_ *intent.Definition, in *scoring.Input) {
				in.Outcome.Cause, in.Outcome.Detail = intent.CauseReverted, "interaction 0 reverted"
			},
			want: scoring.Score{Cause: intent.CauseReverted, Score: "0", Reason: "interaction 0 reverted"}},

		{name: "valid false takes the value away", code: `exports.score = () => ({ score: 1, valid: false, reason: "no" });`, in: input(250),
			want: scoring.Score{Cause: intent.CauseScorerVeto, Score: "0", Reason: `"no"`}},
		{name: "a score below the threshold takes it away", code: `exports.score = () => 0.49;`, in: input(250),
			want: scoring.Score{Cause: intent.CauseScorerVeto, Score: "0.49", Reason: "score 0.49 is below the threshold 0.5"}},
		{name: "a score at the threshold does not", code: `exports.score = () => 0.5;`, in: input(250),
			want: scoring.Score{Value: "250", Credited: "250", Score: "0.5"}},
		{name: "NaN takes it away whatever the threshold", code: `exports.score = () => 0 / 0;`, in: input(250),
			edit: func(d *intent.Definition, _ *scoring.Input) { d.Config.ScoreThreshold = "0" },
			want: scoring.Score{Cause: intent.CauseScorerVeto, Score: "0", Reason: `the score is "NaN", not a finite number`}},
		{name: "null takes it away", code: `exports.score = () => null;`, in: input(250),
			want: scoring.Score{Cause: intent.CauseScorerVeto, Score: "0", Reason: "the score is null"}},
		{name: "undefined takes it away", code: `exports.score = () => {};`, in: input(250),
			want: scoring.Score{Cause: intent.CauseScorerVeto, Score: "0", Reason: "the score is null"}},

		{name: "raw_output may lower the value", code: output(`"200"`), in: input(250),
			want: scoring.Score{Value: "200", Credited: "200", Score: "1"}},
		{name: "a BigInt is a decimal string", code: output(`200n`), in: input(250),
			want: scoring.Score{Value: "200", Credited: "200", Score: "1"}},
		{name: "raw_output that repeats the value is no note", code: output(`"250"`), in: input(250),
			want: scoring.Score{Value: "250", Credited: "250", Score: "1"}},
		{name: "raw_output never raises the value", code: output(`"251"`), in: input(250),
			want: scoring.Score{Value: "250", Credited: "250", Score: "1",
				Notes: []string{"metadata.raw_output ignored: above the measured value"}}},
		{name: "malformed raw_output is ignored", code: output(`-1`), in: input(250),
			want: scoring.Score{Value: "250", Credited: "250", Score: "1",
				Notes: []string{"metadata.raw_output ignored: malformed"}}},
		{name: "a note repeats nothing of the scorer's text", code: output(`"my words"`), in: input(250),
			want: scoring.Score{Value: "250", Credited: "250", Score: "1",
				Notes: []string{"metadata.raw_output ignored: malformed"}}},
		{name: "raw_output null is absent", code: output(`null`), in: input(250),
			want: scoring.Score{Value: "250", Credited: "250", Score: "1"}},
		{name: "raw_output 0 takes the value away", code: output(`"0"`), in: input(250),
			want: scoring.Score{Cause: intent.CauseScorerVeto, Score: "1", Reason: "metadata.raw_output is 0"}},

		{name: "the best value caps what is credited", code: accept, in: input(1000),
			edit: func(_ *intent.Definition, in *scoring.Input) { in.Best = "201" }, // 201·1.05 = 211.05
			want: scoring.Score{Value: "1000", Credited: "211", Score: "1", AboveOracle: true}},
		{name: "the cap is 105 %", code: accept, in: input(20_000),
			edit: func(_ *intent.Definition, in *scoring.Input) { in.Best = "10000" },
			want: scoring.Score{Value: "20000", Credited: "10500", Score: "1", AboveOracle: true}},
		{name: "the cap itself is not above it", code: accept, in: input(211),
			edit: func(_ *intent.Definition, in *scoring.Input) { in.Best = "201" },
			want: scoring.Score{Value: "211", Credited: "211", Score: "1"}},
		{name: "the cap applies to the lowered value", code: output(`"150"`), in: input(1000),
			edit: func(_ *intent.Definition, in *scoring.Input) { in.Best = "201" },
			want: scoring.Score{Value: "150", Credited: "150", Score: "1"}},

		{name: "a throw costs the value", code: `exports.score = () => { throw new Error("bad") };`, in: input(250),
			want: scoring.Score{Cause: intent.CauseScorerFailed, Score: "0", Reason: `"Error: bad"`}},
		{name: "a rejection costs the value", code: `exports.score = async () => { throw "bad\x1b[2J" };`, in: input(250),
			want: scoring.Score{Cause: intent.CauseScorerFailed, Score: "0", Reason: `"threw bad\x1b[2J"`}},
		{name: "a promise that never settles costs the value", code: `exports.score = () => new Promise(() => {});`, in: input(250),
			want: scoring.Score{Cause: intent.CauseScorerFailed, Score: "0", Reason: `"the promise never settled"`}},

		{name: "without a declared value the scorer names it", code: output(`2n ** 70n`), in: input(1),
			edit: func(d *intent.Definition, _ *scoring.Input) { d.Manifest = nil },
			want: scoring.Score{Value: "1180591620717411303424", Credited: "1180591620717411303424", Score: "1", ByScorer: true}},
		{name: "a scorer that has to name it and does not has failed", code: `exports.score = () => 0.85;`, in: input(1),
			edit: func(d *intent.Definition, _ *scoring.Input) { d.Manifest = nil },
			want: scoring.Score{Cause: intent.CauseScorerFailed, Score: "0.85", Reason: "metadata.raw_output: absent", ByScorer: true}},
		{name: "a scorer that names zero leaves none", code: output(`"0"`), in: input(1),
			edit: func(d *intent.Definition, _ *scoring.Input) { d.Manifest = nil },
			want: scoring.Score{Cause: intent.CauseScorerVeto, Score: "1", Reason: "metadata.raw_output is 0", ByScorer: true}},
		{name: "the cap applies to the scorer's word", code: output(`"1000"`), in: input(1),
			edit: func(d *intent.Definition, in *scoring.Input) { d.Manifest, in.Best = nil, "10" },
			want: scoring.Score{Value: "1000", Credited: "10", Score: "1", AboveOracle: true, ByScorer: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, in := valued(tt.code), tt.in
			if tt.edit != nil {
				tt.edit(&d, &in)
			}
			got := score(t, load(t, s, d), in)
			opts := cmp.Options{}
			if tt.want.Cause == intent.CauseMinOutput { // named by its own test
				opts = append(opts, cmpopts.IgnoreFields(scoring.Score{}, "Reason"))
			}
			if diff := cmp.Diff(tt.want, got, opts); diff != "" {
				t.Errorf("Score (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTooLittleSaysHowMuch(t *testing.T) {
	got := score(t, load(t, newScorer(t, compiled, patient()), valued(accept)), input(99)).Reason
	if want := receiver.Hex() + " received 99 of token " + token.Hex() + ", the minimum is 100"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
}

// More output never is worth less, and nothing is credited beyond the cap.
func TestValueIsMonotone(t *testing.T) {
	a := load(t, newScorer(t, compiled, patient()), valued(accept))
	credited := func(t *rapid.T, received int64, best string) *big.Int {
		in := input(received)
		in.Best = best
		s, err := a.Score(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		n := new(big.Int)
		if s.Credited != "" {
			n.SetString(s.Credited, 10)
		}
		if (s.Cause == intent.CauseNone) != (n.Sign() > 0) {
			t.Fatalf("cause %q with credited %q", s.Cause, s.Credited)
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Int64Range(-10, 2000).Draw(t, "lo")
		hi := rapid.Int64Range(lo, 2000).Draw(t, "hi")
		best := rapid.Int64Range(1, 1500).Draw(t, "best")
		text := big.NewInt(best).String()
		l, h := credited(t, lo, text), credited(t, hi, text)
		if l.Cmp(h) > 0 {
			t.Errorf("receiving %d credits %s, receiving %d only %s", lo, l, hi, h)
		}
		if limit := big.NewInt(best * 105 / 100); h.Cmp(limit) > 0 {
			t.Errorf("credited %s, limit %s", h, limit)
		}
	})
}

func TestIntentThatDoesNotFitItsAppIsTheAppsFault(t *testing.T) {
	a := load(t, newScorer(t, compiled, patient()), valued(accept))
	for _, tt := range []struct {
		name string
		edit func(*intent.State)
		says string
	}{
		{"no token", func(s *intent.State) { delete(s.RawParams, "output_token") }, "raw_params.output_token"},
		{"a token that is no address", func(s *intent.State) { s.RawParams["output_token"] = "0x12" }, "raw_params.output_token"},
		{"no account", func(s *intent.State) { s.RawParams["receiver"] = nil }, "raw_params.receiver"},
		{"a minimum that is a number", func(s *intent.State) { s.RawParams["min_output_amount"] = 100 }, "raw_params.min_output_amount"},
		{"a negative minimum", func(s *intent.State) { s.RawParams["min_output_amount"] = "-1" }, "raw_params.min_output_amount"},
		{"a state that JSON cannot hold exactly", func(s *intent.State) { s.Nonce = 1<<53 + 1 }, "state"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := input(250)
			tt.edit(&in.State)
			_, err := a.Score(t.Context(), in)
			if !isAppFault(err) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Score: %v, want an app fault about %s", err, tt.says)
			}
		})
	}
}

func TestValidatorsOwnTroubleIsInfra(t *testing.T) {
	a := load(t, newScorer(t, compiled, patient()), valued(accept))
	for _, tt := range []struct {
		name string
		edit func(*scoring.Input)
		says string
	}{
		{"no outcome", func(in *scoring.Input) { in.Outcome = nil }, "no outcome"},
		{"the value was not measured", func(in *scoring.Input) { in.Outcome.Deltas = in.Outcome.Deltas[:1] }, "does not measure token"},
		{"a best value that is no amount", func(in *scoring.Input) { in.Best = "1.5" }, `best value of the intent, "1.5": want a decimal`},
		{"a best value of zero", func(in *scoring.Input) { in.Best = "0" }, "best value of the intent is 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := input(250)
			tt.edit(&in)
			if _, err := a.Score(t.Context(), in); !isInfraFault(err) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Score: %v, want an infra fault that says %q", err, tt.says)
			}
		})
	}
	t.Run("the context ended", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := a.Score(ctx, input(250)); !isInfraFault(err) || !errors.Is(err, context.Canceled) {
			t.Errorf("Score: %v, want an infra fault for a canceled context", err)
		}
	})
}

// A plan with a number that JSON cannot hold exactly is its miner's trouble.
func TestPlanWithoutCanonicalFormIsTheMinersFault(t *testing.T) {
	in := input(250)
	in.Plan.Deadline = 1<<53 + 1
	got := score(t, load(t, newScorer(t, compiled, patient()), valued(accept)), in)
	if got.Cause != intent.CauseScorerFailed || !strings.Contains(got.Reason, "deadline") {
		t.Errorf("Score = %+v", got)
	}
}

func TestMinimum(t *testing.T) {
	in := input(1)
	minimum, err := scoring.Minimum(valued(accept), in.State)
	if err != nil || minimum.Uint64() != 100 {
		t.Errorf("Minimum = %v, %v, want 100", minimum, err)
	}
	if minimum, err = scoring.Minimum(app(accept), in.State); err != nil || minimum != nil {
		t.Errorf("Minimum without a value rule = %v, %v, want none", minimum, err)
	}
	in.State.RawParams["min_output_amount"] = "x"
	if _, err = scoring.Minimum(valued(accept), in.State); !isAppFault(err) {
		t.Errorf("Minimum of x: %v, want an app fault", err)
	}
}
