package account

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Salt is chance that a row has of its own, so that its digest in the journal tells
// an auditor nothing about it.
type Salt [16]byte

func (s *Service) newSalt() (salt Salt, err error) {
	if _, err := io.ReadFull(s.Random, salt[:]); err != nil {
		return salt, fmt.Errorf("drawing a salt: %w", err)
	}
	return salt, nil
}

// digestKey begins what the digest of a key's row is made of.
const digestKey = "bourse key 1\n"

// digest returns what the journal has of a key's row: of all that says whose the
// key is, who may use it and for what. The row's name is not part of it.
func (k *KeyRow) digest() bourse.RowDigest {
	le := binary.LittleEndian
	b := append([]byte(digestKey), k.Salt[:]...)
	b = le.AppendUint32(b, uint32(k.Account))
	b = append(b, k.Token[:]...)
	b = append(b, k.Hash[:]...)
	b = append(b, byte(k.Scopes))
	b = le.AppendUint64(b, uint64(k.Expires))
	b = le.AppendUint32(b, uint32(len(k.Addresses)))
	for _, p := range k.Addresses {
		text := p.String()
		b = append(b, byte(len(text)))
		b = append(b, text...)
	}
	return sha256.Sum256(b)
}

// with returns the row as a change makes it.
func (k *KeyRow) with(c *KeyChange) *KeyRow {
	row := *k
	row.Name, row.Scopes, row.Addresses, row.Expires, row.Salt = c.Name, c.Scopes, c.Addresses, c.Expires, c.Salt
	return &row
}

// admitAsJournaled admits a key whose row is the one that the journal knows, or
// becomes it by a change that was written before its command. Others stay out, with
// an alarm: somebody else wrote the row. The caller holds mu.
func (r *reconciliation) admitAsJournaled(row *KeyRow, f *keyFact) {
	if row.digest() == f.digest {
		r.admit(row)
		return
	}
	changes := r.changes[row.ID]
	at := slices.IndexFunc(changes, func(c KeyChange) bool { return row.with(&c).digest() == f.digest })
	if at < 0 {
		r.OnForged("key", fmt.Errorf("key %d of account %d is not the one in the journal: it is refused", row.ID, row.Account))
		return
	}
	r.admit(row.with(&changes[at]))
	r.work.Changed[row.ID] = changes[at]
}
