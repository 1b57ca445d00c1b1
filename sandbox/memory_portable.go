package sandbox

// A portableReservation is memory of Go's: it is copied as it grows, at least
// doubling.
type portableReservation struct {
	b   []byte
	max uint64
}

//nolint:unparam // the signature of every platform's
func (r *portableReservation) reserve(max uint64) error {
	r.max = max
	return nil
}

//nolint:unparam // the signature of every platform's
func (r *portableReservation) commit(old, size uint64) ([]byte, error) {
	if size > uint64(cap(r.b)) {
		b := make([]byte, size, max(size, min(r.max, 2*uint64(cap(r.b)))))
		copy(b, r.b[:old])
		r.b = b
	}
	r.b = r.b[:size]
	return r.b, nil
}

func (r *portableReservation) view(uint64) []byte { return r.b }

func (r *portableReservation) release() { r.b = nil }
