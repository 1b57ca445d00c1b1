package chain

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/subnet112/assay/intent"
)

const (
	reasonRunes   = 200  // of a whole reason
	nestingLimit  = 4    // reasons inside reasons
	revertDataMax = 1024 // bytes kept in Revert.Data
	shownBytes    = 32   // of data that no rule explains
)

// RevertReason decodes what a failed call returned, in one line that is safe to
// print and at most 200 runes long. It knows Error(string), Panic(uint256), the
// errors of widespread contracts, and errors that wrap the reason of an inner
// call, such as CallFailed(uint256,bytes); any other selector is a CustomError.
// Data that does not decode as its selector promises is shown as bytes.
func RevertReason(data []byte) string {
	return clipRunes(reason(data, nestingLimit))
}

func reason(data []byte, nesting int) string {
	if len(data) == 0 {
		return "(no reason)"
	}
	if len(data) < 4 {
		return "(malformed reason " + shown(data) + ")"
	}
	selector, args := [4]byte(data[:4]), data[4:]
	switch selector {
	case errorSelector:
		if text, ok := abiBytes(args, 0); ok {
			return "Error(" + intent.Quoted(string(text), reasonRunes) + ")"
		}
	case panicSelector:
		if code, ok := abiWord(args, 0); ok {
			return panicReason(code)
		}
	default:
		if known, ok := customErrors[selector]; ok {
			if text, ok := known.format(args, nesting); ok {
				return text
			}
		}
	}
	text := fmt.Sprintf("CustomError 0x%x", selector)
	if len(args) > 0 {
		text += " " + shown(args)
	}
	return text
}

// panicReason names the compiler's panic codes as the Solidity documentation
// lists them.
func panicReason(code *big.Int) string {
	names := map[uint64]string{
		0x00: "generic",
		0x01: "assertion failed",
		0x11: "arithmetic overflow",
		0x12: "division by zero",
		0x21: "invalid enum value",
		0x22: "corrupt storage byte array",
		0x31: "pop from empty array",
		0x32: "index out of bounds",
		0x41: "out of memory",
		0x51: "uninitialized function",
	}
	if code.IsUint64() {
		if name, ok := names[code.Uint64()]; ok {
			return fmt.Sprintf("Panic(0x%02x) %s", code, name)
		}
	}
	return fmt.Sprintf("Panic(0x%02x)", code)
}

var (
	errorSelector = selectorOf("Error(string)")
	panicSelector = selectorOf("Panic(uint256)")
	customErrors  = knownErrors(
		// Wrappers: the second argument is the reason of an inner call.
		"CallFailed(uint256,bytes)",      // the apps' per-order proxy
		"ExecutionFailed(uint256,bytes)", // Universal Router
		// OpenZeppelin (ERC-6093 and SafeERC20)
		"ERC20InsufficientBalance(address,uint256,uint256)",
		"ERC20InsufficientAllowance(address,uint256,uint256)",
		"ERC20InvalidSender(address)",
		"ERC20InvalidReceiver(address)",
		"ERC20InvalidApprover(address)",
		"ERC20InvalidSpender(address)",
		"SafeERC20FailedOperation(address)",
		// Permit2
		"AllowanceExpired(uint256)",
		"InsufficientAllowance(uint256)",
		"InvalidNonce()",
		"SignatureExpired(uint256)",
		// Universal Router
		"InsufficientETH()",
		"InsufficientToken()",
		"InvalidCommandType(uint256)",
		"TransactionDeadlinePassed()",
		"V2TooLittleReceived()",
		"V2TooMuchRequested()",
		"V3TooLittleReceived()",
		"V3TooMuchRequested()",
	)
)

// A customError is a known error and the types of its arguments.
type customError struct {
	name   string
	params []string
}

func knownErrors(signatures ...string) map[[4]byte]customError {
	m := make(map[[4]byte]customError, len(signatures))
	for _, s := range signatures {
		name, list, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
		e := customError{name: name}
		if list != "" {
			e.params = strings.Split(list, ",")
		}
		m[selectorOf(s)] = e
	}
	return m
}

func selectorOf(signature string) [4]byte {
	return [4]byte(crypto.Keccak256([]byte(signature)))
}

// format prints the error with its arguments; a bytes argument is itself a
// reason. It reports false where args do not hold what the signature names.
func (e customError) format(args []byte, nesting int) (string, bool) {
	if len(e.params) == 0 && len(args) != 0 {
		return "", false
	}
	parts := make([]string, len(e.params))
	for i, typ := range e.params {
		if typ == "bytes" {
			inner, ok := abiBytes(args, i)
			if !ok {
				return "", false
			}
			parts[i] = innerReason(inner, nesting-1)
			continue
		}
		word, ok := abiWord(args, i)
		switch {
		case !ok || typ == "address" && word.BitLen() > 8*common.AddressLength:
			return "", false
		case typ == "address":
			parts[i] = common.BigToAddress(word).Hex()
		default:
			parts[i] = word.String()
		}
	}
	if len(e.params) > 1 && e.params[1] == "bytes" {
		parts[0] = "index=" + parts[0]
	}
	return e.name + "(" + strings.Join(parts, ", ") + ")", true
}

func innerReason(data []byte, nesting int) string {
	switch {
	case len(data) == 0:
		return "(no inner reason)"
	case nesting <= 0:
		return "(nested too deep)"
	}
	return reason(data, nesting)
}

// abiWord returns the i-th word of ABI-encoded arguments.
func abiWord(args []byte, i int) (*big.Int, bool) {
	if len(args) < 32*(i+1) {
		return nil, false
	}
	return new(big.Int).SetBytes(args[32*i : 32*(i+1)]), true
}

// abiBytes returns the i-th argument, a string or bytes. Padding after it is
// not required, as some compilers leave it out.
func abiBytes(args []byte, i int) ([]byte, bool) {
	offset, ok := abiSize(args, uint64(32*i))
	if !ok {
		return nil, false
	}
	size, ok := abiSize(args, offset)
	if !ok || size > uint64(len(args))-offset-32 {
		return nil, false
	}
	return args[offset+32:][:size], true
}

// abiSize reads the word at offset as a size within args.
func abiSize(args []byte, offset uint64) (uint64, bool) {
	if uint64(len(args)) < 32 || offset > uint64(len(args))-32 {
		return 0, false
	}
	word := args[offset:][:32]
	if [24]byte(word[:24]) != [24]byte{} {
		return 0, false
	}
	size := binary.BigEndian.Uint64(word[24:])
	return size, size <= uint64(len(args))
}

// shown prints the first bytes of data nobody can read, and how many follow.
func shown(data []byte) string {
	if len(data) <= shownBytes {
		return "0x" + hex.EncodeToString(data)
	}
	return fmt.Sprintf("0x%x… (%d bytes)", data[:shownBytes], len(data))
}

// clipRunes cuts text after reasonRunes runes, the last of which then says so.
func clipRunes(text string) string {
	if utf8.RuneCountInString(text) <= reasonRunes {
		return text
	}
	return string([]rune(text)[:reasonRunes-1]) + "…"
}
