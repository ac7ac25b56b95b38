package bourse

// RowDigest is the salted digest of a row that says how somebody gets in: a key,
// a session or a person. The row is kept beside the journal; the journal has the
// digest, so that a row that was changed behind the exchange's back is known.
type RowDigest [32]byte

// Access is what a command says about a way into an account.
type Access struct {
	// Digest is that of the row.
	Digest RowDigest
	// Expires is when the way ends by itself; zero for never.
	Expires Time
}

// MaxHold is for how long money can be kept from leaving an account at most.
const MaxHold = 366 * Day

// MaxKeys is how many live API keys an account may have. It is part of the rules:
// changing it changes what a journal means.
const MaxKeys = 50

func (a *Access) check() bool { return a != nil && a.Expires >= 0 }
