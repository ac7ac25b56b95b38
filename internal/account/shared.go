package account

import (
	"net/netip"

	"github.com/bourse-exchange/bourse"
)

// Shared is the state that all nodes of one exchange have to agree on beside the
// journal and the rows of its store: codes that are out, and counts of what was done.
// One process keeps them in memory; a cluster puts something else behind this
// interface. Safe for concurrent use.
type Shared interface {
	Codes
	Counts
}

// Codes keeps the codes that are out, in one bounded table per purpose.
type Codes interface {
	// PutCode adds a code and numbers it. Codes that are out for the same subject
	// stay. It reports false if the subject has mostOfSubject already.
	PutCode(p Purpose, c *Code, now bourse.Time) bool
	// CodesOf returns copies of the codes that are out for a subject, oldest first,
	// the ended ones included until they expire.
	CodesOf(p Purpose, subject string, now bourse.Time) []Code
	// TryCode judges the codes of a subject that pick accepts. The first good one is
	// removed and returned. Without one, each judged code counts a wrong try and ends
	// at maxWrong.
	TryCode(p Purpose, subject string, pick, good func(*Code) bool, now bourse.Time) (Code, Verdict)
	// DropCodes removes the codes of a subject that pick accepts; nil accepts all.
	DropCodes(p Purpose, subject string, pick func(*Code) bool)
}

// Counts counts what was done within a window of time, in one bounded table per
// quota.
type Counts interface {
	// Take counts one, and reports whether the quota allowed it. Who used up a quota
	// waits for its whole window.
	Take(q Quota, name string, now bourse.Time) bool
	// Free reports whether Take would allow one.
	Free(q Quota, name string, now bourse.Time) bool
	// Back takes one count back, of something that went well.
	Back(q Quota, name string)
}

// Purpose says what a code is for, so that none opens another door.
type Purpose uint8

// The purposes.
const (
	ForFactor Purpose = iota
	ForSignUp
	ForReset
	ForEmail
	purposes
)

// Code is a code that is out.
type Code struct {
	ID      uint64
	Subject string
	// Text is empty where an authenticator application makes the code, and where
	// the address gets a letter without one.
	Text string
	// Source is the neighbourhood of the client that asked for it.
	Source  netip.Addr
	Expires bourse.Time
	// Wrong counts wrong tries.
	Wrong int
	// What happens when it comes back: to which account, with which address and
	// which hash of a password. Digest is that of the request that it confirms.
	Account  bourse.AccountID
	Email    string
	Password string
	Digest   Digest
}

// Ended reports whether wrong tries have ended the code.
func (c *Code) Ended() bool { return c.Wrong >= maxWrong }

// Verdict is the outcome of a try.
type Verdict uint8

// The verdicts.
const (
	Absent Verdict = iota + 1
	Wrong
	Right
)

// Quota names something that may be done a limited number of times.
type Quota uint8

// The quotas, by what they count and by whom.
const (
	// Wrong passwords: of an address that logs in, from sources that have never
	// logged in to its account, and from each source that has; of a client's source;
	// of a session that gives its own password.
	passwordsByAccount Quota = iota
	passwordsBySource
	passwordsBySession
	// Wrong codes: of an account's second factor; of a subject's mailed codes, from
	// sources that asked for none; of a source; of all sources; of a source's
	// network, counted once a day; of an undo by source.
	factorsByAccount
	codesBySubject
	codesBySource
	codesInAll
	codesByNetwork
	undosBySource
	// Letters: second factors and notices of an account; letters to an address that
	// clients without a key or a new address cause, within an hour and a day; the
	// same for a source that has logged in to the account; letters of a source; new
	// addresses of an account.
	factorLetters
	notices
	lettersByHour
	lettersByDay
	lettersKnown
	lettersBySource
	changesByHour
	changesByDay
	// Sessions that an account began.
	logInsByAccount
	// Captchas drawn and answered by a source, and challenges that were answered.
	captchasDrawn
	captchasTried
	captchasUsed
	quotas
)

// Limits bound what one client may do of what clients share. Zero sets no limit; the
// limits of a code and of an account hold always.
type Limits struct {
	// WrongPasswords and WrongCodes count those of a source within an hour.
	WrongPasswords, WrongCodes int
	// WrongCodesInAll counts the wrong mailed codes of all sources within a day.
	// Beyond it a code is taken only from the source that asked for it, and from no
	// network that has sent a wrong one that day.
	WrongCodesInAll int
	// Letters counts second factors, and apart from them notices, to an account
	// within an hour.
	Letters int
	// LettersToAddress counts letters that clients without a key cause to an
	// address, and new addresses that an account asks for, within an hour; twice as
	// many within a day.
	LettersToAddress int
	// LettersBySource counts letters that a source causes within an hour.
	LettersBySource int
	// LogIns counts sessions that an account begins within an hour.
	LogIns int
	// Captchas counts pictures that a source asks for, and answers, within an hour.
	Captchas int
	// Hashing is how many passwords of a source are hashed or wait for it at once.
	Hashing int
}

// mostAccountFailures is how many wrong passwords, second factors and foreign tries
// of mailed codes an account may see.
const mostAccountFailures = 10

// rule allows Most within a window.
type rule struct {
	most   int
	within bourse.Time
}

// rules returns the rule of each quota.
func (l *Limits) rules() (r [quotas]rule) {
	const hour, day = bourse.Hour, bourse.Day

	always := rule{mostAccountFailures, hour}
	r[passwordsByAccount], r[passwordsBySession], r[factorsByAccount] = always, always, always
	r[passwordsBySource] = rule{l.WrongPasswords, hour}

	r[codesBySubject] = rule{mostAccountFailures, day}
	r[codesBySource] = rule{l.WrongCodes, hour}
	r[codesInAll] = rule{l.WrongCodesInAll, day}
	r[codesByNetwork] = rule{1, day}
	r[undosBySource] = rule{maxWrong, day}

	r[factorLetters], r[notices] = rule{l.Letters, hour}, rule{l.Letters, hour}
	r[lettersByHour], r[lettersByDay] = rule{l.LettersToAddress, hour}, rule{2 * l.LettersToAddress, day}
	r[lettersKnown] = rule{l.LettersToAddress, hour}
	r[lettersBySource] = rule{l.LettersBySource, hour}
	r[changesByHour], r[changesByDay] = rule{l.LettersToAddress, hour}, rule{2 * l.LettersToAddress, day}

	r[logInsByAccount] = rule{l.LogIns, hour}
	r[captchasDrawn], r[captchasTried] = rule{l.Captchas, hour}, rule{l.Captchas, hour}
	r[captchasUsed] = rule{1, captchaFor}
	return r
}

// local is the Shared of a single process.
type local struct {
	codeTables
	countTables
}

func newLocal(l *Limits) Shared {
	s := new(local)
	for p := range s.codeTables {
		s.codeTables[p].out = map[string][]*Code{}
	}
	for q, rule := range l.rules() {
		s.countTables[q] = countTable{rule: rule, names: map[string]*count{}}
	}
	return s
}

// spend takes one of each quota for a name, or none of any.
func (s *Service) spend(spends ...spending) bool {
	for i, one := range spends {
		if s.shared.Take(one.quota, one.name, s.now()) {
			continue
		}
		for _, taken := range spends[:i] {
			s.shared.Back(taken.quota, taken.name)
		}
		return false
	}
	return true
}

// spending is one of a quota that a name takes.
type spending struct {
	quota Quota
	name  string
}
