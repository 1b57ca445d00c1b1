package chain_test

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/subnet112/assay/chain"
)

// packed is a selector and ABI-encoded arguments, made by go-ethereum's own
// encoder, which the decoder under test does not use.
func packed(t testing.TB, signature string, args ...any) []byte {
	t.Helper()
	_, list, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	var arguments abi.Arguments
	for _, name := range strings.Split(list, ",") {
		if name == "" {
			continue
		}
		typ, err := abi.NewType(name, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, abi.Argument{Type: typ})
	}
	data, err := arguments.Pack(args...)
	if err != nil {
		t.Fatal(err)
	}
	return append(crypto.Keccak256([]byte(signature))[:4], data...)
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRevertReason(t *testing.T) {
	t.Parallel()
	call := func(index int64, inner []byte) []byte {
		return packed(t, "CallFailed(uint256,bytes)", big.NewInt(index), inner)
	}
	stf := packed(t, "Error(string)", "STF")
	deep := stf
	for range 6 {
		deep = call(1, deep)
	}
	owner := common.HexToAddress("0x00000000000000000000000000000000000000Aa")
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing returned", nil, "(no reason)"},
		{"less than a selector", []byte{1, 2, 3}, "(malformed reason 0x010203)"},
		{"a require message", stf, `Error("STF")`},
		{"an empty message", packed(t, "Error(string)", ""), `Error("")`},
		{"a checked overflow", packed(t, "Panic(uint256)", big.NewInt(0x11)), "Panic(0x11) arithmetic overflow"},
		{"a failed assert", packed(t, "Panic(uint256)", big.NewInt(1)), "Panic(0x01) assertion failed"},
		{"a panic code nobody listed", packed(t, "Panic(uint256)", big.NewInt(0x99)), "Panic(0x99)"},
		{"a panic code beyond 64 bits", packed(t, "Panic(uint256)", new(big.Int).Lsh(big.NewInt(1), 64)), "Panic(0x10000000000000000)"},
		{"the reason of an inner call", call(1, stf), `CallFailed(index=1, Error("STF"))`},
		{"an inner call without reason", call(0, nil), "CallFailed(index=0, (no inner reason))"},
		{"reasons three deep", call(2, call(1, stf)), `CallFailed(index=2, CallFailed(index=1, Error("STF")))`},
		{"reasons too deep", deep, "CallFailed(index=1, CallFailed(index=1, CallFailed(index=1, CallFailed(index=1, (nested too deep)))))"},
		{"a router's wrapper", packed(t, "ExecutionFailed(uint256,bytes)", big.NewInt(3), stf), `ExecutionFailed(index=3, Error("STF"))`},
		{"a known error with arguments", packed(t, "ERC20InsufficientBalance(address,uint256,uint256)", owner, big.NewInt(5), big.NewInt(7)),
			"ERC20InsufficientBalance(0x00000000000000000000000000000000000000AA, 5, 7)"},
		{"a known error without arguments", packed(t, "V3TooLittleReceived()"), "V3TooLittleReceived()"},
		{"an unknown error", unhex(t, "deadbeef"), "CustomError 0xdeadbeef"},
		{"an unknown error with a word", unhex(t, "deadbeef"+strings.Repeat("00", 31)+"2a"), "CustomError 0xdeadbeef 0x" + strings.Repeat("00", 31) + "2a"},
		{"an unknown error with much data", append(unhex(t, "deadbeef"), make([]byte, 100)...), "CustomError 0xdeadbeef 0x" + strings.Repeat("00", 32) + "… (100 bytes)"},
		{"a string whose offset points outside", unhex(t, "08c379a0"+strings.Repeat("ff", 32)), "CustomError 0x08c379a0 0x" + strings.Repeat("ff", 32)},
		{"a string longer than its data", unhex(t, "08c379a0"+strings.Repeat("00", 31)+"20"+strings.Repeat("00", 31)+"ff"), "CustomError 0x08c379a0 0x" + strings.Repeat("00", 31) + "20… (64 bytes)"},
		{"a known error with a word missing", packed(t, "AllowanceExpired(uint256)", big.NewInt(1))[:20], "CustomError 0xd81b2f2e 0x" + strings.Repeat("00", 16)},
		{"an address with its upper bytes set", unhex(t, "5274afe7"+strings.Repeat("ff", 32)), "CustomError 0x5274afe7 0x" + strings.Repeat("ff", 32)},
		{"a bare error with data behind it", append(packed(t, "InvalidNonce()"), 1), "CustomError 0x756688fe 0x01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := chain.RevertReason(tt.data); got != tt.want {
				t.Errorf("RevertReason(%x)\n got %s\nwant %s", tt.data, got, tt.want)
			}
		})
	}
}

// The selectors as block explorers list them: a typo in a signature would give
// another one, and the error would then be unknown.
func TestKnownErrorsHaveTheirPublishedSelectors(t *testing.T) {
	t.Parallel()
	word := strings.Repeat("00", 32)
	for _, tt := range []struct{ selector, args, want string }{
		{"5c0dee5d", strings.Repeat("00", 31) + "07" + strings.Repeat("00", 31) + "40" + word, "CallFailed(index=7, (no inner reason))"},
		{"2c4029e9", word + strings.Repeat("00", 31) + "40" + word, "ExecutionFailed(index=0, (no inner reason))"},
		{"e450d38c", word + word + word, "ERC20InsufficientBalance(0x0000000000000000000000000000000000000000, 0, 0)"},
		{"fb8f41b2", word + word + word, "ERC20InsufficientAllowance(0x0000000000000000000000000000000000000000, 0, 0)"},
		{"96c6fd1e", word, "ERC20InvalidSender(0x0000000000000000000000000000000000000000)"},
		{"ec442f05", word, "ERC20InvalidReceiver(0x0000000000000000000000000000000000000000)"},
		{"e602df05", word, "ERC20InvalidApprover(0x0000000000000000000000000000000000000000)"},
		{"94280d62", word, "ERC20InvalidSpender(0x0000000000000000000000000000000000000000)"},
		{"5274afe7", word, "SafeERC20FailedOperation(0x0000000000000000000000000000000000000000)"},
		{"d81b2f2e", word, "AllowanceExpired(0)"},
		{"f96fb071", word, "InsufficientAllowance(0)"},
		{"756688fe", "", "InvalidNonce()"},
		{"cd21db4f", word, "SignatureExpired(0)"},
		{"6a12f104", "", "InsufficientETH()"},
		{"675cae38", "", "InsufficientToken()"},
		{"d76a1e9e", word, "InvalidCommandType(0)"},
		{"5bf6f916", "", "TransactionDeadlinePassed()"},
		{"849eaf98", "", "V2TooLittleReceived()"},
		{"8ab0bc16", "", "V2TooMuchRequested()"},
		{"39d35496", "", "V3TooLittleReceived()"},
		{"739dbe52", "", "V3TooMuchRequested()"},
	} {
		if got := chain.RevertReason(unhex(t, tt.selector+tt.args)); got != tt.want {
			t.Errorf("0x%s = %s, want %s", tt.selector, got, tt.want)
		}
	}
}

// A chain's text can hold anything; what comes out is one line that a terminal
// prints as it stands.
func TestRevertReasonIsSafeToPrint(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"\x1b]0;owned\a\x1b[2J", "line\nbreak\r\t", "bidi \u202e\u2066 text", "not \xff\xfe utf-8", strings.Repeat("長", 10_000),
	} {
		checkSafe(t, chain.RevertReason(packed(t, "Error(string)", text)))
	}
}

func checkSafe(t *testing.T, got string) {
	t.Helper()
	if n := utf8.RuneCountInString(got); n > 200 {
		t.Errorf("%d runes, want at most 200", n)
	}
	if !utf8.ValidString(got) {
		t.Errorf("%q is not UTF-8", got)
	}
	for _, r := range got {
		if !unicode.IsPrint(r) {
			t.Errorf("rune %U in %q", r, got)
		}
	}
}

func FuzzRevertReason(f *testing.F) {
	f.Add(packed(f, "Error(string)", "STF"))
	f.Add(packed(f, "Panic(uint256)", big.NewInt(0x11)))
	f.Add(packed(f, "CallFailed(uint256,bytes)", big.NewInt(1), packed(f, "Error(string)", "inner")))
	f.Add(packed(f, "ERC20InsufficientBalance(address,uint256,uint256)", common.Address{1}, big.NewInt(1), big.NewInt(2)))
	f.Add([]byte{8, 0xc3, 0x79, 0xa0})
	f.Fuzz(func(t *testing.T, data []byte) {
		checkSafe(t, chain.RevertReason(data))
	})
}
