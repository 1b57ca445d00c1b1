package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/subnet112/assay/sandbox/meter"
)

// A Notice tells that compiled code couldn't be kept or reused on disk. The
// module was compiled all the same, for this process only.
type Notice struct {
	Kind NoticeKind
	Path string
	Err  error
}

func (n Notice) String() string { return fmt.Sprintf("%s: %s: %v", n.Kind, n.Path, n.Err) }

// A NoticeKind classes notices.
type NoticeKind string

// Kinds of notices.
const (
	NoticeUnusable NoticeKind = "cache unusable" // the directory can't be created or isn't private: no cache
	NoticeDamaged  NoticeKind = "cache damaged"  // an entry isn't what was written: deleted, compiled anew
	NoticeForeign  NoticeKind = "cache foreign"  // an entry is sound, but of another processor or build of wazero: likewise
	NoticeUnkept   NoticeKind = "cache unkept"   // an entry couldn't be written, or is larger than the cache
)

func (e *Engine) notice(kind NoticeKind, path string, err error) {
	if e.config.Notice != nil {
		e.config.Notice(Notice{kind, path, err})
	}
}

var errSeal = errors.New("content differs from its seal")

// What the name of an entry is made of besides the module's identity. Code that
// was compiled otherwise has another name and is never looked at.
const (
	// cacheRules is raised by hand with every change in what is compiled of a
	// module, or how: features, the rewrite. The cost table has a version of its own.
	cacheRules = 4<<8 | meter.CostVersion

	// wazeroVersion is what go.mod requires, as a test sees to: the build
	// information of a binary doesn't tell it reliably.
	wazeroVersion = "v1.12.0"
)

// entryVersion is what the names of entries of the same making begin with.
func entryVersion(rules int, wazero string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "assay:code:%d\nwazero %s\n", rules, wazero))
	return hex.EncodeToString(sum[:8])
}

// entryName names what is kept of an identity.
func entryName(id [32]byte, rules int, wazero string) string {
	return entryVersion(rules, wazero) + "-" + hex.EncodeToString(id[:])
}

// openCache makes a private directory, or insists that it is one.
func openCache(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("mode is %#o, want 0700", mode)
	}
	if err := checkOwner(info); err != nil {
		return err
	}
	sweep(dir)
	return nil
}

const tempPrefix = "tmp-"

// sweep removes what processes that were killed left half written. Whoever
// writes holds the directory's lock: if anyone does now, the next engine sweeps.
// What can't be removed costs space and nothing else.
func sweep(dir string) {
	unlock, err := lockDir(dir, true)
	if err != nil {
		return
	}
	defer unlock()
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), tempPrefix) {
			_ = os.RemoveAll(filepath.Join(dir, entry.Name()))
		}
	}
}

// build compiles with the cache if there is one. Each entry is a directory,
// sealed with a hash: wazero checks only part of what it reads back, and what it
// reads gets executed.
func (e *Engine) build(id [32]byte, wasm []byte) (*compilation, error) {
	if e.cache == "" {
		return e.compileUnkept(wasm)
	}
	entry := filepath.Join(e.cache, entryName(id, cacheRules, wazeroVersion))
	if c := e.loadEntry(entry, wasm); c != nil {
		return c, nil
	}
	c, err := e.fill(entry, wasm)
	var unwritten *unwrittenError
	if !errors.As(err, &unwritten) {
		return c, err
	}
	c, err = e.compileUnkept(wasm)
	if err == nil {
		e.notice(NoticeUnkept, entry, unwritten)
	}
	return c, err
}

// loadEntry loads an entry, or tells why it isn't sound and discards it; nil means
// that the code has to be compiled.
func (e *Engine) loadEntry(entry string, wasm []byte) *compilation {
	if _, err := os.Lstat(entry); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var err error
	// Other processes may evict the entry at any time, and write it again: what
	// is seen of both looks damaged once.
	for range 2 {
		var c *compilation
		err = checkSeal(entry)
		if e.children.onLook != nil {
			e.children.onLook(entry)
		}
		if err == nil {
			c, err = e.load(entry, wasm)
		}
		if err == nil {
			touch(entry)
			return c
		}
	}
	switch {
	case dirBytes(entry) == 0: // evicted; wazero makes the directory that it looks in
	case errors.Is(err, errNoCode):
		e.notice(NoticeForeign, entry, err)
	default:
		e.notice(NoticeDamaged, entry, err)
	}
	discard(entry)
	return nil
}

// fill compiles into a directory that takes its final name when it is whole. The
// error is an unwrittenError if another directory may do.
func (e *Engine) fill(entry string, wasm []byte) (*compilation, error) {
	unlock, err := lockDir(e.cache, false)
	if err != nil {
		return nil, &unwrittenError{err}
	}
	defer unlock()
	temp, err := os.MkdirTemp(e.cache, tempPrefix)
	if err != nil {
		return nil, &unwrittenError{err}
	}
	defer os.RemoveAll(temp)
	c, err := e.compileInto(temp, wasm)
	if err != nil {
		return nil, err
	}
	if err := e.keep(temp, entry); err != nil && checkSeal(entry) != nil { // else another process was first
		e.notice(NoticeUnkept, entry, err)
	}
	return c, nil
}

// keep seals a directory, gives it the name of an entry and makes room for it.
func (e *Engine) keep(temp, entry string) error {
	sum, err := digestDir(temp)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(temp, sealName), sum, 0o600); err != nil {
		return err
	}
	limit := e.config.CacheBytes
	if limit <= 0 {
		limit = DefaultCacheBytes
	}
	if size := dirBytes(temp); size > limit {
		return fmt.Errorf("it takes %s bytes, limit %s", thousands(size), thousands(limit))
	}
	if err := os.Rename(temp, entry); err != nil {
		return err
	}
	evict(e.cache, limit, filepath.Base(entry))
	return nil
}

const sealName = "seal"

// checkSeal compares a directory with its seal; nil means they agree.
func checkSeal(dir string) error {
	seal, err := os.ReadFile(filepath.Join(dir, sealName))
	if err != nil {
		return err
	}
	sum, err := digestDir(dir)
	if err == nil && !bytes.Equal(seal, sum) {
		err = errSeal
	}
	return err
}

// digestDir hashes the names and contents of the files below a directory, the
// seal left out.
func digestDir(dir string) ([]byte, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is no regular file", path)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == sealName {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		content := sha256.New()
		if _, err := io.Copy(content, f); err != nil {
			return err
		}
		fmt.Fprintf(h, "%x %q\n", content.Sum(nil), filepath.ToSlash(name))
		return nil
	})
	return h.Sum(nil), err
}
