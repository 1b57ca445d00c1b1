package wasmtest

import (
	"slices"
	"strings"
)

// Exports are the solver's exports besides memory and solver_abi, each
// (i32) -> i32, in the order of the lifecycle.
var Exports = []string{
	"solver_metadata", "solver_initialize", "solver_restore_state", "solver_set_market", "solver_on_benchmark_start",
	"solver_check_trigger", "solver_generate_plan", "solver_quote", "solver_on_benchmark_end", "solver_serialize_state",
}

// An Act is what an export does before it answers.
type Act int

// Acts. The zero Act does nothing.
const (
	None       Act = iota
	Trap           // unreachable, inside a function named "boom"
	DivideZero     // divides by zero
	Spin           // loops for ever
	Allocate       // grows memory until it is refused, then traps
	BadPointer     // gives output a pointer outside of its memory
	Exit           // calls WASI's proc_exit with code 7
	FloodLog       // logs 64 KiB again and again
	Recurse        // calls itself for ever
	Echo           // outputs its whole input, in front of Answer.Output
	Remember       // adds 1 to the counter kept by Options.Stateful
)

// An Answer is how one export behaves.
type Answer struct {
	Status int32  // what it returns
	Output []byte // what it outputs
	Pad    int    // zero bytes to output after that, for answers of many MiB
	Act    Act    // what it does first
	On     int    // the Act happens on this call only, counted from 1 in each instance; 0 = on every call
	Log    []byte // what it logs
	RPC    *RPC   // a read to make; its reply is output in front of Output
}

// An RPC is one read through the assay rpc import. A negative length from the
// host makes the export return status 1 and output nothing.
type RPC struct {
	Chain   int64
	Request string
}

// Options describe a guest of the solver ABI. The zero value exports everything
// and answers everything with status 0 and no output.
type Options struct {
	ABI      int32             // what solver_abi returns; 0 = 1
	Answers  map[string]Answer // by export
	Omit     []string          // exports to leave out; "memory" and "solver_abi" count
	Stateful bool              // an 8-byte little-endian counter at address 0: restore reads it, serialize outputs it after Answer.Output
	Extra    [2]string         // one more import, module and name, of type () -> (); zero = none
	Start    Act               // what _initialize does; None = no _initialize
	Pages    uint32            // initial memory; 0 = what the outputs need
	MaxPages int64             // declared maximum of the memory; 0 = none
	Comment  string            // content of a custom section, to tell equal modules apart
}

const (
	scratch = 64        // address of what the guest reads into
	buffer  = 64 * 1024 // its size
	strs    = scratch + buffer
)

type solver struct {
	Module
	o                                      Options
	input, output, rpc, rpcRead, log, exit uint32
	boom, recurse                          uint32
	next                                   int32 // where the next constant goes
	zeros                                  int32 // address of 64 KiB that stay zero
}

// Solver assembles a guest of the solver ABI.
func Solver(o Options) []byte {
	s := &solver{o: o, next: strs}
	assay := func(name string, params ...byte) uint32 {
		results := []byte{I32}
		if name == "output" || name == "log" {
			results = nil
		}
		return s.Import("assay", name, params, results)
	}
	s.input = assay("input", I32, I32)
	s.output = assay("output", I32, I32)
	s.rpc = assay("rpc", I64, I32, I32)
	s.rpcRead = assay("rpc_read", I32, I32)
	s.log = assay("log", I32, I32, I32)
	if s.uses(Exit) {
		s.exit = s.Import("wasi_snapshot_preview1", "proc_exit", []byte{I32}, nil)
	}
	if o.Extra != [2]string{} {
		s.Import(o.Extra[0], o.Extra[1], nil, nil)
	}
	s.zeros = s.constant(make([]byte, buffer))

	s.boom = s.Func("", nil, nil, nil, Unreachable)
	s.recurse = s.Func("", []byte{I32}, []byte{I32}, nil, LocalGet(0), Call(s.boom+1), I32Const(1), I32Add)
	if !slices.Contains(o.Omit, "solver_abi") {
		abi := o.ABI
		if abi == 0 {
			abi = 1
		}
		s.Func("solver_abi", nil, []byte{I32}, nil, I32Const(abi))
	}
	if o.Start != None {
		s.Func("_initialize", nil, nil, []byte{I32, I32}, s.act(o.Start))
	}
	for _, name := range Exports {
		if !slices.Contains(o.Omit, name) {
			s.Func(name, []byte{I32}, []byte{I32}, []byte{I32}, s.body(name, o.Answers[name]))
		}
	}

	pages := max(o.Pages, uint32(s.next)/65536+1)
	maximum := o.MaxPages
	if maximum == 0 {
		maximum = -1
	}
	s.Memory(pages, maximum)
	if !slices.Contains(o.Omit, "memory") {
		s.Export("memory", KindMemory, 0)
	}
	s.FuncNames(map[uint32]string{s.boom: "boom", s.recurse: "recurse"})
	if o.Comment != "" {
		s.Custom("comment", []byte(o.Comment))
	}
	return s.Bytes()
}

func (s *solver) uses(act Act) bool {
	if s.o.Start == act {
		return true
	}
	for _, a := range s.o.Answers {
		if a.Act == act {
			return true
		}
	}
	return false
}

// constant places bytes in memory and returns their address. Zeros need no
// data segment: fresh memory is zero.
func (s *solver) constant(b []byte) int32 {
	at := s.next
	s.next += int32(len(b)+7) &^ 7
	if strings.Trim(string(b), "\x00") != "" {
		s.Data(at, b)
	}
	return at
}

func (s *solver) out(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return Seq(I32Const(s.constant(b)), I32Const(int32(len(b))), Call(s.output))
}

// body is the code of one export; local 1 is free for it.
func (s *solver) body(name string, a Answer) []byte {
	var code []byte
	if s.o.Stateful && name == "solver_restore_state" {
		code = Seq(code, I32Const(0), I32Const(8), Call(s.input), Drop)
	}
	if act := s.act(a.Act); act != nil {
		if a.On > 0 {
			count := s.Global(0)
			act = Seq(GlobalGet(count), I32Const(1), I32Add, GlobalSet(count),
				GlobalGet(count), I32Const(int32(a.On)), I32Eq, If(act))
		}
		code = Seq(code, act)
	}
	if len(a.Log) > 0 {
		code = Seq(code, I32Const(1), I32Const(s.constant(a.Log)), I32Const(int32(len(a.Log))), Call(s.log))
	}
	if a.RPC != nil {
		code = Seq(code,
			I64Const(a.RPC.Chain), I32Const(s.constant([]byte(a.RPC.Request))), I32Const(int32(len(a.RPC.Request))), Call(s.rpc),
			I32Const(0), I32LtS, If(I32Const(1), Return),
			s.copyAll(s.rpcRead))
	}
	code = Seq(code, s.out(a.Output))
	if a.Pad > 0 {
		code = Seq(code, s.repeat(a.Pad/buffer, I32Const(s.zeros), I32Const(buffer), Call(s.output)),
			I32Const(s.zeros), I32Const(int32(a.Pad%buffer)), Call(s.output))
	}
	if s.o.Stateful && name == "solver_serialize_state" {
		code = Seq(code, I32Const(0), I32Const(8), Call(s.output))
	}
	return Seq(code, I32Const(a.Status))
}

// copyAll outputs everything that read (input or rpc_read) still has.
func (s *solver) copyAll(read uint32) []byte {
	return Block(Loop(
		I32Const(scratch), I32Const(buffer), Call(read), LocalTee(1), I32Eqz, BrIf(1),
		I32Const(scratch), LocalGet(1), Call(s.output),
		Br(0),
	))
}

// repeat runs body n times, n ≥ 0.
func (s *solver) repeat(n int, body ...[]byte) []byte {
	return Seq(I32Const(int32(n)), LocalSet(1), Block(Loop(
		LocalGet(1), I32Eqz, BrIf(1),
		Seq(body...),
		LocalGet(1), I32Const(1), I32Sub, LocalSet(1),
		Br(0),
	)))
}

func (s *solver) act(a Act) []byte {
	switch a {
	case Trap:
		return Call(s.boom)
	case DivideZero:
		return Seq(I32Const(1), I32Const(0), I32DivS, Drop)
	case Spin:
		return Loop(Br(0))
	case Allocate:
		return Seq(Loop(I32Const(16), MemoryGrow, I32Const(-1), I32Eq, If(Unreachable), Br(0)))
	case BadPointer:
		return Seq(I32Const(-16), I32Const(32), Call(s.output))
	case Exit:
		return Seq(I32Const(7), Call(s.exit))
	case FloodLog:
		return Loop(I32Const(1), I32Const(s.zeros), I32Const(buffer), Call(s.log), Br(0))
	case Recurse:
		return Seq(I32Const(0), Call(s.recurse), Drop)
	case Echo:
		return s.copyAll(s.input)
	case Remember:
		return Seq(I32Const(0), I32Const(0), I64Load(0), I64Const(1), []byte{0x7c}, I64Store(0))
	default:
		return nil
	}
}
