package route

import (
	"testing"

	"github.com/subnet112/assay/solvers/sdk/abi"
)

// Whatever a contract answers, the results are parts of it or an error.
func FuzzReadResults(f *testing.F) {
	good := abi.Pack(abi.Selector{}, abi.Array(
		abi.Tuple(abi.Uint64(1), abi.Bytes([]byte("abc"))), abi.Tuple(abi.Uint64(0), abi.Bytes(nil))))[4:]
	f.Add(good, 2)
	f.Add(good[:len(good)-32], 2)
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if n < 0 || n > 1000 {
			return
		}
		out, err := readResults(data, n)
		if err == nil && len(out) != n {
			t.Fatalf("%d results, want %d", len(out), n)
		}
	})
}

func TestReadResults(t *testing.T) {
	t.Parallel()
	data := abi.Pack(abi.Selector{}, abi.Array(
		abi.Tuple(abi.Uint64(1), abi.Bytes([]byte("abc"))), abi.Tuple(abi.Uint64(0), abi.Bytes([]byte("no")))))[4:]
	out, err := readResults(data, 2)
	if err != nil || string(out[0]) != "abc" || out[1] != nil {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := readResults(data, 3); err == nil {
		t.Error("two results pass for three")
	}
}
