package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-exchange/bourse"
)

// Submit carries a command to the sequencer and waits for what became of it. A
// *bourse.Error with another code than CodeUnknown says that nothing was taken.
type Submit func(ctx context.Context, c *bourse.Command) (bourse.Outcome, error)

// Options are what a service is put together from.
type Options struct {
	Store Store
	Clock func() time.Time
	// Random is where secrets and tokens come from.
	Random io.Reader
	// OnRevoke is told of each key that was revoked, after End, on the goroutine
	// that applies, and of each session that ended; it may be nil.
	OnRevoke func(bourse.KeyID)
	// Grace is for how long keys are taken that are in memory after the store was
	// last reached; zero is for ever.
	Grace time.Duration
	// OnFailure is told what went wrong that no caller needs to hear of.
	OnFailure func(what string, err error)
	// Mailer carries codes to people.
	Mailer Mailer
	// Seal is the key that encrypts what the store holds of second factors.
	Seal [32]byte
	// Issuer is the exchange's name in authenticator applications.
	Issuer string
	// Hold is how long withdrawals wait after a change of how a person gets in.
	Hold time.Duration
	// Captcha asks who signs up to read a picture.
	Captcha bool
	// Failures is how many wrong passwords a client's address may send in an hour;
	// zero for any number. An account never sees more than ten.
	Failures int
	// Letters is how many letters an address may cause in an hour; zero for any
	// number.
	Letters int
}

// Service knows the accounts, keys and address books. Reset, Begin, Observe and End belong to
// the goroutine that applies; everything else may be called by anybody.
type Service struct {
	Options
	submit Submit

	// mu guards what the journal said and what authentication reads.
	mu          sync.RWMutex
	facts       *facts
	credentials map[Hash]*credential
	// waiting are the rows of this process whose command has no outcome yet;
	// open is what the journal decided and the store has not been told.
	waiting map[bourse.Token]*KeyRow
	open    Decisions
	// saving are the tokens of names whose command has no outcome yet.
	saving map[bourse.Token]struct{}
	// sessions are those that are good or were until a minute ago, owners whose
	// they are, and lastSession is the newest number; noted is when the store was
	// last told of use.
	sessions    map[bourse.AccountID]map[SessionID]*credential
	owners      map[SessionID]bourse.AccountID
	lastSession SessionID
	noted       bourse.Time

	// codes are out; the attempts are of passwords by account and by the client's
	// address, of second factors, of mailed codes, and of letters.
	codes                                          codes
	passwords, addresses, factors, mailed, letters *attempts
	hasher                                         hasher

	// naming is held by whoever looks for a name of a key that is not used.
	naming sync.Mutex

	// reached is when the store last answered.
	reached atomic.Int64

	// confirming is held by whoever tells the store.
	confirming sync.Mutex

	// Of the goroutine that applies: what a snapshot restores, until End, and
	// the keys that were revoked since Begin.
	restored *facts
	revoked  []bourse.KeyID
}

// NewService returns a service that knows nobody. Put it behind the engine, and
// call Bind and Open, before anything else.
func NewService(o Options) *Service {
	if o.OnRevoke == nil {
		o.OnRevoke = func(bourse.KeyID) {}
	}
	if o.OnFailure == nil {
		o.OnFailure = func(string, error) {}
	}
	return &Service{
		Options: o, submit: notBound, facts: newFacts(), open: newDecisions(),
		credentials: map[Hash]*credential{}, waiting: map[bourse.Token]*KeyRow{},
		saving:   map[bourse.Token]struct{}{},
		sessions: map[bourse.AccountID]map[SessionID]*credential{}, owners: map[SessionID]bourse.AccountID{},
		codes:     codes{out: map[codeName]*code{}},
		passwords: newAttempts(mostAccountFailures), addresses: newAttempts(o.Failures),
		factors: newAttempts(mostFactorFailures), mailed: newAttempts(mostFactorFailures), letters: newAttempts(o.Letters),
		hasher: make(hasher, atOnce),
	}
}

// Bind gives the service the way to the sequencer.
func (s *Service) Bind(submit Submit) { s.submit = submit }

func notBound(context.Context, *bourse.Command) (bourse.Outcome, error) {
	return bourse.Outcome{}, bourse.Errorf(bourse.CodeUnavailable, "Not ready")
}

func newDecisions() Decisions {
	return Decisions{
		Accounts: map[bourse.Token]bourse.AccountID{},
		Keys:     map[bourse.Token]bourse.KeyID{},
		Revoked:  map[bourse.KeyID]bourse.Time{},

		Addresses: map[bourse.Token]bourse.AddressID{},
	}
}

func (s *Service) now() bourse.Time { return bourse.TimeOf(s.Clock()) }

// Create makes an account for an e-mail address. The errors are *bourse.Errors
// with CodeInvalid, CodeConflict if the address has one, and those of a command.
func (s *Service) Create(ctx context.Context, email string) (bourse.AccountID, error) {
	email, err := NormalizeEmail(email)
	if err != nil {
		return 0, err
	}
	return s.create(ctx, email, "")
}

var errEmailTaken = bourse.Errorf(bourse.CodeConflict, "email: taken")

// create makes an account with the hash of a password, or empty.
func (s *Service) create(ctx context.Context, email, password string) (bourse.AccountID, error) {
	row := &AccountRow{Account: Account{Email: email, Created: s.now()}, Person: Person{Password: password}}
	var err error
	if row.Token, err = s.newToken(); err != nil {
		return 0, err
	}
	if err := s.Store.AddAccount(ctx, row); errors.Is(err, ErrTaken) {
		return 0, errEmailTaken
	} else if err != nil {
		return 0, err
	}
	cmd := &bourse.Command{Kind: bourse.CommandCreateAccount, Token: row.Token}
	id, err := s.decide(ctx, cmd, nil)
	return bourse.AccountID(id), err
}

// CreateKey makes a key for an account. The secret is returned this once. The
// errors are *bourse.Errors with CodeInvalid, and those of a command.
func (s *Service) CreateKey(ctx context.Context, account bourse.AccountID, k NewKey) (bourse.KeyID, Secret, error) {
	if err := k.check(s.now()); err != nil {
		return 0, "", err
	}
	secret, err := newSecret(s.Random)
	if err != nil {
		return 0, "", err
	}
	row := &KeyRow{Hash: secret.hash(), Key: Key{
		Account: account, Name: k.Name, Scopes: k.Scopes, Addresses: k.Addresses,
		Expires: k.Expires, Created: s.now(),
	}, Once: k.Once, Request: k.Request}
	if row.Token, err = s.newToken(); err != nil {
		return 0, "", err
	}
	if err := s.storeKey(ctx, row); err != nil {
		return 0, "", err
	}
	cmd := &bourse.Command{Kind: bourse.CommandCreateKey, Account: account, Token: row.Token}
	id, err := s.decide(ctx, cmd, row)
	if err != nil {
		return 0, "", err
	}
	return bourse.KeyID(id), secret, nil
}

func (s *Service) newToken() (t bourse.Token, err error) {
	if _, err := io.ReadFull(s.Random, t[:]); err != nil {
		return t, fmt.Errorf("drawing a token: %w", err)
	}
	return t, nil
}

// decide lets the journal decide about a pending row, which is of a key or of an
// account (nil). The row is confirmed when decide returns an id, and gone when
// nothing was taken. When the outcome is unknown it stays, for a later event or
// the next start.
func (s *Service) decide(ctx context.Context, cmd *bourse.Command, key *KeyRow) (uint64, error) {
	s.mu.Lock()
	s.waiting[cmd.Token] = key
	s.mu.Unlock()
	id, err := s.do(ctx, cmd)
	if err != nil && !notTaken(err) {
		return 0, err
	}
	if err != nil {
		s.mu.Lock()
		delete(s.waiting, cmd.Token)
		s.open.Dropped = append(s.open.Dropped, cmd.Token)
		s.mu.Unlock()
	}
	// The journal has decided: the caller's patience no longer matters.
	if failed := s.Confirm(context.WithoutCancel(ctx)); failed != nil {
		return 0, errors.Join(err, failed)
	}
	return id, err
}

// do submits a command; a refusal is an *bourse.Error.
func (s *Service) do(ctx context.Context, cmd *bourse.Command) (uint64, error) {
	o, err := s.submit(ctx, cmd)
	if err == nil && o.Reason != 0 {
		err = refusal(o.Reason)
	}
	return o.ID, err
}

// notTaken reports whether an error says that the command has no effect.
func notTaken(err error) bool {
	var e *bourse.Error
	return errors.As(err, &e) && e.Code != bourse.CodeUnknown
}

func refusal(reason bourse.Reason) error {
	switch reason {
	case bourse.UnknownAccount:
		return bourse.Errorf(bourse.CodeNotFound, "Account not found")
	case bourse.UnknownKey:
		return bourse.Errorf(bourse.CodeNotFound, "Key not found")
	case bourse.AddressNotFound:
		return errNoAddress
	case bourse.TooMany:
		return bourse.Errorf(bourse.CodeRefused, "%s: there can be no more of them", reason)
	default:
		return bourse.Errorf(bourse.CodeRefused, "%s", reason)
	}
}

// Confirm tells the store what the journal decided. Whoever creates something
// calls it; what it could not do, because the store failed or nobody waited for
// the outcome, a later call does, so it should be called now and then.
func (s *Service) Confirm(ctx context.Context) error {
	s.confirming.Lock()
	defer s.confirming.Unlock()
	s.mu.Lock()
	work := s.open
	if work.empty() {
		s.mu.Unlock()
		return s.noteUse(ctx)
	}
	s.open = newDecisions()
	s.mu.Unlock()
	if err := s.Store.Confirm(ctx, &work); err != nil {
		s.mu.Lock()
		s.open.merge(&work)
		s.mu.Unlock()
		return err
	}
	return nil
}

// RevokeKey ends a key, from now on and everywhere.
func (s *Service) RevokeKey(ctx context.Context, key bourse.KeyID) error {
	if _, err := s.do(ctx, &bourse.Command{Kind: bourse.CommandRevokeKey, Key: key}); err != nil {
		return err
	}
	// It is revoked, whatever the store says: the time can be noted later.
	_ = s.Confirm(context.WithoutCancel(ctx))
	return nil
}

// Freeze keeps an account from placing orders, or lets it place them again.
func (s *Service) Freeze(ctx context.Context, account bourse.AccountID, on bool) error {
	_, err := s.do(ctx, &bourse.Command{Kind: bourse.CommandFreezeAccount, Account: account, On: on})
	return err
}

// ByID returns an account; false if there is none.
func (s *Service) ByID(ctx context.Context, id bourse.AccountID) (Account, bool, error) {
	row, ok, err := s.Store.Account(ctx, id)
	if err != nil {
		return Account{}, false, err
	}
	if !ok {
		row.Account = Account{ID: id} // it may be known to the journal alone
	}
	return s.standing(row.Account)
}

// ByEmail returns the account of an e-mail address; false if there is none. The
// error may be an *bourse.Error with CodeInvalid.
func (s *Service) ByEmail(ctx context.Context, email string) (Account, bool, error) {
	email, err := NormalizeEmail(email)
	if err != nil {
		return Account{}, false, err
	}
	row, ok, err := s.Store.AccountOf(ctx, email)
	if err != nil || !ok {
		return Account{}, false, err
	}
	return s.standing(row.Account)
}

// standing adds what the journal says of an account.
func (s *Service) standing(a Account) (Account, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f := s.facts.account(a.ID)
	if f == nil {
		return Account{}, false, nil
	}
	a.Frozen = f.frozen
	return a, true, nil
}

// Keys returns an account's keys by ascending id, revoked ones included.
func (s *Service) Keys(ctx context.Context, account bourse.AccountID) ([]Key, error) {
	rows, err := s.Store.KeysOf(ctx, account)
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := make([]Key, len(rows))
	for i := range rows {
		keys[i] = rows[i].Key
		if f := s.facts.key(keys[i].ID); f != nil && f.revoked && keys[i].Revoked == 0 {
			keys[i].Revoked = f.at
		}
	}
	return keys, nil
}
