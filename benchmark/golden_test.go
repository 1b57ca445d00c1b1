package benchmark_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/subnet112/assay/intent"
)

// The golden pack and what came of it under rules that are written into it. When one
// of these differs, rows are made by other rules than before: say so by raising a
// version in rules.go, and make the golden files anew with testdata/golden/make.py.
// content.json is what the digest is of, put together from pack.json by that script
// and not by the code here.
func TestGoldenPack(t *testing.T) {
	t.Parallel()
	read := func(name string) []byte {
		b, err := os.ReadFile("testdata/golden/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.TrimSpace(b)
	}
	p := decode(t, read("pack.json"))
	got, err := p.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if want := string(read("pack.digest")); got != want {
		t.Errorf("pack digest %s, want %s", got, want)
	}
	e := runEpoch(t, prepare(t, newEngine(t), p), quartet(t), 2, nil)
	for _, s := range e.Sessions {
		for _, r := range s.Records {
			if r.Row.Cause == intent.CauseInfra {
				t.Fatalf("void row: %s", r.Detail)
			}
		}
	}
	if want := string(read("rows.digest")); e.RowsDigest != want {
		t.Errorf("rows digest %s, want %s", e.RowsDigest, want)
	}
}

// The pack and its rows are written anew by ASSAY_GOLDEN=1 go test -run TestGoldenPackIsWritten;
// then testdata/golden/make.py computes the digest.
func TestGoldenPackIsWritten(t *testing.T) {
	if os.Getenv("ASSAY_GOLDEN") == "" {
		t.Skip("ASSAY_GOLDEN is not set: the golden pack is not written anew")
	}
	p := decode(t, marshal(t, standardFile(t)))
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	e := runEpoch(t, prepare(t, newEngine(t), p), quartet(t), 1, nil)
	for name, content := range map[string][]byte{"pack.json": b, "rows.digest": []byte(e.RowsDigest)} {
		if err := os.WriteFile("testdata/golden/"+name, append(content, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
