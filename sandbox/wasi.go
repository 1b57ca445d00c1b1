package sandbox

import (
	"encoding/binary"
	"math"
)

// wasiFuncs are the functions of wasi_snapshot_preview1 that language runtimes
// can't do without. None of them reaches the host: there are no arguments, no
// environment, no files; two descriptors, 1 and 2, end in the log.
var wasiFuncs = []hostFunc{
	{moduleWASI, "args_get", []byte{i32, i32}, []byte{i32}, (*host).nothing},
	{moduleWASI, "args_sizes_get", []byte{i32, i32}, []byte{i32}, (*host).noSizes},
	{moduleWASI, "environ_get", []byte{i32, i32}, []byte{i32}, (*host).nothing},
	{moduleWASI, "environ_sizes_get", []byte{i32, i32}, []byte{i32}, (*host).noSizes},
	{moduleWASI, "clock_time_get", []byte{i32, i64, i32}, []byte{i32}, (*host).clockTimeGet},
	{moduleWASI, "random_get", []byte{i32, i32}, []byte{i32}, (*host).randomGet},
	{moduleWASI, "fd_write", []byte{i32, i32, i32, i32}, []byte{i32}, (*host).fdWrite},
	{moduleWASI, "fd_read", []byte{i32, i32, i32, i32}, []byte{i32}, (*host).fdRead},
	{moduleWASI, "fd_close", []byte{i32}, []byte{i32}, (*host).onDescriptor},
	{moduleWASI, "fd_fdstat_get", []byte{i32, i32}, []byte{i32}, (*host).fdStatGet},
	{moduleWASI, "fd_fdstat_set_flags", []byte{i32, i32}, []byte{i32}, (*host).onDescriptor},
	{moduleWASI, "fd_seek", []byte{i32, i64, i32, i32}, []byte{i32}, (*host).fdSeek},
	{moduleWASI, "fd_prestat_get", []byte{i32, i32}, []byte{i32}, (*host).badDescriptor},
	{moduleWASI, "fd_prestat_dir_name", []byte{i32, i32, i32}, []byte{i32}, (*host).badDescriptor},
	{moduleWASI, "poll_oneoff", []byte{i32, i32, i32, i32}, []byte{i32}, (*host).pollOneoff},
	{moduleWASI, "sched_yield", nil, []byte{i32}, (*host).nothing},
	{moduleWASI, "proc_exit", []byte{i32}, nil, (*host).procExit},
}

// Errors of WASI preview 1.
const (
	wasiSuccess = 0
	wasiBadF    = 8
	wasiInval   = 28
	wasiNotSup  = 58
	wasiSPipe   = 70
)

// maxVectors bounds the buffers of fd_write and the subscriptions of
// poll_oneoff, as IOV_MAX does on Linux; more is an invalid argument.
const maxVectors = 1024

func (h *host) errno(e uint64) { h.stack[0] = e }

func (h *host) nothing() { h.errno(wasiSuccess) }

func (h *host) badDescriptor() { h.errno(wasiBadF) }

func (h *host) noSizes() {
	count, size := h.at(h.u32(0), 4), h.at(h.u32(1), 4)
	clear(count)
	clear(size)
	h.errno(wasiSuccess)
}

// open reports whether a descriptor is one of the standard three.
func (h *host) open(fd uint32) bool { return fd <= 2 }

func (h *host) onDescriptor() {
	if !h.open(h.u32(0)) {
		h.errno(wasiBadF)
		return
	}
	h.errno(wasiSuccess)
}

// The virtual clock of an instance grows by readNS at each read and by what the
// guest sleeps. It stops at maxVirtualNS, 146 years, so that adding it to a time
// never overflows.
const (
	readNS       = 1_000
	maxVirtualNS = math.MaxInt64 / 2
)

func (h *host) advance(ns uint64) {
	i := h.instance
	i.virtual = min(i.virtual+min(ns, maxVirtualNS), maxVirtualNS)
}

// now reads a clock without moving it; only realtime and monotonic exist.
func (h *host) now(clock uint32) (ns uint64, ok bool) {
	switch clock {
	case 0:
		const latest = maxVirtualNS / 1_000_000_000
		return min(h.instance.env.Time, latest)*1_000_000_000 + h.instance.virtual, true
	case 1:
		return h.instance.virtual, true
	default:
		return 0, false
	}
}

func (h *host) clockTimeGet() {
	out := h.at(h.u32(2), 8)
	h.advance(readNS)
	ns, ok := h.now(h.u32(0))
	if !ok {
		h.errno(wasiInval)
		return
	}
	binary.LittleEndian.PutUint64(out, ns)
	h.errno(wasiSuccess)
}

func (h *host) randomGet() {
	b := h.at(h.u32(0), h.u32(1))
	h.pieces(len(b), func(i, j int) { _, _ = h.random.Read(b[i:j]) }) // never fails
	h.errno(wasiSuccess)
}

func (h *host) fdWrite() {
	fd, vectors, n, written := h.u32(0), h.u32(1), h.u32(2), h.u32(3)
	switch {
	case fd != 1 && fd != 2:
		h.errno(wasiBadF)
		return
	case n > maxVectors:
		h.errno(wasiInval)
		return
	}
	total, list := uint32(0), h.at(vectors, n*8)
	out := h.at(written, 4)
	h.pay(uint64(len(list)))
	for ; len(list) > 0; list = list[8:] {
		b := h.at(binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:]))
		h.record(b)
		total += uint32(len(b)) // the log's limit is far below 2^32
	}
	binary.LittleEndian.PutUint32(out, total)
	h.errno(wasiSuccess)
}

// fdRead finds standard input at its end. Nothing needs it, but Go links it into
// every program that reads through an io.Reader.
func (h *host) fdRead() {
	if h.u32(0) != 0 {
		h.errno(wasiBadF)
		return
	}
	clear(h.at(h.u32(3), 4))
	h.errno(wasiSuccess)
}

// fdStatGet describes standard input, output and error as character devices
// that can't be configured.
func (h *host) fdStatGet() {
	fd, stat := h.u32(0), h.at(h.u32(1), 24)
	if !h.open(fd) {
		h.errno(wasiBadF)
		return
	}
	const characterDevice, mayWrite = 2, 1 << 6
	clear(stat)
	stat[0] = characterDevice
	if fd != 0 {
		binary.LittleEndian.PutUint64(stat[8:], mayWrite)
	}
	h.errno(wasiSuccess)
}

func (h *host) fdSeek() {
	if !h.open(h.u32(0)) {
		h.errno(wasiBadF)
		return
	}
	h.errno(wasiSPipe)
}

func (h *host) procExit() {
	h.fault(CauseExit, "proc_exit(%s)", thousands(h.u32(0)))
}
