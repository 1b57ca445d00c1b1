package abi_test

import (
	"bytes"
	"errors"
	"math/big"
	"strings"
	"testing"

	gethabi "github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"github.com/subnet112/assay/solvers/sdk/abi"
)

// everything is a function whose arguments are of every kind this package
// knows, nested in each other.
const everything = `[{"type":"function","name":"f","inputs":[
	{"name":"a","type":"address"},
	{"name":"n","type":"uint256"},
	{"name":"path","type":"address[]"},
	{"name":"b","type":"bytes"},
	{"name":"s","type":"tuple","components":[{"name":"t","type":"address"},{"name":"fee","type":"uint24"}]},
	{"name":"d","type":"tuple","components":[{"name":"k","type":"uint64"},{"name":"b","type":"bytes"}]},
	{"name":"calls","type":"bytes[]"}
]}]`

// What is packed here is what go-ethereum packs.
func TestPackAgreesWithGoEthereum(t *testing.T) {
	t.Parallel()
	parsed, err := gethabi.JSON(strings.NewReader(everything))
	if err != nil {
		t.Fatal(err)
	}
	address := rapid.Map(rapid.SliceOfN(rapid.Byte(), 20, 20), func(b []byte) abi.Address { return abi.Address(b) })
	blob := rapid.SliceOfN(rapid.Byte(), 0, 70)
	rapid.Check(t, func(t *rapid.T) {
		a := address.Draw(t, "a")
		n := new(uint256.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "n"))
		path := rapid.SliceOfN(address, 0, 4).Draw(t, "path")
		b := blob.Draw(t, "b")
		fee := rapid.Uint64Max(1<<24-1).Draw(t, "fee")
		k := rapid.Uint64().Draw(t, "k")
		calls := rapid.SliceOfN(blob, 0, 4).Draw(t, "calls")

		var pathValues, callValues []abi.Value
		var gethPath []common.Address
		for _, p := range path {
			pathValues, gethPath = append(pathValues, abi.Addr(p)), append(gethPath, common.Address(p))
		}
		for _, c := range calls {
			callValues = append(callValues, abi.Bytes(c))
		}
		want, err := parsed.Pack("f", common.Address(a), n.ToBig(), gethPath, b,
			struct {
				T   common.Address
				Fee *big.Int
			}{common.Address(a), new(big.Int).SetUint64(fee)},
			struct {
				K uint64
				B []byte
			}{k, b}, calls)
		if err != nil {
			t.Fatal(err)
		}
		got := abi.Pack(abi.Selector(want[:4]), abi.Addr(a), abi.Uint(n), abi.Array(pathValues...), abi.Bytes(b),
			abi.Tuple(abi.Addr(a), abi.Uint64(fee)), abi.Tuple(abi.Uint64(k), abi.Bytes(b)), abi.Array(callValues...))
		if !bytes.Equal(got, want) {
			t.Fatalf("got  %x\nwant %x", got, want)
		}
	})
}

func TestReadUintsAgreesWithGoEthereum(t *testing.T) {
	t.Parallel()
	array, err := gethabi.NewType("uint256[]", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := []*big.Int{}
		for _, b := range rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 32), 0, 5).Draw(t, "numbers") {
			want = append(want, new(big.Int).SetBytes(b))
		}
		data, err := gethabi.Arguments{{Type: array}}.Pack(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := abi.ReadUints(data, 0)
		if err != nil || len(got) != len(want) {
			t.Fatalf("ReadUints() = %v, %v, want %v", got, err, want)
		}
		for i := range got {
			if got[i].ToBig().Cmp(want[i]) != 0 {
				t.Fatalf("number %d is %s, want %s", i, got[i], want[i])
			}
		}
	})
}

func word(n uint64) []byte { b := uint256.NewInt(n).Bytes32(); return b[:] }

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	all := bytes.Repeat([]byte{0xff}, 32)
	for name, data := range map[string][]byte{
		"nothing":                      nil,
		"less than a word":             word(32)[1:],
		"an offset behind the end":     word(33),
		"an offset that overflows":     all,
		"an offset to the end":         word(32),
		"a length behind the end":      append(word(32), word(1)...),
		"a length that overflows":      append(word(32), all...),
		"a length of half the address": append(word(32), word(1<<63)...),
		"half a number":                append(append(word(32), word(1)...), word(5)[:31]...),
	} {
		if got, err := abi.ReadUints(data, 0); !errors.Is(err, abi.ErrShort) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := abi.ReadUint(word(1), 1); !errors.Is(err, abi.ErrShort) {
		t.Errorf("the word after the last: %v", err)
	}
	if _, err := abi.ReadUint(word(1), -1); !errors.Is(err, abi.ErrShort) {
		t.Errorf("the word before the first: %v", err)
	}
	if _, err := abi.ReadAddress(all, 0); !errors.Is(err, abi.ErrAddress) {
		t.Errorf("a word above every address: %v", err)
	}
}

func TestParseAddress(t *testing.T) {
	t.Parallel()
	const text = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
	a, err := abi.ParseAddress(text)
	if err != nil || a.String() != strings.ToLower(text) || a.IsZero() {
		t.Errorf("ParseAddress() = %s, %v", a, err)
	}
	if back, err := abi.ReadAddress(abi.Pack(abi.Selector{}, abi.Addr(a))[4:], 0); err != nil || back != a {
		t.Errorf("ReadAddress() = %s, %v", back, err)
	}
	for _, bad := range []string{"", "0x", text[2:], text[:41], text + "0", "0X" + text[2:], "0x" + strings.Repeat("g", 40)} {
		if _, err := abi.ParseAddress(bad); !errors.Is(err, abi.ErrAddress) {
			t.Errorf("ParseAddress(%q): %v", bad, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(append(append(word(32), word(1)...), word(5)...), 0)
	f.Fuzz(func(t *testing.T, data []byte, i int) {
		numbers, err := abi.ReadUints(data, i)
		if err == nil && len(numbers) > len(data)/32 {
			t.Fatalf("%d numbers from %d bytes", len(numbers), len(data))
		}
		_, _ = abi.ReadAddress(data, i)
	})
}
