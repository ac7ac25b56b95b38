package hostile

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// bomb is the number of simultaneous requests.
const bomb = 1000

// detonate sends n requests at once, and returns the granted answers and the refusals by
// error. Any other failure fails the test.
func detonate(t *testing.T, n int, send func(i int) (answer, error)) (granted []answer, errs map[string]int) {
	t.Helper()
	var mu sync.Mutex
	var work sync.WaitGroup
	start := make(chan struct{})
	errs = map[string]int{}
	for i := range n {
		work.Go(func() {
			<-start
			got, err := send(i)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Errorf("request %d: %v", i, err)
			case got.Success:
				granted = append(granted, got)
			default:
				errs[got.Error]++
			}
		})
	}
	close(start)
	work.Wait()
	return granted, errs
}

// size returns the number of requests of a bomb.
func size() int {
	if testing.Short() {
		return bomb / 5
	}
	return bomb
}

// refusedFor checks that want requests were refused, all for one reason.
func refusedFor(t *testing.T, errs map[string]int, reason string, want int) {
	t.Helper()
	n := 0
	for text, times := range errs {
		if strings.HasPrefix(text, reason) {
			n += times
		}
	}
	if n != want || len(errs) > 1 {
		t.Errorf("refused were %v, wanted %d for %s", errs, want, reason)
	}
}

func (a *account) has(t *testing.T, symbol, avbl, locked string) {
	t.Helper()
	all, err := a.balances()
	if err != nil {
		t.Fatal(err)
	}
	b, listed := all[symbol]
	if !listed {
		b = balance{"0", "0", "0"}
	}
	if b.Avbl != avbl || b.Locked != locked {
		t.Errorf("%s is %+v, wanted are %s and %s held", symbol, b, avbl, locked)
	}
}

// hasHeld checks the account's locked amount of an asset.
func (a *account) hasHeld(t *testing.T, symbol, locked string) {
	t.Helper()
	all, err := a.balances()
	if err != nil || all[symbol].Locked != locked {
		t.Errorf("%s is %+v, wanted are %s held: %v", symbol, all[symbol], locked, err)
	}
}

// TestOrdersForAllThereIs sends orders for shares of a balance at once: exactly those
// that fit are accepted.
func TestOrdersForAllThereIs(t *testing.T) {
	const pair = "TEST01/USDT"
	for _, c := range []struct {
		credit, symbol string
		order          fields
		fit            int
		locked, avbl   string
	}{
		{"1000 USDT", "USDT", limit(pair, "BUY", "0.5", "2000"), 1, "1000", "0"},
		{"1000 USDT", "USDT", limit(pair, "BUY", "0.5", "1200"), 1, "600", "400"},
		{"1000 USDT", "USDT", limit(pair, "BUY", "0.5", "20"), 100, "1000", "0"},
		{"1000 TEST01", "TEST01", limit(pair, "SELL", "2", "1000"), 1, "1000", "0"},
		{"1000 TEST01", "TEST01", limit(pair, "SELL", "2", "300"), 3, "900", "100"},
	} {
		t.Run(fmt.Sprintf("%d of %s fit", c.fit, c.credit), func(t *testing.T) {
			a := attacked.open(t, c.credit)
			granted, errs := detonate(t, size(), func(int) (answer, error) { return a.ask("/open_orders/new", c.order) })
			if len(granted) != c.fit {
				t.Errorf("%d orders were taken, %d fit", len(granted), c.fit)
			}
			refusedFor(t, errs, "INSUF_FUNDS", size()-c.fit)
			a.has(t, c.symbol, c.avbl, c.locked)
			a.must(t, "/open_orders/cancel_all", nil)
			total, _, _ := strings.Cut(c.credit, " ")
			a.has(t, c.symbol, total, "0")
		})
	}
}

// TestWithdrawalsForMoreThanThereIs sends withdrawals of 60 % of a balance at once: one
// is accepted, and its money arrives once. Half of the requests have a client id, so that
// retries and new requests mix.
func TestWithdrawalsForMoreThanThereIs(t *testing.T) {
	from, to := attacked.open(t, "100 ATOM"), attacked.open(t)
	address, memo := to.inside(t)
	granted, errs := detonate(t, size(), func(i int) (answer, error) {
		body := fields{
			"asset": "ATOM", "network": "ATOM", "address": address, "memo": memo, "amount": "60", "fee": "0.01",
		}
		if i%2 == 0 {
			body["client_id"] = fmt.Sprintf("w%d", i)
		}
		return from.ask("/wallet/withdraw", body)
	})
	if len(granted) != 1 {
		t.Errorf("%d withdrawals were taken", len(granted))
	}
	refusedFor(t, errs, "INSUF_FUNDS", size()-1)
	from.has(t, "ATOM", "40", "0")
	to.has(t, "ATOM", "60", "0")
}

// TestOneOrderForMany lets many accounts take the same order: it is sold once, and the
// sum of all balances stays the same, less the fees.
func TestOneOrderForMany(t *testing.T) {
	const pair, buyers = "TEST02/USDT", 20
	seller := attacked.open(t, "50 TEST02")
	takers := make([]*account, buyers)
	for i := range takers {
		takers[i] = attacked.open(t, "100 USDT")
	}
	seller.must(t, "/open_orders/new", limit(pair, "SELL", "2", "50"))
	filled, _ := detonate(t, size(), func(i int) (answer, error) {
		return takers[i%buyers].ask("/open_orders/new", immediate(pair, "BUY", "2", "1"))
	})
	n := 0
	for _, got := range filled {
		if got.Status == "FILLED" && got.Filled == "1" {
			n++
		} else if got.Status != "KILLED" || got.Filled != "0" {
			t.Errorf("an order ended with %+v", got)
		}
	}
	if n != 50 {
		t.Errorf("%d bought one, there were 50", n)
	}
	sums := map[string]*big.Rat{"TEST02": rat("0"), "USDT": rat("0")}
	for _, a := range slices.Concat(takers, []*account{seller}) {
		all, err := a.balances()
		if err != nil {
			t.Fatal(err)
		}
		for symbol, b := range all {
			sums[symbol].Add(sums[symbol], rat(b.Total))
		}
		for _, fill := range a.must(t, "/trades_history", fields{"offset": 0}).Trades {
			symbol := map[string]string{"BUY": "TEST02", "SELL": "USDT"}[fill.Side]
			sums[symbol].Add(sums[symbol], rat(fill.Fee))
		}
	}
	if sums["TEST02"].Cmp(rat("50")) != 0 || sums["USDT"].Cmp(rat("2000")) != 0 {
		t.Errorf("together there are, with fees, %s TEST02 and %s USDT", sums["TEST02"].FloatString(12), sums["USDT"].FloatString(12))
	}
	seller.has(t, "TEST02", "0", "0")
}

func rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("not a number: " + text)
	}
	return r
}

// TestOneNameForMany places the same order under one client id at once: it is placed
// once, and all answers have its id.
func TestOneNameForMany(t *testing.T) {
	a := attacked.open(t, "1000 USDT")
	order := limit("TEST03/USDT", "BUY", "1", "1")
	order["client_id"] = "only-one"
	granted, errs := detonate(t, size(), func(int) (answer, error) { return a.ask("/open_orders/new", order) })
	if len(granted) != size() || len(errs) > 0 {
		t.Errorf("%d were told of it, refused were %v", len(granted), errs)
	}
	for _, got := range granted {
		if got.Obid != granted[0].Obid {
			t.Fatalf("%d and %d have one name", got.Obid, granted[0].Obid)
		}
	}
	a.has(t, "USDT", "999", "1")
}

// TestOneEndForMany cancels one order many times at once: it ends once.
func TestOneEndForMany(t *testing.T) {
	a := attacked.open(t, "1000 USDT")
	id := a.must(t, "/open_orders/new", limit("TEST04/USDT", "BUY", "1", "10")).Obid
	granted, errs := detonate(t, size(), func(int) (answer, error) {
		return a.ask("/open_orders/cancel", fields{"obid": strconv.FormatUint(id, 10)})
	})
	if len(granted) != 1 {
		t.Errorf("%d cancels succeeded", len(granted))
	}
	refusedFor(t, errs, "Order not found", size()-1)
	a.has(t, "USDT", "1000", "0")
}

// TestCancelingWhilePlacing places and cancels all orders at once; after a last cancel
// nothing is held.
func TestCancelingWhilePlacing(t *testing.T) {
	a := attacked.open(t, "1000 USDT")
	_, errs := detonate(t, size(), func(i int) (answer, error) {
		if i%10 == 0 {
			return a.ask("/open_orders/cancel_all", nil)
		}
		return a.ask("/open_orders/new", limit("TEST05/USDT", "BUY", "1", "10"))
	})
	for text := range errs {
		if !strings.HasPrefix(text, "INSUF_FUNDS") {
			t.Errorf("refused was: %s", text)
		}
	}
	a.must(t, "/open_orders/cancel_all", nil)
	a.has(t, "USDT", "1000", "0")
}
