package wasm_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox/wasm"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// sample is an instruction of an opcode with immediates that differ from each
// other as far as they can.
func sample(o wasm.Op) wasm.Instr {
	in := wasm.Instr{Op: o}
	name := o.String()
	switch {
	case o == wasm.OpBlock || o == wasm.OpLoop || o == wasm.OpIf:
		in.Block.Result = wasm.F64
	case o == wasm.OpBrTable:
		in.Targets, in.Imm = []uint32{1, 200, 3}, 300
	case o == wasm.OpSelectT:
		in.Types = []wasm.ValType{wasm.ExternRef}
	case o == wasm.OpRefNull:
		in.Imm = uint64(wasm.ExternRef)
	case o == wasm.OpCallIndirect || o == wasm.OpTableInit || o == wasm.OpTableCopy:
		in.Imm, in.Imm2 = 130, 5
	case o == wasm.OpMemorySize || o == wasm.OpMemoryGrow || o == wasm.OpMemoryCopy || o == wasm.OpMemoryFill:
	case o >= wasm.OpI32Load && o <= wasm.OpI64Store32:
		in.Imm = 1_000_000
		if o != wasm.OpI32Load8S && o != wasm.OpI32Load8U && o != wasm.OpI64Load8S && o != wasm.OpI64Load8U && o != wasm.OpI32Store8 && o != wasm.OpI64Store8 {
			in.Imm2 = 1
		}
	case strings.HasSuffix(name, ".const"):
		in.Imm = 0x40490fdb
	case o == wasm.OpBr || o == wasm.OpBrIf || o == wasm.OpCall || o == wasm.OpRefFunc || o == wasm.OpMemoryInit || o == wasm.OpDataDrop || o == wasm.OpElemDrop,
		strings.HasPrefix(name, "local."), strings.HasPrefix(name, "global."), strings.HasPrefix(name, "table."):
		in.Imm = 77
	}
	return in
}

// Every opcode can be written and read back, and its constant is called as it is.
func TestOpcodesRoundTrip(t *testing.T) {
	all := allOps()
	// The specification's index of instructions has 172 of version 1, then 5 of
	// sign extension, 8 saturating conversions, 7 that copy, fill and drop in bulk,
	// 3 of references, 2 that get and set a table's elements, the select with a
	// type, and grow, size and fill of tables.
	if n := 172 + 5 + 8 + 7 + 3 + 2 + 1 + 3; len(all) != n {
		t.Errorf("%d opcodes, want %d", len(all), n)
	}
	for _, o := range all {
		in := sample(o)
		b := wasm.AppendInstr(nil, &in)
		switch o {
		case wasm.OpEnd, wasm.OpElse:
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
			b = append(b, 0x0b, 0x0b)
		default:
			b = append(b, 0x0b)
		}
		if o == wasm.OpElse {
			b = slices.Concat([]byte{0x04, 0x40}, b, []byte{0x0b, 0x0b})
		}
		got, err := read(b)
		if err != nil {
			t.Errorf("%s as % x: %v", o, b, err)
			continue
		}
		first := got[0]
		if o == wasm.OpElse {
			first = got[1]
		}
		raw := wasm.AppendInstr(nil, &in)
		if !slices.Equal(first.Raw, raw) {
			t.Errorf("%s: Raw is % x, want % x", o, first.Raw, raw)
		}
		first.Raw, first.Offset = nil, 0
		if diff := cmp.Diff(in, first); diff != "" {
			t.Errorf("%s (-written +read):\n%s", o, diff)
		}
	}
}

// An instruction keeps nothing of the one before it in the same Instr.
func TestInstructionsDoNotMix(t *testing.T) {
	for _, before := range allOps() {
		for _, o := range []wasm.Op{wasm.OpNop, wasm.OpBr, wasm.OpReturn, wasm.OpMemorySize, wasm.OpI64TruncSatF64U} {
			if before == wasm.OpEnd || before == wasm.OpElse {
				continue
			}
			one, want := sample(before), sample(o)
			r := wasm.NewReader(wasm.AppendInstr(wasm.AppendInstr(nil, &one), &want), 0)
			var in wasm.Instr
			for range 2 {
				if !r.Next(&in) {
					t.Fatal(before, o, r.Err())
				}
			}
			in.Raw, in.Offset = nil, 0
			if diff := cmp.Diff(want, in); diff != "" {
				t.Errorf("%s behind %s (-want +got):\n%s", o, before, diff)
			}
		}
	}
}

// constants are the names and values of the package's constants of type Op.
func constants(t *testing.T) map[string]wasm.Op {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "op.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: importer.Default(), Error: func(error) {}} // other files are missing
	pkg, _ := config.Check("wasm", set, []*ast.File{file}, nil)
	found := map[string]wasm.Op{}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok && types.TypeString(c.Type(), nil) == "wasm.Op" {
			v, _ := constant.Uint64Val(c.Val())
			found[name] = wasm.Op(v)
		}
	}
	return found
}

// A constant's name is its instruction's: dots and underscores make capitals.
func TestConstantsAreNamedAsTheirInstructions(t *testing.T) {
	got := constants(t)
	want := map[string]wasm.Op{}
	for _, o := range allOps() {
		name := "Op"
		for _, part := range strings.FieldsFunc(o.String(), func(r rune) bool { return r == '.' || r == '_' }) {
			name += strings.ToUpper(part[:1]) + part[1:]
		}
		if o == wasm.OpSelectT {
			name += "T"
		}
		want[name] = o
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("constants (-want +got):\n%s", diff)
	}
}

// The reference implementation calls every opcode by the same name.
func TestNamesAreThoseOfWABT(t *testing.T) {
	wasm2wat := wabt(t, "wasm2wat")
	var body [][]byte
	var want []string
	for _, o := range allOps() {
		in := sample(o)
		b := wasm.AppendInstr(nil, &in)
		switch o {
		case wasm.OpEnd, wasm.OpElse: // of if
			continue
		case wasm.OpBlock, wasm.OpLoop:
			b = append(b, 0x0b)
			want = append(want, o.String(), "end")
		case wasm.OpIf:
			b = append(b, 0x05, 0x01, 0x0b)
			want = append(want, "if", "else", "nop", "end")
		default:
			want = append(want, o.String())
		}
		body = append(body, b)
	}
	file := filepath.Join(t.TempDir(), "all.wasm")
	m := module(oneType, oneFunc, oneTable, oneMemory, wt.Section(12, []byte{100}),
		wt.Section(10, vec(sized(slices.Concat([]byte{0}, slices.Concat(body...), wt.End)))),
		wt.Section(11, append([]byte{100}, slices.Repeat([]byte{1, 0}, 100)...)))
	if err := os.WriteFile(file, m, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(wasm2wat, "--no-check", file).CombinedOutput()
	if err != nil {
		t.Fatalf("wasm2wat: %v\n%s", err, out)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		if name := strings.Trim(strings.Fields(line)[0], "()"); strings.HasPrefix(line, "    ") {
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-ours +wabt's):\n%s", diff)
	}
}

// What an instruction takes and leaves, by its family.
func TestStack(t *testing.T) {
	unknown := []wasm.Op{
		wasm.OpUnreachable, wasm.OpBlock, wasm.OpLoop, wasm.OpIf, wasm.OpElse, wasm.OpEnd, wasm.OpBr, wasm.OpBrIf, wasm.OpBrTable,
		wasm.OpReturn, wasm.OpCall, wasm.OpCallIndirect, 0x06, 0xfd, 0xfc12, 0xfd00,
	}
	for _, o := range unknown {
		if pops, pushes, ok := o.Stack(); ok || pops != 0 || pushes != 0 {
			t.Errorf("%s takes %d and leaves %d, want not ok", o, pops, pushes)
		}
	}
	special := map[string][2]int{
		"nop": {0, 0}, "drop": {1, 0}, "select": {3, 1},
		"local.get": {0, 1}, "local.set": {1, 0}, "local.tee": {1, 1}, "global.get": {0, 1}, "global.set": {1, 0},
		"table.get": {1, 1}, "table.set": {2, 0}, "table.size": {0, 1}, "table.grow": {2, 1}, "table.fill": {3, 0}, "table.copy": {3, 0}, "table.init": {3, 0},
		"memory.size": {0, 1}, "memory.grow": {1, 1}, "memory.fill": {3, 0}, "memory.copy": {3, 0}, "memory.init": {3, 0},
		"data.drop": {0, 0}, "elem.drop": {0, 0}, "ref.null": {0, 1}, "ref.is_null": {1, 1}, "ref.func": {0, 1},
	}
	binary := strings.Fields("eq ne lt lt_s lt_u gt gt_s gt_u le le_s le_u ge ge_s ge_u add sub mul div div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr min max copysign")
	for _, o := range allOps() {
		if slices.Contains(unknown, o) {
			continue
		}
		name := o.String()
		_, family, _ := strings.Cut(name, ".")
		want, ok := special[name]
		switch {
		case ok:
		case family == "const":
			want = [2]int{0, 1}
		case strings.HasPrefix(family, "store"):
			want = [2]int{2, 0}
		case slices.Contains(binary, family):
			want = [2]int{2, 1}
		default: // loads, tests, conversions, arithmetic with one operand
			want = [2]int{1, 1}
		}
		pops, pushes, ok := o.Stack()
		if got := [2]int{pops, pushes}; !ok || got != want {
			t.Errorf("%s takes and leaves %d, want %d", name, got, want)
		}
	}
}

func TestUnknownOpcodesAreNamedByTheirNumber(t *testing.T) {
	for o, want := range map[wasm.Op]string{0x06: "0x06", 0xff: "0xff", 0xfc12: "0xfc 18", 0xfd05: "0xfd 5", 0x1234: "0x12 52"} {
		if got := fmt.Sprint(o); got != want {
			t.Errorf("%#x is %s, want %s", uint16(o), got, want)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("AppendInstr() of %s doesn't panic", want)
				}
			}()
			wasm.AppendInstr(nil, &wasm.Instr{Op: o})
		}()
	}
}
