package benchmark

// StoredBlob and PutBlob let tests reach the folder of states.
func (s *Store) PutBlob(b []byte) (string, error)                 { return s.blobs.put(b) }
func (s *Store) StoredBlob(name string, size int) ([]byte, error) { return s.blobs.get(name, size) }

// CommitEpoch commits an epoch that no run made; states are put first, as a
// run does.
func (s *Store) CommitEpoch(e *Epoch, pack []byte, states map[string][]byte) error {
	for _, session := range e.Sessions {
		state, ok := states[session.Miner]
		if !ok {
			continue
		}
		name, err := s.blobs.put(state)
		if err != nil {
			return err
		}
		session.StateOut, session.StateOutBytes = name, len(state)
	}
	var err error
	if e.RowsDigest, err = RowsDigest(e.Pack, e.rows()); err != nil {
		return err
	}
	return s.commit(e, pack)
}

// RetainEpochs is the retention of a store.
const RetainEpochs = retainEpochs

// Rank makes the summaries of sessions.
var Rank = rank

// Compare holds a second run against the first: how many rows are left, and
// what the validator failed at.
func Compare(first, second *Session) (int, error) {
	j := &job{session: second}
	j.compare(first)
	return len(j.session.Records), j.err
}
