package scoring_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/subnet112/assay/scoring"
)

// vector is one case of testdata/adoption.json. A null value is none; gas is that of
// the champion and of the challenger.
type vector struct {
	ID         string               `json:"id"`
	Champion   map[string]*string   `json:"champion"`
	Challenger map[string]*string   `json:"challenger"`
	Gas        map[string][2]string `json:"gas"`
	Bar        map[string]*string   `json:"bar"`
	BarAge     int64                `json:"bar_age_s"`
	Expect     map[string]any       `json:"expect"`
}

func (v vector) orders(t *testing.T, values map[string]*string, side int) []scoring.Order {
	t.Helper()
	var out []scoring.Order
	for id, value := range values {
		o := scoring.Order{IntentID: id}
		if value != nil {
			o.Value = *value
		}
		if gas, ok := v.Gas[id]; ok {
			if _, err := fmt.Sscan(gas[side], &o.Gas); err != nil {
				t.Fatal(err)
			}
			o.Measured = true
		}
		out = append(out, o)
	}
	return out
}

func adopt(t testing.TB, m scoring.Match) scoring.Adoption {
	t.Helper()
	a, err := scoring.Adopt(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAdoptVectors(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/adoption.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(b, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 21 {
		t.Fatalf("%d vectors, want 21 or more", len(vectors))
	}
	for _, v := range vectors {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			m := scoring.Match{Champion: v.orders(t, v.Champion, 0), Challenger: v.orders(t, v.Challenger, 1)}
			if v.Bar != nil {
				m.Bars = []scoring.Bar{{Orders: v.orders(t, v.Bar, 0), Age: time.Duration(v.BarAge) * time.Second}}
			}
			got := document(t, adopt(t, m))
			for field, want := range v.Expect {
				if got[field] != want {
					t.Errorf("%s = %v, want %v (%v)", field, got[field], want, got["reason"])
				}
			}
		})
	}
}

// document is what stands in a report.
func document(t testing.TB, a scoring.Adoption) map[string]any {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// pack makes orders of values, "" for none.
func pack(values ...string) []scoring.Order {
	var out []scoring.Order
	for i, v := range values {
		out = append(out, scoring.Order{IntentID: fmt.Sprintf("o%02d", i), Value: v})
	}
	return out
}

// burning gives each order its gas; -1 is gas that was not measured.
func burning(orders []scoring.Order, gas ...int64) []scoring.Order {
	for i, g := range gas {
		if g >= 0 {
			orders[i].Gas, orders[i].Measured = uint64(g), true
		}
	}
	return orders
}

func many(n int, value string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = value
	}
	return out
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule   string
		match  scoring.Match
		via    string
		reason string
	}{
		{
			"the first that serves anything is champion",
			scoring.Match{Vacant: true, Challenger: pack("", "7")},
			scoring.ViaVacancy, "adopt: no champion, value on 1 order(s)",
		},
		{
			"whoever serves nothing is not",
			scoring.Match{Vacant: true, Challenger: pack("", "0")},
			"", "matched: no order better or worse",
		},
		{
			"a cut beyond the floor vetoes any number of wins",
			scoring.Match{Champion: pack("1000", "1000", "1000"), Challenger: pack("2000", "2000", "989")},
			"", "reject: 1 order(s) cut >1% (hard floor)",
		},
		{
			"the floor is of the best of the champion and the dethroned",
			scoring.Match{
				Champion: pack("1000", "1000", "1000"), Challenger: pack("2000", "2000", "999"),
				Bars: []scoring.Bar{{Orders: pack("", "", "1005")}, {Orders: pack("", "", "1010")}},
			},
			"", "reject: 1 order(s) cut >1% (hard floor)",
		},
		{
			"who is as good as the champion owes the dethroned nothing",
			scoring.Match{
				Champion: pack("1000", "1000"), Challenger: pack("1002", "1000"),
				Bars: []scoring.Bar{{Orders: pack("", "2000")}},
			},
			scoring.ViaPerformance, "dethrone: 1 better, 0 minor regression(s) within 1% floor (net +1)",
		},
		{
			"an order the champion serves must be served",
			scoring.Match{Champion: pack("10", "10"), Challenger: pack("20", "")},
			"", "reject: dropped 1 order(s) the champion serves",
		},
		{
			"an order missing from the challenger's rows is dropped",
			scoring.Match{Champion: pack("10", "10"), Challenger: pack("20")},
			"", "reject: dropped 1 order(s) the champion serves",
		},
		{
			"as many wins as regressions are not enough",
			scoring.Match{Champion: pack("1000", "1000"), Challenger: pack("2000", "995")},
			"", "reject: net better 1 <= regressions 1 + margin 1",
		},
		{
			"eleven wins of 0.11 % do not pay for ten cuts of 1 %",
			scoring.Match{
				Champion:   pack(many(21, "10000")...),
				Challenger: pack(append(many(11, "10011"), many(10, "9900")...)...),
			},
			"", "reject: value falls (value_bps -42)", // (11·11 − 10·100)/21
		},
		{
			"one huge win pays for 5 % at most",
			scoring.Match{
				Champion:   pack(append([]string{"1"}, many(8, "10000")...)...),
				Challenger: pack(append([]string{"1000000"}, append(many(4, "10011"), many(4, "9900")...)...)...),
			},
			scoring.ViaPerformance, "dethrone: 5 better, 4 minor regression(s) within 1% floor (net +1)", // 500 + 4·11 − 4·100 > 0
		},
		{
			"a copy needs two wins",
			scoring.Match{Champion: pack("1000", "1000"), Challenger: pack("2000", "1000"), Share: 9000},
			"", "reject: 90.00% of its functions are the champion's: 1 better, value_bps 250, a copy needs 2 and 10",
		},
		{
			"and has to be worth it on the mean",
			scoring.Match{
				Champion: pack(many(3, "10000")...), Challenger: pack("10011", "10011", "10000"), Share: 10000,
			},
			"", "reject: 100.00% of its functions are the champion's: 2 better, value_bps 7, a copy needs 2 and 10",
		},
		{
			"then it may",
			scoring.Match{Champion: pack("1000", "1000"), Challenger: pack("2000", "1002"), Share: 10000},
			scoring.ViaPerformance, "dethrone: 2 better, 0 minor regression(s) within 1% floor (net +2)",
		},
		{
			"less than nine parts in ten are no copy",
			scoring.Match{Champion: pack("1000", "1000"), Challenger: pack("2000", "1000"), Share: 8999},
			scoring.ViaPerformance, "dethrone: 1 better, 0 minor regression(s) within 1% floor (net +1)",
		},
		{
			"gas decides a full tie",
			scoring.Match{
				Champion:   burning(pack("10000", "10000", ""), 100_000, 100_000, 0),
				Challenger: burning(pack("10000", "9998", ""), 102_000, 90_000, 0),
			},
			scoring.ViaGas, "dethrone: matched on all 2 order(s), materially cheaper (gas 192000 vs 200000, -400 bps >= margin 200)",
		},
		{
			"two parts in a hundred less gas are not enough",
			scoring.Match{Champion: burning(pack("10000"), 100_000), Challenger: burning(pack("10000"), 98_000)},
			"", "matched: no order better or worse",
		},
		{
			"no order may burn over 2 % more",
			scoring.Match{
				Champion:   burning(pack("10000", "10000"), 100_000, 100_000),
				Challenger: burning(pack("10000", "10000"), 102_001, 80_000),
			},
			"", "matched: no order better or worse",
		},
		{
			"no order may give over 2 bps less where gas decides",
			scoring.Match{
				Champion:   burning(pack("10000", "10000"), 100_000, 100_000),
				Challenger: burning(pack("9997", "10000"), 90_000, 90_000),
			},
			"", "matched: no order better or worse",
		},
		{
			"gas that was not measured decides nothing",
			scoring.Match{
				Champion:   burning(pack("10000", "10000"), 100_000, 100_000),
				Challenger: burning(pack("10000", "10000"), 90_000, -1),
			},
			"", "matched: no order better or worse",
		},
		{
			"no plan burns nothing, which is measured",
			scoring.Match{
				Champion:   burning(pack("10000", "1"), 100_000, 0),
				Challenger: burning(pack("10000", "1"), 90_000, 0),
			},
			scoring.ViaGas, "dethrone: matched on all 2 order(s), materially cheaper (gas 90000 vs 100000, -1000 bps >= margin 200)",
		},
		{
			"half the gas is believed",
			scoring.Match{Champion: burning(pack("10000"), 100_000), Challenger: burning(pack("10000"), 50_000)},
			scoring.ViaGas, "dethrone: matched on all 1 order(s), materially cheaper (gas 50000 vs 100000, -5000 bps >= margin 200)",
		},
		{
			"less than half is not",
			scoring.Match{Champion: burning(pack("10000"), 100_000), Challenger: burning(pack("10000"), 49_999)},
			"", "matched: no order better or worse",
		},
		{
			"a copy that burns less stays a copy",
			scoring.Match{Champion: burning(pack("10000"), 100_000), Challenger: burning(pack("10000"), 90_000), Share: 9000},
			"", "reject: 90.00% of its functions are the champion's: 0 better, value_bps 0, a copy needs 2 and 10",
		},
		{
			"repeats alone do not let gas decide",
			scoring.Match{
				Champion: burning(pack(""), 100_000), Challenger: burning(pack("10"), 1_000),
				Bars: []scoring.Bar{{Orders: pack("10")}},
			},
			"", "matched: no order better or worse",
		},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			got := adopt(t, tt.match)
			if got.Adopt != (tt.via != "") || got.Via != tt.via || got.Reason != tt.reason {
				t.Errorf("adopt %v via %q: %s\nwant via %q: %s", got.Adopt, got.Via, got.Reason, tt.via, tt.reason)
			}
		})
	}
}

// What is no positive integer is no value.
func TestAdoptReadsValues(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "0", "00", "-1", "+1", "1.0", "1e3", " 1", "0x1", "true", "null", "１"} {
		if got := adopt(t, scoring.Match{Champion: pack("1"), Challenger: pack(value)}); got.Dropped != 1 {
			t.Errorf("%q counts as a value", value)
		}
	}
}

func TestAdoptRefusesDuplicates(t *testing.T) {
	t.Parallel()
	twice := append(pack("1"), pack("2")...)
	for side, m := range map[string]scoring.Match{
		"champion":   {Champion: twice, Challenger: pack("1")},
		"challenger": {Champion: pack("1"), Challenger: twice},
		"bar":        {Champion: pack("1"), Challenger: pack("1"), Bars: []scoring.Bar{{Orders: twice}}},
	} {
		if _, err := scoring.Adopt(m); !errors.Is(err, scoring.ErrTwice) {
			t.Errorf("%s: %v, want %v", side, err, scoring.ErrTwice)
		}
	}
}

func TestWinner(t *testing.T) {
	t.Parallel()
	champion := pack("1000", "1000", "1000")
	judge := func(fuel uint64, module string, values ...string) scoring.Contender {
		return scoring.Contender{Adoption: adopt(t, scoring.Match{Champion: champion, Challenger: pack(values...)}), Fuel: fuel, Module: module}
	}
	for _, tt := range []struct {
		rule string
		all  []scoring.Contender
		want int
	}{
		{"none passes", []scoring.Contender{judge(1, "a", "1000", "1000", "1000"), judge(1, "b", "1", "1", "1")}, -1},
		{"the most orders", []scoring.Contender{judge(1, "a", "2000", "1000", "1000"), judge(9, "b", "1002", "1002", "1000")}, 1},
		{"then the most value", []scoring.Contender{judge(1, "a", "1010", "1000", "1000"), judge(9, "b", "1010", "1001", "1000")}, 1},
		{"of which 5 % an order count", []scoring.Contender{judge(1, "a", "1050", "1000", "1000"), judge(9, "b", "9999", "1000", "1000")}, 0},
		{"then the least fuel", []scoring.Contender{judge(9, "a", "1010", "1000", "1000"), judge(1, "b", "1010", "1000", "1000")}, 1},
		{"then the lower hash", []scoring.Contender{judge(1, "b", "1010", "1000", "1000"), judge(1, "a", "1010", "1000", "1000")}, 1},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			if got := scoring.Winner(tt.all); got != tt.want {
				t.Errorf("Winner() = %d, want %d", got, tt.want)
			}
		})
	}
}

// The vectors here are the specification's.
func TestAdoptVectorsAreTheSpecifications(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../../shared/vectors/adoption.json")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the specification does not lie beside this checkout")
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("testdata/adoption.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("testdata/adoption.json is not the specification's")
	}
}
