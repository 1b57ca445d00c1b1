package wasm

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// MaxPages is the most pages of 64 KiB that a memory may have.
const MaxPages = 65536

// Sections by id, and their order in a module: the data count and tag sections
// stand where their ids don't.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
	sectionTag
)

var (
	sectionNames = [...]string{
		"custom", "type", "import", "function", "table", "memory", "global", "export", "start", "element", "code", "data", "data count", "tag",
	}
	sectionRank = [...]int{0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 11, 6}
)

// Decode reads a module. Its sections are in order and of the sizes they
// announce, every instruction can be read, and every index outside of code and
// every type of a block is in range. Other indices in code, labels and operands
// are not looked at. The error is an [*Error]. The module shares b.
func Decode(b []byte, bounds Bounds) (*Module, error) {
	if err := checkHeader(b); err != nil {
		return nil, err
	}
	d := &decoder{all: b, m: &Module{}, bounds: &bounds}
	d.sections()
	if d.err == nil {
		d.counts()
	}
	if d.err != nil {
		return nil, d.err
	}
	return d.m, nil
}

const (
	magic      = "\x00asm"
	version    = 1
	headerSize = 8
)

func checkHeader(b []byte) error {
	if !bytes.HasPrefix(b, []byte(magic)) {
		return &Error{Detail: `not a WebAssembly module: it doesn't begin with \0asm`}
	}
	if len(b) < headerSize {
		return &Error{Offset: 4, What: "header", Detail: fmt.Sprintf("module ends after %d bytes", len(b))}
	}
	switch v := binary.LittleEndian.Uint32(b[4:]); {
	case v>>16 == 1: // the layer
		return &Error{Offset: 4, What: "header", Detail: "a component, not a core module: build without the component model", Feature: true}
	case v != version:
		return &Error{Offset: 4, What: "header", Detail: fmt.Sprintf("WebAssembly version %s, want 1", Thousands(v))}
	}
	return nil
}

// A decoder fills a module from a section at a time, which its scanner walks.
type decoder struct {
	scanner
	all    []byte // the input
	m      *Module
	bounds *Bounds

	imported [4]int // by kind
	elements int    // of all segments
	locals   uint64 // of all functions
	code     Reader // reused
}

func (d *decoder) sections() {
	last := 0
	for at := headerSize; at < len(d.all); {
		d.scanner = scanner{b: d.all, i: at, what: "section header"}
		id := d.byte()
		size := d.u32()
		switch {
		case d.err != nil:
			return
		case int(id) >= len(sectionNames):
			d.fail("unknown section %d", id)
			return
		case uint64(size) > uint64(d.left()):
			d.fail("%s section announces %s bytes, %s left", sectionNames[id], Thousands(size), Thousands(d.left()))
			return
		}
		at = d.i + int(size)
		if rank := sectionRank[id]; id != sectionCustom {
			if rank <= last {
				d.i = at
				d.fail("%s section is repeated or out of order", sectionNames[id])
				return
			}
			last = rank
		}
		d.b, d.what = d.all[:at], sectionNames[id]+" section"
		d.section(id)
		if d.err == nil && d.left() > 0 {
			d.fail("%s bytes too many", Thousands(d.left()))
		}
		if d.err != nil {
			return
		}
	}
}

func (d *decoder) section(id byte) {
	switch id {
	case sectionCustom:
		d.customSection()
	case sectionType:
		d.typeSection()
	case sectionImport:
		d.importSection()
	case sectionFunction:
		d.functionSection()
	case sectionTable:
		d.tableSection()
	case sectionMemory:
		d.memorySection()
	case sectionGlobal:
		d.globalSection()
	case sectionExport:
		d.exportSection()
	case sectionStart:
		i := d.functionIndex()
		d.m.Start = &i
	case sectionElement:
		d.elementSection()
	case sectionCode:
		d.codeSection()
	case sectionData:
		d.dataSection()
	case sectionDataCount:
		n := d.u32()
		d.m.DataCount = &n
	case sectionTag:
		d.feature("exceptions are not admitted")
	}
}

// counts compares what sections say of each other.
func (d *decoder) counts() {
	m := d.m
	switch {
	case len(m.Funcs) != len(m.Codes):
		d.err = &Error{Detail: fmt.Sprintf("%s functions are declared, %s have code", Thousands(len(m.Funcs)), Thousands(len(m.Codes)))}
	case m.DataCount != nil && uint64(*m.DataCount) != uint64(len(m.Datas)):
		d.err = &Error{Detail: fmt.Sprintf("%s data segments are announced, there are %s", Thousands(*m.DataCount), Thousands(len(m.Datas)))}
	}
}

// Imported is how many imports of a kind there are: the index of the first one of
// that kind that is the module's own.
func (m *Module) Imported(k Kind) int {
	n := 0
	for i := range m.Imports {
		if m.Imports[i].Kind == k {
			n++
		}
	}
	return n
}

// ImportedFuncs is how many functions are imported.
func (m *Module) ImportedFuncs() int { return m.Imported(KindFunc) }
