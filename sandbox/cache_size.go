package sandbox

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// entryPattern tells entries, those of older versions included, from what else
// somebody may keep in the directory.
var entryPattern = regexp.MustCompile(`^([0-9a-f]{16}-)?[0-9a-f]{64}$`)

// evict discards entries until the rest fits a limit: those of other versions
// first, then those whose seal was not touched for longest. It spares one.
// Several processes may do so at once, and others may be reading.
func evict(dir string, limit int64, spare string) {
	type entry struct {
		name    string
		foreign bool
		used    time.Time // zero: it has no seal
		bytes   int64
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	version := entryVersion(cacheRules, wazeroVersion) + "-"
	var entries []entry
	var total int64
	for _, d := range list {
		if !d.IsDir() || !entryPattern.MatchString(d.Name()) {
			continue
		}
		path := filepath.Join(dir, d.Name())
		x := entry{name: d.Name(), foreign: !strings.HasPrefix(d.Name(), version), bytes: dirBytes(path)}
		if seal, err := os.Stat(filepath.Join(path, sealName)); err == nil {
			x.used = seal.ModTime()
		}
		total += x.bytes
		if x.name != spare {
			entries = append(entries, x)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.foreign != b.foreign {
			if a.foreign {
				return -1
			}
			return 1
		}
		return cmp.Or(a.used.Compare(b.used), strings.Compare(a.name, b.name))
	})
	for _, x := range entries {
		if total <= limit {
			return
		}
		discard(filepath.Join(dir, x.name))
		total -= x.bytes
	}
}

// touch notes that an entry was used.
func touch(entry string) {
	now := time.Now() //nolint:forbidigo // it orders what is evicted and is in no result
	_ = os.Chtimes(filepath.Join(entry, sealName), now, now)
}

// discard deletes an entry at once: nobody sees half of it under its name.
func discard(entry string) {
	temp, err := os.MkdirTemp(filepath.Dir(entry), tempPrefix)
	if err != nil {
		return
	}
	_ = os.Rename(entry, filepath.Join(temp, "entry"))
	_ = os.RemoveAll(temp)
}

// dirBytes sums the sizes of the files below a directory.
func dirBytes(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}
