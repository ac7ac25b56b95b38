package enginetest

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// mostSessions bounds an account's live sessions.
const mostSessions = 50

// session is a live session.
type session struct {
	id      bourse.KeyID
	account bourse.AccountID
	expires bourse.Time
}

func (x *Oracle) openSession(cmd *bourse.Command) {
	if x.accountOrRefuse(cmd.Account) == nil {
		return
	}
	x.endSessions(func(s session) bool { return s.expires <= x.now })
	live := 0
	for _, s := range x.sessions {
		if s.account == cmd.Account {
			live++
		}
	}
	if live >= mostSessions {
		x.ev.Refuse(bourse.TooMany)
		return
	}

	x.lastSession++
	one := session{bourse.FirstSession + x.lastSession, cmd.Account, cmd.Access.Expires}
	x.sessions = append(x.sessions, one)
	x.ev.Outcome.ID = uint64(one.id)
}

func (x *Oracle) secureAccount(cmd *bourse.Command) {
	if a := x.accountOrRefuse(cmd.Account); a != nil {
		if cmd.Access != nil {
			a.person = personOf(cmd)
		}
		x.endSessions(func(s session) bool { return s.account == cmd.Account && s.id != cmd.Key })
	}
}

// personOf returns the digest of a row of a person; zero without one.
func personOf(cmd *bourse.Command) bourse.RowDigest {
	if cmd.Access == nil {
		return bourse.RowDigest{}
	}
	return cmd.Access.Digest
}

// resetPerson replaces the row of a person, unless the person has another one than the command
// replaces.
func (x *Oracle) resetPerson(cmd *bourse.Command) {
	a := x.accountOrRefuse(cmd.Account)
	switch {
	case a == nil:
	case a.person != cmd.Operators.Was:
		x.ev.Refuse(bourse.WrongDigest)
	default:
		a.person = personOf(cmd)
		x.endSessions(func(s session) bool { return s.account == cmd.Account })
	}
}

// endSessions ends the sessions that over accepts. A tick ends more sessions than a test
// has.
func (x *Oracle) endSessions(over func(session) bool) {
	x.sessions = slices.DeleteFunc(x.sessions, over)
}
