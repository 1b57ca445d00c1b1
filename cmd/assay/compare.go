package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

type compareOptions struct {
	champion   string
	challenger string
	output     outputFormat
}

func newCompare(s streams) *cobra.Command {
	o := &compareOptions{}
	cmd := &cobra.Command{
		Use:   "compare A.json B.json",
		Short: "Say order by order whether one solver would replace another",
		Long: `Reads two results of bench --output json over the same pack. The solver of the
first is taken as champion, that of the second as challenger; name the miner where
a result has several solvers. Prints who delivered what on every order, and what
the adoption rule says. Both files may be the same.

A result does not hold the modules: whether the second is a copy of the first, of
which the rule asks more, only bench --champion can tell.
` + exitStatus,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return &hinted{usagef("compare takes two results, got %d arguments", len(args)), "bench --output json writes them"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return o.run(s, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.champion, "champion", "", "miner of the first (default: its only one)")
	f.StringVar(&o.challenger, "challenger", "", "miner of the second (default: its only one)")
	o.output.register(cmd)
	return cmd
}

// A comparison is the document of compare.
type comparison struct {
	Schema     int               `json:"schema"`
	Pack       string            `json:"pack"`
	PackName   string            `json:"pack_name"`
	Champion   benchmark.Summary `json:"champion"`
	Challenger benchmark.Summary `json:"challenger"`
	scoring.Adoption
}

func (o *compareOptions) run(s streams, pathA, pathB string) error {
	a, err := readResult(pathA)
	if err != nil {
		return err
	}
	b, err := readResult(pathB)
	if err != nil {
		return err
	}
	if a.Pack != b.Pack {
		return &hinted{
			usagef("the first ran pack %s, the second %s: amounts and blocks differ", intent.Quoted(a.Pack, 64), intent.Quoted(b.Pack, 64)),
			"run both over one pack, or in one bench with --champion",
		}
	}
	champion, err := pick(a, pathA, "champion", o.champion)
	if err != nil {
		return err
	}
	challenger, err := pick(b, pathB, "challenger", o.challenger)
	if err != nil {
		return err
	}
	first, second := *champion, *challenger
	first.Role, second.Role = benchmark.RoleChampion, benchmark.RoleCandidate
	d, err := benchmark.Decide([]*benchmark.Session{&first, &second}, nil)
	if err != nil {
		return &intent.UsageFault{Err: err}
	}
	c := comparison{
		Schema: benchmark.RowSchema, Pack: a.Pack, PackName: a.PackName,
		Champion: summaryOf(a, champion), Challenger: summaryOf(b, challenger), Adoption: d.Challengers[0].Adoption,
	}
	if o.output == outputJSON {
		if err := writeJSON(s.out, c); err != nil {
			return err
		}
	} else {
		renderComparison(s.out, c)
	}
	if !c.Adopt {
		return errThreshold
	}
	return nil
}

// maxResultBytes bounds a result that is read: 256 solvers on hundreds of intents.
const maxResultBytes = 256 << 20

func readResult(path string) (e *benchmark.Epoch, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("%w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err := io.ReadAll(io.LimitReader(f, maxResultBytes+1))
	if err != nil {
		return nil, usagef("%w", err)
	}
	if len(b) > maxResultBytes {
		return nil, usagef("%s is larger than %s", intent.Quoted(path, 200), size(maxResultBytes))
	}
	if e, err = benchmark.DecodeEpoch(b); err != nil {
		return nil, fmt.Errorf("%s: %w", intent.Quoted(path, 200), err)
	}
	return e, nil
}

// pick finds the solver of a result that is meant.
func pick(e *benchmark.Epoch, path, flag, miner string) (*benchmark.Session, error) {
	var found []*benchmark.Session
	var miners []string
	for _, s := range e.Sessions {
		miners = append(miners, intent.Quoted(s.Miner, 40))
		if miner == "" || s.Miner == miner {
			found = append(found, s)
		}
	}
	slices.Sort(miners)
	of := intent.Quoted(path, 200)
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(e.Sessions) == 0:
		return nil, usagef("%s has no solver", of)
	case len(found) == 0:
		return nil, usagef("%s has no solver of miner %s, but of %s", of, intent.Quoted(miner, 40), strings.Join(miners, ", "))
	case miner == "":
		return nil, &hinted{usagef("%s has %d solvers", of, len(found)), fmt.Sprintf("say which with --%s, of %s", flag, strings.Join(miners, ", "))}
	}
	return nil, usagef("%s has %d solvers of miner %s", of, len(found), intent.Quoted(miner, 40))
}

func summaryOf(e *benchmark.Epoch, s *benchmark.Session) benchmark.Summary {
	i := slices.IndexFunc(e.Solvers, func(sum benchmark.Summary) bool { return sum.Session == s.ID })
	if i < 0 {
		return benchmark.Summary{Session: s.ID, Miner: s.Miner, Role: s.Role, Module: s.Module, Name: s.Name, Version: s.Version}
	}
	return e.Solvers[i]
}
