package account

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/lock"
	"github.com/bourse-exchange/bourse/internal/seal"
)

// Submit sends a command to the sequencer and waits for its outcome. A *bourse.Error with
// another code than CodeUnknown means that the command has no effect.
type Submit func(ctx context.Context, c *bourse.Command) (bourse.Outcome, error)

// Options configure a service.
type Options struct {
	Store Store
	Clock func() time.Time
	// Random is the source of secrets and tokens.
	Random io.Reader
	// OnRevoke is called for each revoked or changed key and each ended session, in End,
	// on the goroutine that applies. It may be nil.
	OnRevoke func(bourse.KeyID)
	// Grace bounds the use of cached keys since the store last answered; zero for no
	// bound.
	Grace time.Duration
	// OnFailure reports failures that no caller needs to hear of.
	OnFailure func(what string, err error)
	// OnForged reports each row that differs from the journal's and is refused: a third
	// party changed the store.
	OnForged func(what string, err error)
	// Mailer carries codes to people.
	Mailer Mailer
	// Seal is the encryption key of the secrets in the store: those of second factors and
	// of keys that sign.
	Seal seal.Key
	// Exchange is the id of the exchange, which every signed request names.
	Exchange [16]byte
	// Issuer is the exchange's name in authenticator applications and at the end of letters.
	Issuer string
	// Letters replace the texts of letters, by their names. CheckLetters has passed them.
	Letters map[string]Letter
	// Pages returns the URL of the exchange's pages, without a slash at its end; empty if it is not
	// known. It may be nil.
	Pages func() string
	// Terms is the version of the terms that accounts have to accept; empty for none.
	Terms string
	// Support is the address at the end of letters; empty for none.
	Support string
	// Cases are the second-factor cases of a new account.
	Cases Cases
	// Behind is true if the journal may lack an end that the store has seen, because another
	// incarnation's machine is gone: Open removes accounts and keys of ids that the journal has
	// not allotted yet.
	Behind bool
	// Awaited returns the parts of the resets of persons that wait for operators, by the digests of
	// their rows. It may be nil.
	Awaited func() map[bourse.RowDigest]bourse.ResetParts
	// Ready returns the reason why the journal takes no command of a kind now, or nil. It
	// is asked before a row is written. It may be nil.
	Ready func(bourse.CommandKind) error
	// Hold is the hold of withdrawals after a change of credentials.
	Hold time.Duration
	// Captcha requires a captcha for a sign-up.
	Captcha bool
	// Limits bound each client's use of shared resources.
	Limits Limits
	// AlwaysConfirm requires a second factor for a new password and for a key with the scope
	// withdraw, whatever the cases of an account are.
	AlwaysConfirm bool
	// NetworkName returns a network's name for letters; it may be nil.
	NetworkName func(bourse.NetworkID) string
}

// Service knows the accounts, keys and address books. Reset, Begin, Observe and End
// belong to the goroutine that applies; all other methods are safe for concurrent use.
type Service struct {
	Options
	submit Submit

	// mu guards the journal's state and the credentials.
	mu          sync.RWMutex
	facts       *facts
	credentials map[Hash]*credential
	// byKey indexes the credentials by key.
	byKey map[bourse.KeyID]*credential
	// waiting are this process's pending rows whose command has no outcome yet; open are
	// decisions that the store does not have yet.
	waiting map[bourse.Token]*KeyRow
	open    Decisions
	// changing are changes of keys whose command has no outcome yet, by the digest of the
	// changed row.
	changing map[bourse.RowDigest]*KeyChange
	// persons are changed rows of people whose command has no outcome yet, by digest.
	persons map[bourse.RowDigest]*AccountRow
	// ordered are rows that operators ordered, by digest, until they are the accounts' rows or
	// nothing waits for them. They are in persons as well.
	ordered map[bourse.RowDigest]*ordered
	// alarmed are the digests of the forged rows that were reported.
	alarmed map[bourse.AccountID]bourse.RowDigest
	// saving are the tokens of names whose command has no outcome yet.
	saving map[bourse.Token]struct{}
	// noted is the time of the last Store.Used.
	noted bourse.Time
	used  usedList

	// shared holds pending codes and counts.
	shared Shared
	hasher *hasher

	// naming locks an account while a key's name is checked and taken, a session begins,
	// or the person's row changes.
	naming lock.Accounts

	// exchangeTime is the clock that signed requests are compared with. A request that changes
	// something is taken only with a timestamp after fresh: an earlier process, which had
	// another table of texts, took no such request.
	exchangeTime func() bourse.Time
	fresh        bourse.Time

	// tellings are which news accounts want.
	tellings tellings
	// accepted are the accounts that accepted Terms.
	accepted accepted

	// party is what passkeys are bound to; nil if there are none. Challenges of log-ins that
	// were made before began are an earlier process's.
	party *Party
	began bourse.Time

	// reached is the time of the store's last answer.
	reached atomic.Int64

	// confirming serialises Confirm, which may wait for the store.
	confirming lock.Gate

	// Owned by the goroutine that applies: the state of a snapshot, until End, and the
	// keys revoked or changed since Begin.
	restored *facts
	revoked  []bourse.KeyID
}

// NewService returns an empty service. Put it behind the engine, then call Bind and Open,
// before anything else.
func NewService(o Options) *Service {
	if o.OnRevoke == nil {
		o.OnRevoke = func(bourse.KeyID) {}
	}
	if o.OnFailure == nil {
		o.OnFailure = func(string, error) {}
	}
	if o.OnForged == nil {
		o.OnForged = o.OnFailure
	}
	if o.Ready == nil {
		o.Ready = func(bourse.CommandKind) error { return nil }
	}
	if o.Awaited == nil {
		o.Awaited = func() map[bourse.RowDigest]bourse.ResetParts { return nil }
	}
	if o.NetworkName == nil {
		o.NetworkName = func(id bourse.NetworkID) string { return fmt.Sprint(id) }
	}

	s := &Service{
		Options: o, submit: notBound, facts: newFacts(), open: newDecisions(), confirming: lock.NewGate(),
		credentials: map[Hash]*credential{}, byKey: map[bourse.KeyID]*credential{}, waiting: map[bourse.Token]*KeyRow{},
		saving: map[bourse.Token]struct{}{}, changing: map[bourse.RowDigest]*KeyChange{},
		persons: map[bourse.RowDigest]*AccountRow{}, ordered: map[bourse.RowDigest]*ordered{}, alarmed: map[bourse.AccountID]bourse.RowDigest{},
		shared: newLocal(&o.Limits), hasher: newHasher(atOnce, o.Limits.Hashing),
	}
	s.KeepTime(s.now)
	return s
}

// KeepTime sets the clock that signed requests are held against: the exchange's, which
// begins no earlier than the journal ends and never goes back, so that no request becomes
// good again. Call it before requests are served. The default is Options.Clock.
func (s *Service) KeepTime(now func() bourse.Time) {
	s.exchangeTime, s.began = now, now()
	s.fresh = s.began + ahead
}

// Bind connects the service to the sequencer.
func (s *Service) Bind(submit Submit) { s.submit = submit }

func notBound(context.Context, *bourse.Command) (bourse.Outcome, error) {
	return bourse.Outcome{}, bourse.Errorf(bourse.CodeUnavailable, "Not ready")
}

func (s *Service) now() bourse.Time { return bourse.TimeOf(s.Clock()) }
