package benchmark_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// cacheDir holds compiled modules, for all tests and the processes they start.
var cacheDir = os.Getenv("ASSAY_TEST_CACHE")

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	if run := children[os.Getenv("ASSAY_TEST_CHILD")]; run != nil {
		return run()
	}
	dir, err := os.MkdirTemp("", "assay-benchmark-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cacheDir = dir
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// children are what this binary does when a test starts it again.
var children = map[string]func() int{}
