package account

import (
	"net/netip"
	"time"

	"github.com/bourse-exchange/bourse"
)

// Shared is the state that all nodes of an exchange must agree on, beside the journal and
// the store: pending codes, counts of attempts, and signed texts that were taken. A single
// process keeps it in memory; a cluster replaces this interface. Safe for concurrent use.
type Shared interface {
	Codes
	Counts
	Texts
}

// Codes keeps pending codes, in one bounded table per purpose.
type Codes interface {
	// PutCode adds a code and numbers it. Pending codes of the same subject stay. It
	// reports false if the subject has mostOfSubject already.
	PutCode(p Purpose, c *Code, now bourse.Time) bool
	// CodesOf returns copies of a subject's codes, oldest first, including ended ones
	// until they expire.
	CodesOf(p Purpose, subject string, now bourse.Time) []Code
	// TryCode judges the codes of a subject that pick accepts. The first good one is
	// removed and returned. Without one, each judged code counts a wrong try and ends
	// at maxWrong.
	TryCode(p Purpose, subject string, pick, good func(*Code) bool, now bourse.Time) (Code, Verdict)
	// DropCodes removes the codes of a subject that pick accepts; nil accepts all.
	DropCodes(p Purpose, subject string, pick func(*Code) bool)
}

// Counts counts attempts within a window of time, in one bounded table per quota.
type Counts interface {
	// Take counts one, and reports whether the quota allowed it. A name that used up a
	// quota waits for its whole window.
	Take(q Quota, name string, now bourse.Time) bool
	// Wait returns the time until Take would allow one; zero if it would now.
	Wait(q Quota, name string, now bourse.Time) bourse.Time
	// Back takes one count back after a success.
	Back(q Quota, name string)
}

// Purpose is the use of a code. A code of one purpose never passes for another.
type Purpose uint8

// The purposes.
const (
	ForFactor Purpose = iota
	ForSignUp
	ForReset
	ForEmail
	ForPasskey
	purposes
)

// Code is a pending code.
type Code struct {
	ID      uint64
	Subject string
	// Text is empty if an authenticator application makes the code, if the letter to the
	// address has none, and if only a passkey will do.
	Text string
	// Challenge is the challenge that a passkey signs; nil if no passkey may confirm.
	Challenge []byte
	// Source is the neighbourhood of the client that asked for the code.
	Source  netip.Addr
	Expires bourse.Time
	// Wrong counts wrong tries.
	Wrong int
	// The effect of the right code: Account, Email and the hash in Password are those of
	// the change. Digest is that of the request that it confirms, and Session the one that
	// may make a passkey.
	Account  bourse.AccountID
	Email    string
	Password string
	Digest   Digest
	Session  SessionID
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

// Quota names a limited action.
type Quota uint8

// The quotas, by action and by counted name.
const (
	// Wrong passwords: of an address that logs in, from all sources without an earlier
	// log-in to its account, and from each source with one; of a client's source; of a
	// session that gives its own password.
	passwordsByAccount Quota = iota
	passwordsBySource
	passwordsBySession
	// Wrong codes: of an account's second factor; of a subject's mailed codes, from
	// sources that asked for none; of a source; of all sources; of a source's network,
	// counted once a day; of an undo by source.
	factorsByAccount
	codesBySubject
	codesBySource
	codesInAll
	codesByNetwork
	undosBySource
	// Letters: second factors and notices of an account; letters to an address caused by
	// clients without a key or by a new address, within an hour and a day; the same for a
	// source with a log-in to the account; letters of a source; new addresses of an
	// account.
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
	// Assertions of log-ins that no passkey signed, of a source, and challenges of log-ins
	// that were answered.
	passkeysBySource
	challengesUsed
	quotas
)

// Limits bound each client's use of shared resources. Zero sets no limit; the limits of a
// code and of an account always hold.
type Limits struct {
	// WrongPasswords and WrongCodes bound those of a source within an hour. WrongPasswords
	// bounds its log-ins with a wrong passkey as well, apart.
	WrongPasswords, WrongCodes int
	// WrongCodesInAll bounds the wrong mailed codes of all sources within a day. Beyond
	// it, a code is taken only from the source that asked for it, and from no network
	// that has sent a wrong one that day.
	WrongCodesInAll int
	// Letters bounds the second factors, and separately the notices, to an account within
	// an hour.
	Letters int
	// LettersToAddress bounds the letters to an address that clients without a key cause,
	// and the new addresses that an account asks for, within an hour; twice as many
	// within a day.
	LettersToAddress int
	// LettersBySource bounds the letters that a source causes within an hour.
	LettersBySource int
	// LogIns bounds the sessions that an account begins within an hour.
	LogIns int
	// Captchas bounds the pictures that a source asks for, and answers, within an hour.
	Captchas int
	// Hashing bounds the passwords of a source that are hashed or wait for it at once.
	Hashing int
}

// mostAccountFailures bounds an account's wrong passwords, its wrong second factors, and
// its subject's wrong codes from sources that asked for none.
const mostAccountFailures = 10

// rule allows most within a window.
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

	r[passkeysBySource] = rule{l.WrongPasswords, hour}
	r[challengesUsed] = rule{1, FactorFor}
	return r
}

// local is the Shared of a single process.
type local struct {
	codeTables
	countTables
	textTable
}

func newLocal(l *Limits) Shared {
	s := &local{textTable: newTextTable()}
	for p := range s.codeTables {
		s.codeTables[p].out = map[string][]*Code{}
	}
	for q, rule := range l.rules() {
		s.countTables[q] = countTable{rule: rule, names: map[string]*count{}}
	}
	return s
}

// spend takes one of each quota, or none at all: the error is then a *LimitError.
func (s *Service) spend(spends ...spending) error {
	for i, one := range spends {
		if s.shared.Take(one.quota, one.name, s.now()) {
			continue
		}
		for _, taken := range spends[:i] {
			s.shared.Back(taken.quota, taken.name)
		}
		return s.exhausted(one, errTooMany)
	}
	return nil
}

// exhausted returns the error for a quota that is used up.
func (s *Service) exhausted(one spending, err *bourse.Error) *LimitError {
	wait := s.shared.Wait(one.quota, one.name, s.now())
	return &LimitError{err, time.Duration(wait) * time.Microsecond}
}

// LimitError refuses a request because of a limit other than that of requests. Limit is a
// *bourse.Error with CodeBusy.
type LimitError struct {
	Limit *bourse.Error
	// Wait is the time until the request may pass.
	Wait time.Duration
}

// Error returns the message of the limit.
func (e *LimitError) Error() string { return e.Limit.Message }

// Unwrap returns the limit.
func (e *LimitError) Unwrap() error { return e.Limit }

// spending is a quota and the name that it counts.
type spending struct {
	quota Quota
	name  string
}
