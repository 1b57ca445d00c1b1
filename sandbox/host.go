package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/subnet112/assay/sandbox/meter"
)

const (
	moduleAssay = "assay"
	moduleWASI  = "wasi_snapshot_preview1"
)

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

// A hostFunc is an import. Parameters come on the stack, a result replaces the
// first.
type hostFunc struct {
	module, name    string
	params, results []api.ValueType
	do              func(*host)
}

// A host is one call of an import.
type host struct {
	*call
	ctx    context.Context
	memory api.Memory
	stack  []uint64
	name   string
}

var hostFuncs = append([]hostFunc{
	{moduleAssay, "input", []byte{i32, i32}, []byte{i32}, (*host).input},
	{moduleAssay, "output", []byte{i32, i32}, nil, (*host).write},
	{moduleAssay, "rpc", []byte{i64, i32, i32}, []byte{i32}, (*host).rpc},
	{moduleAssay, "rpc_read", []byte{i32, i32}, []byte{i32}, (*host).rpcRead},
	{moduleAssay, "log", []byte{i32, i32, i32}, nil, (*host).log},
}, wasiFuncs...)

// importType is the type of an import, if there is one of this name.
func importType(i Import, wasi bool) (funcType, bool) {
	for _, f := range hostFuncs {
		if f.module == i.Module && f.name == i.Name && (wasi || f.module != moduleWASI) {
			return funcType{string(f.params), string(f.results)}, true
		}
	}
	return funcType{}, false
}

// bindHost makes the imports known to a runtime.
func bindHost(ctx context.Context, r wazero.Runtime) error {
	for _, module := range []string{moduleAssay, moduleWASI} {
		b := r.NewHostModuleBuilder(module)
		for _, f := range hostFuncs {
			if f.module == module {
				b.NewFunctionBuilder().WithGoModuleFunction(f.bind(), f.params, f.results).Export(f.name)
			}
		}
		if module == meter.ImportModule {
			b.NewFunctionBuilder().WithGoModuleFunction(guarded(meter.ImportName, refill), nil, nil).Export(meter.ImportName)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("bind imports of %s: %w", module, err)
		}
	}
	return nil
}

// bind wraps an import: it counts and pays, it doesn't begin after the call's
// time has passed.
func (f hostFunc) bind() api.GoModuleFunc {
	return guarded(f.name, func(ctx context.Context, c *call, guest api.Module, stack []uint64) {
		c.usage.HostCalls++
		c.checkTime(ctx)
		c.pay(hostCallFuel)
		f.do(&host{c, ctx, guest.Memory(), stack, f.name})
	})
}

// guarded records panics of host code as the host's own before wazero turns
// them into errors that look like the guest's.
func guarded(name string, do func(ctx context.Context, c *call, guest api.Module, stack []uint64)) api.GoModuleFunc {
	return func(ctx context.Context, guest api.Module, stack []uint64) {
		c := ctx.Value(callKey{}).(*call)
		defer func() {
			if r := recover(); r != nil {
				if r != errStopped { //nolint:errorlint // the very value that fail panics with
					c.stop(fmt.Errorf("import %s: panic: %v", name, r))
				}
				panic(errStopped)
			}
		}()
		c.tank.open(guest)
		do(ctx, c, guest, stack)
	}
}

// fail ends the call.
func (h *host) fail(err error) {
	h.stop(err)
	panic(errStopped)
}

func (h *host) fault(cause, format string, args ...any) {
	h.fail(&Fault{cause, fmt.Sprintf(format, args...)})
}

func (h *host) u32(i int) uint32 { return uint32(h.stack[i]) }

// at is a view of the guest's memory, valid until the guest runs again. A range
// that isn't there ends the call.
func (h *host) at(ptr, n uint32) []byte {
	b, ok := h.memory.Read(ptr, n)
	if !ok {
		h.fault(CauseBadPointer, "%s: %s bytes at %s, memory is %s", h.name, thousands(n), thousands(ptr), thousands(h.memory.Size()))
	}
	return b
}

// pieces moves n bytes piece by piece: it pays for each before move gets its
// range.
func (h *host) pieces(n int, move func(from, to int)) {
	for from := 0; from < n; from += pieceBytes {
		to := min(from+pieceBytes, n)
		h.pay(uint64(to - from))
		move(from, to)
		if to < n {
			h.checkTime(h.ctx)
		}
	}
}

// give copies the beginning of from into the guest's range and returns how many
// bytes.
func (h *host) give(ptr, size uint32, from []byte) int {
	to := h.at(ptr, size)
	n := min(len(to), len(from))
	h.pieces(n, func(i, j int) { copy(to[i:j], from[i:j]) })
	return n
}

func (h *host) input() {
	n := h.give(h.u32(0), h.u32(1), h.Input[h.taken:])
	h.taken += n
	h.stack[0] = uint64(n)
}

func (h *host) write() {
	b := h.at(h.u32(0), h.u32(1))
	if len(b) > h.OutputLimit-len(h.output) {
		h.fault(CauseOutput, "more than %s bytes", thousands(max(h.OutputLimit, 0)))
	}
	if need := len(h.output) + len(b); need > cap(h.output) {
		// Doubling copies a large state once; append would copy it five times.
		grown := make([]byte, len(h.output), min(max(need, 2*cap(h.output)), h.OutputLimit))
		copy(grown, h.output)
		h.output = grown
	}
	h.pieces(len(b), func(i, j int) { h.output = append(h.output, b[i:j]...) })
}

func (h *host) rpc() {
	chain, req := h.stack[0], h.at(h.u32(1), h.u32(2))
	h.stack[0] = uint64(uint32(h.read(chain, req)))
}

// read gives the length of the reply, or a negative status.
func (h *host) read(chain uint64, req []byte) int32 {
	h.reply = nil
	switch {
	case h.over:
		return int32(ReadBudget)
	case h.Read == nil:
		return int32(ReadUnknownChain)
	case len(req) > RequestLimit:
		return int32(ReadTooLarge)
	}
	h.usage.Reads++
	h.pay(rpcFuel - hostCallFuel + rpcByteFuel*uint64(len(req)))
	r, err := h.Read(h.ctx, chain, append([]byte{}, req...))
	reply, status := r.Body, r.Status
	switch {
	case err != nil && h.ctx.Err() != nil:
		// It was interrupted, or failed at the very moment: the context says who.
		if errors.Is(err, h.ctx.Err()) || errors.Is(err, context.Cause(h.ctx)) {
			h.expired = true
			panic(errStopped)
		}
		h.fail(fmt.Errorf("read: %w", err))
	case err != nil:
		h.fail(fmt.Errorf("read: %w", err))
	case status == ReadOK && len(reply) > h.ReadOut-h.replied:
		status = ReadBudget
	}
	h.pay(r.Fuel)
	if status == ReadBudget {
		h.over = true
	}
	if status != ReadOK {
		return int32(status)
	}
	h.replied += len(reply)
	h.reply = reply
	h.pay(uint64(len(reply)))
	return int32(len(reply))
}

func (h *host) rpcRead() {
	n := h.give(h.u32(0), h.u32(1), h.reply)
	h.reply = h.reply[n:]
	h.stack[0] = uint64(n)
}

func (h *host) log() {
	level, b := h.u32(0), h.at(h.u32(1), h.u32(2))
	letter := byte('?')
	if levels := "DIWE"; level < uint32(len(levels)) {
		letter = levels[level]
	}
	h.record([]byte{letter, ' '}, b, []byte{'\n'})
}

// record appends to the call's log.
func (h *host) record(parts ...[]byte) {
	for _, b := range parts {
		if len(b) > CallLogBytes-len(h.logged) {
			h.fault(CauseLog, "more than %s bytes in one call", thousands(CallLogBytes))
		}
		h.pay(uint64(len(b)))
		h.logged = append(h.logged, b...)
	}
}
