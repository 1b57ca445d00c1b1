package benchmark_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"
)

const (
	envCache = "ASSAY_TEST_CACHE" // compiled modules, for the processes a test starts
	envChild = "ASSAY_TEST_CHILD" // what such a process does
)

// cacheDir holds compiled modules, for all tests and the processes they start.
var cacheDir = os.Getenv(envCache)

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	if cacheDir == "" {
		dir, err := os.MkdirTemp("", "assay-benchmark-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		cacheDir = dir
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// child is this binary, told to run one test as another process.
func child(t *testing.T, what string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), envChild+"="+what, envCache+"="+cacheDir)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}
