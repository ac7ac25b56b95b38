package main

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
)

// bidder is a customer of machines who sends one order after the other, to the next machine when one does not take it.
type bidder struct {
	t      *testing.T
	roamer *roamer
	name   string

	mu sync.Mutex
	// acked are the orders that were acknowledged, and when.
	acked []bid
	// longest is the longest time between two of them, and problem why the bidder gave up.
	longest time.Duration
	problem error
	wake    chan struct{}
}

type bid struct {
	id string
	at time.Time
}

// newBidder returns a bidder with a key.
func newBidder(t *testing.T, name, key string, machines ...*host) *bidder {
	t.Helper()
	b := &bidder{t: t, name: name, roamer: &roamer{}, wake: make(chan struct{}, 1)}
	for _, h := range machines {
		api, err := client.New(h.url, client.Options{Key: key})
		must(t, err)
		t.Cleanup(api.Close)
		b.roamer.nodes = append(b.roamer.nodes, api)
	}
	return b
}

// bids lets the bidder work until end is called, which waits for the order under way unless the exchange is gone.
func (b *bidder) bids() (end func(gone bool)) {
	ctx, cancel := context.WithCancel(b.t.Context())
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() { b.work(ctx, stop) })
	return func(gone bool) {
		b.t.Helper()
		if gone {
			cancel()
		}
		close(stop)
		work.Wait()
		cancel()
		if b.problem != nil && !gone {
			b.t.Errorf("a customer gave up: %v", b.problem)
		}
	}
}

func (b *bidder) work(ctx context.Context, stop <-chan struct{}) {
	for n := len(b.acked); ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		id := fmt.Sprint(b.name, "-", n)
		one, cancel := context.WithTimeout(ctx, patience)
		err := b.roamer.ask(one, func(ctx context.Context, api *client.Client) error { return poor(ctx, api, id) })
		cancel()

		b.mu.Lock()
		now := time.Now()
		if err != nil {
			b.problem = err
			b.mu.Unlock()
			return
		}
		if len(b.acked) > 0 {
			b.longest = max(b.longest, now.Sub(b.acked[len(b.acked)-1].at))
		}
		b.acked = append(b.acked, bid{id, now})
		b.mu.Unlock()
		select {
		case b.wake <- struct{}{}:
		default: // it is known
		}
	}
}

// further waits for so many further acknowledgements.
func (b *bidder) further(count int) {
	b.t.Helper()
	all := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.acked)
	}
	for want, end := all()+count, time.After(patience); all() < want; {
		select {
		case <-b.wake:
		case <-end:
			b.t.Fatalf("after %s: %d of %d acknowledgements", patience, all(), want)
		}
	}
}

// journaled wants the journal in a directory, as a program reads it, to have each order that was acknowledged before a time. It returns how many
// later ones are missing. Endpoints tell of an account's latest refused orders alone.
func (b *bidder) journaled(program, dir string, before time.Time) (lost int) {
	b.t.Helper()
	stdout, stderr, code := runOf(b.t, program, "journal", "dump", dir)
	if code != 0 {
		b.t.Fatalf("journal dump: exit %d: %s", code, stderr)
	}
	there := map[string]bool{}
	for _, id := range regexp.MustCompile(`client_id=([\w-]+)`).FindAllStringSubmatch(stdout, -1) {
		there[id[1]] = true
	}
	for _, one := range b.acked {
		switch {
		case there[one.id]:
		case one.at.Before(before):
			b.t.Errorf("order %s was acknowledged at %s and is missing", one.id, one.at)
		default:
			lost++
		}
	}
	return lost
}
