package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// entryBytes is what an entry of a small guest takes.
func entryBytes(t *testing.T) (sum int64) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	answer(t, dir)
	for _, path := range files(t, dir) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}

// An old cache is bounded when an entry is written: what other versions left goes
// first, then what was unused for longest; what isn't of the cache stays.
func TestCacheIsBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	size := entryBytes(t)
	config := sandbox.Config{CacheDir: dir, CacheBytes: 2*size + size/2}
	use := func(status int32) string {
		t.Helper()
		e := newEngine(t, config)
		m := compile(t, e, guest(wt.Answer{Status: status}))
		defer m.Close()
		return sandbox.EntryName(m.Identity(), sandbox.CacheRules, sandbox.WazeroVersion)
	}
	one, two := use(1), use(2)
	hour := time.Now().Add(-time.Hour)
	for name, age := range map[string]time.Duration{one: time.Hour, two: 0} {
		if err := os.Chtimes(filepath.Join(dir, name, "seal"), hour, hour.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	// Written just now by other versions; and by somebody else.
	older, oldest := sandbox.EntryName([32]byte{1}, sandbox.CacheRules-1, sandbox.WazeroVersion), strings.Repeat("a1", 32)
	for name, bytes := range map[string]int64{older: size, oldest: size, "mine": 10 * size, "x" + oldest[1:]: size} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "seal"), make([]byte, bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stay := []string{"mine", "x" + oldest[1:]}
	check := func(want ...string) {
		t.Helper()
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, all := map[string]bool{}, map[string]bool{}
		for _, d := range list {
			got[d.Name()] = true
		}
		for _, name := range append(want, stay...) {
			all[name] = true
		}
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
	}
	check(one, two, older, oldest)
	use(1) // a hit: two is now the one unused for longest
	check(one, two, older, oldest)
	three := use(3)
	check(one, three)
	four := use(4)
	check(three, four)
}

// An entry larger than the cache isn't kept, and costs the others nothing.
func TestEntryLargerThanTheCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	answer(t, dir)
	kept := files(t, dir)
	var got notices
	e := newEngine(t, sandbox.Config{CacheDir: dir, CacheBytes: 1000, Notice: got.add})
	compile(t, e, guest(wt.Answer{Status: 1}))
	if diff := cmp.Diff([]sandbox.NoticeKind{sandbox.NoticeUnkept}, got.kinds); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(kept, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// An entry that another process evicts between a look at it and loading it isn't
// damaged, though it may have been written again since.
func TestEntryIsEvictedWhileItIsLoaded(t *testing.T) {
	evict := func(_, entry string) error { return os.RemoveAll(entry) }
	rewrite := func(dir, entry string) error {
		err := evict(dir, entry)
		answer(t, dir)
		return err
	}
	for what, happen := range map[string]func(dir, entry string) error{
		"after a look": evict,
		"after a look, and an empty folder is made": func(dir, entry string) error {
			return errors.Join(evict(dir, entry), os.Mkdir(entry, 0o700))
		},
		"after a look, and written again":  rewrite,
		"during a look, and written again": rewrite,
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			answer(t, dir)
			kept := files(t, dir)
			if strings.HasPrefix(what, "during") { // it saw parts of both
				if err := flip(kept[1], -1); err != nil {
					t.Fatal(err)
				}
			}
			var got notices
			e := newEngine(t, sandbox.Config{CacheDir: dir, Notice: got.add})
			var once sync.Once
			e.OnLook(func(entry string) {
				once.Do(func() {
					if err := happen(dir, entry); err != nil {
						t.Error(err)
					}
				})
			})
			i := instantiate(t, compile(t, e, guest(wt.Answer{Output: []byte("works")})), sandbox.Env{})
			if r, err := i.Call(t.Context(), plan()); err != nil || string(r.Output) != "works" {
				t.Errorf("Call() = %q, %v", r.Output, err)
			}
			if got.kinds != nil {
				t.Errorf("notices %v", got.kinds)
			}
			if diff := cmp.Diff(kept, files(t, dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}
