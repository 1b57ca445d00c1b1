package harness

import "github.com/subnet112/assay/sandbox"

// A Phase is one call of the lifecycle: the name of its export without the
// "solver_" in front, as causes, screening codes and seeds name it.
type Phase string

// The phases, in the order of a session.
const (
	PhaseInitialize Phase = "initialize"
	PhaseMetadata   Phase = "metadata"
	PhaseRestore    Phase = "restore_state"
	PhaseMarket     Phase = "set_market"
	PhaseStart      Phase = "on_benchmark_start"
	PhaseTrigger    Phase = "check_trigger"
	PhasePlan       Phase = "generate_plan"
	PhaseQuote      Phase = "quote"
	PhaseEnd        Phase = "on_benchmark_end"
	PhaseSerialize  Phase = "serialize_state"

	// phaseLoad is the making of an instance: _initialize and solver_abi, and
	// js_load of a script.
	phaseLoad Phase = "load"
)

func (p Phase) export() string {
	if p == phaseLoad {
		return "js_load"
	}
	return "solver_" + string(p)
}

// Profile is what a module must look like to be a solver: the exports of
// ABI v1, WASI, at most 16 MiB of module and 512 MiB of memory.
var Profile = sandbox.Profile{
	Name: "solver",
	ABI:  "solver_abi",
	Exports: []sandbox.Export{
		{Name: PhaseMetadata.export()},
		{Name: PhaseInitialize.export()},
		{Name: PhaseRestore.export(), Optional: true},
		{Name: PhaseMarket.export(), Optional: true},
		{Name: PhaseStart.export(), Optional: true},
		{Name: PhaseTrigger.export(), Optional: true},
		{Name: PhasePlan.export()},
		{Name: PhaseQuote.export(), Optional: true},
		{Name: PhaseEnd.export(), Optional: true},
		{Name: PhaseSerialize.export(), Optional: true},
	},
	WASI:        true,
	MemoryPages: 512 << 20 / (64 << 10),
	ModuleBytes: 16 << 20,
}

// scriptProfile is what the engine of scripts must look like: a solver that can
// be given its program, and needs no WASI.
var scriptProfile = sandbox.Profile{
	Name:        "script",
	ABI:         Profile.ABI,
	Exports:     append([]sandbox.Export{{Name: phaseLoad.export()}}, Profile.Exports...),
	MemoryPages: Profile.MemoryPages,
	ModuleBytes: Profile.ModuleBytes,
	KnownFrames: true,
}
