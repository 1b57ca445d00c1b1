package intent_test

import (
	"encoding/hex"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/intent"
)

func function(types ...string) intent.Function {
	f := intent.Function{Name: "f"}
	for i, typ := range types {
		f.Params = append(f.Params, intent.Param{Name: "p" + strconv.Itoa(i), Type: typ})
	}
	return f
}

func valuesOf(values ...any) map[string]any {
	m := map[string]any{}
	for i, v := range values {
		m["p"+strconv.Itoa(i)] = v
	}
	return m
}

func no() *bool { b := false; return &b }

func TestSelector(t *testing.T) {
	for _, tt := range []struct {
		name, signature, selector string
		f                         intent.Function
	}{
		{
			name: "the swap of the field", signature: "swap(address,address,uint256,uint256,address)", selector: "d5bcb9b5",
			f: intent.Function{Name: "swap", Params: intent.Params{
				{Name: "input_token", Type: "address"}, {Name: "output_token", Type: "address"},
				{Name: "input_amount", Type: "uint256"}, {Name: "min_output_amount", Type: "uint256"},
				{Name: "receiver", Type: "address"},
				{Name: "permit_deadline", Type: "uint256"}, {Name: "permit_v", Type: "uint8"},
				{Name: "permit_r", Type: "bytes32"}, {Name: "permit_s", Type: "bytes32"},
				{Name: "platform_fee_wei", Type: "uint256", InSignature: no()},
				{Name: "quoted_output", Type: "uint256", InSignature: no()},
				{Name: "unwrap_output", Type: "bool", InSignature: no()},
			}},
		},
		// Published selectors.
		{"ERC-20 transfer", "transfer(address,uint256)", "a9059cbb", intent.Function{Name: "transfer", Params: function("address", "uint").Params}},
		{"no parameters", "deposit()", "d0e30db0", intent.Function{Name: "deposit"}},
		{"dynamic ones", "multicall(uint256,bytes[])", "5ae401dc", intent.Function{Name: "multicall", Params: function("uint256", "bytes[]").Params}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			signature, err := tt.f.Signature()
			if err != nil || signature != tt.signature {
				t.Errorf("signature %q, %v, want %q", signature, err, tt.signature)
			}
			selector, err := tt.f.Selector()
			if err != nil || hex.EncodeToString(selector[:]) != tt.selector {
				t.Errorf("selector %x, %v, want %s", selector, err, tt.selector)
			}
		})
	}
}

func TestTypesNobodyEncodes(t *testing.T) {
	for _, typ := range []string{
		"", "uint7", "uint264", "uint0", "uint08", "uint+8", "int-8", "bytes0", "bytes33", "bytes08", "addresses", "Address", "tuple", "float",
		"address[0]", "address[-1]", "address[01]", "address[", "address]", "address[]x", "[]", "uint256[2000]", "uint256[64][64]",
		"uint256[][][][][]", "uint256 ", "fixed128x18", "function", "address[9999999999999999999]",
	} {
		if _, err := function(typ).Signature(); !errors.Is(err, intent.ErrType) {
			t.Errorf("%q: %v, want ErrType", typ, err)
		}
	}
}

const (
	someone = "0x1000000000000000000000000000000000000001"
	maxUint = "115792089237316195423570985008687907853269984665640564039457584007913129639935"
)

func TestEncodeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, typ string
		value     any
		err       error
	}{
		{"a missing amount is not zero", "uint256", nil, intent.ErrMissing},
		{"an empty amount is missing", "uint256", "", intent.ErrMissing},
		{"a missing list is not empty", "address[]", nil, intent.ErrMissing},
		{"null in a list", "uint256[]", []any{nil}, intent.ErrParam},
		{"2^8 in a uint8", "uint8", "256", intent.ErrRange},
		{"2^256 in a uint256", "uint256", "115792089237316195423570985008687907853269984665640564039457584007913129639936", intent.ErrRange},
		{"more digits than 2^256", "uint256", strings.Repeat("9", 79), intent.ErrParam},
		{"a negative uint", "uint256", "-1", intent.ErrRange},
		{"2^23 in an int24", "int24", "8388608", intent.ErrRange},
		{"below -2^23 in an int24", "int24", "-8388609", intent.ErrRange},
		{"minus zero", "int24", "-0", intent.ErrParam},
		{"a plus", "uint8", "+1", intent.ErrParam},
		{"leading zeros", "uint8", "01", intent.ErrParam},
		{"hex for a number", "uint8", "0x10", intent.ErrParam},
		{"space around a number", "uint8", " 1", intent.ErrParam},
		{"a fraction", "uint8", "1.0", intent.ErrParam},
		{"true for a number", "uint8", true, intent.ErrParam},
		{"any other word for a bool", "bool", "False", intent.ErrParam},
		{"a number for a bool", "bool", "1", intent.ErrParam},
		{"an address without 0x", "address", someone[2:] + "00", intent.ErrParam},
		{"an address of 19 bytes", "address", someone[:40], intent.ErrLength},
		{"an address of 21 bytes", "address", someone + "00", intent.ErrLength},
		{"half a byte", "bytes", "0x1", intent.ErrParam},
		{"31 bytes for bytes32", "bytes32", "0x" + strings.Repeat("ab", 31), intent.ErrLength},
		{"33 bytes for bytes32", "bytes32", "0x" + strings.Repeat("ab", 33), intent.ErrLength},
		{"two of three", "uint8[3]", []any{"1", "2"}, intent.ErrLength},
		{"an object for a list", "uint8[]", map[string]any{}, intent.ErrParam},
		{"a scalar for a list", "uint8[]", "1", intent.ErrParam},
		{"an element out of range", "uint8[]", []any{"1", "256"}, intent.ErrRange},
		{"an unknown type", "uint257", "1", intent.ErrType},
		{"too much", "bytes", "0x" + strings.Repeat("00", intent.MaxCallDataBytes), intent.ErrBig},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := function(tt.typ).Encode(valuesOf(tt.value), someone)
			if !errors.Is(err, tt.err) {
				t.Errorf("%x, %v, want %v", got, err, tt.err)
			}
			var at *intent.ParamError
			if !errors.As(err, &at) {
				t.Errorf("%v is no ParamError", err)
			}
		})
	}
}

// What stands for a parameter that an intent leaves out.
func TestEncodeMissing(t *testing.T) {
	word := func(tail string) string { return strings.Repeat("0", 64-len(tail)) + tail }
	f := intent.Function{Name: "f", Params: intent.Params{
		{Name: "a", Type: "uint8", Default: "7"},
		{Name: "receiver", Type: "address"},
		{Name: "recipient", Type: "address", Default: "0x0000000000000000000000000000000000000002"},
		{Name: "permit_v", Type: "uint8"},
		{Name: "permit_data", Type: "bytes"},
		{Name: "unwrap", Type: "bool", InSignature: no(), Default: false},
		{Name: "memo", Type: "string"},
	}}
	got, err := f.Encode(map[string]any{"memo": "", "unwrap": nil}, someone)
	if err != nil {
		t.Fatal(err)
	}
	want := word("7") + word(someone[2:]) + word("2") + word("0") + word("e0") + word("0") + word("100") + word("0") + word("0")
	if diff := cmp.Diff(want, hex.EncodeToString(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The bool that Python gets wrong.
func TestEncodeFalseIsFalse(t *testing.T) {
	for _, v := range []any{false, "false"} {
		got, err := function("bool").Encode(valuesOf(v), someone)
		if err != nil || new(big.Int).SetBytes(got).Sign() != 0 || len(got) != 32 {
			t.Errorf("%v: %x, %v", v, got, err)
		}
	}
}

// abiArguments is the same tuple for go-ethereum.
func abiArguments(t testing.TB, f intent.Function) abi.Arguments {
	t.Helper()
	var args abi.Arguments
	for _, p := range f.Params {
		typ, err := abi.NewType(p.Type, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, abi.Argument{Name: p.Name, Type: typ})
	}
	return args
}

// drawType draws a type and a maker of its values as JSON has them.
func drawType(t *rapid.T, depth int) (string, func(label string) any) {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth > 2 && kind > 5 {
		kind %= 6
	}
	hexOf := func(label string, low, high int) string {
		return "0x" + hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), low, high).Draw(t, label))
	}
	switch kind {
	case 0:
		return "address", func(l string) any { return hexOf(l, 20, 20) }
	case 1:
		return "bool", func(l string) any { return rapid.SampledFrom([]any{true, false, "true", "false"}).Draw(t, l) }
	case 2:
		return "bytes", func(l string) any { return hexOf(l, 0, 70) }
	case 3:
		return "string", func(l string) any { return rapid.StringN(0, 40, -1).Draw(t, l) }
	case 4:
		n := rapid.IntRange(1, 32).Draw(t, "bytes")
		return "bytes" + strconv.Itoa(n), func(l string) any { return hexOf(l, n, n) }
	case 5:
		bits := 8 * rapid.IntRange(1, 32).Draw(t, "bits")
		signed := rapid.Bool().Draw(t, "signed")
		name := map[bool]string{true: "int", false: "uint"}[signed] + strconv.Itoa(bits)
		return name, func(l string) any {
			n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), bits/8, bits/8).Draw(t, l))
			if signed {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(bits-1)))
			}
			return n.String()
		}
	}
	elem, value := drawType(t, depth+1)
	n := rapid.IntRange(1, 3).Draw(t, "elements")
	suffix := "[" + strconv.Itoa(n) + "]"
	if kind == 6 {
		suffix, n = "[]", n-1
	}
	return elem + suffix, func(l string) any {
		list := []any{}
		for i := range n {
			list = append(list, value(l+strconv.Itoa(i)))
		}
		return list
	}
}

// go-ethereum reads back what was encoded, and writes the same bytes again.
func TestEncodeAgreesWithGoEthereum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var types []string
		params := map[string]any{}
		for i := range rapid.IntRange(1, 4).Draw(rt, "params") {
			typ, value := drawType(rt, 0)
			types = append(types, typ)
			params["p"+strconv.Itoa(i)] = value("value" + strconv.Itoa(i))
		}
		f := function(types...)
		got, err := f.Encode(params, someone)
		if err != nil {
			rt.Fatal(err)
		}
		args := abiArguments(t, f)
		values, err := args.Unpack(got)
		if err != nil {
			rt.Fatalf("%v: %v\n%x", types, err, got)
		}
		again, err := args.Pack(values...)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(hex.EncodeToString(again), hex.EncodeToString(got)); diff != "" {
			rt.Errorf("%v (-want +got)\n%s", types, diff)
		}
		for i, typ := range types {
			if n, ok := values[i].(*big.Int); ok && n.String() != params["p"+strconv.Itoa(i)] {
				rt.Errorf("%s is %s, was %v", typ, n, params["p"+strconv.Itoa(i)])
			}
		}
		signature, err := f.Signature()
		if err != nil {
			rt.Fatal(err)
		}
		selector, err := f.Selector()
		if want := abi.NewMethod("f", "f", abi.Function, "", false, false, args, nil); err != nil ||
			signature != want.Sig || hex.EncodeToString(selector[:]) != hex.EncodeToString(crypto.Keccak256([]byte(want.Sig))[:4]) {
			rt.Errorf("signature %s, %x, %v, want %s", signature, selector, err, want.Sig)
		}
	})
}

func TestEncodeEdges(t *testing.T) {
	for _, tt := range []struct{ typ, value, want string }{
		{"int24", "-8388608", strings.Repeat("f", 58) + "800000"},
		{"int24", "8388607", strings.Repeat("0", 58) + "7fffff"},
		{"int256", "-1", strings.Repeat("f", 64)},
		{"uint256", maxUint, strings.Repeat("f", 64)},
		{"uint", "0", strings.Repeat("0", 64)},
		{"bytes4", "0xd5bcb9b5", "d5bcb9b5" + strings.Repeat("0", 56)},
	} {
		got, err := function(tt.typ).Encode(valuesOf(tt.value), someone)
		if err != nil || hex.EncodeToString(got) != tt.want {
			t.Errorf("%s %s: %x, %v, want %s", tt.typ, tt.value, got, err, tt.want)
		}
	}
}
