package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/scoring"
)

// as says what a solver ran for, if not to be adopted.
func as(r benchmark.Role) string {
	if r == benchmark.RoleCandidate {
		return ""
	}
	return ", " + string(r)
}

// renderDecision prints who is champion after an epoch that had one.
func renderDecision(w io.Writer, e *benchmark.Epoch) {
	d := e.Decision
	if d == nil || d.Champion == "" {
		return
	}
	name := func(session string) string {
		i := slices.IndexFunc(e.Sessions, func(s *benchmark.Session) bool { return s.ID == session })
		if i < 0 {
			return "nobody"
		}
		return intent.Quoted(e.Sessions[i].Miner, 40)
	}
	what := name(d.Champion) + " stays"
	if d.Adopted != "" {
		what = name(d.Adopted) + " replaces " + name(d.Champion)
	}
	fmt.Fprintf(w, "\nchampion  %s\n", clip(what, columns-10))
	for _, line := range fold(d.Reason, columns-10) {
		fmt.Fprintf(w, "          %s\n", line)
	}
	for _, c := range d.Challengers {
		fmt.Fprintln(w)
		fmt.Fprintf(w, "challenger  %s\n", clip(intent.Quoted(c.Miner, 40), columns-12))
		renderVerdict(w, "            ", c.Adoption, true)
	}
}

// renderVerdict prints what the adoption rule says of one challenger.
func renderVerdict(w io.Writer, indent string, a scoring.Adoption, shared bool) {
	for _, line := range fold(a.Reason, columns-len(indent)) {
		fmt.Fprintf(w, "%s%s\n", indent, line)
	}
	parts := []string{
		fmt.Sprintf("wins %d", a.Wins), fmt.Sprintf("covers %d", a.Covers), fmt.Sprintf("matched %d", a.Matched),
		fmt.Sprintf("regressions %d", a.Regressions), fmt.Sprintf("repeats %d", a.Repeats), fmt.Sprintf("dropped %d", a.Dropped),
		fmt.Sprintf("cut %d", a.Catastrophic), fmt.Sprintf("value_bps %d", a.ValueBPS),
	}
	if shared {
		parts = append(parts, fmt.Sprintf("functions shared %d.%02d%%", a.Share/100, a.Share%100))
	}
	wrap(w, indent, "  ", parts)
}

// renderComparison prints who delivered what on every order, and what follows.
func renderComparison(w io.Writer, c comparison) {
	fmt.Fprintf(w, "pack         %s, %d orders\n", intent.Quoted(c.PackName, 40), len(c.Orders))
	fmt.Fprintf(w, "pack_digest  %s\n", c.Pack)
	fmt.Fprintf(w, "champion     %s\n", solverLine(c.Champion))
	fmt.Fprintf(w, "challenger   %s\n\n", solverLine(c.Challenger))
	for _, o := range c.Orders {
		class := string(o.Class)
		if o.Catastrophic {
			class += ", cut"
		}
		parts := []string{class}
		if o.Class != scoring.ClassNone {
			parts = append(parts, value(o.Champion)+" -> "+value(o.Challenger))
		}
		if o.BPS != "" {
			parts = append(parts, signed(o.BPS)+" bps", "gas "+thousands(o.ChampionGas)+" -> "+thousands(o.ChallengerGas))
		}
		wrap(w, o.IntentID+"  ", "  ", parts)
	}
	fmt.Fprintln(w)
	verdict := "the champion stays"
	if c.Adopt {
		verdict = "the challenger replaces the champion"
	}
	fmt.Fprintf(w, "verdict      %s\n", verdict)
	renderVerdict(w, "             ", c.Adoption, false)
}

func solverLine(s benchmark.Summary) string {
	title := "unnamed"
	if s.Name != "" {
		title = s.Name + " " + strings.Trim(s.Version, `"`)
	}
	return clip(fmt.Sprintf("%s, miner %s, value on %d of %d", title, intent.Quoted(s.Miner, 40), s.Valued, s.Intents), columns-13)
}

func value(s string) string {
	if s == "" {
		return "nothing"
	}
	return clip(s, 40)
}

func signed(bps string) string {
	if strings.HasPrefix(bps, "-") || bps == "0" {
		return clip(bps, 24)
	}
	return "+" + clip(bps, 24)
}
