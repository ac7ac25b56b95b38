package account

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Salt is a row's own randomness. It keeps an auditor from guessing the row behind a
// digest in the journal.
type Salt [16]byte

func (s *Service) newSalt() (salt Salt, err error) {
	if _, err := io.ReadFull(s.Random, salt[:]); err != nil {
		return salt, fmt.Errorf("drawing a salt: %w", err)
	}
	return salt, nil
}

// Prefixes that separate the digests of different rows.
const (
	digestKey     = "bourse key 1\n"
	digestSession = "bourse session 1\n"
	digestPerson  = "bourse person 1\n"
)

// digest returns the journal's digest of a key's row: owner, secret, kind, public key or
// sealed secret, scopes, addresses and expiry. The name is not part of it.
func (k *KeyRow) digest() bourse.RowDigest {
	le := binary.LittleEndian
	b := append([]byte(digestKey), k.Salt[:]...)
	b = le.AppendUint32(b, uint32(k.Account))
	b = append(b, k.Token[:]...)
	b = append(b, k.Hash[:]...)
	b = append(b, byte(k.Kind))
	b = appendSized(b, k.Material)
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

// digest returns the journal's digest of a session's row: owner, secret and expiry.
func (row *SessionRow) digest() bourse.RowDigest {
	le := binary.LittleEndian
	b := append([]byte(digestSession), row.Salt[:]...)
	b = le.AppendUint32(b, uint32(row.Account))
	b = append(b, row.Hash[:]...)
	return sha256.Sum256(le.AppendUint64(b, uint64(row.Expires)))
}

// digest returns the journal's digest of a person's row: everything that grants access.
// TOTPStep is not part of it.
func (row *AccountRow) digest() bourse.RowDigest {
	b := append([]byte(digestPerson), row.Salt[:]...)
	b = append(b, row.Token[:]...)
	b = appendSized(b, row.Email)
	b = appendSized(b, row.Password)
	b = appendFactor(b, row.TOTP, row.TOTPUsed)
	b = append(b, byte(row.Cases))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(row.Undos)))
	for i := range row.Undos {
		u := &row.Undos[i]
		b = appendSized(b, u.Email)
		b = append(b, u.Code[:]...)
		b = binary.LittleEndian.AppendUint64(b, uint64(u.Expires))
		b = appendFactor(b, u.TOTP, u.TOTPUsed)
	}
	return sha256.Sum256(row.appendPasskeys(b))
}

// appendPasskeys appends the passkeys of a row and of each undo. Without any it appends
// nothing: rows that were made before passkeys keep their digest.
func (row *AccountRow) appendPasskeys(b []byte) []byte {
	lists := [][]Passkey{row.Passkeys}
	some := len(row.Passkeys)
	for i := range row.Undos {
		lists = append(lists, row.Undos[i].Passkeys)
		some += len(row.Undos[i].Passkeys)
	}
	if some == 0 {
		return b
	}

	for _, list := range lists {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
		for i := range list {
			b = list[i].append(b)
		}
	}
	return b
}

// append appends all of a passkey.
func (k *Passkey) append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, k.Number)
	b = appendSized(b, k.Name)
	b = appendSized(b, k.Credential)
	b = appendSized(b, k.PublicKey)
	b = append(b, 0)
	if k.Synced {
		b[len(b)-1] = 1
	}
	b = le.AppendUint32(b, k.Counter)
	return le.AppendUint64(b, uint64(k.Created))
}

func appendSized[T string | []byte](b []byte, text T) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	return append(b, text...)
}

// appendFactor appends the sealed TOTP secret, empty for none, and whether it is in use.
func appendFactor(b, totp []byte, used bool) []byte {
	b = appendSized(b, totp)
	if used {
		return append(b, 1)
	}
	return append(b, 0)
}

// with returns the row with a change applied.
func (k *KeyRow) with(c *KeyChange) *KeyRow {
	row := *k
	row.Name, row.Scopes, row.Addresses, row.Expires, row.Salt = c.Name, c.Scopes, c.Addresses, c.Expires, c.Salt
	return &row
}

// admitAsJournaled admits a key whose row, possibly with a pending change applied, has
// the journal's digest. Any other row was written by a third party: it is refused with an
// alarm. The caller holds mu.
func (r *reconciliation) admitAsJournaled(row *KeyRow, f *keyFact) {
	if row.digest() == f.digest && row.Token == f.token && row.Account == f.account {
		r.admit(row)
		return
	}
	changes := r.changes[row.ID]
	at := slices.IndexFunc(changes, func(c KeyChange) bool { return row.with(&c).digest() == f.digest })
	if at < 0 {
		r.OnForged("key", fmt.Errorf("key %d of account %d is not the one in the journal: it is refused",
			row.ID, row.Account))
		return
	}
	r.admit(row.with(&changes[at]))
	r.work.Changed[row.ID] = changes[at]
}
