package sdk

// Exports of the ABI by name.
var exports = map[string]export{
	"metadata":           (*dispatcher).metadata,
	"initialize":         (*dispatcher).initialize,
	"restore_state":      (*dispatcher).restoreState,
	"serialize_state":    (*dispatcher).serializeState,
	"set_market":         (*dispatcher).setMarket,
	"on_benchmark_start": (*dispatcher).benchmarkStart,
	"on_benchmark_end":   (*dispatcher).benchmarkEnd,
	"check_trigger":      (*dispatcher).checkTrigger,
	"generate_plan":      (*dispatcher).generatePlan,
	"quote":              (*dispatcher).quote,
}

// NewModule returns the function that a validator calls a module of s through.
func NewModule(s Solver) func(export, input string) (int32, string) {
	d := dispatcher{solver: s}
	return func(export, input string) (int32, string) {
		status, output := d.run(exports[export], []byte(input))
		return status, string(output)
	}
}
