package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
)

// renderRows prints every row of an epoch, solver by solver, with what its
// intent asks for.
func renderRows(w io.Writer, e *benchmark.Epoch, p *benchmark.Pack) {
	cases := map[string]benchmark.Case{}
	for _, c := range p.Cases {
		cases[c.ID] = c
	}
	sessions := map[string]*benchmark.Session{}
	for _, s := range e.Sessions {
		sessions[s.ID] = s
	}
	for _, solver := range e.Solvers {
		fmt.Fprintf(w, "\nrows of %s\n", intent.Quoted(solver.Miner, 40))
		for _, r := range sessions[solver.Session].Records {
			renderRow(w, r, cases[r.Row.IntentID])
		}
	}
}

func renderRow(w io.Writer, r benchmark.Record, c benchmark.Case) {
	outcome := "value " + r.Row.Value
	if r.Row.Cause != intent.CauseNone {
		outcome = string(r.Row.Cause)
	}
	wrap(w, "   "+r.Row.IntentID+"  ", "  ", []string{
		outcome, "score " + clipScore(r.Row.Score), "gas " + thousands(r.Row.GasUsed), fmt.Sprintf("nonce %d", c.State.Nonce),
	})
	for _, line := range fold(r.Detail, columns-5) {
		fmt.Fprintf(w, "     %s\n", line)
	}
	for _, name := range slices.Sorted(maps.Keys(c.State.RawParams)) {
		fmt.Fprintf(w, "     %s\n", clip(printable(fmt.Sprintf("%-18s %v", name, c.State.RawParams[name])), columns-5))
	}
}

// renderLogs prints what every solver logged, a quoted line for each of its.
func renderLogs(w io.Writer, e *benchmark.Epoch) {
	for _, s := range e.Sessions {
		for line := range strings.Lines(s.Log) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				fmt.Fprintf(w, "assay: log of %s: %s\n", intent.Quoted(s.Miner, 40), intent.Quoted(line, 4096))
			}
		}
	}
}
