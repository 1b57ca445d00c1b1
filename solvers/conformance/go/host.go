//go:build wasip1

package main

import "unsafe"

//go:wasmimport assay input
func hostInput(ptr unsafe.Pointer, capacity uint32) int32

//go:wasmimport assay output
func hostOutput(ptr unsafe.Pointer, length uint32)

//go:wasmimport assay rpc
func hostRPC(chain int64, ptr unsafe.Pointer, length uint32) int32

//go:wasmimport assay rpc_read
func hostRPCRead(ptr unsafe.Pointer, capacity uint32) int32

//go:wasmimport assay log
func hostLog(level int32, ptr unsafe.Pointer, length uint32)

// The same imports with pointers that may point anywhere.

//go:wasmimport assay input
func wildInput(ptr, capacity uint32) int32

//go:wasmimport assay output
func wildOutput(ptr, length uint32)

//go:wasmimport assay rpc
func wildRPC(chain int64, ptr, length uint32) int32

//go:wasmimport assay rpc_read
func wildRPCRead(ptr, capacity uint32) int32

//go:wasmimport assay log
func wildLog(level int32, ptr, length uint32)

func at(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// pull reads an import to its end, piece by piece.
func pull(piece int, read func(unsafe.Pointer, uint32) int32) []byte {
	var all []byte
	for {
		all = append(all, make([]byte, piece)...)
		free := all[len(all)-piece:]
		n := read(at(free), uint32(piece))
		all = all[:len(all)-piece+int(max(n, 0))]
		if n <= 0 {
			return all
		}
	}
}

//go:wasmexport solver_abi
func exportABI() int32 { return 1 }

//go:wasmexport solver_metadata
func exportMetadata(n uint32) int32 { return call("metadata", n, metadata) }

//go:wasmexport solver_initialize
func exportInitialize(n uint32) int32 { return call("initialize", n, "") }

//go:wasmexport solver_restore_state
func exportRestoreState(n uint32) int32 { return call("restore_state", n, "") }

//go:wasmexport solver_set_market
func exportSetMarket(n uint32) int32 { return call("set_market", n, "") }

//go:wasmexport solver_on_benchmark_start
func exportOnBenchmarkStart(n uint32) int32 { return call("on_benchmark_start", n, "") }

//go:wasmexport solver_check_trigger
func exportCheckTrigger(n uint32) int32 { return call("check_trigger", n, trigger) }

//go:wasmexport solver_generate_plan
func exportGeneratePlan(n uint32) int32 { return call("generate_plan", n, plan) }

//go:wasmexport solver_quote
func exportQuote(n uint32) int32 { return call("quote", n, quote) }

//go:wasmexport solver_on_benchmark_end
func exportOnBenchmarkEnd(n uint32) int32 { return call("on_benchmark_end", n, "") }

//go:wasmexport solver_serialize_state
func exportSerializeState(n uint32) int32 { return call("serialize_state", n, "") }
