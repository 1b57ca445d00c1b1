package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/subnet112/assay/sandbox/meter"
	"github.com/subnet112/assay/sandbox/wasm"
)

const (
	maxPages    = 65536
	maxProblems = 20
)

// Check looks at a module without compiling it: its format, its sizes, its code's
// limits, what it imports and exports. The error is a [*Refusal], the first of
// [Report.Problems]; nil means that the profile admits the module as far as a
// static look tells. It takes time and memory in proportion to the module.
func (e *Engine) Check(module []byte, p Profile) (Report, error) {
	_, report, err := check(module, p)
	return report, err
}

// Identify returns the identity that the report of [Engine.Check] has, without the
// rest of the report: zero for what is no module.
func Identify(module []byte, p Profile) (id [32]byte) {
	if checkHeader(module, p.moduleBytes()) != nil {
		return id
	}
	if _, err := wasm.Decode(module, bounds); err != nil {
		return id
	}
	return identity(module)
}

// An admitted module and its rewritten form.
type admitted struct {
	*wasm.Module
	meter *meter.Module
	names []byte // payload of the name section, if it isn't too long
}

func check(module []byte, p Profile) (*admitted, Report, error) {
	report := Report{SHA256: sha256.Sum256(module), Bytes: len(module), MemoryMax: maxPages}
	refuse := func(r *Refusal) (*admitted, Report, error) {
		report.Problems = []*Refusal{r}
		return nil, report, r
	}
	if r := checkHeader(module, p.moduleBytes()); r != nil {
		return refuse(r)
	}
	m, err := wasm.Decode(module, bounds)
	if err != nil {
		return refuse(refusal(err))
	}
	report.Identity = identity(module)
	a := &admitted{Module: m}
	report.describe(m)
	for _, c := range m.Customs {
		const limit = 4 << 20
		if c.Name == "name" && a.names == nil && len(c.Bytes) <= limit {
			a.names = bytes.Clone(c.Bytes)
		}
	}
	report.Problems = a.admit(p)
	if len(report.Problems) == 0 {
		if a.meter, err = meter.Rewrite(m, meter.Options{KnownFrames: p.KnownFrames}); err != nil {
			return refuse(refusal(err))
		}
		report.Unsound = a.meter.Unsound
		return a, report, nil
	}
	return nil, report, report.Problems[0]
}

// bounds are the limits of what is decoded; those of code are the rewrite's.
var bounds = wasm.Bounds{
	Types:         MaxTypes,
	Imports:       MaxImports,
	Functions:     MaxFunctions,
	Globals:       MaxGlobals,
	Exports:       MaxExports,
	Tables:        1,
	Memories:      1,
	TableElements: MaxTableElements,
	DataSegments:  MaxDataSegments,
	Customs:       MaxCustoms,
	ElemSegments:  MaxTableElements,
	BodyBytes:     MaxBodyBytes,
	Params:        MaxParams,
	Results:       MaxParams,
	Locals:        MaxLocals,
	LocalsTotal:   MaxLocalsTotal,
}

// refusal sorts the errors of decoding and rewriting.
func refusal(err error) *Refusal {
	var format *wasm.Error
	var code *meter.Error
	switch {
	case errors.As(err, &format) && format.Feature:
		return &Refusal{ReasonFeature, err.Error()}
	case errors.As(err, &format) && format.Size, errors.As(err, &code) && code.Size:
		return &Refusal{ReasonSize, err.Error()}
	case errors.As(err, &code):
		return &Refusal{ReasonInvalid, err.Error()}
	}
	return &Refusal{ReasonMalformed, err.Error()}
}

// checkHeader looks at a module's size and first bytes.
func checkHeader(module []byte, limit int) *Refusal {
	switch {
	case len(module) > limit:
		return &Refusal{ReasonSize, fmt.Sprintf("module is %s bytes, limit %s", thousands(len(module)), thousands(limit))}
	case len(module) < 4 || !bytes.HasPrefix(module, []byte("\x00asm")):
		return &Refusal{ReasonNotWasm, "not a WebAssembly module: it doesn't begin with \\0asm"}
	case len(module) < 8:
		return &Refusal{ReasonMalformed, fmt.Sprintf("header at offset 4: module ends after %d bytes", len(module))}
	}
	switch version := binary.LittleEndian.Uint32(module[4:]); {
	case version>>16 == 1:
		return &Refusal{ReasonNotWasm, "a component, not a core module: build without the component model"}
	case version != 1:
		return &Refusal{ReasonNotWasm, fmt.Sprintf("WebAssembly version %s, want 1", thousands(version))}
	}
	return nil
}

// identity hashes a module that decodes without its custom sections.
func identity(module []byte) (id [32]byte) {
	h := sha256.New()
	h.Write(module[:8])
	for at := 8; at < len(module); {
		size, n := binary.Uvarint(module[at+1:])
		end := at + 1 + n + int(size)
		if module[at] != 0 {
			h.Write(module[at:end])
		}
		at = end
	}
	h.Sum(id[:0])
	return id
}

func (r *Report) describe(m *wasm.Module) {
	r.Functions, r.Types, r.Globals, r.Start = len(m.Funcs), len(m.Types), len(m.Globals), m.Start != nil
	for _, i := range m.Imports {
		r.Imports = append(r.Imports, Import{i.Module, i.Name})
	}
	for _, x := range m.Exports {
		r.Exports = append(r.Exports, x.Name)
	}
	for _, c := range m.Customs {
		r.Customs = append(r.Customs, c.Name)
	}
	for _, l := range m.Memories {
		r.MemoryMin = l.Min
		if l.HasMax {
			r.MemoryMax = l.Max
		}
	}
}

// admit holds a well-formed module against a profile.
func (a *admitted) admit(p Profile) (problems []*Refusal) {
	refuse := func(reason Reason, format string, args ...any) {
		if len(problems) < maxProblems {
			problems = append(problems, &Refusal{reason, fmt.Sprintf(format, args...)})
		}
	}
	for _, i := range a.Imports {
		name := Import{i.Module, i.Name}
		if what := kindName(i.Kind); i.Kind != wasm.KindFunc {
			refuse(ReasonImport, "%s %s.%s is imported, only functions may be", what, quoted(i.Module), quoted(i.Name))
		} else if want, ok := importType(name, p.WASI); !ok {
			refuse(ReasonImport, "unknown import %s.%s%s", quoted(i.Module), quoted(i.Name), why(name))
		} else if got := typeOf(a.Types[i.Type]); got != want {
			refuse(ReasonImport, "import %s.%s has type %s, want %s", quoted(i.Module), quoted(i.Name), got, want)
		}
	}

	exports := make(map[string]wasm.Export, len(a.Exports))
	for _, x := range a.Exports {
		exports[x.Name] = x
		if strings.HasPrefix(x.Name, meter.Prefix) {
			refuse(ReasonExport, "export %s: names that begin with %q are the sandbox's own", quoted(x.Name), meter.Prefix)
		}
	}
	if x, ok := exports["memory"]; !ok || x.Kind != wasm.KindMemory {
		refuse(ReasonExport, "no memory is exported as %q", "memory")
	} else if limit := p.memoryPages(); a.Memories[0].Min > limit {
		refuse(ReasonMemory, "memory starts with %s pages, limit %s", thousands(a.Memories[0].Min), thousands(limit))
	}
	for _, t := range a.Tables {
		if t.Min > MaxTableElements {
			refuse(ReasonSize, "table of %s elements, limit %s", thousands(t.Min), thousands(MaxTableElements))
		}
	}

	// A command sets its runtime up in _start and is done; nothing can be called
	// in it before or after.
	start, isCommand := exports["_start"]
	if _, isReactor := exports["_initialize"]; isCommand && start.Kind == wasm.KindFunc && !isReactor {
		refuse(ReasonExport, `it exports "_start" and no "_initialize": build a reactor (Go: -buildmode=c-shared), not a command`)
	}
	function := func(name string, want funcType, optional bool) {
		x, ok := exports[name]
		switch {
		case !ok && optional:
		case !ok:
			refuse(ReasonExport, "no function is exported as %q", name)
		case x.Kind != wasm.KindFunc:
			refuse(ReasonExport, "export %q is no function", name)
		case a.typeOf(x.Index) != want:
			refuse(ReasonExport, "export %q has type %s, want %s", name, a.typeOf(x.Index), want)
		case int(x.Index) < len(a.Imports):
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

// typeOf is the type of a function; its index must be one, and nothing but
// functions imported.
func (a *admitted) typeOf(index uint32) funcType {
	if int(index) < len(a.Imports) {
		return typeOf(a.Types[a.Imports[index].Type])
	}
	return typeOf(a.Types[a.Funcs[int(index)-len(a.Imports)]])
}

func kindName(k wasm.Kind) string {
	return map[wasm.Kind]string{wasm.KindTable: "table", wasm.KindMemory: "memory", wasm.KindGlobal: "global"}[k]
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

func typeOf(t wasm.FuncType) funcType {
	text := func(types []wasm.ValType) string {
		b := make([]byte, len(types))
		for i, t := range types {
			b[i] = byte(t)
		}
		return string(b)
	}
	return funcType{text(t.Params), text(t.Results)}
}

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
