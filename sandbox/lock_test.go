//go:build linux || darwin

package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/subnet112/assay/sandbox"
)

// What a killed process left half written is removed when an engine opens the
// directory, but not while any process is writing there.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	left, entry := filepath.Join(dir, "tmp-1", "wazero"), filepath.Join(dir, "entry")
	for _, path := range []string{left, entry} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(left, "code"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}

	writer, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := unix.Flock(int(writer.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	newEngine(t, sandbox.Config{CacheDir: dir})
	if !exists(left) {
		t.Error("what a live process writes was removed")
	}
	writer.Close() // as the end of its process does
	newEngine(t, sandbox.Config{CacheDir: dir})
	if exists(filepath.Dir(left)) || !exists(entry) {
		t.Errorf("the leftover exists: %v, the entry: %v; want only the entry", exists(left), exists(entry))
	}
}
