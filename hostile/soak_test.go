package hostile

import (
	"errors"
	"flag"
	"slices"
	"sync"
	"testing"
	"time"
)

// By default the crowds are small; make hostile SOAK=1 has thousands.
var (
	soakBusy = flag.Int("soak.busy", 40, "how many connections listen to a busy market, one in twenty without ever reading")
	soakIdle = flag.Int("soak.idle", 200, "how many connections are mostly idle")
	soakFor  = flag.Duration("soak.for", time.Second, "how long a window of a soak is")
)

// crowd is many connections at once.
type crowd struct {
	list []*subscription
	work sync.WaitGroup
	mu   sync.Mutex
	// cut counts those that the exchange has ended, lost those that ended in any
	// other way before the crowd was closed.
	cut, lost int
	closed    bool
}

// gather opens connections that listen to some streams. Of every twenty, deaf
// ones never read.
func gather(t *testing.T, n, deaf int, streams ...string) *crowd {
	t.Helper()
	c := &crowd{}
	t.Cleanup(c.close)
	for i := range n {
		s, err := attacked.subscribe(streams...)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		c.list = append(c.list, s)
		if i%20 < deaf {
			continue
		}
		c.work.Go(func() { c.listen(s) })
	}
	return c
}

// listen reads until the connection ends. What comes is not looked at: the crowd
// shares the machine with the exchange.
func (c *crowd) listen(s *subscription) {
	for {
		f, err := s.frame()
		if err == nil {
			err = s.react(&f)
		}
		if err == nil {
			continue
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		var closed *closedError
		switch {
		case c.closed:
		case errors.As(err, &closed):
			c.cut++
		default:
			c.lost++
		}
		return
	}
}

func (c *crowd) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	for _, s := range c.list {
		s.close()
	}
	c.work.Wait()
	c.list = nil
}

// TestBusyCrowd trades in pairs of windows, with the crowd and without it, and
// prints what it does to the time of an answer.
func TestBusyCrowd(t *testing.T) {
	const pair, windows = "TEST30/USDT", 3
	a := attacked.open(t, "1000000 USDT")
	var ratios []float64
	for range windows {
		alone := trade(t, a, pair)
		c := gather(t, *soakBusy, 1, pair+"@orderBook")
		beside := trade(t, a, pair)
		c.mu.Lock()
		t.Logf("p50 of an answer: %v alone, %v beside %d connections; %d of those who read were cut, %d lost",
			alone, beside, *soakBusy, c.cut, c.lost)
		if c.cut+c.lost > 0 {
			t.Error("who reads must not lose the connection")
		}
		c.mu.Unlock()
		c.close()
		ratios = append(ratios, float64(beside)/float64(alone))
	}
	slices.Sort(ratios)
	t.Logf("median of the ratios: %.2f", ratios[len(ratios)/2])
}

// tradeEvery is how often an order is placed and canceled.
const tradeEvery = 50 * time.Millisecond

// trade places and cancels orders for a window, and returns the median time of
// an answer.
func trade(t *testing.T, a *account, pair string) time.Duration {
	t.Helper()
	var took []time.Duration
	every := time.NewTicker(tradeEvery)
	defer every.Stop()
	for end := time.Now().Add(*soakFor); time.Now().Before(end); {
		<-every.C
		began := time.Now()
		id := a.must(t, "/open_orders/new", limit(pair, "BUY", "2", "1")).Obid
		took = append(took, time.Since(began))
		a.must(t, "/open_orders/cancel", fields{"obid": id})
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// TestIdleCrowd holds connections to which nearly nothing comes, and prints what
// each costs. The memory must not grow while nothing happens.
func TestIdleCrowd(t *testing.T) {
	heap, resident := memory(t)
	c := gather(t, *soakIdle, 0, "TEST31/USDT@ticker")
	const samples = 5
	var heaps []float64
	every := time.NewTicker(*soakFor / samples)
	defer every.Stop()
	for range samples {
		<-every.C
		now, nowResident := memory(t)
		heaps = append(heaps, now)
		n := float64(len(c.list))
		t.Logf("%d connections: %.1f KiB of heap and %.1f KiB resident for each", len(c.list), (now-heap)/n/1024, (nowResident-resident)/n/1024)
	}
	if grown := heaps[samples-1] - heaps[0]; grown > slackBytes {
		t.Errorf("the heap has grown by %.1f MiB while nothing happened", grown/(1<<20))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut+c.lost > 0 {
		t.Errorf("%d connections were cut and %d lost", c.cut, c.lost)
	}
}

// memory returns the bytes of the exchange's heap, after a collection, and of
// its resident memory.
func memory(t *testing.T) (heap, resident float64) {
	t.Helper()
	_, err := attacked.get("/debug/pprof/heap?gc=1&debug=1")
	if err == nil {
		heap, err = attacked.gauge("go_memstats_alloc_bytes")
	}
	if err == nil {
		resident, err = attacked.gauge("process_resident_memory_bytes")
	}
	if err != nil {
		t.Fatal(err)
	}
	return heap, resident
}
