package benchmark_test

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// A flame is a function with the time of everything that it called, in a flame
// graph: a picture of one epoch, drawn where ASSAY_FLAME names a file for it.
type flame struct {
	time  time.Duration
	place place // of most of it
	by    shares
	calls map[string]*flame
}

// writeFlame draws a profile as one SVG without a script: the outermost function
// on top, its width the time, its colour the place, its whole name a tooltip.
func writeFlame(t testing.TB, path string, p *profile.Profile) {
	t.Helper()
	root := &flame{calls: map[string]*flame{}}
	for _, s := range p.Sample {
		stack, d := stackOf(s), time.Duration(s.Value[1])
		at, where := root, placeOf(stack)
		at.add(d, where)
		for _, name := range outermostFirst(stack) {
			next := at.calls[name]
			if next == nil {
				next = &flame{calls: map[string]*flame{}}
				at.calls[name] = next
			}
			at = next
			at.add(d, where)
		}
	}
	var b bytes.Buffer
	body, depth := new(bytes.Buffer), 0
	root.draw(body, "an epoch: 8 solvers, 40 intents", 0, 0, root.time, &depth)
	const legend = 24
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="monospace" font-size="11">`+"\n",
		flameWidth, (depth+1)*flameRow+legend)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n")
	for p := range places {
		x := 4 + int(p)*flameWidth/int(places)
		fmt.Fprintf(&b, `<rect x="%d" y="4" width="12" height="12" fill="%s"/><text x="%d" y="14">%s %.1f%%</text>`+"\n",
			x, colours[p], x+16, p, 100*float64(root.by[p])/float64(root.time))
	}
	fmt.Fprintf(&b, `<g transform="translate(0,%d)">`+"\n%s</g>\n</svg>\n", legend, body)
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	flameWidth = 1200
	flameRow   = 16
	flameLeast = 250 // what is less than one part of so many is not drawn
)

var colours = [places]string{"#9ecae1", "#6baed6", "#a1d99b", "#fdd0a2", "#fc9272", "#d9d9d9"}

func (f *flame) add(d time.Duration, p place) {
	f.time += d
	f.by[p] += d
	for p := range places {
		if f.by[p] > f.by[f.place] {
			f.place = p
		}
	}
}

func (f *flame) draw(b *bytes.Buffer, name string, x time.Duration, row int, total time.Duration, depth *int) {
	if f.time*flameLeast < total {
		return
	}
	*depth = max(*depth, row)
	scale := func(d time.Duration) float64 { return float64(d) * flameWidth / float64(total) }
	share := 100 * float64(f.time) / float64(total)
	fmt.Fprintf(b, `<g><title>%s: %.1f%%</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" stroke="#fff" stroke-width=".5"/>`,
		html.EscapeString(name), share, scale(x), row*flameRow, scale(f.time), flameRow, colours[f.place])
	const letter = 6.7 // pixels
	if room := int((scale(f.time) - 4) / letter); room >= 4 {
		text := name[strings.LastIndexByte(name, '/')+1:]
		if len(text) > room {
			text = text[:room-1] + "…"
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%d">%s</text>`, scale(x)+2, row*flameRow+12, html.EscapeString(text))
	}
	b.WriteString("</g>\n")
	for _, name := range slices.Sorted(maps.Keys(f.calls)) {
		f.calls[name].draw(b, name, x, row+1, total, depth)
		x += f.calls[name].time
	}
}

// outermostFirst turns a stack around, leaves out the test that ran it and what
// the Go runtime is made of, and shows a function that calls itself once.
func outermostFirst(stack []string) (out []string) {
	if slices.ContainsFunc(stack, func(f string) bool { return f == "" || f == "runtime._ExternalCode" }) {
		return []string{"compiled code of solvers and scorers"}
	}
	seen := map[string]bool{}
	for _, f := range slices.Backward(stack) {
		f = strings.TrimPrefix(strings.TrimPrefix(f, "github.com/subnet112/assay/"), "github.com/")
		if seen[f] || strings.HasPrefix(f, "testing.") || strings.HasPrefix(f, "benchmark_test.") ||
			strings.HasPrefix(f, "golang.org/x/sync/errgroup.") || strings.HasPrefix(f, "runtime.") && len(out) > 0 {
			continue
		}
		seen[f] = true
		out = append(out, f)
	}
	return out
}

// Every sample has its place, and the first frame that tells decides: the EVM
// before the guest whose read it runs, the host before the guest that called it.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const (
		call = "github.com/tetratelabs/wazero/internal/engine/wazevo.(*callEngine).callWithStack"
		ours = "github.com/subnet112/assay/"
		evm  = "github.com/ethereum/go-ethereum/core/vm.(*EVM).Call"
	)
	for _, tt := range []struct {
		name  string
		stack []string // innermost first
		want  place
	}{
		{"compiled code", []string{"", "runtime._ExternalCode"}, inGuest},
		{"what wazero does for a guest", []string{"runtime.memmove", call, ours + "sandbox.(*Instance).Call"}, inGuest},
		{"a function that a guest imports", []string{"runtime.mallocgc", ours + "sandbox.(*host).write", call, ours + "sandbox.(*Instance).Call"}, inHost},
		{"a read that runs the EVM", []string{"runtime.mallocgc", evm, ours + "chain.(*View).Serve", call, ours + "harness.(*Solver).Run"}, inEVM},
		{"a plan", []string{evm, "github.com/ethereum/go-ethereum/core.ApplyMessage", ours + "chain.(*Funded).Execute"}, inEVM},
		{"around a plan", []string{"runtime.mapassign", ours + "chain.(*run).measureAfter"}, inHost},
		{"a scorer's input", []string{ours + "intent.Canonical", ours + "scoring.(*App).request", ours + "scoring.(*App).ask"}, inScorer},
		{"a scorer's read", []string{evm, ours + "chain.(*View).Serve", call, ours + "scoring.(*App).ask"}, inEVM},
		{"admission", []string{ours + "sandbox/meter.Rewrite", ours + "harness.Compile", ours + "benchmark.RunEpoch"}, inAdmission},
		{"the store", []string{"go.etcd.io/bbolt.(*Tx).Commit", ours + "benchmark.(*Store).commit"}, inHost},
		{"the collector", []string{"runtime.gcDrain", "runtime.gcBgMarkWorker"}, inRuntime},
	} {
		if got := placeOf(tt.stack); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
