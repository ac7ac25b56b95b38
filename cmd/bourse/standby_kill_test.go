package main

import (
	"context"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
)

// lagSamples is the number of times that a standby's lag is read before its source is killed.
const lagSamples = 3

// reportEvery is the number of kills after which figures are printed.
const reportEvery = 10

// told is an order that was acknowledged, and when the client knew.
type told struct {
	name string
	at   time.Time
}

// teller places orders one after the other until the exchange dies, and remembers the
// acknowledged ones.
type teller struct {
	key   string
	life  string
	acked []told
}

func (c *teller) trade(url string, counted func()) error {
	api, err := client.New(url, client.Options{Key: c.key})
	if err != nil {
		return err
	}
	defer api.Close()
	rng := mrand.New(mrand.NewPCG(1, uint64(len(c.key))))
	for n := 0; ; n++ {
		side := client.Buy
		if rng.IntN(2) == 0 {
			side = client.Sell
		}
		order := &client.NewOrder{
			Pair: "BTC/USDT", Side: side, Type: client.LimitOrder, TimeInForce: client.IOC, ClientID: fmt.Sprintf("%s-%d", c.life, n),
			Price: client.Decimal(fmt.Sprint(59990 + rng.IntN(20))), Amount: "0.001",
		}
		_, err := api.Place(context.Background(), order)
		switch {
		case saidNo(err):
			return err
		case err != nil:
			return nil
		}
		c.acked = append(c.acked, told{order.ClientID, time.Now()})
		counted()
	}
}

// missing returns the acknowledged orders that an exchange does not know. It asks again while the history is behind.
func (c *teller) missing(t *testing.T, url string) (list []told) {
	t.Helper()
	way := wayTo(t, url)(c.key, 0)
	for _, order := range c.acked {
		err := way.ask(t.Context(), func(ctx context.Context, api *client.Client) error {
			_, err := api.OrderByClientID(ctx, order.name)
			return err
		})
		switch {
		case errors.Is(err, client.ErrOrderNotFound):
			list = append(list, order)
		case err != nil:
			t.Fatal(err)
		}
	}
	return list
}

// tradeUntil lets clients trade, and holders deposit and withdraw, until so many orders are
// acknowledged, then calls end, and waits for all.
func tradeUntil(t *testing.T, url string, clients []*teller, holders []*holder, orders int64, end func()) {
	t.Helper()
	reached := make(chan struct{})
	var count atomic.Int64
	var all sync.WaitGroup
	for _, h := range holders {
		all.Go(h.live)
	}
	for _, c := range clients {
		all.Go(func() {
			err := c.trade(url, func() {
				if count.Add(1) == orders {
					close(reached)
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-reached
	end()
	all.Wait()
}

// moveTo lets holders go on with the exchange that was promoted, whose copy was whole as of a time. It
// wants every withdrawal and deposit that was acknowledged before, none paid twice, and returns how
// many withdrawals are missing that were acknowledged later.
func moveTo(s *server, holders []*holder, asOf time.Time) (lost int) {
	s.t.Helper()
	for _, h := range holders {
		h.goesTo(s)
		rows := h.transactions()
		for address, w := range h.asked {
			if h.arrived(w.route, address).Cmp(number(w.amount)) > 0 {
				s.t.Errorf("withdrawal %d of %s %s to %s is paid twice", w.xid, w.amount, w.asset, address)
			}
			if row := rows[w.xid]; w.xid == 0 || row.Address == address {
				continue
			}
			lost++
			if w.at.Before(asOf) {
				s.t.Errorf("withdrawal %d was acknowledged at %s and is missing, and the copy was whole as of %s", w.xid, w.at, asOf)
			}
		}
		for xid, at := range h.seen {
			if row := rows[xid]; at.Before(asOf) && (row.Type != "DEPOSIT" || row.Status != "DONE") {
				s.t.Errorf("deposit %d was done at %s and is %+v, and the copy was whole as of %s", xid, at, row, asOf)
			}
		}

		for xid := range rows {
			h.floor = max(h.floor, xid)
		}
		clear(h.asked)
		clear(h.paid)
		clear(h.seen)
	}
	return lost
}

// holding tells what was acknowledged to holders.
func holding(holders []*holder, lost int) string {
	withdrawals, deposits := 0, 0
	for _, h := range holders {
		withdrawals, deposits = withdrawals+h.withdrawals, deposits+h.deposits
	}
	return fmt.Sprintf("%d withdrawals, %d lost, and %d deposits", withdrawals, lost, deposits)
}

// outlive gives a directory the networks and the signer of a dead machine's: in earnest, both live
// elsewhere.
func outlive(t *testing.T, dead, dir string) {
	t.Helper()
	for _, part := range [...]string{"devnet", "signer"} {
		to := filepath.Join(dir, part)
		must(t, os.RemoveAll(to))
		must(t, os.CopyFS(to, os.DirFS(filepath.Join(dead, part))))
	}
}

// TestStandbyKill kills the exchange under its traders, and while deposits and withdrawals are on
// their way, again and again, promotes its standby, and goes on with that: what was acknowledged and
// is missing lies within the lag that was shown, and histories of orders and balances are linearizable
// up to a point behind which the promoted exchange knows nothing. Nothing is paid twice. Some standbys
// are killed before their sources.
func TestStandbyKill(t *testing.T) {
	ca := newNodeAuthority(t)
	rng := mrand.New(mrand.NewPCG(2, 23))
	source := start(t, t.TempDir(), slices.Concat(short, ca.node("node-0"), []string{
		"--cluster-listen=" + freeAddress(t), "--cluster-compare-every=100ms",
	})...)
	var clients []*teller
	for i := range 4 {
		_, key := source.customer(fmt.Sprintf("someone-%d", i))
		clients = append(clients, &teller{key: key})
	}
	var holders []*holder
	for i := range 2 {
		h := source.holder(fmt.Sprintf("holder-%d", i), map[string]string{
			"BTC": "1000", "LTC": "1000", "ETH": "1000", "USDT": "1000000", "ATOM": "100000",
		})
		h.rng = mrand.New(mrand.NewPCG(2, uint64(100+i)))
		holders = append(holders, h)
	}

	traders := newCrowd(source)

	acked, lost, unpaid := 0, 0, 0
	var lags, missing, away []time.Duration
	report := func() {
		t.Logf("lag shown under trade: %s", spreadOf(lags))
		t.Logf("time before the kill from which acknowledgements may be missing: %s", spreadOf(missing))
		t.Logf("from the promotion's begin until the copy serves: %s", spreadOf(away))
		t.Logf("histories of %d operations in %d markets; load %s", traders.asked, len(traders.pits), load())
	}
	for round := 1; round <= *standbyKills && !t.Failed(); round++ {
		proof := ca.node(fmt.Sprintf("node-%d", round))
		dir := filepath.Join(t.TempDir(), "standby")
		standby := followFrom(t, source.nodes(), dir, append(proof, "--segment-size=256KiB", "--snapshot-every=300")...)
		standby.reaches()
		for _, c := range clients {
			c.life, c.acked = fmt.Sprint(round), nil
		}

		var shown standbyStatus
		var killed time.Time
		end := traders.work(source.url, round)
		tradeUntil(t, source.url, clients, holders, int64(100+rng.IntN(300)), func() {
			if round%3 == 0 {
				standby.kill()
				standby.start()
			}
			within(t, patience, "a lag", func() bool { return !standby.status().AsOf.IsZero() })
			for range lagSamples {
				lags = append(lags, time.Duration(standby.status().LagMS)*time.Millisecond)
			}
			killed = time.Now()
			source.kill()
			shown = standby.status()
		})
		end()
		missing = append(missing, killed.Sub(shown.AsOf))
		standby.kill()

		began := time.Now()
		promoted := tool[struct{ Incarnation int }](t, append([]string{"promote", dir, "--source-is-gone"}, proof...)...)
		if promoted.Incarnation != round+1 {
			t.Fatalf("incarnation %d after %d kills", promoted.Incarnation, round)
		}
		outlive(t, source.data, dir)
		source = start(t, dir, slices.Concat(short, proof, []string{
			"--cluster-listen=" + freeAddress(t), "--cluster-compare-every=100ms",
		})...)
		away = append(away, time.Since(began))
		traders.decide(source.url, shown.AsOf)
		for _, c := range clients {
			acked += len(c.acked)
			for _, order := range c.missing(t, source.url) {
				lost++
				if order.at.Before(shown.AsOf) {
					t.Errorf("order %s was acknowledged at %s and is missing, and the copy was whole as of %s", order.name, order.at, shown.AsOf)
				}
			}
		}
		unpaid += moveTo(source, holders, shown.AsOf)
		source.auditJournal()
		for _, network := range []string{"BTC", "LTC", "ETH", "ATOM"} {
			operate[any](source, "withdrawals", "resume", network)
		}
		if !t.Failed() {
			t.Logf("%d kills: %d orders acknowledged, %d lost; %s; each within the lag that was shown", round, acked, lost, holding(holders, unpaid))
		}
		if round%reportEvery == 0 {
			report()
		}
	}

	for _, h := range holders {
		if h.problem != nil {
			t.Error(h.problem)
		}
		if h.withdrawals == 0 || h.deposits == 0 {
			t.Errorf("%d withdrawals and %d deposits were acknowledged", h.withdrawals, h.deposits)
		}
	}
	if acked == 0 {
		t.Error("nothing was acknowledged")
	}
	report()
}
