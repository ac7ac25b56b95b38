package binance_test

import (
	"net/http"
	"net/netip"
	"strconv"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

// TestWeights counts the weights of a source in its minute: beyond the bound it is refused
// until the minute ends, other sources are not, and the answers tell.
func TestWeights(t *testing.T) {
	d := open(t, api.Limits{Weight: 100})
	name := "X-MBX-USED-WEIGHT-1M" // as it is sent, which is not Go's form
	used := func(a *answer) int {
		n, _ := strconv.Atoi(a.header[name][0])
		return n
	}
	d.Now = d.Now.Floor(bourse.Minute) + bourse.Minute + 40*bourse.Second
	for i, c := range []struct {
		path, params string
		used         int
	}{
		{"ping", "", 1},
		{"depth", "symbol=BTCUSDT&limit=500", 26},
		{"depth", "symbol=NONE", 31},
		{"depth", "", 32},
		{"nothing", "", 33},
		{"ticker/24hr", "symbol=BTCUSDT", 35},
		{"ticker/price", "", 39},
		{"exchangeInfo", "", 59},
		{"trades", "symbol=BTCUSDT", 84},
	} {
		if a := d.get(c.path, c.params); used(a) != c.used || a.status == http.StatusTooManyRequests {
			t.Errorf("request %d has used %d, want %d: %s", i, used(a), c.used, a.body)
		}
	}
	a := d.get("trades", "symbol=BTCUSDT")
	if a.status != http.StatusTooManyRequests || a.code() != -1003 || a.header.Get("Retry-After") != "20" {
		t.Errorf("beyond the bound: %d %v %s", a.status, a.header, a.body)
	}
	for range 50 {
		if a := d.get("ping", ""); a.status != http.StatusTooManyRequests {
			t.Errorf("an insistent client: %d", a.status)
		}
	}

	d.from = netip.MustParseAddr("192.0.2.2")
	if a := d.get("trades", "symbol=BTCUSDT"); used(a) != 25 || a.status != http.StatusOK {
		t.Errorf("another source: %d %s", used(a), a.body)
	}
	d.from = netip.MustParseAddr("192.0.2.1")
	d.Now += 20 * bourse.Second
	if a := d.get("ping", ""); used(a) != 1 || a.status != http.StatusOK {
		t.Errorf("the next minute: %d %s", used(a), a.body)
	}
}

// TestSourcesOfWeights wants an IPv6 network of 64 bits to be one source.
func TestSourcesOfWeights(t *testing.T) {
	d := open(t, api.Limits{Weight: 2})
	status := 0
	for _, from := range []string{"2001:db8::1", "2001:db8::2", "2001:db8::3"} {
		d.from = netip.MustParseAddr(from)
		status = d.get("ping", "").status
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("a third address of a network: %d", status)
	}
}

// TestManySources wants the windows of weights to have a bound, beyond which a new source has
// no count.
func TestManySources(t *testing.T) {
	d := open(t, api.Limits{Weight: 1})
	for i := range 1<<16 + 10 {
		d.from = netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		if a := d.get("ping", ""); a.status != http.StatusOK {
			t.Fatalf("source %d: %d", i, a.status)
		}
	}
	d.from = netip.AddrFrom4([4]byte{10, 0, 0, 0})
	if a := d.get("ping", ""); a.status != http.StatusTooManyRequests {
		t.Errorf("a counted source: %d", a.status)
	}
}

// TestOrderCounts counts the orders of an account, and wants the limit of all interfaces to
// hold here.
func TestOrderCounts(t *testing.T) {
	d := open(t, api.Limits{Account: api.Rates{Orders: api.Rate{PerSecond: 1, Burst: 3}}})
	place := func() *answer {
		return d.sign(d.alice, http.MethodPost, "/api/v3/order", "symbol=BTCUSDT&"+limit("BUY", "0.1", "40000"))
	}
	for i := 1; i <= 3; i++ {
		a := place()
		for _, name := range []string{"X-MBX-ORDER-COUNT-10S", "X-MBX-ORDER-COUNT-1D"} {
			if a.code() != 0 || len(a.header[name]) != 1 || a.header[name][0] != strconv.Itoa(i) {
				t.Errorf("order %d: %v %s", i, a.header, a.body)
			}
		}
	}
	if a := place(); a.status != http.StatusTooManyRequests || a.code() != -1015 || a.header.Get("Retry-After") != "1" {
		t.Errorf("beyond the limit: %d %v %s", a.status, a.header, a.body)
	}

	var limits []struct {
		Interval           string
		IntervalNum, Limit int
		Count              int
	}
	d.sign(d.alice, http.MethodGet, "/api/v3/rateLimit/order", "").into(d, &limits)
	if len(limits) != 2 || limits[0].Count != 3 || limits[0].Limit != 3 || limits[1].Limit != 86400 || limits[1].Count != 3 {
		t.Errorf("limits are %+v", limits)
	}
	if a := d.sign(d.bob, http.MethodPost, "/api/v3/order", "symbol=BTCUSDT&"+limit("BUY", "0.1", "40000")); a.code() != 0 {
		t.Errorf("another account: %s", a.body)
	}
}

// TestFillsOfAnOrderWeigh reads an order with many fills, which weighs as reading them does, also
// where the answer tells few of them or none.
func TestFillsOfAnOrderWeigh(t *testing.T) {
	const fills = 3000
	for _, path := range []string{"order", "myTrades"} {
		rate := api.Rate{PerSecond: 0.001, Burst: 2 + fills/1000}
		d := open(t, api.Limits{Account: api.Rates{Reads: rate}})
		for i := range fills {
			d.order(d.bob, limit("SELL", "0.001", "40000"))
			if i%100 == 0 {
				d.Follow()
			}
		}
		id := d.order(d.alice, limit("BUY", "3", "40000")+"&newOrderRespType=ACK")
		d.Follow()

		params := "symbol=BTCUSDT&orderId=" + strconv.FormatUint(id, 10)
		if path == "myTrades" {
			params += "&limit=1"
		}
		for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
			if a := d.sign(d.alice, http.MethodGet, "/api/v3/"+path, params); a.status != want {
				t.Errorf("%s, request %d: %d %.100s", path, i, a.status, a.body)
			}
		}
	}
}
