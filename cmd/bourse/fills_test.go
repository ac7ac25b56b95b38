package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bourse-exchange/bourse/client"
)

// fleetingReads bounds the reads of a follower's connection until it breaks.
const fleetingReads = 12

// fillBook is the fills of an account: as its followers were told of them, as REST lists them
// and as the journal has them.
type fillBook struct {
	account   int
	key       string
	rest      *client.Client
	followers []*follower
	// compared are the fills for which all three agreed.
	compared map[string]bool
}

func newFillBook(t *testing.T, u *uplink, account int, key string) *fillBook {
	t.Helper()
	rest, err := client.New("http://exchange", client.Options{Key: key, Dial: u.dial})
	must(t, err)
	return &fillBook{account: account, key: key, rest: rest, compared: map[string]bool{}}
}

// follow adds a follower whose connections are dropped.
func (b *fillBook) follow(ctx context.Context, u *uplink, rng *rand.Rand) {
	f := newFollower(u, b.account, b.key, rng, fleetingReads)
	f.follow(ctx, client.MyTrades, client.MyOrders)
	b.followers = append(b.followers, f)
}

// end ends the followers.
func (b *fillBook) end(t *testing.T) {
	t.Helper()
	for _, f := range b.followers {
		if err := f.end(); err != nil {
			t.Error(err)
		}
	}
}

// told returns the number of fills that the followers were told of, and of connections that
// they lost.
func (b *fillBook) told() (fills, drops int) {
	for _, f := range b.followers {
		f.mu.Lock()
		fills, drops = fills+len(f.fills), drops+f.drops
		f.mu.Unlock()
	}
	return fills, drops
}

// reconcile compares all three while trading pauses. It reads REST back to the fills that it
// has compared before. No follower ends unless it was told of a fill twice or saw a gap.
func (b *fillBook) reconcile(t *testing.T, journaled map[string]client.Fill) {
	t.Helper()
	b.rest.Close() // idle connections to an earlier process of the exchange
	rest := restFills(t, b.rest, b.compared)
	for key := range rest {
		b.compared[key] = true
	}
	if len(b.compared) != len(journaled) {
		t.Errorf("account %d has %d fills by REST, %d by the journal", b.account, len(b.compared), len(journaled))
	}

	for i, f := range b.followers {
		what := fmt.Sprintf("told of %d fills, follower %d of account %d", len(journaled), i, b.account)
		within(t, patience, what, func() bool {
			all, err := f.knows(len(journaled))
			must(t, err)
			return all
		})
		f.mu.Lock()
		for key, row := range rest {
			if f.fills[key] != row {
				t.Errorf("fill %s is %+v, and %+v by REST", key, f.fills[key], row)
			}
		}
		equal(t, "fills by the journal", untimed(f.fills), journaled)
		f.mu.Unlock()
	}
}
