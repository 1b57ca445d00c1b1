package benchmark_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasmtest"
)

// Miners read what their solver logged. The store does not keep it.
func TestASessionHasItsLog(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	logging := func(export string, log []byte, status int32) []byte {
		return guest(t, export+string(log[:1]), func(o *wasmtest.Options) {
			a := o.Answers[export]
			a.Log, a.Status = log, status
			o.Answers[export] = a
		})
	}
	babble := bytes.Repeat([]byte("x\xff"), 31<<10)
	store := openStore(t, t.TempDir())
	e := runEpoch(t, p, []benchmark.Entrant{
		{Miner: "talker", Module: logging(plan, []byte("routing"), 0)},
		{Miner: "babbler", Module: logging(plan, babble, 0)},
		{Miner: "dead", Module: logging("solver_initialize", []byte("no routes"), 1)},
	}, 2, store)
	for miner, want := range map[string]string{
		"talker":  strings.Repeat("I routing\n", intents),
		"babbler": strings.Repeat("I "+strings.Repeat("x?", 31<<10)+"\n", intents),
		"dead":    "I no routes\n",
	} {
		log := sessionOf(t, e, miner).Log
		if log != want || !utf8.ValidString(log) || len(log) > sandbox.SessionLogBytes {
			t.Errorf("%s: log of %d bytes starts %.40q, want %d bytes that start %.40q", miner, len(log), log, len(want), want)
		}
	}
	back, err := store.Epoch(e.Number)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range back.Sessions {
		if s.Log != "" {
			t.Errorf("%s: the store keeps a log of %d bytes", s.Miner, len(s.Log))
		}
	}
}
