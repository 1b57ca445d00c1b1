package benchmark

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterr "go.etcd.io/bbolt/errors"

	"github.com/subnet112/assay/intent"
)

// Errors of a [Store]. None of them is a verdict about a solver.
var (
	ErrLocked  = errors.New("store is locked by another process")
	ErrBusy    = errors.New("store is in use by another epoch")
	ErrDamaged = errors.New("store is damaged")
	ErrSchema  = errors.New("store was written by another version")
	ErrUnknown = errors.New("not in the store")
)

// Bounds of a store.
const (
	lockWait     = time.Second // how long OpenStore waits for another process
	retainEpochs = 256         // epochs kept with their rows; a commit removes older ones
)

// storeSchema is the version of the store's layout.
const storeSchema = 1

var (
	bucketMeta   = []byte("meta")
	bucketPacks  = []byte("packs")  // digest: pack file
	bucketEpochs = []byte("epochs") // number, big-endian: epoch without rows
	bucketRows   = []byte("rows")   // number: bucket of session/intent: record
	bucketStates = []byte("states") // role/miner: reference to a blob
	keySchema    = []byte("schema")
)

// A Store is what a benchmark remembers: epochs with their rows, the packs they
// ran, and the state each miner's solver learned. Records live in one bbolt
// file, states in files named by their content beside it.
//
// One process at a time can open a store, and one epoch at a time can run on
// it. An epoch is committed whole or not at all. The last 256 epochs are kept.
// A Store is safe for concurrent use.
type Store struct {
	db    *bbolt.DB
	blobs blobs
	epoch sync.Mutex   // held by the running epoch
	gone  sync.RWMutex // held for writing while blobs are removed
}

// OpenStore opens the store in dir, which is made if it does not exist. It
// waits a second for another process to let go, then returns [ErrLocked].
// [ErrDamaged] and [ErrSchema] are the other errors of a store itself; a dir
// that cannot be a store is an [intent.UsageFault].
func OpenStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &intent.UsageFault{Err: fmt.Errorf("open store: %w", err)}
	}
	db, err := openDB(filepath.Join(dir, "assay.db"))
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	s := &Store{db: db, blobs: blobs{dir: filepath.Join(dir, "blobs")}}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", dir, err), db.Close())
	}
	return s, nil
}

// openDB opens a bbolt file and turns every way a file can be broken into
// ErrDamaged. bbolt trusts what it maps, and panics on what it cannot trust.
func openDB(path string) (db *bbolt.DB, err error) {
	var file *os.File
	err = guard(func() error {
		var err error
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout:      lockWait,
			FreelistType: bbolt.FreelistMapType,
			OpenFile: func(name string, flag int, perm os.FileMode) (*os.File, error) {
				f, err := os.OpenFile(name, flag, perm)
				file = f
				return f, err
			},
		})
		return err
	})
	var (
		onPath *fs.PathError
		errno  syscall.Errno
	)
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, bolterr.ErrTimeout):
		return nil, ErrLocked
	case file == nil: // could not be opened at all: a directory, no permission
		return nil, &intent.UsageFault{Err: err}
	case errors.Is(err, ErrDamaged):
		release(file)
		return nil, err
	case errors.As(err, &onPath), errors.As(err, &errno):
		return nil, err
	}
	return nil, fmt.Errorf("%w: %w", ErrDamaged, err) // bbolt has no one error for it
}

// prepare makes the buckets, checks the schema and removes states that no
// record refers to: what an interrupted epoch left.
func (s *Store) prepare() error {
	if err := s.checkSize(); err != nil {
		return err
	}
	err := s.update(func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucketIfNotExists(bucketMeta)
		if err != nil {
			return err
		}
		if err := checkSchema(meta); err != nil {
			return err
		}
		for _, name := range [][]byte{bucketPacks, bucketEpochs, bucketRows, bucketStates} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.sweep()
}

// checkSchema refuses the layout of another version; a new store gets this one's.
func checkSchema(meta *bbolt.Bucket) error {
	v := meta.Get(keySchema)
	if v == nil {
		return put(meta, keySchema, storeSchema)
	}
	var have int
	if err := unseal(v, &have); err != nil {
		return err
	}
	if have != storeSchema {
		return fmt.Errorf("%w: layout %d, this build reads %d", ErrSchema, have, storeSchema)
	}
	return nil
}

// checkSize refuses a file shorter than its own header says. Reading past the
// end of a mapped file is a signal, not an error.
func (s *Store) checkSize() error {
	info, err := os.Stat(s.db.Path())
	if err != nil {
		return err
	}
	return s.view(func(tx *bbolt.Tx) error {
		if info.Size() < tx.Size() {
			return fmt.Errorf("%w: %d bytes, its header says %d", ErrDamaged, info.Size(), tx.Size())
		}
		return nil
	})
}

// Close releases the store. The store must not be used afterwards.
func (s *Store) Close() error { return s.db.Close() }

func (s *Store) view(f func(*bbolt.Tx) error) error {
	return guard(func() error { return s.db.View(f) })
}

func (s *Store) update(f func(*bbolt.Tx) error) error {
	return guard(func() error { return s.db.Update(f) })
}

// guard runs f and returns a panic of it, or a fault of its memory map, as
// ErrDamaged.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return f()
}

// Every value is its SHA-256 and then its JSON: bbolt checks its two header
// pages only, and a flipped bit in a record must not become a score.

func seal(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return sealBytes(body), nil
}

func sealBytes(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(sum[:], body...)
}

func unseal(b []byte, into any) error {
	body, err := unsealBytes(b)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

func unsealBytes(b []byte) ([]byte, error) {
	if len(b) < sha256.Size {
		return nil, fmt.Errorf("%w: record of %d bytes", ErrDamaged, len(b))
	}
	body := b[sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], b[:sha256.Size]) {
		return nil, fmt.Errorf("%w: record does not match its checksum", ErrDamaged)
	}
	return bytes.Clone(body), nil // b ends with its transaction
}

func put(b *bbolt.Bucket, key []byte, v any) error {
	sealed, err := seal(v)
	if err != nil {
		return err
	}
	return b.Put(key, sealed)
}
