package exports_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/exports"
	"github.com/bourse-exchange/bourse/internal/api/teller/tellertest"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

// desk is the interface on an exchange.
type desk struct {
	*tellertest.Desk
	server *api.Server
	url    string
	market *bourse.Market
	// ended gets what each request panicked with.
	ended chan any
}

func newDesk(t *testing.T, limits api.Limits) *desk {
	d := &desk{Desk: tellertest.New(t), ended: make(chan any, 1000)}
	d.server = &api.Server{
		Who: d.Accounts, Limits: api.NewLimiter(limits, d.Clock), From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() },
		Clock: time.Now, Patience: time.Minute, Log: slog.New(slog.DiscardHandler),
		Observe: func(string, int, bool, time.Duration) {},
	}
	v2.Handle(d.server, d.Mux, "/account/v2", exports.New(d.Teller()).Endpoints())
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			d.ended <- cause
			if cause != nil {
				panic(cause)
			}
		}()
		d.Mux.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	d.url = h.URL
	d.market = d.View.Catalogue().Market("BTC/USDT")
	return d
}

// ask asks for an export.
func (d *desk) ask(key, path string) *http.Response {
	d.Helper()
	req, err := http.NewRequestWithContext(d.Context(), http.MethodGet, d.url+"/account/v2/exports"+path, http.NoBody)
	if err != nil {
		d.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.Fatal(err)
	}
	return res
}

// status returns the status of an export.
func (d *desk) status(key, path string) int {
	d.Helper()
	res := d.ask(key, path)
	_ = res.Body.Close()
	return res.StatusCode
}

// rows returns the rows of an export behind its header line.
func (d *desk) rows(key, path string) [][]string {
	d.Helper()
	res := d.ask(key, path)
	defer func() { _ = res.Body.Close() }()
	list, err := csv.NewReader(res.Body).ReadAll()
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
		d.Fatalf("%s: %d %s %v", path, res.StatusCode, res.Header, err)
	}
	return list[1:]
}

// order places an order of Alice for a hundredth of a bitcoin.
func (d *desk) order(side bourse.Side, price bourse.Price, name string) {
	d.Helper()
	id, err := bourse.ParseClientID(name)
	if name != "" && err != nil {
		d.Fatal(err)
	}
	d.Must(bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: bourse.NewOrder{
		Market: d.market.ID, Side: side, Type: bourse.Limit, TIF: bourse.GTC, Price: price, Lots: 10_000, ClientID: id,
		SelfTrade: bourse.SelfTradeNone,
	}})
}

// TestExports compares each export with what happened, and guards its cells.
func TestExports(t *testing.T) {
	d := newDesk(t, api.Limits{})
	d.Newcomer("+sum@example.com") // account 3
	d.Credit(1, "BTC", "5")
	d.Credit(1, "USDT", "100000")
	d.order(bourse.Sell, 6_000_000, "-cmd")
	d.order(bourse.Buy, 6_000_000, "")
	d.order(bourse.Buy, 5_000_000, "name")
	btc := d.View.Catalogue().Asset("BTC")
	d.Must(bourse.Command{Kind: bourse.CommandTransfer, Account: 1, Wallet: &bourse.WalletCommand{
		Withdraw: &bourse.Withdraw{Asset: btc.ID, Internal: 3, Amount: d.Units("1", btc)},
	}})
	d.Follow()

	cut := func(list [][]string) []string {
		lines := make([]string, len(list))
		for i, row := range list {
			lines[i] = strings.Join(row[2:], ",") // without time and id
		}
		return lines
	}
	for path, want := range map[string][]string{
		"/orders": {
			"BTC/USDT,BUY,LIMIT,GTC,50000,,0.01,,0,OPEN,name,0", "BTC/USDT,BUY,LIMIT,GTC,60000,,0.01,,0.01,FILLED,,0",
			"BTC/USDT,SELL,LIMIT,GTC,60000,,0.01,,0.01,FILLED,'-cmd,0",
		},
		"/transfers": {"TRANSFER_OUT,BTC,1,0,DONE," + d.Now.Std().Format("2006-01-02 15:04:05.000000") + ",,'+sum@example.com,,"},
	} {
		if got := cut(d.rows(d.Alice, path)); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	trades := d.rows(d.Alice, "/trades")
	if len(trades) != 2 || trades[0][5] == trades[1][5] || !slices.Contains(trades[0], "60000") {
		t.Errorf("the trades are %v", trades)
	}
	deltas := map[string]bool{}
	for _, row := range d.rows(d.Alice, "/ledger") {
		deltas[row[2]+row[3]] = true
	}
	for _, delta := range []string{"BTC5", "USDT100000", "BTC-1", "BTC-0.01", "USDT-600"} {
		if !deltas[delta] {
			t.Errorf("the ledger %v lacks %s", deltas, delta)
		}
	}

	if n := len(d.rows(d.Bob, "/orders")); n != 0 {
		t.Errorf("another account exports %d orders", n)
	}
	for path, status := range map[string]int{"/orders?from=x": 400, "/orders?to=-1": 400, "/others": 404} {
		if got := d.status(d.Alice, path); got != status {
			t.Errorf("%s: %d", path, got)
		}
	}
	if got := d.status("", "/orders"); got != http.StatusForbidden {
		t.Errorf("without a key: %d", got)
	}
}

// TestSelectedExports wants the rows of a market, an asset, a side or a type alone, and what is no
// filter of an export to be refused or, if it is a field of another one, to be unknown.
func TestSelectedExports(t *testing.T) {
	d := newDesk(t, api.Limits{})
	d.Credit(1, "BTC", "5")
	d.Credit(1, "USDT", "100000")
	d.order(bourse.Sell, 6_000_000, "")
	d.order(bourse.Buy, 6_000_000, "")
	d.order(bourse.Buy, 5_000_000, "")
	btc := d.View.Catalogue().Asset("BTC")
	d.Must(bourse.Command{Kind: bourse.CommandTransfer, Account: 1, Wallet: &bourse.WalletCommand{
		Withdraw: &bourse.Withdraw{Asset: btc.ID, Internal: 2, Amount: d.Units("1", btc)},
	}})
	d.Follow()

	for path, want := range map[string]int{
		"/orders": 3, "/orders?pair=BTC/USDT": 3, "/orders?pair=ETH/USDT": 0, "/orders?side=BUY": 2, "/orders?side=SELL&type=LIMIT": 1,
		"/orders?type=MARKET": 0, "/trades": 2, "/trades?pair=BTC/USDT&side=SELL": 1, "/trades?pair=ETH/USDT": 0,
		"/transfers?asset=BTC": 1, "/transfers?asset=USDT": 0, "/transfers?type=TRANSFER_OUT": 1, "/transfers?type=DEPOSIT": 0,
	} {
		if rows := d.rows(d.Alice, path); len(rows) != want {
			t.Errorf("%s: %d rows, want %d: %v", path, len(rows), want, rows)
		}
	}
	all, some := d.rows(d.Alice, "/ledger"), d.rows(d.Alice, "/ledger?asset=USDT")
	others := slices.ContainsFunc(some, func(row []string) bool { return row[2] != "USDT" })
	if len(some) == 0 || len(some) >= len(all) || others {
		t.Errorf("of USDT: %v", some)
	}
	if got := d.status(d.Alice, "/orders?pair=BTC-USDT"); got != http.StatusNotFound {
		t.Errorf("of an unknown market: %d", got)
	}
	for _, path := range []string{
		"/orders?side=buy", "/orders?type=x", "/orders?side=BUY&side=SELL", "/transfers?type=",
		"/transfers?type=LIMIT", "/transfers?asset=NONE", "/ledger?asset=btc", "/ledger?asset=BTC&from=x",
	} {
		if got := d.status(d.Alice, path); got != http.StatusBadRequest {
			t.Errorf("%s: %d", path, got)
		}
	}
}

// TestLongExports wants all rows of lists of several pages, once each, and those of a period
// alone.
func TestLongExports(t *testing.T) {
	d := newDesk(t, api.Limits{})
	const count = 1003
	begin := d.Now
	d.Credit(1, "BTC", "500")
	for i := range count {
		d.order(bourse.Sell, 6_000_000+bourse.Price(i), fmt.Sprintf("order-%d", i))
	}
	d.Follow()

	names := map[string]int{}
	list := d.rows(d.Alice, "/orders")
	for _, row := range list {
		names[row[12]]++
	}
	if len(list) != count || len(names) != count || list[0][12] != "order-1002" {
		t.Errorf("%d rows of %d orders, the first %v", len(list), len(names), list[0])
	}

	second := begin.Seconds() + 2 // the first order comes then
	list = d.rows(d.Alice, fmt.Sprintf("/orders?from=%d&to=%d", second+100, second+699))
	if len(list) != 600 || list[0][12] != "order-699" || list[599][12] != "order-100" {
		t.Errorf("of a period there are %d rows", len(list))
	}

	for range 600 {
		d.Credit(2, "BTC", "1.5")
	}
	d.Follow()
	balances := map[string]int{}
	for _, row := range d.rows(d.Bob, "/ledger") {
		balances[row[4]]++
	}
	if len(balances) != 600 {
		t.Errorf("the ledger has %d balances", len(balances))
	}
}

// TestExportsTakeTurns refuses a second export of an account while one is under way, and lets one
// wait for half of the account's limit.
func TestExportsTakeTurns(t *testing.T) {
	d := newDesk(t, api.Limits{Account: api.Rates{Reads: api.Rate{PerSecond: 10, Burst: 20}}})
	d.Credit(1, "BTC", "500")
	for i := range 1200 {
		d.order(bourse.Sell, 6_000_000+bourse.Price(i), "")
	}
	d.Follow()

	held := make(chan chan time.Time)
	d.server.After = func(time.Duration) <-chan time.Time {
		over := make(chan time.Time)
		held <- over
		return over
	}
	first := d.ask(d.Alice, "/orders")
	defer func() { _ = first.Body.Close() }()
	over := <-held // it has sent a part, and waits
	if left := d.server.Limits.List(api.Payer{Account: 1})[0].Left; left < 5 {
		t.Errorf("an export leaves %d of 20 reads", left)
	}
	if got := d.status(d.Alice, "/trades"); got != http.StatusTooManyRequests {
		t.Errorf("a second export: %d", got)
	}
	if n := len(d.rows(d.Bob, "/orders")); n != 0 {
		t.Errorf("another account exports %d orders", n)
	}

	go func() {
		for ; over != nil; over = <-held {
			d.Now += 10 * bourse.Second
			over <- time.Time{}
		}
	}()
	all, err := io.ReadAll(first.Body)
	if n := strings.Count(string(all), "\r\n"); err != nil || n != 1201 {
		t.Errorf("%d lines, %v", n, err)
	}
	held <- nil
	if n := len(d.rows(d.Alice, "/trades")); n != 0 {
		t.Errorf("there are %d trades", n)
	}
}

// TestLeftExports ends an export whose client leaves: the account may begin another one.
func TestLeftExports(t *testing.T) {
	d := newDesk(t, api.Limits{Account: api.Rates{Reads: api.Rate{PerSecond: 10, Burst: 2}}})
	d.Credit(1, "BTC", "500")
	for i := range 600 {
		d.order(bourse.Sell, 6_000_000+bourse.Price(i), "")
	}
	waits := make(chan struct{}, 1)
	d.server.After = func(time.Duration) <-chan time.Time {
		waits <- struct{}{}
		return nil // for ever
	}
	res := d.ask(d.Alice, "/orders")
	<-waits
	_ = res.Body.Close()
	if cause := <-d.ended; cause != http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
		t.Errorf("the request ended with %v", cause)
	}

	d.Now += bourse.Minute
	if n := len(d.rows(d.Alice, "/trades")); n != 0 {
		t.Errorf("there are %d trades", n)
	}
}

// TestSkippedPagesAreReads wants an export of an old period to pay for the newer pages that it
// reads.
func TestSkippedPagesAreReads(t *testing.T) {
	d := newDesk(t, api.Limits{Account: api.Rates{Reads: api.Rate{PerSecond: 1, Burst: 1000}}})
	d.Credit(1, "BTC", "1")
	before, btc := d.Now, d.View.Catalogue().Asset("BTC")
	d.Now += 10 * bourse.Second
	const pages = 4
	for range pages * 250 {
		d.Must(bourse.Command{Kind: bourse.CommandTransfer, Account: 1, Wallet: &bourse.WalletCommand{
			Withdraw: &bourse.Withdraw{Asset: btc.ID, Internal: 2, Amount: d.Units("0.001", btc)},
		}})
	}
	d.Follow()

	if n := len(d.rows(d.Alice, fmt.Sprintf("/transfers?to=%d", before.Seconds()))); n != 0 {
		t.Fatalf("the period has %d rows", n)
	}
	if used := 1000 - d.server.Limits.List(api.Payer{Account: 1})[0].Left; used < pages {
		t.Errorf("%d pages cost %d reads", pages, used)
	}
}

// TestUnconfirmedExports withholds an export because another node may lead, and the next one of the account is
// answered.
func TestUnconfirmedExports(t *testing.T) {
	d := newDesk(t, api.Limits{})
	var elsewhere atomic.Bool
	d.server.Confirm = func(context.Context) error {
		if elsewhere.Load() {
			return errors.New("no majority")
		}
		return nil
	}
	elsewhere.Store(true)
	res := d.ask(d.Alice, "/orders")
	_ = res.Body.Close()
	if res.StatusCode != http.StatusGatewayTimeout || res.Header.Get("Content-Disposition") != "" {
		t.Errorf("without a majority: %d %s", res.StatusCode, res.Header)
	}
	elsewhere.Store(false)
	if got := d.status(d.Alice, "/orders"); got != http.StatusOK {
		t.Errorf("the next export: %d", got)
	}
}
