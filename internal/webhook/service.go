package webhook

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/seal"
)

// Bulletins reads the journal's bulletins.
type Bulletins interface {
	// Bulletins returns the bulletins behind a place, oldest first, at most limit.
	Bulletins(ctx context.Context, after history.BulletinPlace, limit int) ([]history.Bulletin, error)
}

// Options are the parts of a service.
type Options struct {
	Store     Store
	Bulletins Bulletins
	// Head returns the last command applied.
	Head func() bourse.Seq
	// MayAct returns an error while nothing may be delivered, because another process has become the
	// exchange.
	MayAct func(context.Context) error
	// Seal is the key of the accounts' secrets, of which the service derives its own.
	Seal   seal.Key
	Rules  Rules
	Random io.Reader
	Clock  func() time.Time
	// After is time.After.
	After func(time.Duration) <-chan time.Time
	// Patience bounds a delivery.
	Patience time.Duration
	Log      *slog.Logger
}

// Service has the endpoints and delivers to them. Safe for concurrent use.
type Service struct {
	Options
	client *http.Client
	// delivered and failures count tries.
	delivered, failures atomic.Uint64

	// changing serialises changes of the list of couriers, which mu guards. ctx is nil until
	// Run.
	changing sync.Mutex
	mu       sync.Mutex
	ctx      context.Context //nolint:containedctx // couriers end with Run
	couriers []*courier
}

// State is an endpoint with the state of its deliveries.
type State struct {
	Endpoint
	// Failure is the last failure since the last delivery.
	Failure string
	// Lag is the age of the bulletin that is being delivered.
	Lag bourse.Time
}

// Open reads the endpoints. One that is ahead of the journal, as after a restore, is set back to
// its end.
func Open(ctx context.Context, o Options) (*Service, error) {
	s := &Service{Options: o, client: newClient(&o)}
	list, err := o.Store.Webhooks(ctx)
	if err != nil {
		return nil, err
	}
	head := o.Head()
	for i := range list {
		e := &list[i]
		if e.After.Seq > head {
			o.Log.Warn("a webhook is ahead of the journal and is set back to its end",
				slog.Uint64("webhook", uint64(e.ID)), slog.Uint64("at", uint64(e.After.Seq)), slog.Uint64("end", uint64(head)))
			e.After = history.AfterCommand(head)
		}
		s.couriers = append(s.couriers, s.newCourier(e))
	}
	return s, nil
}

// newCourier returns a courier that does not run yet. One whose secret does not open is disabled.
func (s *Service) newCourier(e *Endpoint) *courier {
	c := &courier{Service: s, endpoint: *e, wake: make(chan struct{}, 1), ended: make(chan struct{}), stop: func() {}}
	close(c.ended)
	key, err := s.open(e)
	if err != nil {
		s.Log.Error("a webhook is disabled", slog.Uint64("webhook", uint64(e.ID)), slog.String("cause", err.Error()))
		c.endpoint.Disabled, c.endpoint.Cause = bourse.TimeOf(s.Clock()), err.Error()
	}
	c.key = key
	return c
}

// start runs a courier unless it is disabled. The caller holds changing.
func (s *Service) start(c *courier) {
	if s.ctx == nil || c.progress().Disabled != 0 {
		return
	}
	ctx, stop := context.WithCancel(s.ctx)
	ended := make(chan struct{})
	c.stop, c.ended = stop, ended
	go func() {
		defer close(ended)
		c.run(ctx)
	}()
}

// Run delivers until ctx ends.
func (s *Service) Run(ctx context.Context) {
	s.changing.Lock()
	s.ctx = ctx
	for _, c := range s.list() {
		s.start(c) //nolint:contextcheck // a courier lives as long as Run
	}
	s.changing.Unlock()

	<-ctx.Done()
	s.changing.Lock()
	defer s.changing.Unlock()
	for _, c := range s.list() {
		c.stop()
		<-c.ended
	}
	s.client.CloseIdleConnections()
}

// Wake tells the couriers that there are new bulletins. It does not wait.
func (s *Service) Wake() {
	for _, c := range s.list() {
		select {
		case c.wake <- struct{}{}:
		default: // it knows
		}
	}
}

// list returns the couriers by ascending id. The list is never changed.
func (s *Service) list() []*courier {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.couriers
}

func (s *Service) set(list []*courier) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.couriers = list
}

// find returns the courier of an endpoint and its index. The error is an *bourse.Error.
func (s *Service) find(id ID) (int, *courier, error) {
	list := s.list()
	at := slices.IndexFunc(list, func(c *courier) bool { return c.endpoint.ID == id })
	if at < 0 {
		return 0, nil, bourse.Errorf(bourse.CodeNotFound, "there is no webhook %d", id)
	}
	return at, list[at], nil
}

// Add registers an endpoint, which gets the bulletins of later commands, and returns its secret.
// The error is an *bourse.Error with CodeInvalid for a malformed URL, with CodeRefused if there
// are mostEndpoints, or the store's.
func (s *Service) Add(ctx context.Context, url string, kinds Kinds) (State, account.Secret, error) {
	if _, err := s.Check(url); err != nil {
		return State{}, "", err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	if len(s.list()) >= mostEndpoints {
		return State{}, "", bourse.Errorf(bourse.CodeRefused, "there are %d webhooks; remove one first", mostEndpoints)
	}

	e := &Endpoint{URL: url, Kinds: kinds, Created: bourse.TimeOf(s.Clock())}
	e.After = history.AfterCommand(s.Head())
	key, err := newSecret(s.Random)
	if err != nil {
		return State{}, "", err
	}
	if e.Sealed, err = s.key().Seal(s.Random, e.place(), key); err != nil {
		return State{}, "", err
	}
	if err := s.Store.AddWebhook(ctx, e); err != nil {
		return State{}, "", err
	}

	c := s.newCourier(e)
	s.set(append(slices.Clone(s.list()), c))
	s.start(c) //nolint:contextcheck // a courier lives as long as Run
	return c.state(0), shown(key), nil
}

// Check refuses a URL that Add would refuse, and returns its host. The error is an *bourse.Error.
func (s *Service) Check(url string) (host string, err error) { return hostOf(url), s.Rules.check(url) }

// All returns the endpoints by ascending id, without their secrets.
func (s *Service) All() []State {
	now, states := bourse.TimeOf(s.Clock()), []State{}
	for _, c := range s.list() {
		states = append(states, c.state(now))
	}
	return states
}

// Remove ends deliveries to an endpoint and forgets it. The error is an *bourse.Error with
// CodeNotFound, or the store's.
func (s *Service) Remove(ctx context.Context, id ID) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	at, c, err := s.find(id)
	if err != nil {
		return err
	}
	if err := s.Store.RemoveWebhook(ctx, id); err != nil {
		return err
	}
	s.set(slices.Delete(slices.Clone(s.list()), at, at+1))
	c.stop()
	<-c.ended
	return nil
}

// Enable enables a disabled endpoint, which gets the events it missed. The error is an *bourse.Error with
// CodeNotFound, or with CodeRefused if it is not disabled or its secret does not open, or the
// store's.
func (s *Service) Enable(ctx context.Context, id ID) (State, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	at, old, err := s.find(id)
	if err != nil {
		return State{}, err
	}
	switch {
	case old.progress().Disabled == 0:
		return State{}, bourse.Errorf(bourse.CodeRefused, "webhook %d is not disabled", id)
	case old.key == nil:
		return State{}, bourse.Errorf(bourse.CodeRefused, "webhook %d: %v; remove it and add another", id, errSealed)
	}

	// The old courier may still store that the endpoint is disabled.
	old.stop()
	<-old.ended
	e := old.endpoint
	e.Failing, e.Disabled, e.Cause = 0, 0, ""
	if err := s.Store.MoveWebhook(ctx, id, &e.Progress); err != nil {
		return State{}, err
	}

	c := s.newCourier(&e)
	list := slices.Clone(s.list())
	list[at] = c
	s.set(list)
	s.start(c) //nolint:contextcheck // a courier lives as long as Run
	return c.state(0), nil
}

// Test makes one delivery of the kind test, with the sequence 0, outside of the order. The error
// is an *bourse.Error with CodeNotFound, or with CodeRefused if the endpoint does not take it.
func (s *Service) Test(ctx context.Context, id ID) error {
	_, c, err := s.find(id)
	if err != nil {
		return err
	}
	if c.key == nil {
		return bourse.Errorf(bourse.CodeRefused, "webhook %d: %v; remove it and add another", id, errSealed)
	}
	if err := s.MayAct(ctx); err != nil {
		return err
	}

	var name [8]byte
	if _, err := io.ReadFull(s.Random, name[:]); err != nil {
		return fmt.Errorf("drawing a name: %w", err)
	}
	m := message{
		ID: "test_" + hex.EncodeToString(name[:]), Time: s.Clock().UTC().Format(time.RFC3339Nano), Kind: "test",
		Data: []byte("{}"),
	}
	if err := s.post(ctx, c.endpoint.URL, c.key, &m); err != nil {
		return bourse.Errorf(bourse.CodeRefused, "webhook %d: %s", id, cause(err))
	}
	return nil
}

// Counts returns the numbers of deliveries and of failed tries since the start.
func (s *Service) Counts() (delivered, failures uint64) { return s.delivered.Load(), s.failures.Load() }

// Lag returns the greatest lag of an endpoint, and the number of disabled endpoints.
func (s *Service) Lag() (greatest bourse.Time, disabled int) {
	for _, state := range s.All() {
		greatest = max(greatest, state.Lag)
		if state.Disabled != 0 {
			disabled++
		}
	}
	return greatest, disabled
}
