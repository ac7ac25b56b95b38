package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	crashCycles = flag.Int("crash.cycles", 10, "how often TestKill and TestWebhooksSurviveKills kill the exchange")
	crashSeed   = flag.Uint64("crash.seed", 0, "seed of these tests; 0 for a new one")
)

// TestKill looks at more than what the last life acknowledged every so many
// cycles, and takes a new exchange when one has been killed often: what its
// embedded networks have to read at a start grows with all that ever happened.
const (
	settleEvery = 20
	killsOfOne  = 100
	// longestLife is how many acknowledgements a life has at most. Counted and not
	// timed, lives are alike on every machine.
	longestLife = 200
	// crashFollowers is the number of clients that follow the traders' fills.
	crashFollowers = 10
)

// killing is an exchange that is killed again and again, and its customers.
type killing struct {
	*server
	rng     *rand.Rand
	traders []*trader
	lister  *lister
	holders []*holder
	// books are the traders' fills, each with its followers, who reach the exchange by up.
	up    *uplink
	books []*fillBook
	// since is when the last report was, starting how long the starts from then
	// on took.
	since    time.Time
	starting time.Duration
}

// TestKill kills the exchange while clients trade, deposit, withdraw and cancel
// and blocks are mined, again and again. Afterwards every acknowledged order,
// cancel, withdrawal and deposit is there, and followers whose connections are dropped
// know each fill that REST and the journal have, once; now and then everything comes to rest,
// and the chains, the customers' money, journal, snapshots and replays agree.
func TestKill(t *testing.T) {
	seed := *crashSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -crash.seed=%d", seed)
	var all acknowledged
	for done := 0; done < *crashCycles && !t.Failed(); done += killsOfOne {
		t.Run(fmt.Sprintf("from %d", done), func(t *testing.T) {
			k := newKilling(t, seed+uint64(done))
			k.run(min(killsOfOne, *crashCycles-done))
			all.add(k.sum())
		})
	}
	t.Logf("%d kills: acknowledged %+v", *crashCycles, all)
	counts := reflect.ValueOf(all)
	for i := range counts.NumField() {
		if name := counts.Type().Field(i).Name; name != "unknown" && counts.Field(i).Int() == 0 {
			t.Errorf("none acknowledged: %s", name)
		}
	}
}

func newKilling(t *testing.T, seed uint64) *killing {
	k := &killing{rng: rand.New(rand.NewPCG(seed, 1))}
	k.server = start(t, t.TempDir(), "--bots=false", "--block-time=0", "--segment-size=256KiB", "--snapshot-every=500")
	k.up = &uplink{up: make(chan struct{})}
	k.up.serve(k.url)
	for i := range 4 {
		account, key := k.customer(fmt.Sprintf("t%d", i))
		k.traders = append(k.traders, newTrader(key, rand.New(rand.NewPCG(seed, uint64(i+2)))))
		k.traders[i].versatile = true
		k.books = append(k.books, newFillBook(t, k.up, account, key))
	}
	_, key := k.customer("lists")
	k.lister = newLister(key, rand.New(rand.NewPCG(seed, 50)))
	for i := range crashFollowers {
		k.books[i%len(k.books)].follow(t.Context(), k.up, rand.New(rand.NewPCG(seed, uint64(i+200))))
	}
	for i := range 3 {
		h := k.holder(fmt.Sprintf("h%d", i), map[string]string{
			"BTC": "1000", "LTC": "1000", "ETH": "1000", "USDT": "1000000", "ATOM": "100000",
		})
		h.rng = rand.New(rand.NewPCG(seed, uint64(i+100)))
		k.holders = append(k.holders, h)
	}
	return k
}

// run kills the exchange so many times.
func (k *killing) run(cycles int) {
	k.t.Helper()
	k.since = time.Now()
	for n := 1; n <= cycles; n++ {
		k.cycle()
		if n%settleEvery == 0 || n == cycles {
			k.settle()
			for _, b := range k.books {
				clear(b.compared) // REST is read to its end
			}
			k.reconcile()
			k.report(n)
		}
		if k.t.Failed() {
			k.t.FailNow()
		}
	}
	for _, b := range k.books {
		b.end(k.t)
	}
	k.audit()
	k.rebuild(k.traders[0].key)
}

// cycle is one life of the exchange, and a look at what is left of it.
func (k *killing) cycle() {
	k.t.Helper()
	var work sync.WaitGroup
	over := k.life(1 + k.rng.Int64N(longestLife))
	for _, c := range k.traders {
		work.Go(func() { c.trade(k.url) })
	}
	work.Go(func() { k.lister.list(k.url) })
	for _, h := range k.holders {
		work.Go(h.live)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work.Wait()
	}()
	select {
	case <-over:
	case <-ended:
		k.t.Error("all customers ended before the exchange was killed")
	}
	k.up.down()
	k.kill()
	<-ended

	began := time.Now()
	k.start()
	k.starting += time.Since(began)
	k.up.serve(k.url)
	for _, c := range k.traders {
		work.Go(func() { c.check(k.t, k.url) })
	}
	work.Go(func() { k.lister.check(k.t, k.url) })
	for _, h := range k.holders {
		h.check()
	}
	work.Wait()
	k.reconcile()
}

// reconcile compares the followers' fills with REST's and the journal's, while trading pauses.
func (k *killing) reconcile() {
	k.t.Helper()
	journaled := k.journaled()
	for _, b := range k.books {
		b.reconcile(k.t, journaled[b.account])
	}
}

// life returns a channel that is closed when customers were told of so many orders,
// cancels and withdrawals.
func (k *killing) life(acknowledged int64) (over chan struct{}) {
	var left atomic.Int64
	left.Store(acknowledged)
	over = make(chan struct{})
	told := func() {
		if left.Add(-1) == 0 {
			close(over)
		}
	}
	for _, c := range k.traders {
		c.told = told
	}
	k.lister.told = told
	for _, h := range k.holders {
		h.told = told
	}
	return over
}

// settle lets everything come to rest, where nothing is on its way.
func (k *killing) settle() {
	k.t.Helper()
	for _, h := range k.holders {
		h.settle()
	}
}

// acknowledged counts what clients were told, and what they never heard of.
type acknowledged struct {
	orders, cancels, amended, replaced, batches, lists, acted, withdrawals, deposits, unknown int
}

func (a *acknowledged) add(b acknowledged) {
	a.orders += b.orders
	a.cancels += b.cancels
	a.amended += b.amended
	a.replaced += b.replaced
	a.batches += b.batches
	a.lists += b.lists
	a.acted += b.acted
	a.withdrawals += b.withdrawals
	a.deposits += b.deposits
	a.unknown += b.unknown
}

// sum returns what was acknowledged so far.
func (k *killing) sum() (s acknowledged) {
	for _, c := range k.traders {
		s.add(acknowledged{
			orders: c.orders, cancels: c.cancels, amended: c.amended, replaced: c.replaced, batches: c.batches, unknown: c.lost,
		})
	}
	s.add(acknowledged{lists: len(k.lister.acked), acted: len(k.lister.acted)})
	for _, h := range k.holders {
		s.add(acknowledged{withdrawals: h.withdrawals, deposits: h.deposits, unknown: h.lost})
	}
	return s
}

// report prints how far it is, and how long the last cycles took.
func (k *killing) report(cycles int) {
	last := (cycles-1)%settleEvery + 1
	per := func(d time.Duration) float64 { return d.Seconds() / float64(last) }
	fills, drops := 0, 0
	for _, b := range k.books {
		f, d := b.told()
		fills, drops = fills+f, drops+d
	}
	k.t.Logf("%d followers: told of %d fills over %d dropped connections", crashFollowers, fills, drops)
	k.t.Logf("%d kills: acknowledged %+v; %.2f s a cycle, %.2f s of them a start", cycles, k.sum(), per(time.Since(k.since)), per(k.starting))
	k.since, k.starting = time.Now(), 0
}

// audit holds the journal of the running exchange against itself and the chains.
func (s *server) audit() {
	s.t.Helper()
	report := operate[struct {
		Networks []struct{ Network, Chain string }
	}](s, "audit")
	for _, n := range report.Networks {
		if n.Chain != "agrees" {
			s.t.Errorf("network %s: the chain %s", n.Network, n.Chain)
		}
	}
	s.auditJournal()
}

// auditJournal holds the journal of the running exchange against itself.
func (s *server) auditJournal() {
	s.t.Helper()
	tool[any](s.t, "journal", "verify", s.data)
	r := tool[struct {
		Seq       uint64
		Snapshots []struct{ Agrees bool }
	}](s.t, "journal", "replay", s.data)
	for _, snapshot := range r.Snapshots {
		if !snapshot.Agrees {
			s.t.Fatalf("a snapshot does not agree: %+v", r)
		}
	}
}

// rebuild deletes the history and expects it back.
func (s *server) rebuild(key string) {
	s.t.Helper()
	before := s.lists(key)
	s.kill()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(s.data, "history.db"+suffix)); err != nil && !os.IsNotExist(err) {
			s.t.Fatal(err)
		}
	}
	s.start()
	if after := s.lists(key); after != before {
		s.t.Errorf("history was\n%s\nand is now\n%s", before, after)
	}
}

// lists returns the first pages of an account's history.
func (s *server) lists(key string) string {
	s.t.Helper()
	var b strings.Builder
	for _, path := range []string{"/spot/orders_history", "/spot/trades_history"} {
		for offset := 0; offset <= 100; offset += 50 {
			for {
				a, err := post(http.DefaultClient, s.url, path, map[string]any{"api_key": key, "offset": offset})
				if err != nil {
					s.t.Fatal(err)
				}
				if !a.Success {
					if strings.Contains(a.Error, "History is") {
						continue // it is being rebuilt, and says so
					}
					s.t.Fatal(a.Error)
				}
				for _, row := range append(a.Orders, a.Trades...) {
					b.Write(row)
					b.WriteByte('\n')
				}
				break
			}
		}
	}
	return b.String()
}
