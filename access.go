package bourse

// RowDigest is the salted digest of a row that says how somebody gets in: a key,
// a session or a person. The row is kept beside the journal; the journal has the
// digest, so that a row that was changed behind the exchange's back is known.
type RowDigest [32]byte

// Access is what a command says about a way into an account.
type Access struct {
	// Digest is that of the row.
	Digest RowDigest
	// Expires is when the way ends by itself; zero for never, as for every person.
	Expires Time
}

// MaxHold is for how long money can be kept from leaving an account at most.
const MaxHold = 366 * Day

// MaxKeys is how many live API keys an account may have. It is part of the rules:
// changing it changes what a journal means.
const MaxKeys = 50

// MaxSessions is how many live sessions an account may have. It is part of the rules.
const MaxSessions = 50

// FirstSession is where the ids of sessions begin; those of API keys stay below it.
const FirstSession KeyID = 1 << 52

// LastSession is the highest id of a session: JSON's numbers are exact up to it.
const LastSession KeyID = 1<<53 - 1

// IsSession reports whether the id is that of a session.
func (k KeyID) IsSession() bool { return k >= FirstSession }

func (a *Access) check() bool { return a != nil && a.Expires >= 0 }

func (a *Access) checkPerson() bool { return a != nil && a.Expires == 0 }
