package mainnettest

import (
	"encoding/json"
	"testing"
)

// A supplement names slots that a recorded trade reads and the prestate lacks.
//
// One recorded trade reverted in its block: the price had moved before its turn.
// Alone on the prestate it goes further and reads balances and flags of a token
// that nothing in the block touched, so the node's trace does not have them. The
// recorded amounts and gas hold exactly if these slots are zero, which is what a
// first-time holder's are. That they are is an assumption about the test's data,
// so it stands here by name, and not in the rules for what is known to be zero.
type supplement struct {
	block   uint64
	account string
	slots   []string
}

var supplements = []supplement{{
	// Trade 0x44c3119a4638abab57089f8e05b03fb64f51ef9c89c54559ef048df639ce5ddf.
	block:   19932148,
	account: "0x4ade2b180f65ed752b6f1296d0418ad21eb578c0",
	slots: []string{
		"0x11234190717ef1d3c4e2cfd4321470b7159a7441273729cfb45569397b76f4ef",
		"0x3bba9108b904cfb969b317a6a0847c2d13a92bb924e87f843935fe7b8f315911", // mapping 1, the router's fee collector
		"0x6d3edf44a9ff96ba384c7b75ef70a0321150613d3c3fb0ab347e90b9e4c0d82c", // mapping 1, the owner
		"0x82556c4408d83ee936d87ae65ad91518c97081dcc94fae8d632cd86aaafe14ea", // mapping 4, the owner
	},
}}

const zeroSlot = `"0x0000000000000000000000000000000000000000000000000000000000000000"`

// supplemented returns a prestate with the slots that belong to its block, each
// zero. It fails the test where a slot is listed already.
func supplemented(tb testing.TB, block uint64, prestate []byte) []byte {
	tb.Helper()
	for _, s := range supplements {
		if s.block == block {
			prestate = s.add(tb, prestate)
		}
	}
	return prestate
}

func (s supplement) add(tb testing.TB, prestate []byte) []byte {
	tb.Helper()
	var accounts map[string]map[string]json.RawMessage
	var storage map[string]json.RawMessage
	decode(tb, prestate, &accounts)
	decode(tb, accounts[s.account]["storage"], &storage)
	for _, slot := range s.slots {
		if _, ok := storage[slot]; ok {
			tb.Fatalf("block %d: account %s has slot %s already", s.block, s.account, slot)
		}
		storage[slot] = json.RawMessage(zeroSlot)
	}
	accounts[s.account]["storage"] = encode(tb, storage)
	return encode(tb, accounts)
}

func decode(tb testing.TB, b []byte, into any) {
	tb.Helper()
	if err := json.Unmarshal(b, into); err != nil {
		tb.Fatal(err)
	}
}

func encode(tb testing.TB, v any) []byte {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
