package sandbox

// Reservations counts the memories that are held by instances.
func Reservations() int64 { return reservations.Load() }

// The parts of a cache entry's name.
var (
	EntryName     = entryName
	WazeroVersion = wazeroVersion
)

const CacheRules = cacheRules

// Bounds are what modules are decoded within.
var Bounds = bounds

// Compiled counts the identities whose code the engine holds.
func (e *Engine) Compiled() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.code)
}

// SharesCode reports whether two modules were compiled once.
func (m *Module) SharesCode(other *Module) bool { return m.code == other.code }

// GrowPortably runs a memory of other platforms through sizes in bytes, writing
// its first byte, and returns the buffers' lengths and whether the byte was kept.
func GrowPortably(max uint64, sizes ...uint64) (lengths []int, kept bool) {
	var r portableReservation
	_ = r.reserve(max)
	kept = true
	old := uint64(0)
	for _, size := range sizes {
		b, _ := r.commit(old, size)
		kept = kept && (old == 0 || b[0] == 42)
		b[0], old = 42, size
		lengths = append(lengths, len(r.view(size)))
	}
	r.release()
	return lengths, kept
}

// Spend takes fuel.
func (a *Allowance) Spend(fuel uint64) { a.spend(0, fuel) }

// OnEnd has f see how each call of the engine's ends: the memory, before a dead
// instance is freed, and what the call spent. It comes before the first call.
func (e *Engine) OnEnd(f func(memory []byte, spent uint64)) {
	e.onEnd = func(_ *Instance, memory []byte, spent uint64) { f(memory, spent) }
}
