package benchmark

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/bbolt"
)

// A stateRef says which blob is a miner's state.
type stateRef struct {
	Hash  string `json:"hash"`
	Size  int    `json:"size"`
	Epoch uint64 `json:"epoch"` // that saved it
}

// stateKey is role, zero byte, miner. A state belongs to the miner and the
// role it was learned in, never to a name a solver gives itself.
func stateKey(miner string, role Role) []byte {
	return []byte(string(role) + "\x00" + miner)
}

// State returns the bytes that miner's solver last serialized in role, exactly.
// Without any the result is nil, and so is the error. A state that does not
// match its hash is [ErrDamaged].
func (s *Store) State(miner string, role Role) ([]byte, error) {
	// The blob must not go between its reference and its reading.
	s.gone.RLock()
	defer s.gone.RUnlock()
	ref, err := s.stateRef(miner, role)
	if err != nil || ref == nil {
		return nil, err
	}
	b, err := s.blobs.get(ref.Hash, ref.Size)
	if err != nil {
		return nil, fmt.Errorf("state of %q: %w", miner, err)
	}
	return b, nil
}

// stateRef returns which blob is a miner's state, nil if there is none.
func (s *Store) stateRef(miner string, role Role) (*stateRef, error) {
	var ref *stateRef
	err := s.view(func(tx *bbolt.Tx) error {
		v := tx.Bucket(bucketStates).Get(stateKey(miner, role))
		if v == nil {
			return nil
		}
		ref = new(stateRef)
		return unseal(v, ref)
	})
	if err != nil {
		return nil, fmt.Errorf("state of %q: %w", miner, err)
	}
	return ref, nil
}

// sweep removes the blobs that no state refers to. No epoch may be under way
// that has put a blob and not committed.
func (s *Store) sweep() error {
	s.gone.Lock()
	defer s.gone.Unlock()
	used := map[string]bool{}
	err := s.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketStates).ForEach(func(_, v []byte) error {
			var ref stateRef
			if err := unseal(v, &ref); err != nil {
				return err
			}
			used[ref.Hash] = true
			return nil
		})
	})
	if err != nil {
		return err
	}
	return s.blobs.keep(used)
}

// blobs is a folder of files named by the SHA-256 of what they hold. A name
// that exists is complete: a file is written under another name, synced, and
// renamed.
type blobs struct{ dir string }

const tempPrefix = "new-"

// put stores b and returns its name. Putting the same bytes again is cheap.
func (s blobs) put(b []byte) (string, error) {
	name := hexSum(b)
	if have, err := s.get(name, len(b)); err == nil && len(have) == len(b) {
		return name, nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", fmt.Errorf("store blob: %w", err)
	}
	if err := s.write(name, b); err != nil {
		return "", fmt.Errorf("store blob: %w", err)
	}
	return name, nil
}

func (s blobs) write(name string, b []byte) (err error) {
	f, err := os.CreateTemp(s.dir, tempPrefix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(s.dir, name)); err != nil {
		return err
	}
	return syncDir(s.dir)
}

// syncDir makes a rename in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// get returns the blob called name, which must have size bytes.
func (s blobs) get(name string, size int) ([]byte, error) {
	path := filepath.Join(s.dir, name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: blob %s is gone", ErrDamaged, name)
	case err != nil:
		return nil, err
	case info.Size() != int64(size):
		return nil, fmt.Errorf("%w: blob %s has %d bytes, expected %d", ErrDamaged, name, info.Size(), size)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if hexSum(b) != name {
		return nil, fmt.Errorf("%w: blob %s does not match its name", ErrDamaged, name)
	}
	return b, nil
}

// keep removes every file that used does not name, unfinished ones included.
func (s blobs) keep(used map[string]bool) error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if used[name] || (!isBlobName(name) && !strings.HasPrefix(name, tempPrefix)) {
			continue // not ours to remove
		}
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func isBlobName(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}
