package abuse

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/outside"
)

// The small disk has room for an exchange that trades. After ballast leaves nearlyFull
// bytes, cancels work until the journal's last segments are used up: at least half a
// segment, 512 frames of 4 KiB. The windows of the full form last 100 s, in which honest
// traders send about 200 cancels and the exchange journals about as many commands.
const (
	diskSize    = "64m"
	segmentSize = "4MiB"
	nearlyFull  = 300 << 10
)

// TestFullDisk lets crowds attack while the disk is nearly full: new orders get the
// documented error, cancels and reads work. Once there is room again, trading and
// sign-ups work.
func TestFullDisk(t *testing.T) {
	list := readAttacks(t, "full.txt")
	disk := outside.SmallDisk(t, diskSize)
	x := start(t, filepath.Join(disk, "data"), "--segment-size="+segmentSize)
	defer x.stop(t)
	h := newHonest(t, x)
	defer h.close()
	h.rest(t)
	calm := h.calm(t)
	sieges := make([]*siege, len(list))
	for i, a := range list {
		sieges[i] = &siege{T: t, x: x, honest: h, attack: a, calm: calm}
		sieges[i].gather() // while the disk has room for its accounts
		defer sieges[i].scatter()
	}

	weight := outside.Ballast(t, disk, "ballast", nearlyFull)
	h.full.Store(true)
	x.full = true
	h.until(t, func() bool { return h.turnedAway.Load() > 0 })
	for _, s := range sieges {
		before := h.canceled.Load()
		t.Run(s.attack.name, func(t *testing.T) {
			s.T, s.tally.full = t, true
			s.carryOut()
		})
		h.until(t, func() bool { return h.canceled.Load() > before })
	}

	if err := os.Remove(weight); err != nil {
		t.Fatal(err)
	}
	h.full.Store(false)
	h.until(t, func() bool {
		taken := h.traders[0].round() == nil
		return taken
	})
	h.refused()
	h.during(after(shortWindow))
	if list := h.refused(); len(list) > 0 {
		t.Errorf("refused when there was room again: %s", list)
	}
}

// cancelEvery returns the number of a trader's rounds per cancel on a full disk: the
// short form's windows are short, and the full form's cancels must fit the last segments. It is
// no multiple of eight: in every eighth round a trader is away.
func cancelEvery() int64 {
	if *fullFlag {
		return 39
	}
	return 3
}

// rest lets each trader place enough resting orders for the cancels of the full form's
// windows.
func (h *honest) rest(t *testing.T) {
	t.Helper()
	for _, tr := range h.traders {
		for i := range int64(150) {
			r, err := tr.ask("/open_orders/new", tr.order("SELL", "GTC", "ACK", tr.at(50_000+i), tr.amount))
			if err != nil || !r.Success {
				t.Fatalf("resting: %v %s", err, r.Error)
			}
			tr.resting = append(tr.resting, r.Obid)
		}
	}
}

// until lets the first trader trade until a condition holds.
func (h *honest) until(t *testing.T, so func() bool) {
	t.Helper()
	every := time.NewTicker(tradeEvery)
	defer every.Stop()
	for end := time.After(patience); !so(); {
		_ = h.traders[0].round()
		select {
		case <-end:
			t.Fatal("it is not so in time")
		case <-every.C:
		}
	}
}

// whileFull cancels a resting order and reads the book and the open orders.
func (tr *trader) whileFull() error {
	if len(tr.resting) > 0 && tr.n%cancelEvery() == 0 {
		id := tr.resting[0]
		tr.resting = tr.resting[1:]
		if err := tr.cancel(id); err != nil {
			return err
		}
		tr.canceled.Add(1)
	}
	for _, path := range [...]string{"/orderbook", "/open_orders"} {
		if tr.n%4 != 1 {
			break
		}
		r, err := tr.ask(path, fields{"pair": tr.pair, "depth": 5, "offset": 0})
		if err != nil || !r.Success {
			return fmt.Errorf("%s: %s: %s %w", tr.pair, path, r.Error, orNone(err))
		}
	}
	return nil
}
