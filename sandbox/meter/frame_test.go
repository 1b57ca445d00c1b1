package meter_test

import (
	"errors"
	"testing"

	"github.com/subnet112/assay/sandbox/meter"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// A function whose values the compiler keeps, each in a place of its own, costs
// depth for them: neither engine ever meets a limit of its own.
func TestFramesOfManyValues(t *testing.T) {
	// kept leaves a thousand values on the stack over a call, again and again.
	kept := func(rounds int) (body []byte) {
		for range rounds {
			for n := range int32(1000) {
				body = wt.Seq(body, wt.LocalGet(1), wt.I64Const(int64(n)), []byte{0x7c})
			}
			body = wt.Seq(body, wt.Call(0))
			for range 999 {
				body = append(body, 0x85) // i64.xor
			}
			body = wt.Seq(body, wt.LocalSet(1))
		}
		return body
	}
	// merged gives variables another value on each of many ways to
	// where they meet.
	merged := func(ways int) (body []byte) {
		const variables = 300
		for range ways {
			body = append(body, 0x02, 0x40)
		}
		for way := range uint32(ways) {
			v := way%variables + 1
			body = wt.Seq(body, wt.LocalGet(v), wt.I64Const(1), []byte{0x7c}, wt.LocalSet(v), wt.LocalGet(0), wt.BrIf(uint32(ways)-1-way))
		}
		for way := range uint32(ways) {
			body = wt.Seq(body, wt.End, wt.Call(0), wt.LocalGet(1), wt.LocalGet(way%variables+1), []byte{0x85}, wt.LocalSet(1))
		}
		return body
	}
	for _, tt := range []struct {
		name   string
		locals int
		body   []byte
	}{
		{"values over calls", 1, kept(20)},
		{"variables that meet", 300, merged(300)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &wt.Module{}
			m.Memory(1, -1)
			m.Func("leaf", nil, nil, nil)
			locals := make([]byte, tt.locals)
			for i := range locals {
				locals[i] = wt.I64
			}
			// Recurses as often as it is told to.
			m.Func("f", []byte{wt.I32}, nil, locals, tt.body,
				wt.LocalGet(0), wt.If(wt.LocalGet(0), wt.I32Const(1), wt.I32Sub, wt.Call(1)))
			code := rewrite(t, m.Bytes(), meter.Options{}).Bytes
			deepest := func(interpreter bool) uint64 {
				r := start(t, code, interpreter)
				low, high := uint64(0), uint64(2000)
				for low < high {
					mid := (low + high + 1) / 2
					_, _, err := r.call("f", 1<<50, 1<<40, mid)
					if err != nil && !errors.Is(err, errDeep) {
						t.Fatalf("interpreter %v, %d deep: %v", interpreter, mid, err)
					}
					if err == nil {
						low = mid
					} else {
						high = mid - 1
					}
				}
				return low
			}
			if compiled, interpreted := deepest(false), deepest(true); compiled != interpreted || compiled < 2 || compiled > 500 {
				t.Errorf("compiled it nests %d deep, interpreted %d", compiled, interpreted)
			}
		})
	}
}
