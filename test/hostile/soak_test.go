package hostile

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// By default the crowds are small; make hostile SOAK=1 has thousands.
var (
	soakBusy   = flag.Int("soak.busy", 40, "how many connections listen to a busy market, one in twenty without ever reading")
	soakPairs  = flag.Int("soak.pairs", 3, "how many pairs of windows there are, with the busy crowd and without it")
	soakWindow = flag.Duration("soak.window", time.Second, "how long a window of the busy crowd is")
	soakIdle   = flag.Int("soak.idle", 200, "how many connections are mostly idle")
	soakFor    = flag.Duration("soak.for", time.Second, "how long the idle crowd stays")
	soakMost   = flag.Float64("soak.most", 0, "how much longer, as a share, the median from commit to apply may be beside the crowd; 0 for any")
)

// crowd is many connections at once.
type crowd struct {
	list []*subscription
	work sync.WaitGroup
	mu   sync.Mutex
	// cut counts connections that the exchange closed. lost counts connections that failed
	// for another reason while the crowd was open.
	cut, lost int
	closed    bool
}

// gather opens connections that listen to streams. Of every twenty, deaf ones never read.
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

// listen reads until the connection ends. Messages are dropped unparsed, because the
// crowd shares the machine with the exchange.
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

// TestBusyCrowd trades in pairs of windows, with the crowd and without it in alternating
// order, and prints the crowd's effect on the time from a frame's commit to its
// application and on the time of an answer.
func TestBusyCrowd(t *testing.T) {
	const pair = "TEST30/USDT"
	a := attacked.open(t, "1000000 USDT")
	trade(t, a, pair) // warms up before the windows
	var ratios []float64
	for n := range *soakPairs {
		var alone, beside window
		with := func() { beside = besideCrowd(t, a, pair) }
		if n%2 == 1 {
			with()
		}
		alone = trade(t, a, pair)
		if n%2 == 0 {
			with()
		}
		t.Logf("pair %d: alone %v, beside %d connections %v", n+1, alone, *soakBusy, beside)
		ratios = append(ratios, beside.apply/alone.apply)
	}
	slices.Sort(ratios)
	median := ratios[len(ratios)/2]
	t.Logf("from commit to apply, median of the ratios of the medians: %.3f", median)
	if *soakMost > 0 && median > 1+*soakMost {
		t.Errorf("beside the crowd a frame is applied %.0f %% later", 100*(median-1))
	}
}

// besideCrowd measures a window with the crowd.
func besideCrowd(t *testing.T, a *account, pair string) window {
	t.Helper()
	c := gather(t, *soakBusy, 1, pair+"@orderBook")
	defer c.close()
	w := trade(t, a, pair)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut+c.lost > 0 {
		t.Errorf("of those who read %d were cut and %d lost", c.cut, c.lost)
	}
	return w
}

// In all windows the exchange trades steadily in a market without the crowd; an idle
// processor's wake-up would be measured otherwise. One command in every so many is in the
// crowd's market and sends a message to the whole crowd, which shares the machine with
// the exchange. The commands between leave it time: without them the load of the machine
// would be measured.
const (
	steadyPair  = "TEST29/USDT"
	tradeEvery  = 2500 * time.Microsecond
	crowdsEvery = 40
)

// window is the result of a window.
type window struct {
	// apply is the median from commit to application in seconds, answer that of placing
	// an order.
	apply  float64
	answer time.Duration
	orders int
}

func (w window) String() string {
	return fmt.Sprintf("(%.1f µs to apply, %v to answer, %d orders)", 1e6*w.apply, w.answer.Round(time.Microsecond), w.orders)
}

// trade places and cancels orders for a window.
func trade(t *testing.T, a *account, pair string) window {
	t.Helper()
	var took []time.Duration
	before := applied(t)
	every := time.NewTicker(tradeEvery)
	defer every.Stop()
	for end := time.Now().Add(*soakWindow); time.Now().Before(end); {
		in := steadyPair
		if len(took)%(crowdsEvery/2) == 0 {
			in = pair
		}
		<-every.C
		began := time.Now()
		id := a.must(t, "/open_orders/new", limit(in, "BUY", "2", "1")).Obid
		took = append(took, time.Since(began))
		<-every.C
		a.must(t, "/open_orders/cancel", fields{"obid": id})
	}
	slices.Sort(took)
	return window{apply: medianBetween(before, applied(t)), answer: took[len(took)/2], orders: len(took)}
}

// bucket is the number of frames applied within a time.
type bucket struct{ within, count float64 }

// applied returns the histogram from commit to application.
func applied(t *testing.T) (list []bucket) {
	t.Helper()
	text, err := attacked.watch("/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		var le string
		var b bucket
		if rest, ok := strings.CutPrefix(line, "bourse_apply_delay_seconds_bucket"); ok {
			if _, err := fmt.Sscanf(rest, "{le=%q} %f", &le, &b.count); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if b.within, err = strconv.ParseFloat(le, 64); err != nil {
				t.Fatal(err)
			}
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		t.Fatal("there is no histogram from commit to apply")
	}
	return list
}

// medianBetween returns the median between two histograms, to the precision of their
// buckets.
func medianBetween(before, after []bucket) float64 {
	half := (after[len(after)-1].count - before[len(before)-1].count) / 2
	var low bucket
	for i, b := range after {
		b.count -= before[i].count
		if b.count >= half && b.count > low.count {
			return low.within + (b.within-low.within)*(half-low.count)/(b.count-low.count)
		}
		low = b
	}
	return math.Inf(1)
}

// TestIdleCrowd holds nearly idle connections and prints the cost of each. The memory
// must not grow meanwhile.
func TestIdleCrowd(t *testing.T) {
	heap, resident := attacked.memory(t)
	c := gather(t, *soakIdle, 0, "TEST31/USDT@ticker")
	const samples = 5
	var heaps []float64
	every := time.NewTicker(*soakFor / samples)
	defer every.Stop()
	for range samples {
		<-every.C
		now, nowResident := attacked.memory(t)
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

// memory returns the bytes of the exchange's heap after a collection and of its resident
// memory.
func (x *exchange) memory(t *testing.T) (heap, resident float64) {
	t.Helper()
	_, err := x.watch("/debug/pprof/heap?gc=1&debug=1")
	if err == nil {
		heap, err = x.gauge("go_gc_heap_live_bytes")
	}
	if err == nil {
		resident, err = x.gauge("process_resident_memory_bytes")
	}
	if err != nil {
		t.Fatal(err)
	}
	return heap, resident
}
