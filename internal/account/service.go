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
	// OnForged is told of each row that is not the one that the journal knows, and
	// that is refused therefore: somebody changed the store.
	OnForged func(what string, err error)
	// Mailer carries codes to people.
	Mailer Mailer
	// Seal is the key that encrypts what the store holds of second factors.
	Seal [32]byte
	// Issuer is the exchange's name in authenticator applications.
	Issuer string
	// Cases are what a second factor of a new account is asked for.
	Cases Cases
	// Ready says why the journal takes no command of a kind now, or nil: then no row is
	// written for one. It may be nil.
	Ready func(bourse.CommandKind) error
	// Hold is how long withdrawals wait after a change of how a person gets in.
	Hold time.Duration
	// Captcha asks who signs up to read a picture.
	Captcha bool
	// Limits bound what one client may do of what clients share.
	Limits Limits
	// ConfirmPassword asks for a second factor for a new password.
	ConfirmPassword bool
	// NetworkName returns what letters call a network; it may be nil.
	NetworkName func(bourse.NetworkID) string
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
	// byKey finds the credentials of keys.
	byKey map[bourse.KeyID]*credential
	// waiting are the rows of this process whose command has no outcome yet;
	// open is what the journal decided and the store has not been told.
	waiting map[bourse.Token]*KeyRow
	open    Decisions
	// changing are changes of keys whose command has no outcome yet, by the digest of
	// what the row becomes.
	changing map[bourse.RowDigest]*KeyChange
	// persons are rows of people whose command has no outcome yet, by their digests.
	persons map[bourse.RowDigest]*AccountRow
	// alarmed are the rows of people that were refused and told of.
	alarmed map[bourse.AccountID]bourse.RowDigest
	// saving are the tokens of names whose command has no outcome yet.
	saving map[bourse.Token]struct{}
	// noted is when the store was last told of use.
	noted bourse.Time
	used  usedList

	// shared holds sessions, codes that are out, and counts.
	shared Shared
	hasher *hasher

	// naming is held, by account, by whoever looks for a name of a key that is not
	// used, begins a session or changes the row of the person.
	naming lock.Accounts

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
	if o.OnForged == nil {
		o.OnForged = o.OnFailure
	}
	if o.Ready == nil {
		o.Ready = func(bourse.CommandKind) error { return nil }
	}
	if o.NetworkName == nil {
		o.NetworkName = func(id bourse.NetworkID) string { return fmt.Sprint(id) }
	}
	return &Service{
		Options: o, submit: notBound, facts: newFacts(), open: newDecisions(),
		credentials: map[Hash]*credential{}, byKey: map[bourse.KeyID]*credential{}, waiting: map[bourse.Token]*KeyRow{},
		saving: map[bourse.Token]struct{}{}, changing: map[bourse.RowDigest]*KeyChange{},
		persons: map[bourse.RowDigest]*AccountRow{}, alarmed: map[bourse.AccountID]bourse.RowDigest{},
		shared: newLocal(&o.Limits), hasher: newHasher(o.Limits.Hashing),
	}
}

// Bind gives the service the way to the sequencer.
func (s *Service) Bind(submit Submit) { s.submit = submit }

func notBound(context.Context, *bourse.Command) (bourse.Outcome, error) {
	return bourse.Outcome{}, bourse.Errorf(bourse.CodeUnavailable, "Not ready")
}

func (s *Service) now() bourse.Time { return bourse.TimeOf(s.Clock()) }
