package benchmark_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
)

func TestDecodeEpochRefuses(t *testing.T) {
	t.Parallel()
	p := prepare(t, newEngine(t), decode(t, marshal(t, standardFile(t))))
	doc := marshal(t, runEpoch(t, p, []benchmark.Entrant{{Miner: "ann", Module: good(t)}}, 1, nil))
	back, err := benchmark.DecodeEpoch(doc)
	if err != nil {
		t.Fatal(err)
	}
	if again := marshal(t, back); !bytes.Equal(again, doc) {
		t.Errorf("read and written again it is\n%s\nwas\n%s", again, doc)
	}
	for rule, b := range map[string][]byte{
		"nothing":            nil,
		"cut off":            doc[:len(doc)/2],
		"another schema":     bytes.Replace(doc, []byte(`"schema":1`), []byte(`"schema":2`), 1),
		"an unknown field":   bytes.Replace(doc, []byte(`"schema":1`), []byte(`"schema":1,"x":1`), 1),
		"a null session":     []byte(`{"schema":1,"sessions":[null]}`),
		"something behind":   append(bytes.Clone(doc), "{}"...),
		"another value":      bytes.ReplaceAll(doc, []byte(`"value":"900"`), []byte(`"value":"901"`)),
		"another pack":       bytes.Replace(doc, []byte(`"pack":"`+back.Pack), []byte(`"pack":"`+back.RowsDigest), 1),
		"a row that is gone": []byte(`{"schema":1,"rows_digest":"` + back.RowsDigest + `","pack":"` + back.Pack + `"}`),
	} {
		_, err := benchmark.DecodeEpoch(b)
		var usage *intent.UsageFault
		if !errors.As(err, &usage) {
			t.Errorf("%s: %v, want a usage fault", rule, err)
		}
	}
}

// Whatever is read has the rows of its digest, and is what is written.
func FuzzDecodeEpoch(f *testing.F) {
	empty, err := benchmark.RowsDigest("p", nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"schema":1,"pack":"p","rows_digest":"` + empty + `"}`))
	f.Add([]byte(`{"schema":1,"pack":"p","rows_digest":"` + empty + `","sessions":[{"id":"a"}],"decision":{"challengers":[{"orders":[]}]}}`))
	f.Add([]byte(`{"schema":1,"sessions":[{"records":[{"row":{"cause":"trap","revert":{"index":1}}}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := benchmark.DecodeEpoch(b)
		if err != nil {
			return
		}
		doc, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := benchmark.DecodeEpoch(doc); err != nil {
			t.Fatalf("%v: written again %s", err, doc)
		}
		if _, err := benchmark.Decide(e.Sessions, nil); err != nil {
			t.Log(err) // duplicate rows, say; no panic
		}
	})
}
