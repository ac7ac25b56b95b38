package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bourse-exchange/bourse/client"
)

// lister is a client that places lists of orders and remembers what was acknowledged to it.
type lister struct {
	key string
	rng *rand.Rand
	n   int
	// acked are its lists, those of earlier lives too; canceled those of them whose cancel was
	// acknowledged. unknown are the requests of this life whose outcome it never learned.
	acked    []client.PlacedList
	canceled map[uint64]bool
	unknown  [][2]*client.NewOrder
	problem  error
	// told is called for each acknowledgement.
	told func()
	// acted counts the lists that are found with an order that traded.
	acted map[uint64]bool
}

func newLister(key string, rng *rand.Rand) *lister {
	return &lister{key: key, rng: rng, canceled: map[uint64]bool{}, acted: map[uint64]bool{}}
}

func (l *lister) at(url string) *client.Client { return newTrader(l.key, nil).at(url) }

// list places lists beside the traders, and cancels some, until the exchange dies.
func (l *lister) list(url string) {
	api := l.at(url)
	defer api.Close()
	for {
		if len(l.acked) > 0 && l.rng.IntN(3) == 0 {
			id := l.acked[l.rng.IntN(len(l.acked))].ListID
			err := api.CancelList(context.Background(), id)
			switch {
			case err == nil:
				l.canceled[id] = true
				l.told()
			case !saidNo(err):
				return
			}
			continue
		}

		orders := l.next()
		placed, err := api.PlaceOCO(context.Background(), orders[0], orders[1])
		switch {
		case err == nil:
			l.acked = append(l.acked, placed)
			l.told()
		case saidNo(err):
			l.problem = fmt.Errorf("list %s: %w", orders[0].ClientID, err)
			return
		default:
			l.unknown = append(l.unknown, orders)
			return
		}
	}
}

// next returns a list around the traders' prices: either of its orders may be the first to act,
// some at once.
func (l *lister) next() [2]*client.NewOrder {
	l.n++
	order := func(kind client.OrderType, price, stop int) *client.NewOrder {
		o := &client.NewOrder{
			Pair: "BTC/USDT", Side: client.Sell, Type: kind, TimeInForce: client.GTC,
			ClientID: fmt.Sprintf("l%d-%s", l.n, kind), Amount: client.Decimal(fmt.Sprintf("0.00%d", 1+l.rng.IntN(9))),
		}
		if price > 0 {
			o.Price = client.Decimal(fmt.Sprint(price))
		}
		if stop > 0 {
			o.Stop = client.Decimal(fmt.Sprint(stop))
		}
		return o
	}
	rests := order(client.LimitOrder, 59985+l.rng.IntN(25), 0)
	waits := order(client.StopLimitOrder, 59970, 59975+l.rng.IntN(25))
	if l.rng.IntN(2) == 0 {
		return [2]*client.NewOrder{waits, rests}
	}
	return [2]*client.NewOrder{rests, waits}
}

// check asks for every list that was acknowledged: it is there, and one of its orders at most
// has traded. A request that was never answered happened entirely or not at all.
func (l *lister) check(t *testing.T, url string) {
	t.Helper()
	api := l.at(url)
	defer api.Close()
	if l.problem != nil {
		t.Error(l.problem)
	}
	for _, orders := range l.unknown {
		found, err := api.OrderByClientID(t.Context(), orders[1].ClientID)
		if err != nil && !errors.Is(err, client.ErrOrderNotFound) {
			t.Errorf("list %s: %v", orders[0].ClientID, err)
			continue
		}
		placed, again := api.PlaceOCO(t.Context(), orders[0], orders[1])
		switch {
		case again != nil:
			t.Errorf("list %s again: %v", orders[0].ClientID, again)
			continue
		case err == nil && found.ListID != placed.ListID:
			t.Errorf("list %s has order %+v, and asked for again it is %d", orders[0].ClientID, found, placed.ListID)
		}
		l.acked = append(l.acked, placed)
	}
	l.unknown = nil

	for _, placed := range l.acked[max(0, len(l.acked)-mostListed):] {
		l.there(t, api, &placed)
	}
}

// mostListed is how many of the newest lists are looked at after each life.
const mostListed = 100

// there asks for a list.
func (l *lister) there(t *testing.T, api *client.Client, placed *client.PlacedList) {
	t.Helper()
	list, err := api.List(t.Context(), placed.ListID)
	if err != nil || len(list.Orders) != 2 {
		t.Errorf("list %d was acknowledged and is %+v: %v", placed.ListID, list, err)
		return
	}

	traded := 0
	for i := range list.Orders {
		o, other := &list.Orders[i], &list.Orders[1-i]
		if o.ClientID != placed.Orders[i].ClientID || o.OrderID != placed.Orders[i].OrderID {
			t.Errorf("list %d has %+v for %+v", placed.ListID, o, placed.Orders[i])
		}
		if o.Filled == "" || o.Filled == "0" {
			continue
		}
		traded++
		l.acted[placed.ListID] = true
		if other.Status != client.Killed {
			t.Errorf("an order of list %d has traded, and the other one is %s", placed.ListID, other.Status)
		}
	}
	if traded > 1 || l.canceled[placed.ListID] && list.Status != client.ListDone {
		t.Errorf("list %d: %d orders traded, canceled %t: %+v", placed.ListID, traded, l.canceled[placed.ListID], list)
	}
}
