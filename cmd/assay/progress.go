package main

import (
	"fmt"
	"io"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
)

// A progress tells how an epoch goes: one bar on a terminal, with what there is
// to say under it at the end, and plain lines as they come elsewhere.
type progress struct {
	out     io.Writer
	bars    *mpb.Progress // nil: plain lines
	bar     *mpb.Bar
	later   []string // lines kept while there is a bar
	intents int
	done    map[string]int // rows by miner: a second attempt starts again at 1
}

func newProgress(s streams, entrants []benchmark.Entrant, intents int) *progress {
	p := &progress{out: s.err, intents: intents, done: map[string]int{}}
	if s.terminal {
		p.bars = mpb.New(mpb.WithOutput(s.err), mpb.WithWidth(40))
		p.bar = p.bars.AddBar(int64(len(entrants)*intents),
			mpb.PrependDecorators(decor.Name("intents "), decor.CountersNoUnit("%d/%d ")),
			mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO)),
			mpb.BarRemoveOnComplete())
	}
	return p
}

func (p *progress) hooks() benchmark.Progress {
	return benchmark.Progress{Admitted: p.admitted, Row: p.row, Ended: p.ended}
}

func (p *progress) admitted(e benchmark.Entrant, refused string) {
	if refused != "" {
		p.say("%s: refused: %s", intent.Quoted(e.Miner, 60), refused)
	}
}

// row also tells of what a clock ended: the one thing that may not repeat.
func (p *progress) row(e benchmark.Entrant, done, _ int, r benchmark.Record) {
	p.advance(e.Miner, done)
	if r.Row.Cause == intent.CauseStalled {
		p.say("%s: intent %s: stalled", intent.Quoted(e.Miner, 60), r.Row.IntentID)
	}
}

func (p *progress) ended(e benchmark.Entrant, s *benchmark.Session) {
	p.advance(e.Miner, p.intents)
	valued := 0
	for _, r := range s.Records {
		if r.Row.Cause == intent.CauseNone {
			valued++
		}
	}
	p.say("%s: value on %d of %d intents", intent.Quoted(e.Miner, 60), valued, len(s.Records))
	if s.Fault != "" {
		p.say("%s: the validator's own fault: %s", intent.Quoted(e.Miner, 60), s.Fault)
	}
}

func (p *progress) advance(miner string, done int) {
	more := done - p.done[miner]
	p.done[miner] = done
	if p.bar != nil {
		p.bar.IncrBy(more)
	}
}

// say prints a line of talk, or keeps it until the bar is gone.
func (p *progress) say(format string, args ...any) {
	line := fmt.Sprintf("assay: "+format+"\n", args...)
	if p.bars != nil {
		p.later = append(p.later, line)
		return
	}
	fmt.Fprint(p.out, line)
}

// end takes the bar away and says what was kept.
func (p *progress) end() {
	if p.bars == nil {
		return
	}
	p.bar.Abort(true)
	p.bars.Wait()
	for _, line := range p.later {
		fmt.Fprint(p.out, line)
	}
}
