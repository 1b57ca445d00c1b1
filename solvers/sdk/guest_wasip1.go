//go:build wasip1

package sdk

import (
	"fmt"
	"unsafe"
)

// abiVersion is the version of the ABI this package speaks.
const abiVersion = 1

//go:wasmimport assay input
func importInput(ptr unsafe.Pointer, capacity int32) int32

//go:wasmimport assay output
func importOutput(ptr unsafe.Pointer, length int32)

//go:wasmimport assay rpc
func importRPC(chain int64, ptr unsafe.Pointer, length int32) int32

//go:wasmimport assay rpc_read
func importRPCRead(ptr unsafe.Pointer, capacity int32) int32

//go:wasmimport assay log
func importLog(level int32, ptr unsafe.Pointer, length int32)

//go:wasmexport solver_abi
func exportABI() int32 { return abiVersion }

//go:wasmexport solver_metadata
func exportMetadata(n int32) int32 { return serve((*dispatcher).metadata, n) }

//go:wasmexport solver_initialize
func exportInitialize(n int32) int32 { return serve((*dispatcher).initialize, n) }

//go:wasmexport solver_restore_state
func exportRestoreState(n int32) int32 { return serve((*dispatcher).restoreState, n) }

//go:wasmexport solver_set_market
func exportSetMarket(n int32) int32 { return serve((*dispatcher).setMarket, n) }

//go:wasmexport solver_on_benchmark_start
func exportOnBenchmarkStart(n int32) int32 { return serve((*dispatcher).benchmarkStart, n) }

//go:wasmexport solver_check_trigger
func exportCheckTrigger(n int32) int32 { return serve((*dispatcher).checkTrigger, n) }

//go:wasmexport solver_generate_plan
func exportGeneratePlan(n int32) int32 { return serve((*dispatcher).generatePlan, n) }

//go:wasmexport solver_quote
func exportQuote(n int32) int32 { return serve((*dispatcher).quote, n) }

//go:wasmexport solver_on_benchmark_end
func exportOnBenchmarkEnd(n int32) int32 { return serve((*dispatcher).benchmarkEnd, n) }

//go:wasmexport solver_serialize_state
func exportSerializeState(n int32) int32 { return serve((*dispatcher).serializeState, n) }

// serve reads a call's whole input, runs it and writes its output.
func serve(f export, inputLen int32) int32 {
	input := pull(make([]byte, inputLen), importInput)
	status, output := registered.run(f, input)
	if len(output) > 0 {
		importOutput(unsafe.Pointer(unsafe.SliceData(output)), int32(len(output)))
	}
	return status
}

// pull fills buf from a reading import and returns what came.
func pull(buf []byte, read func(unsafe.Pointer, int32) int32) []byte {
	got := 0
	for got < len(buf) {
		n := read(unsafe.Pointer(&buf[got]), int32(len(buf)-got))
		if n <= 0 {
			break
		}
		got += int(n)
	}
	return buf[:got]
}

// Statuses of the rpc import, as the ABI numbers them.
const (
	rpcUnknownChain = -1
	rpcBudget       = -2
	rpcTooLarge     = -3
)

func hostRPC(chainID uint64, request []byte) ([]byte, error) {
	n := importRPC(int64(chainID), unsafe.Pointer(unsafe.SliceData(request)), int32(len(request)))
	switch {
	case n >= 0:
		return pull(make([]byte, n), importRPCRead), nil
	case n == rpcUnknownChain:
		return nil, fmt.Errorf("chain %d: %w", chainID, ErrUnknownChain)
	case n == rpcBudget:
		return nil, ErrBudget
	case n == rpcTooLarge:
		return nil, ErrTooLarge
	}
	return nil, fmt.Errorf("rpc status %d", n)
}

func hostLog(level Level, line string) {
	importLog(int32(level), unsafe.Pointer(unsafe.StringData(line)), int32(len(line)))
}
