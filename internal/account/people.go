package account

import (
	"net/netip"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// SessionID names a session. The journal numbers sessions above API keys.
type SessionID uint64

// key returns the session's id in the journal; zero for none.
func (id SessionID) key() bourse.KeyID {
	if id == 0 {
		return 0
	}
	return bourse.FirstSession + bourse.KeyID(id)
}

func sessionOf(key bourse.KeyID) SessionID { return SessionID(key - bourse.FirstSession) }

// Session is a logged-in session.
type Session struct {
	ID      SessionID
	Account bourse.AccountID
	// Agent and Address are the User-Agent and the address of the client that logged in.
	Agent   string
	Address string
	Created bourse.Time
	Expires bourse.Time
	// Used is the time of the last use, accurate to a minute.
	Used bourse.Time
}

// Digest identifies a request by its contents.
type Digest [32]byte

// Visit is the address and the User-Agent of a request.
type Visit struct {
	From  netip.Addr
	Agent string
}

// Activity is an entry of an account's log.
type Activity struct {
	ID      uint64
	Account bourse.AccountID
	Time    bourse.Time
	// Kind is a word like LOGIN.
	Kind string
	// Address and Agent are those of the visit.
	Address, Agent string
	// Detail is free text without secrets.
	Detail string
}

// The kinds of activities.
const (
	didSignUp          = "SIGNUP"
	acceptedTerms      = "TERMS_ACCEPTED"
	didLogIn           = "LOGIN"
	failedLogIn        = "LOGIN_FAILED"
	endedSession       = "SESSION_ENDED"
	changedPassword    = "PASSWORD_CHANGED"
	resetPassword      = "PASSWORD_RESET"
	changedEmail       = "EMAIL_CHANGED"
	undidEmail         = "EMAIL_RESTORED"
	changedFactor      = "MFA_CHANGED"
	changedCases       = "MFA_CASES_CHANGED"
	failedSecondFactor = "MFA_FAILED"
	madeKey            = "API_KEY_CREATED"
	changedKey         = "API_KEY_CHANGED"
	revokedKey         = "API_KEY_REVOKED"
)

// Cases is a set of requests that need a second factor.
type Cases uint8

// The cases.
const (
	CaseLogin Cases = 1 << iota
	CaseWithdrawal
	CaseAPIKey

	allCases = CaseLogin | CaseWithdrawal | CaseAPIKey
)

// CaseWords are the cases' names, by bit.
var CaseWords = [...]string{"LOGIN", "WITHDRAWAL", "API_KEY"}

// ParseCases reads a list like LOGIN,API_KEY, which may be empty. The error is an
// *bourse.Error with CodeInvalid.
func ParseCases(list string) (c Cases, err error) {
	if list == "" {
		return 0, nil
	}
next:
	for word := range strings.SplitSeq(list, ",") {
		for i, w := range CaseWords {
			if w == word {
				c |= 1 << i
				continue next
			}
		}
		return 0, bourse.Errorf(bourse.CodeInvalid, "cases: %q is none of %s", word, allCases)
	}
	return c, nil
}

// Has reports whether c holds all of the cases.
func (c Cases) Has(cases Cases) bool { return c&cases == cases }

// String returns the cases' names, with commas between them.
func (c Cases) String() string {
	var words []string
	for i, w := range CaseWords {
		if c.Has(1 << i) {
			words = append(words, w)
		}
	}
	return strings.Join(words, ",")
}
