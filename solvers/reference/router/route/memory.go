package route

import (
	"fmt"
	"slices"

	"github.com/subnet112/assay/intent"
)

const (
	memoryVersion = 1
	maxLearned    = 4096 // pools and tokens, each

	// relearnBlocks is after how many blocks what was learned is asked for again: a
	// week of mainnet.
	relearnBlocks = 50_400
)

// A memory is what the solver carries from epoch to epoch, by address.
type memory struct {
	Version int                  `json:"version" strict:"required"`
	Pools   map[string]learned   `json:"pools" strict:"required"`
	Tokens  map[string]tokenNote `json:"tokens" strict:"required"`
}

// learned is where the ticks of a V3 pool are.
type learned struct {
	Block uint64  `json:"block"`
	Ticks []int32 `json:"ticks"` // ascending
}

// A tokenNote says what arrives of a transfer.
type tokenNote struct {
	Block  uint64 `json:"block"`
	Arrive uint64 `json:"arrive"` // millionths
}

func newMemory() memory {
	return memory{Version: memoryVersion, Pools: map[string]learned{}, Tokens: map[string]tokenNote{}}
}

// fresh reports whether what was learned at a block still counts at another.
func fresh(learnt, now uint64) bool { return now >= learnt && now-learnt < relearnBlocks }

// ticks are those of a pool, nil if they have to be looked for.
func (m memory) ticks(pool string, now uint64) []int32 {
	if l, ok := m.Pools[pool]; ok && fresh(l.Block, now) {
		return l.Ticks
	}
	return nil
}

func (m memory) serialize() ([]byte, error) {
	if len(m.Pools)+len(m.Tokens) == 0 {
		return nil, nil
	}
	return intent.Canonical(m)
}

func restoreMemory(data []byte) (memory, error) {
	m := newMemory()
	if err := intent.DecodeStrict(data, &m); err != nil {
		return m, fmt.Errorf("state: %w", err)
	}
	if m.Version != memoryVersion {
		return m, fmt.Errorf("state: version %d, want %d", m.Version, memoryVersion)
	}
	if len(m.Pools) > maxLearned || len(m.Tokens) > maxLearned {
		return m, fmt.Errorf("state: %d pools and %d tokens, limit %d", len(m.Pools), len(m.Tokens), maxLearned)
	}
	for address, l := range m.Pools {
		if !slices.IsSorted(l.Ticks) {
			return m, fmt.Errorf("state: ticks of %s are not in order", intent.Quoted(address, 42))
		}
	}
	return m, nil
}
