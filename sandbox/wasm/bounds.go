package wasm

// Bounds limit what [Decode] accepts, before it allocates anything for it. 0 = no
// limit beyond what the input has room for.
type Bounds struct {
	Types         int // function types
	Imports       int // imports of any kind
	Functions     int // functions of its own
	Tables        int // tables, imported ones included
	Memories      int // memories, imported ones included; never more than one
	Globals       int // globals of its own
	Exports       int // exports of any kind
	ElemSegments  int // element segments
	TableElements int // initial elements of a table, and entries of all element segments
	DataSegments  int // data segments
	Customs       int // custom sections
	BodyBytes     int // bytes of one function, its declarations of locals included
	Params        int // parameters of one type
	Results       int // results of one type
	Locals        int // local variables of one function, besides its parameters
	LocalsTotal   int // local variables of all functions
}
