package wasm

// A ValType is a value type as it is encoded.
type ValType byte

// Value types.
const (
	I32       ValType = 0x7f
	I64       ValType = 0x7e
	F32       ValType = 0x7d
	F64       ValType = 0x7c
	FuncRef   ValType = 0x70
	ExternRef ValType = 0x6f
)

// IsReference reports whether t is a reference type.
func (t ValType) IsReference() bool { return t == FuncRef || t == ExternRef }

// A Kind says what an import or export is.
type Kind byte

// Kinds.
const (
	KindFunc   Kind = 0
	KindTable  Kind = 1
	KindMemory Kind = 2
	KindGlobal Kind = 3
)

// A Module is a decoded module. Slices of bytes and strings in it may share the
// decoded bytes.
type Module struct {
	Types     []FuncType
	Imports   []Import
	Funcs     []uint32 // type index of each function of its own
	Tables    []Table
	Memories  []Limits
	Globals   []Global
	Exports   []Export
	Start     *uint32 // function index
	Elems     []Elem
	DataCount *uint32
	Codes     []Code // of each function of its own
	Datas     []Data
	Customs   []Custom // in order; where they stood among the sections isn't kept
}

// A FuncType is a function's type.
type FuncType struct{ Params, Results []ValType }

// An Import is one import.
type Import struct {
	Module, Name string
	Kind         Kind
	Type         uint32     // type index, of a function
	Table        Table      // of a table
	Memory       Limits     // of a memory
	Global       GlobalType // of a global
}

// Limits are those of a memory in pages, or of a table in elements.
type Limits struct {
	Min, Max uint32
	HasMax   bool // Max is 0 without
}

// A Table is a table's type.
type Table struct {
	Elem ValType // FuncRef or ExternRef
	Limits
}

// A GlobalType is a global's type.
type GlobalType struct {
	Type    ValType
	Mutable bool
}

// A Global is a global of the module's own.
type Global struct {
	GlobalType
	Init Expr
}

// An Export is one export.
type Export struct {
	Name  string
	Kind  Kind
	Index uint32
}

// An Expr is encoded instructions, the final end included: a constant
// expression, or the body of a function.
type Expr []byte

// An Elem is an element segment. It holds function indices or constant
// expressions, never both.
type Elem struct {
	Mode   ElemMode
	Table  uint32  // of an active segment
	Offset Expr    // of an active segment
	Type   ValType // of the elements
	Funcs  []uint32
	Exprs  []Expr // if UsesExprs
	// UsesExprs: the segment is written with expressions (forms 4 to 7).
	UsesExprs bool
	// Explicit: an active segment names its table and type although they are
	// table 0 and funcref (forms 2 and 6).
	Explicit bool
}

// An ElemMode says when an element segment is used.
type ElemMode byte

// Modes of element segments.
const (
	ElemActive ElemMode = iota
	ElemPassive
	ElemDeclarative
)

// A Code is a function's body.
type Code struct {
	Locals []LocalGroup
	Body   Expr
	Offset int // of Body in the decoded module, for messages
}

// A LocalGroup declares Count locals of a type.
type LocalGroup struct {
	Count uint32
	Type  ValType
}

// A Data is a data segment.
type Data struct {
	Passive bool
	Memory  uint32 // of an active segment
	Offset  Expr   // of an active segment
	Bytes   []byte
	// Explicit: an active segment names its memory although it is memory 0
	// (form 2).
	Explicit bool
}

// A Custom is a custom section.
type Custom struct {
	Name  string
	Bytes []byte
}
