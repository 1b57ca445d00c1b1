package sandbox

import "sync/atomic"

const pageSize = 65536

// reservations counts memories that are held, for tests.
var reservations atomic.Int64

// A linearMemory backs one instance's memory. It is wazero's allocator and its
// buffer at once, for an instance has one memory. Growing never moves it where
// the platform can reserve address space.
type linearMemory struct {
	reservation
	max     uint64 // bytes it may grow to
	min     uint64 // bytes it began with
	size    uint64 // bytes
	refused bool   // a grow was refused
	err     error  // the host couldn't give what the limit allows
	freed   atomic.Bool
}

func newMemory(minPages, maxPages uint32) (*linearMemory, error) {
	m := &linearMemory{min: uint64(minPages) * pageSize, max: uint64(maxPages) * pageSize}
	if err := m.reserve(m.max); err != nil {
		return nil, err
	}
	reservations.Add(1)
	return m, nil
}

// Reallocate implements wazero's LinearMemory. Nil tells the guest that it
// can't grow.
func (m *linearMemory) Reallocate(size uint64) []byte {
	if size > m.max {
		m.refused = true
		return nil
	}
	b, err := m.commit(m.size, size)
	if err != nil {
		m.err = err
		return nil
	}
	m.size = size
	return b
}

// Free implements wazero's LinearMemory; it may be called again.
func (m *linearMemory) Free() {
	if m.freed.CompareAndSwap(false, true) {
		m.release()
		reservations.Add(-1)
	}
}

// bytes is what the guest sees, valid until it grows or is freed.
func (m *linearMemory) bytes() []byte { return m.view(m.size) }

func (m *linearMemory) pages() uint32 { return uint32(m.size / pageSize) }

// exhausted reports whether the guest grew to its limit, or was refused more. A
// memory that can't grow at all is never exhausted.
func (m *linearMemory) exhausted() bool { return m.refused || m.size == m.max && m.size > m.min }
