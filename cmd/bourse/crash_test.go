package main

import (
	"bytes"
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
	crashCycles = flag.Int("crash.cycles", 5, "how often TestKill kills the exchange")
	crashSeed   = flag.Uint64("crash.seed", 0, "seed of TestKill; 0 for a new one")
)

// trader is a client that remembers what was acknowledged to it.
type trader struct {
	key string
	rng *rand.Rand
	n   int
	// acked are its orders by obid, unknown the client ids whose outcome it
	// never learned.
	acked   map[uint64]*ackedOrder
	unknown []string
	problem error
}

type ackedOrder struct {
	clientID string
	status   string
	filled   string
	canceled bool
}

// trade posts orders and cancels until the exchange dies.
func (c *trader) trade(url string) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var open []uint64
	for {
		if len(open) > 0 && c.rng.IntN(3) == 0 {
			at := c.rng.IntN(len(open))
			id := open[at]
			open = append(open[:at], open[at+1:]...)
			a, err := post(client, url, "/spot/open_orders/cancel", map[string]any{"api_key": c.key, "obid": id})
			if err != nil {
				return
			}
			c.acked[id].canceled = a.Success
			continue
		}
		c.n++
		name := fmt.Sprintf("o%d", c.n)
		a, err := post(client, url, "/spot/open_orders/new", c.order(name))
		if err != nil {
			c.unknown = append(c.unknown, name)
			return
		}
		if !a.Success {
			c.problem = fmt.Errorf("order %s: %s", name, a.Error)
			return
		}
		c.acked[a.Obid] = &ackedOrder{clientID: name, status: a.Status, filled: a.Filled}
		if a.Status == "OPEN" {
			open = append(open, a.Obid)
		}
	}
}

func (c *trader) order(name string) map[string]any {
	side, price := "BUY", 60000-c.rng.IntN(20)
	if c.rng.IntN(2) == 0 {
		side, price = "SELL", 59990+c.rng.IntN(20)
	}
	return map[string]any{
		"api_key": c.key, "pair": "BTC/USDT", "side": side, "type": "LIMIT", "time_in_force": "GTC",
		"price": fmt.Sprint(price), "amount": fmt.Sprintf("0.00%d", 1+c.rng.IntN(9)), "resp_type": "RESULT", "client_id": name,
	}
}

// check asks for everything that was acknowledged.
func (c *trader) check(t *testing.T, url string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for id, want := range c.acked {
		a, err := post(client, url, "/spot/order", map[string]any{"api_key": c.key, "obid": id})
		if err != nil || !a.Success {
			t.Fatalf("order %d (%s) was acknowledged and is gone: %v %s", id, want.clientID, err, a.Error)
		}
		row := string(a.Order)
		switch {
		case !strings.Contains(row, fmt.Sprintf(`"client_id":%q`, want.clientID)):
			t.Fatalf("order %d is not %s: %s", id, want.clientID, row)
		case want.canceled && strings.Contains(row, `"status":"OPEN"`):
			t.Fatalf("order %d was canceled and is open: %s", id, row)
		case want.status == "FILLED" && !strings.Contains(row, `"status":"FILLED"`):
			t.Fatalf("order %d was filled: %s", id, row)
		}
	}
	// What was not answered happened entirely or not at all: asking again with
	// the same fields is answered either way, and once.
	for _, name := range c.unknown {
		a, err := post(client, url, "/spot/order", map[string]any{"api_key": c.key, "client_id": name})
		if err != nil || !a.Success && a.Error != "Order not found" {
			t.Fatalf("order %s: %v %s", name, err, a.Error)
		}
	}
	clear(c.acked)
	c.unknown = nil
}

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

// TestFlippedBit damages the journal before its watermark: the exchange does not
// start, exits with 3 and names the frame.
func TestFlippedBit(t *testing.T) {
	data := t.TempDir()
	s := start(t, data, "--bots=false")
	s.customer("someone")
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	path := filepath.Join(data, "journal", fmt.Sprintf("%020d.seg", 1))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte("USDT"))
	b[at] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := run(t, "dev", "--data", data, "--listen", "127.0.0.1:0", "--bots=false")
	if code != exitDamaged || !strings.Contains(stderr, fmt.Sprintf("%020d.seg is damaged at byte", 1)) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, stderr, code := run(t, "journal", "verify", data); code != exitDamaged || !strings.Contains(stderr, "is damaged at byte") {
		t.Errorf("journal verify: exit %d: %s", code, stderr)
	}
}

// TestStopUnderLoad stops the exchange while clients trade: it takes less than
// 10 s, loses nothing, and leaves a sealed journal.
func TestStopUnderLoad(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false")
	_, key := s.customer("someone")
	c := &trader{key: key, rng: rand.New(rand.NewPCG(1, 1)), acked: map[uint64]*ackedOrder{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.trade(s.url)
	}()
	<-time.After(300 * time.Millisecond)
	code, took := s.stop()
	<-done
	if code != 0 || took > 10*time.Second {
		t.Fatalf("exit %d after %s", code, took)
	}
	if !tool[struct{ Sealed bool }](t, "journal", "stat", s.data).Sealed {
		t.Error("the journal is not sealed")
	}
	s.start()
	c.check(t, s.url)
	s.audit()
}

// TestBackupUnderLoad takes a backup while clients trade, and restores it to the
// state that it was taken in.
func TestBackupUnderLoad(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--segment-size=256KiB", "--snapshot-every=300")
	_, key := s.customer("someone")
	c := &trader{key: key, rng: rand.New(rand.NewPCG(1, 1)), acked: map[uint64]*ackedOrder{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.trade(s.url)
	}()
	<-time.After(500 * time.Millisecond)
	dir := t.TempDir()
	type state struct {
		Seq  uint64
		Hash string `json:"state_hash"`
	}
	taken := tool[state](t, "backup", s.data, filepath.Join(dir, "copy"))
	s.kill()
	<-done
	restored := tool[state](t, "restore", filepath.Join(dir, "copy"), filepath.Join(dir, "data"))
	if taken != restored || taken.Seq == 0 {
		t.Fatalf("taken %+v, restored %+v", taken, restored)
	}
	replayed := tool[state](t, "journal", "replay", filepath.Join(dir, "data"))
	if replayed != taken {
		t.Errorf("taken %+v, replayed %+v", taken, replayed)
	}
	again := start(t, filepath.Join(dir, "data"), "--bots=false")
	if a, err := post(http.DefaultClient, again.url, "/spot/open_orders", map[string]any{"api_key": key, "offset": 0}); err != nil || !a.Success {
		t.Errorf("the key of the backup: %v %s", err, a.Error)
	}
	again.audit()
	_, stderr, code := run(t, "restore", filepath.Join(dir, "copy"), filepath.Join(dir, "data"))
	if code != exitFailed || !strings.Contains(stderr, "is not empty") {
		t.Errorf("restore over data: exit %d: %s", code, stderr)
	}
}
