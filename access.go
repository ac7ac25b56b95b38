package bourse

// RowDigest is the salted digest of a database row that grants access: a key, a session
// or a person. The row is stored beside the journal and its digest in the journal, so a
// row changed behind the exchange's back is detected.
type RowDigest [32]byte

// Access is the part of a command that describes a key, a session or a person.
type Access struct {
	// Digest is the digest of the row.
	Digest RowDigest
	// Expires ends the access; zero means never, as for every person.
	Expires Time
}

// MaxHold is the longest time that an account's money can be kept from leaving.
const MaxHold = 366 * Day

// MaxKeys bounds an account's live API keys. It is part of the rules: changing it changes
// the meaning of existing journals.
const MaxKeys = 50

// MaxSessions bounds an account's live sessions. It is part of the rules.
const MaxSessions = 50

// FirstSession is the lowest session id; the ids of API keys stay below it.
const FirstSession KeyID = 1 << 52

// LastSession is the highest session id, 2^53-1: JSON numbers are exact up to it.
const LastSession KeyID = 1<<53 - 1

// IsSession reports whether k is the id of a session, not of an API key.
func (k KeyID) IsSession() bool { return k >= FirstSession }
