package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
)

// columns is the width that reports fit into.
const columns = 80

// renderEpoch prints the end summary of an epoch. Everything in it was decided
// and stored before; this only lays it out.
func renderEpoch(w io.Writer, e *benchmark.Epoch) {
	intents := 0
	if len(e.Solvers) > 0 {
		intents = e.Solvers[0].Intents
	}
	fmt.Fprintf(w, "pack         %s, %d intents\n", intent.Quoted(e.PackName, 40), intents)
	fmt.Fprintf(w, "pack_digest  %s\n", e.Pack)
	fmt.Fprintf(w, "rows_digest  %s\n", e.RowsDigest)
	if e.Number > 0 {
		fmt.Fprintf(w, "epoch        %d, stored\n", e.Number)
	}
	for _, d := range e.Dropped {
		fmt.Fprintf(w, "dropped      %s\n", clip(intent.Quoted(d.App, 40)+": "+d.Reason, columns-13))
	}
	for i, s := range e.Solvers {
		fmt.Fprintln(w)
		renderSolver(w, i+1, s)
	}
	renderDecision(w, e)
}

func renderSolver(w io.Writer, place int, s benchmark.Summary) {
	title := "unnamed"
	if s.Name != "" {
		title = s.Name + " " + strings.Trim(s.Version, `"`)
	}
	fmt.Fprintf(w, "%s\n", clip(fmt.Sprintf("%d. %s, miner %s%s", place, title, intent.Quoted(s.Miner, 40), as(s.Role)), columns))
	score := "none"
	if s.Score != "" {
		score = clipScore(s.Score)
	}
	fmt.Fprintf(w, "   score %s   value on %d of %d intents", score, s.Valued, s.Intents)
	if s.Void > 0 {
		fmt.Fprintf(w, ", %d void", s.Void)
	}
	fmt.Fprintln(w)
	renderOfBest(w, s.OfBest)
	wrap(w, "   ", "  ", []string{
		"gas " + thousands(s.GasUsed), fuel(s.Fuel), "memory " + size(uint64(s.PeakPages)<<16),
		"host calls " + thousands(s.HostCalls), "reads " + thousands(s.Reads),
	})
	if !s.Adoptable {
		for _, line := range fold("not adoptable: "+s.NotAdoptable, columns-3) {
			fmt.Fprintf(w, "   %s\n", line)
		}
	}
	for i, line := range fold(stateLine(s), columns-10) {
		lead := "   state  "
		if i > 0 {
			lead = "          "
		}
		fmt.Fprintf(w, "%s%s\n", lead, line)
	}
	if len(s.Failures) > 0 {
		parts := make([]string, len(s.Failures))
		for i, f := range s.Failures {
			parts[i] = fmt.Sprintf("%s %d", f.Cause, f.Rows)
		}
		wrap(w, "   no value: ", ",", parts)
	}
	for i, row := range s.Worst {
		lead := "          "
		if i == 0 {
			lead = "   worst  "
		}
		why := "score " + clipScore(row.Score)
		if row.Cause != intent.CauseNone {
			why = string(row.Cause)
		}
		fmt.Fprintf(w, "%s%s  %s\n", lead, row.IntentID, why)
		for _, line := range fold(row.Reason, columns-len(lead)-2) {
			fmt.Fprintf(w, "%*s%s\n", len(lead)+2, "", line)
		}
	}
}

// sharesShown is how many shares of the best the summary shows; the document of
// --output json has all of them.
const sharesShown = 128

// renderOfBest prints what every plan is worth as a share of the pack's best, in
// the order of the intents' ids.
func renderOfBest(w io.Writer, o benchmark.OfBest) {
	if o.Mean == "" {
		return
	}
	fmt.Fprintf(w, "   of best  %s %% on average, by intent in %% (- has no best):\n", clip(percent(o.Mean), 16))
	var parts []string
	for _, s := range o.Shares[:min(sharesShown, len(o.Shares))] {
		if s == "" {
			parts = append(parts, "-")
			continue
		}
		parts = append(parts, clip(percent(s), 16))
	}
	if more := len(o.Shares) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	wrap(w, "            ", "", parts)
}

// percent shows a share as hundredths with at most two digits after the point,
// rounded down: only what reaches the best is 100.
func percent(share string) string {
	whole, frac, _ := strings.Cut(share, ".")
	frac += "0000"
	hundredths := strings.TrimLeft(whole+frac[:2], "0")
	if hundredths == "" {
		hundredths = "0"
	}
	return clipScore(hundredths + "." + frac[2:4])
}

// reasonLines is how many lines of a reason or note the summary shows; the document of
// --output json has all of it.
const reasonLines = 2

// cells measures text as terminals do: some characters are two columns wide. It
// asks no environment.
var cells = &runewidth.Condition{StrictEmojiNeutral: true}

// fold cuts s into at most [reasonLines] lines of width columns, after a space where one is
// near, and marks what is left out.
func fold(s string, width int) []string {
	var lines []string
	for cells.StringWidth(s) > width {
		if len(lines) == reasonLines-1 {
			return append(lines, clip(s, width))
		}
		line := cells.Truncate(s, width+1, "")
		if cells.StringWidth(line) > width && !strings.HasSuffix(line, " ") {
			line = cells.Truncate(s, width, "")
		}
		if i := strings.LastIndexByte(line, ' '); i > len(line)/2 {
			line = line[:i]
		}
		lines = append(lines, line)
		s = strings.TrimPrefix(s[len(line):], " ")
	}
	if s == "" {
		return lines
	}
	return append(lines, s)
}

func stateLine(s benchmark.Summary) string {
	line := "nothing stored"
	if s.StateIn > 0 {
		line = "restored " + size(uint64(s.StateIn))
	}
	switch s.StateNote {
	case "":
		return line
	case benchmark.NoteSaved:
		return line + ", saved " + size(uint64(s.StateOut))
	}
	return line + ", " + s.StateNote
}

// wrap prints parts under a lead, each but the last with a mark behind it,
// broken before [columns].
func wrap(w io.Writer, lead, mark string, parts []string) {
	indent := strings.Repeat(" ", len(lead))
	line := lead
	for i, p := range parts {
		if i < len(parts)-1 {
			p += mark
		}
		if len(line) > len(lead) && len(line)+1+len(p) > columns {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			line = indent
		}
		if len(line) > len(lead) {
			line += " "
		}
		line += p
	}
	fmt.Fprintln(w, line)
}

// clip cuts s to n columns and marks the cut.
func clip(s string, n int) string { return cells.Truncate(s, n, "…") }

// clipScore shows a decimal with at most six digits after the point; the
// document of --output json has all of them.
func clipScore(s string) string {
	if s == "" {
		return "0"
	}
	whole, frac, _ := strings.Cut(s, ".")
	if len(frac) > 6 {
		frac = frac[:6]
	}
	if frac = strings.TrimRight(frac, "0"); frac == "" {
		return whole
	}
	return whole + "." + frac
}

func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// fuel shows fuel with its unit.
func fuel(n uint64) string {
	for _, u := range []struct {
		name string
		unit uint64
	}{{"Gfuel", 1e9}, {"Mfuel", 1e6}, {"kfuel", 1e3}} {
		if n >= u.unit {
			return fmt.Sprintf("%d.%d %s", n/u.unit, n%u.unit*10/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%d fuel", n)
}

// size shows bytes in the unit that leaves the fewest digits.
func size(n uint64) string {
	for _, u := range []struct {
		name string
		unit uint64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.unit {
			return fmt.Sprintf("%d.%d %s", n/u.unit, n%u.unit*10/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
