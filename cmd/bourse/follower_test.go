package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
	"github.com/bourse-exchange/bourse/internal/outside"
)

// uplink is the way of clients to an exchange that is started again and again, each time on
// another port. Clients wait while it is down.
type uplink struct {
	mu      sync.Mutex
	address string
	// up is closed while the exchange serves at address.
	up chan struct{}
}

// serve lets clients connect to the exchange at a URL; down lets them wait.
func (u *uplink) serve(url string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.address = strings.TrimPrefix(url, "http://")
	close(u.up)
}

func (u *uplink) down() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.up = make(chan struct{})
}

func (u *uplink) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	u.mu.Lock()
	up := u.up
	u.mu.Unlock()
	select {
	case <-up:
	case <-ctx.Done():
		return nil, ctx.Err()
	}

	u.mu.Lock()
	address := u.address
	u.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, address)
}

// follower follows streams of an account over connections that are dropped at random, for as
// long as the exchange is there or comes back.
type follower struct {
	account int
	client  *client.Client
	stream  client.Stream
	// took is called for each event.
	took func(client.Event) error

	// mu guards what follows, and all that took changes.
	mu sync.Mutex
	// fills are by trade and role.
	fills map[string]client.Fill
	// drops counts the connections that ended, resets the states in place of messages.
	drops, resets int
	// problem is what ended it.
	problem error
	// end ends it, once, and returns the problem that it met.
	end func() error
}

// newFollower returns a follower that is dropped after most reads at most.
func newFollower(u *uplink, account int, key string, rng *rand.Rand, most int) *follower {
	f := &follower{account: account, fills: map[string]client.Fill{}, took: func(client.Event) error { return nil }}
	var err error
	f.client, err = client.New("http://exchange", client.Options{
		Key: key, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := u.dial(ctx, network, address)
			return &outside.Fleeting{Conn: conn, Left: 2 + rng.IntN(most)}, err
		},
	})
	if err != nil {
		panic(err)
	}
	return f
}

// follow begins to follow streams.
func (f *follower) follow(ctx context.Context, names ...string) {
	f.stream.Names = names
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := f.followUntil(ctx, func(client.Event) bool { return false })
		f.mu.Lock()
		defer f.mu.Unlock()
		if !errors.Is(err, context.Canceled) {
			f.problem = err
		}
	}()
	f.end = func() error {
		cancel()
		<-ended
		return f.problem
	}
}

// settle follows until all that happened has come.
func (f *follower) settle(ctx context.Context) error {
	return f.followUntil(ctx, func(e client.Event) bool {
		_, current := e.Message.(*client.Current)
		return current
	})
}

func (f *follower) followUntil(ctx context.Context, enough func(client.Event) bool) error {
	for event, err := range f.client.Follow(ctx, &f.stream) {
		if err == nil {
			err = f.take(event)
		}
		if err != nil || enough(event) {
			return err
		}
	}
	return nil
}

// take keeps an event. A fill that comes twice is an error, and so are a gap and a reset of
// fills, which the history has.
func (f *follower) take(e client.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch m := e.Message.(type) {
	case *client.Fill:
		if _, twice := f.fills[fillKey(m)]; twice {
			return fmt.Errorf("fill %s came twice", fillKey(m))
		}
		f.fills[fillKey(m)] = *m
	case *client.Reset:
		if f.resets++; e.Stream == client.MyTrades {
			return fmt.Errorf("%s was reset", e.Stream)
		}
	case *client.Dropped:
		if f.drops++; errors.Is(m.Err, client.ErrGap) {
			return m.Err
		}
	}
	return f.took(e)
}

// knows reports whether the follower was told of so many fills. The error is what ended it.
func (f *follower) knows(fills int) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.fills) >= fills, f.problem
}

// fillKey names a fill: an account may have both sides of a trade.
func fillKey(f *client.Fill) string { return fmt.Sprint(f.Pair, " ", f.TradeID, " ", f.Role) }

// restFills reads an account's fills by REST, newest first, up to the first known one. A fill
// that is listed twice is an error.
func restFills(t *testing.T, c *client.Client, known map[string]bool) map[string]client.Fill {
	t.Helper()
	rest := map[string]client.Fill{}
	for row, err := range c.Fills(t.Context(), client.Past{}) {
		must(t, err)
		if known[fillKey(&row)] {
			break
		}
		if _, twice := rest[fillKey(&row)]; twice {
			t.Errorf("fill %s is twice in REST", fillKey(&row))
		}
		rest[fillKey(&row)] = row
	}
	return rest
}

// journaled returns the fills of all accounts by the journal alone.
func (s *server) journaled() map[int]map[string]client.Fill {
	s.t.Helper()
	stdout, stderr, code := run(s.t, "journal", "fills", s.data)
	if code != 0 {
		s.t.Fatalf("journal fills: exit %d: %s", code, stderr)
	}

	accounts := map[int]map[string]client.Fill{}
	for line := range strings.Lines(stdout) {
		var row struct {
			Account int
			Time    time.Time `json:"time"`
			client.Fill
		}
		must(s.t, json.Unmarshal([]byte(line), &row))
		fills := accounts[row.Account]
		if fills == nil {
			fills = map[string]client.Fill{}
			accounts[row.Account] = fills
		}
		if _, twice := fills[fillKey(&row.Fill)]; twice {
			s.t.Errorf("fill %s is twice in the journal", fillKey(&row.Fill))
		}
		fills[fillKey(&row.Fill)] = row.Fill
	}
	return accounts
}

// untimed returns fills without their times, which journal fills writes in another form.
func untimed(fills map[string]client.Fill) map[string]client.Fill {
	bare := maps.Clone(fills)
	for key, f := range bare {
		f.Time = client.Time{}
		bare[key] = f
	}
	return bare
}

// equal compares the values that a stream told with those of another source.
func equal[K ~string | ~uint64, V comparable](t *testing.T, what string, got, want map[K]V) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			t.Errorf("%s: %v is %+v, and should be %+v", what, key, got[key], want[key])
			break
		}
	}
	t.Errorf("%s: %d by the stream, and should be %d", what, len(got), len(want))
}
