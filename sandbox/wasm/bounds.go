package wasm

// Bounds limit what [Decode] accepts; they are checked before anything is
// allocated. 0 = no limit but what the input has room for.
type Bounds struct {
	Types         int // function types
	Imports       int
	Functions     int // functions of its own
	Tables        int
	Memories      int
	Globals       int // of its own
	Exports       int
	ElemSegments  int
	TableElements int // entries of all element segments
	DataSegments  int
	BodyBytes     int // of one function, local declarations included
	Params        int // of one function type
	Results       int // of one function type
	Locals        int // of one function, besides its parameters
	LocalsTotal   int // of all functions
}
