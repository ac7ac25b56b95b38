package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	crashCycles  = flag.Int("crash.cycles", 5, "how often TestKill kills the exchange")
	crashSeed    = flag.Uint64("crash.seed", 0, "seed of TestKill; 0 for a new one")
	walletCycles = flag.Int("wallet.cycles", 4, "how often TestKillWallet kills the exchange")
	walletSeed   = flag.Uint64("wallet.seed", 0, "seed of TestKillWallet; 0 for a new one")
)

// TestKill kills the exchange while clients trade, again and again: every
// acknowledged order and cancel is there afterwards, money and journal are whole,
// and snapshots and replays agree.
func TestKill(t *testing.T) {
	seed := *crashSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -crash.seed=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	s := start(t, t.TempDir(), "--bots=false", "--segment-size=256KiB", "--snapshot-every=500")
	traders := make([]*trader, 4)
	for i := range traders {
		_, key := s.customer(fmt.Sprintf("t%d", i))
		traders[i] = &trader{key: key, rng: rand.New(rand.NewPCG(seed, uint64(i+2))), acked: map[uint64]*ackedOrder{}}
	}
	acked := 0
	for cycle := range *crashCycles {
		var trading sync.WaitGroup
		for _, c := range traders {
			trading.Go(func() { c.trade(s.url) })
		}
		wait := time.Duration(20+rng.IntN(400)) * time.Millisecond
		<-time.After(wait)
		s.kill()
		trading.Wait()
		s.start()
		for i, c := range traders {
			if c.problem != nil {
				t.Fatalf("trader %d: %v", i, c.problem)
			}
			acked += len(c.acked)
			c.check(t, s.url)
		}
		if cycle%10 == 9 || cycle == *crashCycles-1 {
			s.audit()
		}
	}
	t.Logf("%d kills, %d acknowledged orders", *crashCycles, acked)
	if acked == 0 {
		t.Error("nothing was acknowledged")
	}
	s.rebuild(traders[0].key)
}

// audit holds the journal of the running exchange against itself.
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

// TestKillWallet kills the exchange while customers deposit, withdraw and cancel
// and blocks are mined, again and again: every acknowledged withdrawal is paid
// once or canceled, every deposit is credited once, the chains show it, and the
// audit finds nothing.
func TestKillWallet(t *testing.T) {
	seed := *walletSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -wallet.seed=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0", "--segment-size=256KiB", "--snapshot-every=200")
	var holders []*holder
	for i := range 3 {
		holders = append(holders, s.holder(fmt.Sprintf("h%d", i), map[string]string{
			"BTC": "100", "LTC": "100", "ETH": "100", "USDT": "100000", "ATOM": "10000",
		}))
	}
	for cycle := range *walletCycles {
		var working sync.WaitGroup
		for i, h := range holders {
			var addresses []string
			for j := range 40 {
				addresses = append(addresses, s.address(routes[j%len(routes)].network))
			}
			own := rand.New(rand.NewPCG(seed, uint64(100*cycle+i)))
			working.Go(func() { h.live(own, addresses) })
		}
		wait := time.Duration(100+rng.IntN(1500)) * time.Millisecond
		<-time.After(wait)
		s.kill()
		working.Wait()
		s.start()
		for _, h := range holders {
			if cycle%2 == 1 || cycle == *walletCycles-1 {
				h.settle()
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	asked, paid := 0, 0
	for _, h := range holders {
		asked += len(h.asked)
		paid += len(h.paid)
	}
	t.Logf("%d kills, %d withdrawals, %d deposits", *walletCycles, asked, paid)
	s.audit()
}
