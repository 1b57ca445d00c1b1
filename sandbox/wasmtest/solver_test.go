package wasmtest_test

import (
	"testing"

	"github.com/subnet112/assay/sandbox/wasmtest"
	"github.com/tetratelabs/wazero"
)

// Every guest that Solver can make is valid WebAssembly: what a test says about
// a hostile guest isn't about a malformed one.
func TestSolverIsValid(t *testing.T) {
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer r.Close(t.Context())
	for act := wasmtest.None; act <= wasmtest.Remember; act++ {
		for on := range 2 {
			wasm := wasmtest.Solver(wasmtest.Options{
				Stateful: true,
				Extra:    [2]string{"env", "nothing"},
				Start:    act,
				MaxPages: 100,
				Comment:  "a comment",
				Answers: map[string]wasmtest.Answer{"solver_generate_plan": {
					Status: 2, Output: []byte("out"), Pad: 200_000, Act: act, On: on,
					RPC: &wasmtest.RPC{Chain: 1, Request: "{}"},
				}},
			})
			if _, err := r.CompileModule(t.Context(), wasm); err != nil {
				t.Errorf("act %d, on %d: %v", act, on, err)
			}
		}
	}
}
