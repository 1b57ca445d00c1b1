package sandbox

import "slices"

// A Profile says what a kind of guest may import and must export.
type Profile struct {
	// Name is what messages call the profile: "solver", "scorer".
	Name string

	// ABI names an export () -> i32 that must return 1 in a fresh instance.
	// Empty: there is none.
	ABI string

	// Exports are the functions (i32) -> i32 that the host calls. Other exports
	// are allowed and ignored.
	Exports []Export

	// WASI admits, of wasi_snapshot_preview1: args_get, args_sizes_get,
	// environ_get, environ_sizes_get, clock_time_get, random_get, fd_read, fd_write,
	// fd_close, fd_fdstat_get, fd_fdstat_set_flags, fd_seek, fd_prestat_get,
	// fd_prestat_dir_name, poll_oneoff, sched_yield, proc_exit.
	WASI bool

	// MemoryPages limits the memory; growing past it fails as the
	// specification says, with -1. At most 65,536; 0 = [DefaultMemoryPages].
	MemoryPages uint32

	// KnownFrames: the module is the caller's own, not a miner's, and nests calls in
	// small frames when it is compiled. Calls of others cost depth for all that the
	// compiler might keep in a frame.
	KnownFrames bool

	// ModuleBytes limits the size of the module; 0 = [DefaultModuleBytes].
	ModuleBytes int
}

// An Export is a function of type (i32) -> i32.
type Export struct {
	Name     string
	Optional bool
}

// Default limits of a profile.
const (
	DefaultMemoryPages = 8192     // 512 MiB
	DefaultModuleBytes = 16 << 20 // 16 MiB
)

// Static limits of a module, the same for every profile. Real guests stay far
// below them: a Go solver has 2,300 functions, QuickJS 780.
const (
	MaxFunctions     = 30_000  // functions of its own
	MaxTypes         = 10_000  // function types
	MaxGlobals       = 10_000  // globals
	MaxImports       = 1_000   // imports; the same function may be imported twice
	MaxExports       = 10_000  // exports
	MaxTableElements = 100_000 // initial elements of the table, and entries of all element segments
	MaxDataSegments  = 100_000 // data segments
	MaxCustoms       = 1_000   // custom sections
	MaxBodyBytes     = 2 << 20 // bytes of one function
	MaxParams        = 1_000   // parameters, and results, of one function
	MaxLocals        = 1_000   // local variables of one function
	MaxLocalsTotal   = 500_000 // local variables of all functions
)

func (p Profile) memoryPages() uint32 {
	if p.MemoryPages == 0 {
		return DefaultMemoryPages
	}
	return min(p.MemoryPages, maxPages)
}

func (p Profile) moduleBytes() int {
	if p.ModuleBytes == 0 {
		return DefaultModuleBytes
	}
	return p.ModuleBytes
}

func (p Profile) has(export string) bool {
	return slices.ContainsFunc(p.Exports, func(e Export) bool { return e.Name == export })
}

// A Report is what a static look at a module found.
type Report struct {
	SHA256    [32]byte   // of all bytes
	Identity  [32]byte   // of the bytes without custom sections
	Bytes     int        // size of the module
	Functions int        // functions of its own
	Types     int        // function types
	Globals   int        // globals
	Imports   []Import   // in the module's order
	Exports   []string   // names, in the module's order
	Customs   []string   // names of custom sections, in the module's order
	MemoryMin uint32     // pages at the start
	MemoryMax uint32     // pages it declares to grow to; 65,536 if it declares none
	Start     bool       // it has a start section
	Unsound   string     // why its instances can't be checkpointed; empty = they can
	Problems  []*Refusal // what it is refused for, the first 20; nil = admitted
}

// An Import is one imported function.
type Import struct{ Module, Name string }
