package sandbox

import "encoding/binary"

// Sizes and offsets of WASI's subscription and event records.
const (
	subscriptionSize = 48
	eventSize        = 32
)

// A subscription is one thing poll_oneoff waits for.
type subscription struct {
	userdata []byte
	kind     byte
	errno    uint16 // why it is over at once
	wait     uint64 // nanoseconds until a clock is due
}

func (h *host) subscription(b []byte) subscription {
	s := subscription{userdata: b[:8], kind: b[8]}
	if s.kind != 0 {
		// Descriptors can't be waited for: there is nothing to come.
		s.errno = wasiNotSup
		return s
	}
	timeout := binary.LittleEndian.Uint64(b[24:])
	now, ok := h.now(binary.LittleEndian.Uint32(b[16:]))
	absolute := binary.LittleEndian.Uint16(b[40:])&1 != 0
	switch {
	case !ok:
		s.errno = wasiInval
	case !absolute:
		s.wait = timeout
	case timeout > now:
		s.wait = timeout - now
	}
	return s
}

// pollOneoff waits until the first subscription is due, without waiting: the
// virtual clock moves on instead. It reports everything that is due by then.
func (h *host) pollOneoff() {
	in, out, n, count := h.u32(0), h.u32(1), h.u32(2), h.u32(3)
	if n == 0 || n > maxVectors {
		h.errno(wasiInval)
		return
	}
	list, events, stored := h.at(in, n*subscriptionSize), h.at(out, n*eventSize), h.at(count, 4)
	h.pay(uint64(len(list) + len(events)))
	// The regions may overlap: read everything before writing anything.
	list = append([]byte{}, list...)
	subscriptions := make([]subscription, n)
	first := ^uint64(0)
	for i := range subscriptions {
		subscriptions[i] = h.subscription(list[i*subscriptionSize:])
		first = min(first, subscriptions[i].wait)
	}
	h.advance(first)
	due := uint32(0)
	for _, s := range subscriptions {
		if s.wait > first {
			continue
		}
		e := events[due*eventSize:][:eventSize]
		clear(e)
		copy(e, s.userdata)
		binary.LittleEndian.PutUint16(e[8:], s.errno)
		e[10] = s.kind
		due++
	}
	binary.LittleEndian.PutUint32(stored, due)
	h.errno(wasiSuccess)
}
