package hostile

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// TestClientsThatLeave breaks off connections at every point of a request: an order is
// placed completely or not at all, the held amount matches the open orders, and the
// exchange counts no failure of its own.
func TestClientsThatLeave(t *testing.T) {
	const pair = "TEST06/USDT"
	a := attacked.open(t, "100000 USDT")
	order := limit(pair, "BUY", "1", "10")
	order["api_key"] = a.key
	bodies := map[string]fields{
		"/open_orders/new": order,
		"/orders_history":  {"api_key": a.key, "offset": 0, "filter_pair": pair},
		"/trades_history":  {"api_key": a.key, "offset": 40},
		"/trades":          {"pair": healthyPair, "offset": 100},
		"/candlestick":     {"pair": healthyPair, "res": "1", "from": 0, "to": 1 << 33},
	}
	h := attacked.healthy(t)
	var work sync.WaitGroup
	for path, body := range bodies {
		for part := range 4 {
			random := rand.New(rand.NewPCG(rand.Uint64(), uint64(part)))
			work.Go(func() {
				for range size() / 4 {
					if err := leave(path, body, random); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	work.Wait()
	h.end(t)
	if failed, err := attacked.failures(); err != nil || len(failed) > 0 {
		t.Errorf("requests that failed: %v %v", failed, err)
	}
	if err := attacked.sober(); err != nil {
		t.Error(err)
	}
	a.holdsWhatIsOpen(t)
	a.must(t, "/open_orders/cancel_all", nil)
	a.has(t, "USDT", "100000", "0")
}

// leave sends a request and breaks the connection off: in the middle of it, at its end,
// or soon after.
func leave(path string, body fields, random *rand.Rand) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	conn, err := net.DialTimeout("tcp", attacked.address, patience)
	if err != nil {
		return err
	}
	request := fmt.Sprintf("POST /spot%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", path, len(text), text)
	if random.IntN(3) == 0 {
		request = request[:random.IntN(len(request))]
	}
	_, err = io.WriteString(conn, request)
	if random.IntN(2) == 0 {
		_ = conn.SetReadDeadline(within(time.Duration(random.IntN(2000)) * time.Microsecond))
		_, _ = conn.Read(make([]byte, 1))
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
	return err
}

// holdsWhatIsOpen waits until the account's locked amount is ten for each open order.
func (a *account) holdsWhatIsOpen(t *testing.T) {
	t.Helper()
	var open, locked *big.Rat
	same := eventually(patience, func() bool {
		n := int64(0)
		for more := true; more; {
			got := a.must(t, "/open_orders", fields{"offset": n})
			n += int64(len(got.Orders))
			more = len(got.Orders) == pageSize
		}
		all, err := a.balances()
		if err != nil {
			t.Fatal(err)
		}
		open, locked = big.NewRat(10*n, 1), rat(all["USDT"].Locked)
		return open.Cmp(locked) == 0
	})
	t.Logf("%s USDT are in orders", open.RatString())
	if !same || open.Sign() == 0 {
		t.Errorf("%s USDT are locked, %s are in orders", locked.RatString(), open.RatString())
	}
}
