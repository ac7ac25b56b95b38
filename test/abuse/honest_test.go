package abuse

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// market is the market of an honest trader.
type market struct {
	pair, base, quote string
	// price is close to the best bid and ask, tick is the smallest price step, and amount
	// the size of an order.
	price, tick, amount, part string
	// far is the most ticks above the touch at which the trader sells: orders in
	// ATOM/USDT stay in a band.
	far int64
}

// at returns the price a number of ticks above the touch.
func (m *market) at(ticks int64) string { return rise(m.price, m.tick, ticks) }

const anyFar = 1 << 40

var mainMarkets = [...]market{
	{"BTC/USDT", "BTC", "USDT", "60000.00", "0.01", "0.001", "0.0005", anyFar},
	{"ETH/USDT", "ETH", "USDT", "3000.00", "0.01", "0.02", "0.01", anyFar},
	{"LTC/USDT", "LTC", "USDT", "80.00", "0.01", "0.5", "0.25", anyFar},
	{"ATOM/USDT", "ATOM", "USDT", "8.0000", "0.0001", "5", "2.5", 30_000},
	{"ETH/BTC", "ETH", "BTC", "0.05000", "0.00001", "0.02", "0.01", anyFar},
}

// honest are the clients that trade and log in during attacks. They must be refused
// nothing.
type honest struct {
	x       *exchange
	traders [len(mainMarkets)]*trader
	// known logs in from an address that it used before.
	known *person
	// visits counts people's visits, made by one goroutine at a time.
	visits int

	mu sync.Mutex
	// refusals are the refusals of honest clients.
	refusals []string
	// full is set while the disk is full: then "no room" is no refusal of an honest
	// client.
	full atomic.Bool
	// turnedAway counts the orders refused for that.
	turnedAway atomic.Int64
	// canceled counts the orders canceled meanwhile.
	canceled atomic.Int64
	rounds   atomic.Int64
	// commands counts the journaled commands of honest clients.
	commands atomic.Int64
}

// trader trades in one market.
type trader struct {
	*honest
	*market
	source, key string
	client      *http.Client
	// open is the last order placed on the book.
	open atomic.Int64
	acks []time.Duration
	n    int64
	// resting are the orders to cancel while the disk is full.
	resting []int64
	// books is the stream of the book, or nil.
	books *stream
}

// newHonest creates the accounts of honest clients.
func newHonest(t *testing.T, x *exchange) *honest {
	t.Helper()
	h := &honest{x: x}
	for i := range mainMarkets {
		m := &mainMarkets[i]
		_, key := x.open(t, fmt.Sprintf("trader%d@people.example", i), "1000000 "+m.base, "100000000 "+m.quote)
		h.traders[i] = &trader{honest: h, market: m, key: key}
		h.traders[i].move()
	}
	h.known = &person{honest: h, email: victim, password: "correct horse", client: clientFrom(newSource(peopleNetwork), true)}
	if err := h.known.join(); err != nil {
		t.Fatal(err)
	}
	return h
}

// move gives a trader an address that nobody has used.
func (tr *trader) move() {
	if tr.client != nil {
		tr.client.CloseIdleConnections()
	}
	tr.source = newSource(tradersNetwork)
	tr.client = clientFrom(tr.source, true)
}

// close closes the connections.
func (h *honest) close() {
	for _, tr := range h.traders {
		tr.client.CloseIdleConnections()
	}
	h.known.client.CloseIdleConnections()
}

// refuse records a refusal of an honest client.
func (h *honest) refuse(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refusals = append(h.refusals, err.Error())
}

// refused returns and clears the refusals.
func (h *honest) refused() (list []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list, h.refusals = h.refusals, nil
	return list
}

// Rounds of honest clients per second, below their limits.
const (
	tradeEvery  = 60 * time.Millisecond
	personEvery = 1500 * time.Millisecond
)

// during runs honest clients until end, at least one round each, and returns the times of
// ACK.
func (h *honest) during(end <-chan struct{}) (acks []time.Duration) {
	var all sync.WaitGroup
	for _, tr := range h.traders {
		all.Go(func() { tr.run(end) })
	}
	if !h.full.Load() {
		all.Go(func() { h.repeat(end, personEvery, h.visit) })
	}
	all.Go(func() { h.repeat(end, 200*time.Millisecond, h.healthy) })
	all.Wait()
	for _, tr := range h.traders {
		acks = append(acks, tr.acks...)
		tr.acks = nil
	}
	slices.Sort(acks)
	return acks
}

// repeat calls do until end, at least once.
func (h *honest) repeat(end <-chan struct{}, every time.Duration, do func() error) {
	pace := time.NewTicker(every)
	defer pace.Stop()
	for {
		if err := do(); err != nil {
			h.refuse(err)
		}
		select {
		case <-end:
			return
		case <-pace.C:
		}
	}
}

// healthy checks /healthz.
func (h *honest) healthy() error {
	client := clientFrom("127.0.0.1", false)
	a, err := request(client, http.MethodGet, "http://"+h.x.address+"/healthz", "", "", nil)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("%d %s", a.status, a.body)
	}
	if err != nil {
		return fmt.Errorf("/healthz: %w", err)
	}
	return nil
}

// run trades and listens until end.
func (tr *trader) run(end <-chan struct{}) {
	if err := tr.subscribe(); err != nil {
		tr.refuse(fmt.Errorf("%s: stream: %w", tr.pair, err))
		return
	}
	s := tr.books
	tr.books = nil
	heard, over := make(chan error, 1), make(chan struct{})
	go func() { heard <- tr.listen(s, over) }()

	tr.repeat(end, tradeEvery, tr.round)
	close(over)
	s.close()
	if err := <-heard; err != nil {
		tr.refuse(fmt.Errorf("%s: stream: %w", tr.pair, err))
	}
}

// subscribe opens the stream of the book unless it is open. An upgrade counts as a
// request of its address (SPOT-AUTH-6), which a trader may share with an attacker; before
// an attack there is room for it.
func (tr *trader) subscribe() error {
	if tr.books != nil {
		return nil
	}

	s, err := openStream(tr.source, tr.x.address, usualStream)
	if err != nil {
		return err
	}
	if err := s.write(frameOf("text", `{"op":"sub","id":1,"streams":"`+tr.pair+`@orderBook"}`)); err != nil {
		s.close()
		return err
	}
	tr.books = s
	return nil
}

// listen reads the book's stream until over is closed, and checks that no message is
// missing.
func (tr *trader) listen(s *stream, over <-chan struct{}) error {
	var last uint64
	for {
		text, err := s.next()
		if err != nil {
			select {
			case <-over:
				return nil
			default:
				return err
			}
		}
		var m struct {
			Class, Error string
			Success      *bool
			Seq          uint64
		}
		switch err := json.Unmarshal(text, &m); {
		case err != nil:
			return err
		case m.Success != nil && !*m.Success:
			return fmt.Errorf("refused: %s", m.Error)
		case m.Class == "data" && last != 0 && m.Seq != last+1:
			return fmt.Errorf("after %d came %d", last, m.Seq)
		case m.Class == "data":
			last = m.Seq
		}
	}
}

// reply has the fields that a trader reads of an answer.
type reply struct {
	Success bool
	Error   string
	Obid    int64
	Status  string
	Order   struct{ Status string }
}

// ask sends a request with the trader's key.
func (tr *trader) ask(path string, body fields) (r reply, err error) {
	if path == "/open_orders/new" || path == "/open_orders/cancel" {
		tr.commands.Add(1)
	}
	body["api_key"] = tr.key
	text, err := json.Marshal(body)
	if err != nil {
		return r, err
	}
	a, err := request(tr.client, http.MethodPost, "http://"+tr.x.address+"/spot"+path, string(text), "", nil)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("status %d %s", a.status, a.body)
	}
	if err == nil {
		err = json.Unmarshal(a.body, &r)
	}
	return r, err
}

func (tr *trader) order(side, force, respond, price, amount string) fields {
	return fields{
		"pair": tr.pair, "side": side, "type": "LIMIT", "time_in_force": force, "price": price, "amount": amount, "resp_type": respond,
	}
}

// round sells near the touch, takes a part, reads, and cancels the rest.
func (tr *trader) round() error {
	tr.rounds.Add(1)
	tr.n++
	if tr.n%8 == 0 {
		return tr.away()
	}
	price := tr.at(tr.n % 50)
	began := time.Now()
	sell, err := tr.ask("/open_orders/new", tr.order("SELL", "GTC", "ACK", price, tr.amount))
	took := time.Since(began)
	switch {
	case err == nil && !sell.Success && tr.isFull(sell.Error):
		return tr.whileFull()
	case err != nil || !sell.Success:
		return fmt.Errorf("%s: sell at %s: %s %w", tr.pair, price, sell.Error, orNone(err))
	}
	tr.acks = append(tr.acks, took)
	tr.open.Store(sell.Obid)

	buy, err := tr.ask("/open_orders/new", tr.order("BUY", "IOC", "RESULT", price, tr.part))
	if err != nil || !buy.Success && !tr.isFull(buy.Error) || buy.Success && buy.Status != "FILLED" {
		return fmt.Errorf("%s: buy at %s: %s %s %w", tr.pair, price, buy.Status, buy.Error, orNone(err))
	}
	if tr.n%4 == 2 {
		if seen, err := tr.ask(tr.reads(), fields{"pair": tr.pair, "depth": 5, "offset": 0}); err != nil || !seen.Success {
			return fmt.Errorf("%s: %s: %s %w", tr.pair, tr.reads(), seen.Error, orNone(err))
		}
	}
	return tr.cancel(sell.Obid)
}

// reads returns the path of the trader's reads. Market data ignores keys, so a trader
// that may share an attacker's address (SPOT-AUTH-6) reads with its key.
func (tr *trader) reads() string {
	if tr.market == &mainMarkets[0] {
		return "/open_orders"
	}
	return "/orderbook"
}

// away sells far from the other orders and cancels.
func (tr *trader) away() error {
	price := tr.at(1000 + tr.n*4097%tr.far)
	sell, err := tr.ask("/open_orders/new", tr.order("SELL", "GTC", "ACK", price, tr.amount))
	switch {
	case err == nil && !sell.Success && tr.isFull(sell.Error):
		return nil
	case err != nil || !sell.Success:
		return fmt.Errorf("%s: sell at %s: %s %w", tr.pair, price, sell.Error, orNone(err))
	}
	return tr.cancel(sell.Obid)
}

// cancel cancels an order, which others may have filled.
func (tr *trader) cancel(id int64) error {
	gone, err := tr.ask("/open_orders/cancel", fields{"obid": id})
	if err == nil && gone.Error == "Order not found" {
		if look, err := tr.ask("/order", fields{"obid": id}); err == nil && look.Order.Status == "FILLED" {
			return nil
		}
	}
	if err != nil || !gone.Success {
		return fmt.Errorf("%s: cancel: %s %w", tr.pair, gone.Error, orNone(err))
	}
	return nil
}

// isFull reports whether an order was refused because the disk is full.
func (tr *trader) isFull(text string) bool {
	if !tr.full.Load() || !strings.Contains(text, "disk is nearly full") {
		return false
	}
	tr.turnedAway.Add(1)
	return true
}

// orNone replaces a nil error by one that can be wrapped.
func orNone(err error) error {
	if err == nil {
		return fmt.Errorf("answered")
	}
	return err
}
