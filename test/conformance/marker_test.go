package conformance

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// marker makes unmistakable events: orders in a market of its own, each at its own price.
// A connection sends messages in the order of events, so that a marker's message comes
// after those of all earlier events.
type marker struct {
	exchange *exchange
	open     sync.Once
	key      string
	err      error
	prices   atomic.Uint64
}

// marking is the market of the markers.
var marking = testMarket(59)

// markerStream is the stream of the marker's book.
const markerStream = "TEST59/USDT@orderBook"

// set makes a marker and returns its price as in messages.
func (m *marker) set() (string, error) {
	m.open.Do(m.prepare)
	if m.err != nil {
		return "", m.err
	}
	n := m.prices.Add(1)
	price := fmt.Sprintf("%d.%04d", 1000+n/10000, n%10000)
	body := fmt.Sprintf(`{"api_key":"%s","pair":"%s","side":"SELL","type":"LIMIT","time_in_force":"GTC","price":"%s","amount":"1","resp_type":"ACK"}`,
		m.key, marking.pair, price)
	placed, err := m.exchange.send("POST", m.exchange.url+"/spot/open_orders/new", body, nil)
	switch {
	case err != nil:
		return "", err
	case !placed.value.has("obid"):
		return "", fmt.Errorf("marker: %s", placed.value)
	}
	body = fmt.Sprintf(`{"api_key":"%s","obid":%s}`, m.key, placed.value.get("obid").text)
	_, err = m.exchange.send("POST", m.exchange.url+"/spot/open_orders/cancel", body, nil)
	return price, err
}

// prepare opens the marker's account.
func (m *marker) prepare() {
	o := &m.exchange.operator
	account, err := o.do("account", "create", "marker-"+m.exchange.pool.run+"@example.com")
	if err == nil {
		_, err = o.do("credit", text(account["account"]), marking.base, "1000000")
	}
	var key map[string]any
	if err == nil {
		key, err = o.do("key", "create", text(account["account"]), "--name", "marker", "--scopes", "trade")
	}
	m.key, m.err = text(key["api_key"]), err
}
