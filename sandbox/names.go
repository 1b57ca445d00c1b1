package sandbox

import (
	"encoding/binary"
	"fmt"
)

// describe names a function by its index and, if the module's name section has
// one, its name. The section is untrusted: whatever is wrong with it means that
// there is no name.
func describe(names []byte, index uint32) string {
	if name, ok := functionName(names, index); ok {
		return fmt.Sprintf("function %d %s", index, quoted(name))
	}
	return fmt.Sprintf("function %d", index)
}

func functionName(names []byte, index uint32) (string, bool) {
	const functionNames = 1
	for len(names) > 0 {
		id := names[0]
		section, rest, ok := sized(names[1:])
		if !ok {
			return "", false
		}
		if names = rest; id == functionNames {
			return nameIn(section, uint64(index))
		}
	}
	return "", false
}

// nameIn looks an index up in a map from indices to names.
func nameIn(section []byte, index uint64) (string, bool) {
	_, n := binary.Uvarint(section) // their count
	for section = section[max(n, 0):]; len(section) > 0; {
		i, n := binary.Uvarint(section)
		if n <= 0 || i > index {
			break
		}
		name, rest, ok := sized(section[n:])
		if !ok {
			break
		}
		if i == index {
			return string(name), true
		}
		section = rest
	}
	return "", false
}

// sized takes a length and as many bytes.
func sized(b []byte) (content, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, false
	}
	end := n + int(size)
	return b[n:end], b[end:], true
}
