package direct

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

const (
	memoryVersion = 1
	maxPairs      = 4096 // kept from epoch to epoch, below 1 MiB

	// relearnBlocks is after how many blocks a pair's pools are asked for
	// again: a week of mainnet.
	relearnBlocks = 50_400
)

// A pair is what is known of two tokens.
type pair struct {
	Block uint64  `json:"block"` // when the pools were asked for
	Pools []venue `json:"pools"` // that exist
	// KeepsFee: a token of the pair seems to keep a fee on transfers.
	KeepsFee bool `json:"keeps_fee,omitempty"`
}

// A memory is what the solver carries from epoch to epoch: pairs by chain and
// sorted tokens.
type memory struct {
	Version int             `json:"version" strict:"required"`
	Pairs   map[string]pair `json:"pairs" strict:"required"`
}

func newMemory() memory { return memory{Version: memoryVersion, Pairs: make(map[string]pair)} }

func pairKey(chain uint64, a, b abi.Address) string {
	if bytes.Compare(a[:], b[:]) > 0 {
		a, b = b, a
	}
	return strconv.FormatUint(chain, 10) + ":" + a.String() + ":" + b.String()
}

// fresh returns what is known of a pair at a block, false if that must be asked
// for again. A pair without pools is always asked for again: its first pool is
// worth more than the reads.
func (m memory) fresh(key string, block uint64) (pair, bool) {
	p, known := m.Pairs[key]
	return p, known && len(p.Pools) > 0 && block >= p.Block && block-p.Block < relearnBlocks
}

// remember keeps what is known of a pair. A full memory forgets the pair that
// was asked for longest ago.
func (m memory) remember(key string, p pair) {
	if _, known := m.Pairs[key]; !known && len(m.Pairs) >= maxPairs {
		oldest := ""
		for k := range m.Pairs {
			if oldest == "" || cmp.Or(cmp.Compare(m.Pairs[k].Block, m.Pairs[oldest].Block), cmp.Compare(k, oldest)) < 0 {
				oldest = k
			}
		}
		delete(m.Pairs, oldest)
	}
	m.Pairs[key] = p
}

// serialize returns the memory as canonical JSON, nothing if it is empty.
func (m memory) serialize() ([]byte, error) {
	if len(m.Pairs) == 0 {
		return nil, nil
	}
	return intent.Canonical(m)
}

// restoreMemory reads what serialize wrote.
func restoreMemory(data []byte) (memory, error) {
	var m memory
	if err := intent.DecodeStrict(data, &m); err != nil {
		return m, fmt.Errorf("state: %w", err)
	}
	if m.Version != memoryVersion {
		return m, fmt.Errorf("state: version %d, want %d", m.Version, memoryVersion)
	}
	if len(m.Pairs) > maxPairs {
		return m, fmt.Errorf("state: %d pairs, limit %d", len(m.Pairs), maxPairs)
	}
	for key, p := range m.Pairs {
		for _, v := range p.Pools {
			if !slices.Contains(venues, v) {
				return m, fmt.Errorf("state: %s has no venue %d", intent.Quoted(key, intent.MaxQuotedRunes), v)
			}
		}
	}
	return m, nil
}

// isZero reports whether a score is zero in any spelling.
func isZero(score json.Number) bool {
	f, err := score.Float64()
	return err == nil && f == 0
}
