package intent

import (
	"errors"
	"strconv"
	"strings"

	"golang.org/x/crypto/sha3"
)

// maxABIElements bounds the elements of one array of a fixed length, and of all
// arrays around it together: a type is a few bytes, its zero could be gigabytes.
const maxABIElements = 1024

// maxABINesting bounds the brackets after a type.
const maxABINesting = 4

// ErrType is returned for a parameter type that this package does not encode.
var ErrType = errors.New("want address, bool, string, bytes, bytes1 to bytes32, int8 to int256, uint8 to uint256 or arrays of them")

// A solType is a type of the contract ABI.
type solType struct {
	base   string // address, bool, string, bytes, bytesN, int, uint; "" for an array
	size   int    // bits of int and uint, bytes of bytesN
	elem   *solType
	length int // of an array, -1: as many as come
}

// parseType reads a type such as uint256, bytes32 or address[2][]. uint and int are
// short for their 256 bits.
func parseType(text string) (*solType, error) {
	base, brackets := text, ""
	if i := strings.IndexByte(text, '['); i >= 0 {
		base, brackets = text[:i], text[i:]
	}
	t, ok := parseBase(base)
	if !ok {
		return nil, ErrType
	}
	elements := 1
	for depth := 0; brackets != ""; depth++ {
		inside, rest, ok := strings.Cut(brackets[1:], "]")
		if !ok || depth == maxABINesting || rest != "" && rest[0] != '[' {
			return nil, ErrType
		}
		length := -1
		if inside != "" {
			n, err := strconv.Atoi(inside)
			if err != nil || n < 1 || strconv.Itoa(n) != inside {
				return nil, ErrType
			}
			if elements *= min(n, maxABIElements+1); elements > maxABIElements {
				return nil, ErrType
			}
			length = n
		}
		t, brackets = &solType{elem: t, length: length}, rest
	}
	return t, nil
}

func parseBase(text string) (*solType, bool) {
	switch text {
	case "address", "bool", "string", "bytes":
		return &solType{base: text}, true
	case "uint", "int":
		return &solType{base: text, size: 256}, true
	}
	for _, b := range []struct {
		name      string
		step, max int
	}{{"uint", 8, 256}, {"int", 8, 256}, {"bytes", 1, 32}} {
		digits, ok := strings.CutPrefix(text, b.name)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(digits)
		if err != nil || strconv.Itoa(n) != digits || n < b.step || n > b.max || n%b.step != 0 {
			return nil, false
		}
		name := b.name
		if name == "bytes" {
			name = "bytesN"
		}
		return &solType{base: name, size: n}, true
	}
	return nil, false
}

// String is the type as signatures spell it.
func (t *solType) String() string {
	switch {
	case t.elem != nil && t.length < 0:
		return t.elem.String() + "[]"
	case t.elem != nil:
		return t.elem.String() + "[" + strconv.Itoa(t.length) + "]"
	case t.base == "bytesN":
		return "bytes" + strconv.Itoa(t.size)
	case t.base == "uint" || t.base == "int":
		return t.base + strconv.Itoa(t.size)
	}
	return t.base
}

// dynamic reports whether the encoding stands apart from its head.
func (t *solType) dynamic() bool {
	if t.elem != nil {
		return t.length < 0 || t.elem.dynamic()
	}
	return t.base == "string" || t.base == "bytes"
}

// headBytes is how much room a value takes where it is declared.
func (t *solType) headBytes() int {
	if t.elem != nil && !t.dynamic() {
		return t.length * t.elem.headBytes()
	}
	return wordBytes
}

const wordBytes = 32

// permitPrefix starts the names of parameters that carry a signed allowance. They
// belong to no signature, and are zero where nobody signed one.
const permitPrefix = "permit_"

// signed reports whether a parameter is one of the function's signature.
func (p Param) signed() bool {
	return (p.InSignature == nil || *p.InSignature) && !strings.HasPrefix(p.Name, permitPrefix)
}

// Signature is the function's signature as contracts know it, for instance
// swap(address,address,uint256,uint256,address): without the parameters that have
// in_signature false and those of a permit. The error is a [*ParamError].
func (f Function) Signature() (string, error) {
	var types []string
	for _, p := range f.Params {
		t, err := parseType(p.Type)
		if err != nil {
			return "", paramError(f, p, err)
		}
		if p.signed() {
			types = append(types, t.String())
		}
	}
	return f.Name + "(" + strings.Join(types, ",") + ")", nil
}

// Selector is the first four bytes of the Keccak-256 of [Function.Signature]. The
// error is a [*ParamError].
func (f Function) Selector() ([4]byte, error) {
	signature, err := f.Signature()
	if err != nil {
		return [4]byte{}, err
	}
	h := sha3.NewLegacyKeccak256()
	h.Write([]byte(signature))
	return [4]byte(h.Sum(nil)), nil
}

// A ParamError says which parameter of a function cannot be encoded, and why. Its
// text is safe to print.
type ParamError struct {
	Function, Param, Type string
	Err                   error
}

func (e *ParamError) Error() string {
	return Quoted(e.Function, maxQuotedKeyRunes) + ": parameter " + Quoted(e.Param, maxQuotedKeyRunes) +
		" of type " + Quoted(e.Type, maxQuotedKeyRunes) + ": " + e.Err.Error()
}

func (e *ParamError) Unwrap() error { return e.Err }

func paramError(f Function, p Param, err error) error {
	return &ParamError{Function: f.Name, Param: p.Name, Type: p.Type, Err: err}
}
