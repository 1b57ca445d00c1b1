package sandbox

import "fmt"

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
	r := &reader{b: names}
	for r.err == nil && r.left() > 0 {
		id := r.byte()
		sub := &reader{b: r.bytes(r.u32())}
		if id != functionNames {
			continue
		}
		for range sub.count(2) {
			i, name := sub.u32(), sub.bytes(sub.u32())
			if sub.err != nil || i > index {
				break
			}
			if i == index {
				return string(name), true
			}
		}
		return "", false
	}
	return "", false
}
