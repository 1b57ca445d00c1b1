package route

import (
	"fmt"
	"slices"

	"github.com/holiman/uint256"

	"github.com/subnet112/assay/solvers/reference/router/amm"
	"github.com/subnet112/assay/solvers/sdk"
	"github.com/subnet112/assay/solvers/sdk/abi"
)

// reach is how many words of ticks on each side of the price are read, by spacing: a
// factor of 1.5 in price at least.
var reach = map[int32]int32{1: 16, 10: 8, 60: 4, 200: 2}

// wordOf is the word of a bitmap that a tick is in.
func wordOf(tick, spacing int32) int32 { return (tick / spacing) >> 8 }

// signed is a number as the ABI has it.
func signed(n int32) abi.Value {
	z := uint256.NewInt(uint64(int64(n)))
	if n < 0 {
		z = new(uint256.Int).Neg(uint256.NewInt(uint64(-int64(n))))
	}
	return abi.Uint(z)
}

// tickAt is the tick of a price: the highest whose root is not above it.
func tickAt(sqrt *uint256.Int) int32 {
	low, high := int32(-amm.MaxTick), int32(amm.MaxTick)
	for low < high {
		mid := low + (high-low+1)/2
		if root := amm.SqrtAt(mid); root.Gt(sqrt) {
			high = mid - 1
		} else {
			low = mid
		}
	}
	return low
}

// A tickRead is one query that a pool is waiting for.
type tickRead struct {
	pool int
	word bool
	at   int32 // word or tick
}

// loadTicks reads the ticks of all V3 pools: in one call where they are known, in two
// where they have to be looked for.
func (d *Desk) loadTicks(c *sdk.Client, b *book) error {
	var reads []tickRead
	for i := range b.pools {
		p := &b.pools[i]
		if !p.V3 {
			continue
		}
		spacing := spacings[p.Fee]
		center := wordOf(floorTo(tickAt(&p.Sqrt), spacing), spacing)
		from, to := center-reach[spacing], center+reach[spacing]
		from, to = max(from, wordOf(-amm.MaxTick/spacing*spacing, spacing)), min(to, wordOf(amm.MaxTick, spacing))
		for w := from; w <= to; w++ {
			reads = append(reads, tickRead{i, true, w})
		}
		p.Low = amm.SqrtAt(max(-amm.MaxTick, from*256*spacing))
		p.High = amm.SqrtAt(min(amm.MaxTick, (to+1)*256*spacing))
		for _, t := range d.memory.ticks(p.Address.String(), b.block) {
			if w := wordOf(t, spacing); w >= from && w <= to {
				reads = append(reads, tickRead{i, false, t})
			}
		}
	}
	found, err := b.read(c, reads)
	if err != nil {
		return fmt.Errorf("ticks: %w", err)
	}
	// What the words list and nobody knew before.
	var missing []tickRead
	listed := make([][]int32, len(b.pools))
	silent := make([]bool, len(b.pools)) // pools that do not answer as pools do: left out
	for _, r := range reads {
		if len(found[r]) < 32 {
			silent[r.pool] = true
			continue
		}
		if !r.word {
			continue
		}
		for _, t := range bits(found[r], r.at, spacings[b.pools[r.pool].Fee]) {
			listed[r.pool] = append(listed[r.pool], t)
			if _, ok := found[tickRead{r.pool, false, t}]; !ok {
				missing = append(missing, tickRead{r.pool, false, t})
			}
		}
	}
	more, err := b.read(c, missing)
	if err != nil {
		return fmt.Errorf("ticks: %w", err)
	}
	for i := range b.pools {
		p := &b.pools[i]
		if !p.V3 || silent[i] {
			continue
		}
		for _, t := range listed[i] {
			data, ok := found[tickRead{i, false, t}]
			if !ok {
				data = more[tickRead{i, false, t}]
			}
			net, err := abi.ReadUint(data, 1)
			if err != nil {
				silent[i] = true
				break
			}
			tick := amm.Tick{Index: t, Sqrt: amm.SqrtAt(t), Net: *net}
			p.Ticks = append(p.Ticks, tick)
			if !tick.Sqrt.Gt(&p.Sqrt) {
				p.Below = len(p.Ticks)
			}
		}
		if !silent[i] {
			d.learn(p.Address.String(), b.block, listed[i])
		}
	}
	var sound []amm.Pool
	for i, p := range b.pools {
		if !silent[i] {
			sound = append(sound, p)
		}
	}
	b.pools = sound
	return nil
}

// learn keeps the ticks of a pool.
func (d *Desk) learn(pool string, block uint64, ticks []int32) {
	old, known := d.memory.Pools[pool]
	if known && fresh(old.Block, block) && slices.Equal(old.Ticks, ticks) || !known && len(d.memory.Pools) >= maxLearned {
		return
	}
	d.memory.Pools[pool] = learned{Block: block, Ticks: ticks}
}

// read puts tick reads to the chain. What fails has no reply.
func (b *book) read(c *sdk.Client, reads []tickRead) (map[tickRead][]byte, error) {
	queries := make([]query, len(reads))
	for i, r := range reads {
		data := abi.Pack(selTicks, signed(r.at))
		if r.word {
			data = abi.Pack(selTickBitmap, signed(r.at))
		}
		queries[i] = query{b.pools[r.pool].Address, data}
	}
	replies, err := ask(c, b.multicall, queries)
	if err != nil {
		return nil, err
	}
	out := make(map[tickRead][]byte, len(reads))
	for i, r := range reads {
		out[r] = replies[i]
	}
	return out, nil
}

// bits are the ticks that a word of a bitmap lists, ascending.
func bits(word []byte, at, spacing int32) []int32 {
	var z uint256.Int
	z.SetBytes(word[:32])
	var out []int32
	for i := range int32(256) {
		if z[i/64]>>(i%64)&1 == 1 {
			out = append(out, (at*256+i)*spacing)
		}
	}
	return out
}

// floorTo rounds a tick down to a multiple of a spacing.
func floorTo(tick, spacing int32) int32 {
	q := tick / spacing
	if tick < 0 && tick%spacing != 0 {
		q--
	}
	return q * spacing
}
