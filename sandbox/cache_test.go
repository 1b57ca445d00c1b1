package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/subnet112/assay/sandbox"
	wt "github.com/subnet112/assay/sandbox/wasmtest"
)

// notices gathers what an engine tells about its cache.
type notices struct {
	mu    sync.Mutex
	kinds []sandbox.NoticeKind
}

func (n *notices) add(x sandbox.Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if x.Err == nil || x.Path == "" || !strings.Contains(x.String(), x.Path) {
		panic("a notice without path or reason")
	}
	n.kinds = append(n.kinds, x.Kind)
}

// answer compiles and calls a guest in a fresh engine over a cache directory,
// and returns the notices. The guest must work whatever the cache is like.
func answer(t *testing.T, dir string) []sandbox.NoticeKind {
	t.Helper()
	return answerOn(t, sandbox.Config{CacheDir: dir})
}

func answerOn(t *testing.T, config sandbox.Config) []sandbox.NoticeKind {
	t.Helper()
	var got notices
	config.Notice = got.add
	e, err := sandbox.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	i, err := compile(t, e, guest(wt.Answer{Output: []byte("works")})).Instantiate(t.Context(), sandbox.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := i.Call(t.Context(), plan()); err != nil || string(r.Output) != "works" {
		t.Errorf("Call() = %q, %v", r.Output, err)
	}
	return got.kinds
}

// files lists the regular files below a directory.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestCacheIsPrivateAndReused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "cache")
	if got := answer(t, dir); got != nil {
		t.Fatalf("notices %v", got)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v; want 0700", info.Mode(), err)
	}
	kept := files(t, dir)
	if len(kept) != 2 { // the code and its seal
		t.Fatalf("files %q, want two", kept)
	}
	var written []os.FileInfo
	for _, path := range kept {
		info, _ := os.Stat(path)
		written = append(written, info)
	}
	if got := answer(t, dir); got != nil {
		t.Errorf("notices of the second run %v", got)
	}
	if again := files(t, dir); !slices.Equal(kept, again) {
		t.Errorf("files %q became %q", kept, again)
	}
	for k, path := range kept {
		if info, err := os.Stat(path); err != nil || !os.SameFile(info, written[k]) {
			t.Errorf("%s was written again (%v)", path, err)
		}
	}
}

// What isn't byte for byte what was written is never executed: it is told,
// deleted and compiled anew.
func TestDamagedCacheEntry(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, code, seal string) error{
		"a bit flipped in the code's offsets": func(_ *testing.T, code, _ string) error { return flip(code, 30) },
		"a bit flipped at the end":            func(_ *testing.T, code, _ string) error { return flip(code, -1) },
		"the code is cut short":               func(_ *testing.T, code, _ string) error { return os.Truncate(code, 100) },
		"the code is empty":                   func(_ *testing.T, code, _ string) error { return os.WriteFile(code, nil, 0o600) },
		"the code is gone":                    func(_ *testing.T, code, _ string) error { return os.Remove(code) },
		"the seal is gone":                    func(_ *testing.T, _, seal string) error { return os.Remove(seal) },
		"the seal is garbage":                 func(_ *testing.T, _, seal string) error { return os.WriteFile(seal, []byte("x"), 0o600) },
		"a file was added":                    func(_ *testing.T, code, _ string) error { return os.WriteFile(code+"x", nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			answer(t, dir)
			var code, seal string
			for _, path := range files(t, dir) {
				if filepath.Base(path) == "seal" {
					seal = path
				} else {
					code = path
				}
			}
			if err := damage(t, code, seal); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]sandbox.NoticeKind{sandbox.NoticeDamaged}, answer(t, dir)); diff != "" {
				t.Errorf("notices (-want +got):\n%s", diff)
			}
			if got := answer(t, dir); got != nil {
				t.Errorf("notices after it was repaired: %v", got)
			}
		})
	}
}

// flip changes a byte of a file; a negative position counts from its end.
func flip(path string, at int) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 1
	return os.WriteFile(path, b, 0o600)
}

func TestUnusableCacheDirectory(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"a file stands there":        func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"others may read it":         func(dir string) error { return os.Mkdir(dir, 0o755) },
		"its parent is a plain file": func(dir string) error { return os.WriteFile(filepath.Dir(dir), nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "parent", "cache")
			if name != "its parent is a plain file" {
				if err := os.Mkdir(filepath.Dir(dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := make(dir); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]sandbox.NoticeKind{sandbox.NoticeUnusable}, answer(t, dir)); diff != "" {
				t.Errorf("notices (-want +got):\n%s", diff)
			}
		})
	}
}

// A directory that vanishes while an engine uses it costs a notice.
func TestCacheDirectoryVanishes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var got notices
	e := newEngine(t, sandbox.Config{CacheDir: dir, Notice: got.add})
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	compile(t, e, guest(wt.Answer{}))
	if diff := cmp.Diff([]sandbox.NoticeKind{sandbox.NoticeUnkept}, got.kinds); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

// Engines of several processes may fill one directory at once.
func TestCacheIsShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var got notices
	var wg sync.WaitGroup
	for range 4 {
		e := newEngine(t, sandbox.Config{CacheDir: dir, Notice: got.add})
		wg.Go(func() {
			for k := range int32(5) {
				if _, err := e.Compile(context.Background(), guest(wt.Answer{Status: k}), profile()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got.kinds != nil {
		t.Errorf("notices %v", got.kinds)
	}
	if kept := files(t, dir); len(kept) != 10 {
		t.Errorf("%d files, want code and seal of five modules", len(kept))
	}
}

// A module that is refused leaves nothing in the cache.
func TestRefusedModuleIsNotCached(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var got notices
	e := newEngine(t, sandbox.Config{CacheDir: dir, Notice: got.add})
	p := newProbe()
	_, err := e.Compile(t.Context(), p.run(wt.I64Const(1)), probeProfile) // an i64 where an i32 must be
	var refusal *sandbox.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != sandbox.ReasonInvalid || strings.Contains(refusal.Detail, "\n") {
		t.Errorf("Compile() = %v, want a refusal of one line", err)
	}
	if kept := files(t, dir); kept != nil || got.kinds != nil {
		t.Errorf("files %q, notices %v", kept, got.kinds)
	}
}

// An entry that is whole but made for another processor or by another build of
// wazero is told and replaced, not executed.
func TestForeignCacheEntry(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	answer(t, dir)
	code := codeFile(t, dir)
	for what, rename := range map[string]func() error{
		"processor": func() error { return os.Rename(code, filepath.Join(filepath.Dir(code), strings.Repeat("0", 64))) },
		"build":     func() error { return os.Rename(filepath.Dir(code), filepath.Dir(code)+"x") },
	} {
		t.Run(what, func(t *testing.T) {
			if err := errors.Join(rename(), sandbox.Seal(filepath.Dir(filepath.Dir(code)))); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]sandbox.NoticeKind{sandbox.NoticeForeign}, answer(t, dir)); diff != "" {
				t.Errorf("notices (-want +got):\n%s", diff)
			}
			if got := answer(t, dir); got != nil || codeFile(t, dir) != code {
				t.Errorf("notices %v, code %s, want none and %s", got, codeFile(t, dir), code)
			}
		})
	}
}

// codeFile is the file of code in a cache of one entry.
func codeFile(t *testing.T, dir string) string {
	t.Helper()
	kept := files(t, dir)
	if len(kept) != 2 || filepath.Base(kept[0]) != "seal" {
		t.Fatalf("files %q, want a seal and code", kept)
	}
	return kept[1]
}

// An entry's name depends on all that its code depends on.
func TestCacheEntryIsNamedByAllItDependsOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	m := compile(t, newEngine(t, sandbox.Config{CacheDir: dir}), guest(wt.Answer{}))
	other := m.Identity()
	other[0] ^= 1
	want := sandbox.EntryName(m.Identity(), sandbox.CacheRules, sandbox.WazeroVersion)
	if kept, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(kept) != 1 || filepath.Base(kept[0]) != want {
		t.Errorf("entries %q, %v; want %s", kept, err, want)
	}
	for what, name := range map[string]string{
		"identity": sandbox.EntryName(other, sandbox.CacheRules, sandbox.WazeroVersion),
		"rules":    sandbox.EntryName(m.Identity(), sandbox.CacheRules+1, sandbox.WazeroVersion),
		"wazero":   sandbox.EntryName(m.Identity(), sandbox.CacheRules, sandbox.WazeroVersion+"1"),
	} {
		if name == want {
			t.Errorf("another %s has the same name", what)
		}
	}
}

func TestWazeroVersionIsTheOneRequired(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "github.com/tetratelabs/wazero " + sandbox.WazeroVersion + "\n"; !strings.Contains(string(mod), want) {
		t.Errorf("go.mod has no line %q: the constant is out of date", want)
	}
}
