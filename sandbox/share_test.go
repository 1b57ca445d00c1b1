package sandbox_test

import (
	"errors"
	"os"
	"testing"

	"github.com/subnet112/assay/sandbox"
	"github.com/subnet112/assay/sandbox/wasm"
)

// decoded is a module's own copy, to change.
func decoded(t *testing.T, module []byte) *wasm.Module {
	t.Helper()
	m, err := wasm.Decode(module, wasm.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func share(t *testing.T, module, other []byte) uint {
	t.Helper()
	var both [2]*sandbox.Bodies
	for i, m := range [][]byte{module, other} {
		var err error
		if both[i], err = sandbox.ReadBodies(m); err != nil {
			t.Fatal(err)
		}
	}
	return both[0].Share(both[1])
}

func TestBodyShare(t *testing.T) {
	t.Parallel()
	engine, err := os.ReadFile(scriptEngine)
	if err != nil {
		t.Fatal(err)
	}
	nothing, other := (&wasm.Module{}).Encode(), unrelated()

	moved := decoded(t, engine)
	// An import in front moves every function by one: all calls change.
	moved.Imports = append([]wasm.Import{{Module: "assay", Name: "log", Kind: wasm.KindFunc, Type: 0}}, moved.Imports...)
	for i := range moved.Codes {
		moved.Codes[i].Body = renumbered(t, moved.Codes[i])
	}
	moved.Customs = nil

	half := decoded(t, engine)
	gone := uint64(0)
	all := uint64(0)
	for i, c := range half.Codes {
		n := instructions(c)
		all += n
		if i%2 == 1 {
			half.Codes[i].Body = wasm.Expr{byte(wasm.OpUnreachable), byte(wasm.OpEnd)}
			half.Codes[i].Locals = nil
			gone += n
		}
	}

	for _, tt := range []struct {
		rule          string
		module, other []byte
		least, most   uint
	}{
		{"a copy shares all", engine, engine, 10_000, 10_000},
		{"so does one with everything renumbered", moved.Encode(), engine, 10_000, 10_000},
		{"what is left of one shares nearly all", half.Encode(), engine, 9_900, 9_999},
		{"of the whole, what was left out is its own", engine, half.Encode(), uint((all - gone) * 9_900 / all), uint((all - gone) * 10_100 / all)},
		{"another module shares nothing", other, engine, 0, 0},
		{"without functions there is nothing to share", nothing, engine, 0, 0},
		{"nor with one that has none", engine, nothing, 0, 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			if got := share(t, tt.module, tt.other); got < tt.least || got > tt.most {
				t.Errorf("share %d, want %d to %d", got, tt.least, tt.most)
			}
		})
	}
}

// Who has a function three times shares one of them with who has it once.
func TestBodyShareCountsFunctions(t *testing.T) {
	t.Parallel()
	if got := share(t, oneBody(3), oneBody(1)); got != 3_333 {
		t.Errorf("share %d, want 3333", got)
	}
	if got := share(t, oneBody(1), oneBody(3)); got != 10_000 {
		t.Errorf("share %d, want 10000", got)
	}
}

func TestReadBodiesRefuses(t *testing.T) {
	t.Parallel()
	var refused *sandbox.Refusal
	if _, err := sandbox.ReadBodies([]byte{0}); !errors.As(err, &refused) {
		t.Errorf("error %v, want a refusal", err)
	}
}

// oneBody has a function n times.
func oneBody(n int) []byte {
	m := &wasm.Module{Types: []wasm.FuncType{{}}}
	for range n {
		m.Funcs = append(m.Funcs, 0)
		m.Codes = append(m.Codes, wasm.Code{Body: wasm.Expr{byte(wasm.OpNop), byte(wasm.OpNop), byte(wasm.OpEnd)}})
	}
	return m.Encode()
}

// unrelated has a function that nothing else has.
func unrelated() []byte {
	m := &wasm.Module{Types: []wasm.FuncType{{}}, Funcs: []uint32{0}}
	body := wasm.Expr{}
	for range 77 {
		body = append(body, byte(wasm.OpNop))
	}
	m.Codes = []wasm.Code{{Body: append(body, byte(wasm.OpEnd))}}
	return m.Encode()
}

func instructions(c wasm.Code) uint64 {
	n := uint64(0)
	var in wasm.Instr
	for r := wasm.NewReader(c.Body, c.Offset); r.Next(&in); {
		n++
	}
	return n
}

// renumbered is a body in which what it calls is one further on, and what lies in
// memory 16 bytes.
func renumbered(t *testing.T, c wasm.Code) wasm.Expr {
	t.Helper()
	var out wasm.Expr
	var in wasm.Instr
	r := wasm.NewReader(c.Body, c.Offset)
	for r.Next(&in) {
		switch in.Op {
		case wasm.OpCall:
			in.Imm++
		case wasm.OpI32Const:
			if in.Imm > 1024 {
				in.Imm += 16
			}
		}
		out = wasm.AppendInstr(out, &in)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
