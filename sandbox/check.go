package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

const (
	maxPages    = 65536
	maxProblems = 20
)

// Check looks at a module without compiling it: its format, its sizes, what it
// imports and exports. The error is a [*Refusal], the first of
// [Report.Problems]; nil means that the profile admits the module as far as a
// static look tells. It takes time and memory in proportion to the module.
func (e *Engine) Check(wasm []byte, p Profile) (Report, error) {
	_, report, err := check(wasm, p)
	return report, err
}

func check(wasm []byte, p Profile) (*module, Report, error) {
	report := Report{SHA256: sha256.Sum256(wasm), Bytes: len(wasm)}
	m := &module{exports: map[string]export{}, memoryMax: maxPages}
	if r := m.parse(wasm, p.moduleBytes()); r != nil {
		report.Problems = []*Refusal{r}
		return nil, report, r
	}
	report.Identity = m.identity(wasm)
	report.Functions, report.Types, report.Globals = m.bodies, len(m.types), m.globals
	for _, i := range m.imports {
		report.Imports = append(report.Imports, i.Import)
	}
	report.Exports, report.Customs = m.exportNames, m.customs
	report.MemoryMin, report.MemoryMax, report.Start = m.memoryMin, m.memoryMax, m.start != nil
	report.Problems = m.admit(p)
	if len(report.Problems) > 0 {
		return nil, report, report.Problems[0]
	}
	return m, report, nil
}

// parse reads the sections. A problem here leaves nothing to be looked at.
func (m *module) parse(wasm []byte, limit int) *Refusal {
	switch {
	case len(wasm) > limit:
		return &Refusal{ReasonSize, fmt.Sprintf("module is %s bytes, limit %s", thousands(len(wasm)), thousands(limit))}
	case len(wasm) < 4 || !bytes.HasPrefix(wasm, []byte("\x00asm")):
		return &Refusal{ReasonNotWasm, "not a WebAssembly module: it doesn't begin with \\0asm"}
	case len(wasm) < 8:
		return &Refusal{ReasonMalformed, fmt.Sprintf("header at offset 4: module ends after %d bytes", len(wasm))}
	}
	switch version := binary.LittleEndian.Uint32(wasm[4:]); {
	case version>>16 == 1:
		return &Refusal{ReasonNotWasm, "a component, not a core module: build without the component model"}
	case version != 1:
		return &Refusal{ReasonNotWasm, fmt.Sprintf("WebAssembly version %s, want 1", thousands(version))}
	}
	r := &reader{b: wasm, i: 8, what: "section header"}
	last := 0
	for r.err == nil && r.left() > 0 {
		start := r.i
		id := r.byte()
		size := r.u32()
		base := r.i
		if r.err == nil && int(id) >= len(sectionNames) {
			r.fail(ReasonMalformed, "unknown section %d", id)
		}
		if r.err == nil && uint64(size) > uint64(r.left()) {
			r.fail(ReasonMalformed, "%s section announces %s bytes, %s left", sectionNames[id], thousands(size), thousands(r.left()))
		}
		body := r.bytes(size)
		if r.err != nil {
			break
		}
		if id != 0 {
			if sectionRank[id] <= last {
				r.fail(ReasonMalformed, "%s section is repeated or out of order", sectionNames[id])
				break
			}
			last = sectionRank[id]
			m.kept = append(m.kept, [2]int{start, r.i})
		}
		s := &reader{b: body, base: base, what: sectionNames[id] + " section"}
		m.section(id, s)
		if s.err == nil && s.left() > 0 && id != 0 {
			s.fail(ReasonMalformed, "%s bytes too many", thousands(s.left()))
		}
		r.err = s.err
	}
	if r.err != nil {
		return r.err
	}
	if m.bodies != len(m.own) {
		return &Refusal{ReasonMalformed, fmt.Sprintf("%s functions are declared, %s have code", thousands(len(m.own)), thousands(m.bodies))}
	}
	return nil
}

// identity hashes the module without its custom sections.
func (m *module) identity(wasm []byte) (id [32]byte) {
	h := sha256.New()
	h.Write(wasm[:8])
	for _, s := range m.kept {
		h.Write(wasm[s[0]:s[1]])
	}
	h.Sum(id[:0])
	return id
}

// stripped is what is compiled: the module without its custom sections, and its
// table with a maximum. wazero has no limit of its own for table.grow, which takes
// 8 bytes of the host's memory an element.
func (m *module) stripped(wasm []byte) []byte {
	out := slices.Clone(wasm[:8])
	for _, s := range m.kept {
		if wasm[s[0]] == sectionTable && m.tables == 1 {
			out = append(out, m.table.section()...)
			continue
		}
		out = append(out, wasm[s[0]:s[1]]...)
	}
	return out
}

// admit holds a well-formed module against a profile.
func (m *module) admit(p Profile) (problems []*Refusal) {
	refuse := func(reason Reason, format string, args ...any) {
		if len(problems) < maxProblems {
			problems = append(problems, &Refusal{reason, fmt.Sprintf(format, args...)})
		}
	}
	for _, i := range m.imports {
		if want, ok := importType(i.Import, p.WASI); !ok {
			refuse(ReasonImport, "unknown import %s.%s%s", quoted(i.Module), quoted(i.Name), why(i.Import))
		} else if got := m.types[i.typ]; got != want {
			refuse(ReasonImport, "import %s.%s has type %s, want %s", quoted(i.Module), quoted(i.Name), got, want)
		}
	}

	if x, ok := m.exports["memory"]; !ok || x.kind != kindMemory {
		refuse(ReasonExport, "no memory is exported as %q", "memory")
	} else if limit := p.memoryPages(); m.memoryMin > limit {
		refuse(ReasonMemory, "memory starts with %s pages, limit %s", thousands(m.memoryMin), thousands(limit))
	}

	// A command sets its runtime up in _start and is done; nothing can be called
	// in it before or after.
	start, isCommand := m.exports["_start"]
	if _, isReactor := m.exports["_initialize"]; isCommand && start.kind == kindFunc && !isReactor {
		refuse(ReasonExport, `it exports "_start" and no "_initialize": build a reactor (Go: -buildmode=c-shared), not a command`)
	}
	function := func(name string, want funcType, optional bool) {
		x, ok := m.exports[name]
		switch {
		case !ok && optional:
		case !ok:
			refuse(ReasonExport, "no function is exported as %q", name)
		case x.kind != kindFunc:
			refuse(ReasonExport, "export %q is no function", name)
		case m.typeOf(x.index) != want:
			refuse(ReasonExport, "export %q has type %s, want %s", name, m.typeOf(x.index), want)
		case int(x.index) < len(m.imports):
			refuse(ReasonExport, "export %q is an import", name)
		}
	}
	if p.ABI != "" {
		function(p.ABI, abiType, false)
	}
	for _, e := range p.Exports {
		function(e.Name, callType, e.Optional)
	}
	function("_initialize", initType, true)
	return problems
}

// why explains imports that a language's standard library drags in.
func why(i Import) string {
	file := strings.HasPrefix(i.Name, "path_") || strings.HasPrefix(i.Name, "fd_")
	switch {
	case i.Module == moduleWASI && file:
		return ": it can open files, and a guest has none"
	case i.Module == moduleWASI && strings.HasPrefix(i.Name, "sock_"):
		return ": it can use the network, and a guest has none"
	}
	return ""
}

var (
	abiType  = funcType{results: "\x7f"}
	callType = funcType{params: "\x7f", results: "\x7f"}
	initType = funcType{}
)

// A funcType is a function's type; parameters and results are value types as
// they are encoded.
type funcType struct{ params, results string }

func (t funcType) String() string {
	list := func(types string) string {
		var names []string
		for _, b := range []byte(types) {
			if len(names) == 8 {
				names = append(names, "…")
				break
			}
			names = append(names, map[byte]string{0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x70: "funcref", 0x6f: "externref"}[b])
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	return list(t.params) + " -> " + list(t.results)
}
