package benchmark

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/subnet112/assay/intent"
)

// epochKey sorts epochs by number.
func epochKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func rowKey(session, intentID string) []byte { return []byte(session + "/" + intentID) }

// begin claims the store for one epoch.
func (s *Store) begin() (end func(), err error) {
	if !s.epoch.TryLock() {
		return nil, ErrBusy
	}
	return s.epoch.Unlock, nil
}

// commit writes an epoch, its pack, its rows and the references to its states
// in one transaction, and gives the epoch its number. The states themselves
// are in blobs already. States nothing refers to any more are removed
// afterwards. That may fail, or the process die before it: the next commit or
// open removes them, and open says what stands in the way.
func (s *Store) commit(e *Epoch, pack []byte) error {
	err := s.update(func(tx *bbolt.Tx) error {
		epochs := tx.Bucket(bucketEpochs)
		n, err := epochs.NextSequence()
		if err != nil {
			return err
		}
		e.Number = n
		if err := tx.Bucket(bucketPacks).Put([]byte(e.Pack), sealBytes(pack)); err != nil {
			return err
		}
		if err := put(epochs, epochKey(n), withoutRecords(e)); err != nil {
			return err
		}
		rows, err := tx.Bucket(bucketRows).CreateBucket(epochKey(n))
		if err != nil {
			return err
		}
		states := tx.Bucket(bucketStates)
		for _, session := range e.Sessions {
			for _, r := range session.Records {
				if err := put(rows, rowKey(session.ID, r.Row.IntentID), r); err != nil {
					return err
				}
			}
			if session.StateOut == "" {
				continue
			}
			ref := stateRef{Hash: session.StateOut, Size: session.StateOutBytes, Epoch: n}
			if err := put(states, stateKey(session.Miner, session.Role), ref); err != nil {
				return err
			}
		}
		return retain(tx, n)
	})
	if err != nil {
		e.Number = 0
		return fmt.Errorf("store epoch: %w", err)
	}
	// The epoch is in: what is left behind costs space, and no error may say that
	// nothing was stored.
	_ = s.sweep()
	return nil
}

// withoutRecords is e as it is stored: rows have a bucket of their own, and logs
// are not kept.
func withoutRecords(e *Epoch) *Epoch {
	head := *e
	head.Sessions = make([]*Session, len(e.Sessions))
	for i, s := range e.Sessions {
		bare := *s
		bare.Records, bare.Log = nil, ""
		head.Sessions[i] = &bare
	}
	return &head
}

// retain removes what is older than the last retainEpochs epochs, and the packs
// that no epoch left refers to.
func retain(tx *bbolt.Tx, newest uint64) error {
	if newest <= retainEpochs {
		return nil
	}
	epochs, rows := tx.Bucket(bucketEpochs), tx.Bucket(bucketRows)
	oldest := epochKey(newest - retainEpochs + 1)
	var gone [][]byte
	cursor := epochs.Cursor()
	for k, _ := cursor.First(); k != nil && string(k) < string(oldest); k, _ = cursor.Next() {
		gone = append(gone, append([]byte(nil), k...))
	}
	for _, k := range gone {
		if err := epochs.Delete(k); err != nil {
			return err
		}
		if err := rows.DeleteBucket(k); err != nil {
			return err
		}
	}
	return retainPacks(tx)
}

func retainPacks(tx *bbolt.Tx) error {
	used := map[string]bool{}
	err := tx.Bucket(bucketEpochs).ForEach(func(_, v []byte) error {
		var e struct {
			Pack string `json:"pack"`
		}
		if err := unseal(v, &e); err != nil {
			return err
		}
		used[e.Pack] = true
		return nil
	})
	if err != nil {
		return err
	}
	packs := tx.Bucket(bucketPacks)
	var gone [][]byte
	err = packs.ForEach(func(k, _ []byte) error {
		if !used[string(k)] {
			gone = append(gone, append([]byte(nil), k...))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, k := range gone {
		if err := packs.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// Epochs lists the numbers of the epochs the store holds, oldest first.
func (s *Store) Epochs() ([]uint64, error) {
	var out []uint64
	err := s.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketEpochs).ForEach(func(k, _ []byte) error {
			if len(k) != 8 {
				return fmt.Errorf("%w: epoch key of %d bytes", ErrDamaged, len(k))
			}
			out = append(out, binary.BigEndian.Uint64(k))
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list epochs: %w", err)
	}
	return out, nil
}

// Epoch returns epoch n with its rows, [ErrUnknown] if the store does not hold
// it. Its rows digest is checked against its rows.
func (s *Store) Epoch(n uint64) (*Epoch, error) {
	e := new(Epoch)
	err := s.view(func(tx *bbolt.Tx) error {
		v := tx.Bucket(bucketEpochs).Get(epochKey(n))
		if v == nil {
			return ErrUnknown
		}
		if err := unseal(v, e); err != nil {
			return err
		}
		rows := tx.Bucket(bucketRows).Bucket(epochKey(n))
		if rows == nil {
			return fmt.Errorf("%w: no rows", ErrDamaged)
		}
		for _, session := range e.Sessions {
			prefix := session.ID + "/"
			cursor := rows.Cursor()
			for k, v := cursor.Seek([]byte(prefix)); k != nil && len(k) > len(prefix) && string(k[:len(prefix)]) == prefix; k, v = cursor.Next() {
				var r Record
				if err := unseal(v, &r); err != nil {
					return err
				}
				session.Records = append(session.Records, r)
			}
		}
		return nil
	})
	if err == nil {
		err = e.check()
	}
	if err != nil {
		return nil, fmt.Errorf("epoch %d: %w", n, err)
	}
	return e, nil
}

// check recomputes the digest that covers every row.
// DecodeEpoch reads an epoch from the document that its JSON is. The error is an
// [intent.UsageFault]: it is of another schema, has fields this build does not know,
// or its rows are not those of its digest.
func DecodeEpoch(b []byte) (*Epoch, error) {
	e := new(Epoch)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(e)
	if err == nil && e.Schema != RowSchema {
		err = fmt.Errorf("schema %d, this build reads %d", e.Schema, RowSchema)
	}
	if err == nil {
		if _, tail := d.Token(); !errors.Is(tail, io.EOF) {
			err = errors.New("something follows the document")
		}
	}
	if err == nil && slices.Contains(e.Sessions, nil) {
		err = errors.New("a session is null")
	}
	if err == nil && e.check() != nil {
		err = errors.New("its rows are not those of its rows_digest")
	}
	if err != nil {
		return nil, &intent.UsageFault{Err: fmt.Errorf("no result of bench: %w", err)}
	}
	return e, nil
}

func (e *Epoch) check() error {
	d, err := RowsDigest(e.Pack, e.rows())
	if err != nil {
		return err
	}
	if d != e.RowsDigest {
		return fmt.Errorf("%w: rows digest is %s, stored as %s", ErrDamaged, d, e.RowsDigest)
	}
	return nil
}

func (e *Epoch) rows() []Row {
	var out []Row
	for _, s := range e.Sessions {
		for _, r := range s.Records {
			out = append(out, r.Row)
		}
	}
	return out
}

// Pack returns the file of the pack with this digest, [ErrUnknown] if no epoch
// in the store ran it.
func (s *Store) Pack(digest string) ([]byte, error) {
	var out []byte
	err := s.view(func(tx *bbolt.Tx) error {
		v := tx.Bucket(bucketPacks).Get([]byte(digest))
		if v == nil {
			return ErrUnknown
		}
		var err error
		out, err = unsealBytes(v)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", digest, err)
	}
	return out, nil
}
