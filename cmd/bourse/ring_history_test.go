package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bourse-exchange/bourse/client"
)

// deed is an operation on the only level of a market. All its orders are sells of one account, at one
// price, for one unit.
type deed uint8

const (
	// place adds an order behind the others.
	placeOne deed = iota + 1
	// cancelOne removes an order at any place.
	cancelOne
	// takeOne buys one unit: it fills the oldest order or is killed.
	takeOne
	// readOpen reads the open orders, readMoney the seller's balance, readBook the amount in the book.
	readOpen
	readMoney
	readBook
	// promoteOne puts a copy in the place of the exchange.
	promoteOne
)

var deeds = [...]string{
	placeOne: "place", cancelOne: "cancel", takeOne: "take", readOpen: "open orders", readMoney: "balance", readBook: "book",
	promoteOne: "promote",
}

// wanted is an operation, outcome its answer.
type (
	wanted struct {
		deed  deed
		order uint64
	}
	outcome struct {
		// yes is the answer of cancel and take; maybe is true of a cancel that was sent several times and
		// found no order at last, because an earlier one may have removed it.
		yes, maybe bool
		// order is the answer of place; locked and total are those of the balance, locked that of the book.
		order, locked, total uint64
		// open is the answer of the open orders, oldest first, in text.
		open string
		// unanswered is true if no answer came. losable is true of an answer that came later than the time as of
		// which the copy of the exchange was whole.
		unanswered, losable bool
	}
)

// level is a state of a market's level: total is what the seller has, highest the highest id of an order
// so far, open the ids of the open orders, oldest first.
type level struct {
	total, highest uint64
	open           string
}

// idText and ids change a list of ids into a comparable value and back.
func idText(ids []uint64) string {
	var b strings.Builder
	for _, id := range ids {
		_, _ = fmt.Fprintf(&b, "%d ", id)
	}
	return b.String()
}

func (l level) ids() (ids []uint64) {
	for text := range strings.FieldsSeq(l.open) {
		var id uint64
		_, _ = fmt.Sscan(text, &id)
		ids = append(ids, id)
	}
	return ids
}

// unknownID is the id in a level of an order that was placed without an answer.
const unknownID = 0

// shows reports whether a level's open orders may be read as a text. An unknown id may be any.
func (l level) shows(text string) bool {
	return slices.EqualFunc(l.ids(), level{open: text}.ids(), func(own, read uint64) bool { return own == read || own == unknownID })
}

// step reports whether an answer is possible in a state, and returns the next state.
func (l level) step(in wanted, out outcome) (bool, level) {
	ids := l.ids()
	switch in.deed {
	case placeOne:
		return out.order > l.highest, level{l.total, out.order, l.open + idText([]uint64{out.order})}
	case cancelOne:
		at := slices.Index(ids, in.order)
		if at < 0 {
			return !out.yes, l
		}
		return out.yes || out.maybe, level{l.total, l.highest, idText(slices.Delete(ids, at, at+1))}
	case takeOne:
		if len(ids) == 0 {
			return !out.yes, l
		}
		return out.yes, level{l.total - 1, l.highest, idText(ids[1:])}
	case readOpen:
		return l.shows(out.open), l
	case readMoney:
		return out.locked == uint64(len(ids)) && out.total == l.total, l
	default: // readBook
		return out.locked == uint64(len(ids)), l
	}
}

// levelFrom is the model of histories that begin in a state.
func levelFrom(first level) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(state, in, out any) (bool, any) {
			return state.(level).step(in.(wanted), out.(outcome))
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%s %+v: %+v", deeds[in.(wanted).deed], in, out) },
		DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}

// TestLevelModel checks that the model rejects impossible histories. Each history is a line of sequential
// operations.
func TestLevelModel(t *testing.T) {
	line := func(ops ...any) (history []porcupine.Operation) {
		for i := 0; i < len(ops); i += 2 {
			history = append(history, porcupine.Operation{Input: ops[i], Output: ops[i+1], Call: int64(i), Return: int64(i + 1)})
		}
		return history
	}
	good := []any{wanted{deed: placeOne}, outcome{order: 7}, wanted{deed: placeOne}, outcome{order: 9}, wanted{deed: takeOne}, outcome{yes: true}}
	for _, c := range []struct {
		why string
		in  wanted
		out outcome
		ok  bool
	}{
		{"the second one is left", wanted{deed: readOpen}, outcome{open: "9 "}, true},
		{"the first one was older", wanted{deed: readOpen}, outcome{open: "7 "}, false},
		{"one is held and one is sold", wanted{deed: readMoney}, outcome{locked: 1, total: 4}, true},
		{"two are held", wanted{deed: readMoney}, outcome{locked: 2, total: 4}, false},
		{"one was sold", wanted{deed: readMoney}, outcome{locked: 1, total: 5}, false},
		{"the book has one", wanted{deed: readBook}, outcome{locked: 2}, false},
		{"a sold one cannot be canceled", wanted{deed: cancelOne, order: 7}, outcome{yes: true}, false},
		{"a sold one was not found", wanted{deed: cancelOne, order: 7}, outcome{maybe: true}, true},
		{"an open one is found", wanted{deed: cancelOne, order: 9}, outcome{}, false},
		{"an earlier cancel found it", wanted{deed: cancelOne, order: 9}, outcome{maybe: true}, true},
		{"there is one to take", wanted{deed: takeOne}, outcome{}, false},
		{"ids rise", wanted{deed: placeOne}, outcome{order: 8}, false},
	} {
		if got := porcupine.CheckOperations(levelFrom(level{total: 5}), line(append(slices.Clone(good), c.in, c.out)...)); got != c.ok {
			t.Errorf("%s: %v", c.why, got)
		}
	}
}

const (
	// sellers have so much at first, takers enough for all of it.
	sellerHas, takerHas = 100_000, 10_000_000
	// probedPair is the market of the probes.
	probedPair = "TEST60/USDT"
	// pitClients is the number of clients of a pit.
	pitClients = 3
	// mostOpen is the limit of a pit's open orders. All fit into one page, because an order that is placed
	// between two pages moves others from the first to the second.
	mostOpen = 50
	// decideWithin is the timeout of checking a history.
	decideWithin = 30 * time.Second
)

// pit is a market with the accounts and the clients that trade there, and the history of a round.
type pit struct {
	pair, symbol string
	// ctx ends the clients' requests. told counts an acknowledgement.
	ctx  context.Context
	told func()
	// sellers and takers are the clients, with a key of an account each.
	sellers, takers     []*roamer
	sellerKey, takerKey string
	// books are the fills of both accounts, if they are followed.
	books []*fillBook
	began time.Time
	// start is the state at the round's begin.
	start level

	mu      sync.Mutex
	history []porcupine.Operation
	// placed are the latest orders, open is how many may be open or on their way, acked all acknowledged ones
	// of the round by client id.
	placed  []uint64
	open    int
	acked   map[string]uint64
	problem error
}

// openPit opens the accounts of a market. enter lets the clients in.
func openPit(ctx context.Context, operator *server, number int, told func()) (p *pit, accounts [2]int) {
	operator.t.Helper()
	symbol := fmt.Sprintf("TEST%02d", number)
	p = &pit{symbol: symbol, pair: symbol + "/USDT", ctx: ctx, told: told, began: time.Now(), acked: map[string]uint64{}}
	p.start.total = sellerHas
	accounts[0], p.sellerKey = operator.member("seller"+symbol, symbol, sellerHas)
	accounts[1], p.takerKey = operator.member("taker"+symbol, "USDT", takerHas)
	return p, accounts
}

// enter replaces the clients by new ones, each with a way to the exchange.
func (p *pit) enter(way func(key string, at int) *roamer) {
	p.sellers, p.takers = nil, nil
	for i := range pitClients {
		p.sellers, p.takers = append(p.sellers, way(p.sellerKey, i)), append(p.takers, way(p.takerKey, i))
	}
}

// newPit opens a market of a cluster, whose fills are followed.
func newPit(r *ring, u *uplink, number int) *pit {
	r.t.Helper()
	p, accounts := openPit(r.t.Context(), r.operator(), number, r.told)
	p.enter(r.roamer)
	p.books = []*fillBook{newFillBook(r.t, u, accounts[0], p.sellerKey), newFillBook(r.t, u, accounts[1], p.takerKey)}
	for _, b := range p.books {
		b.follow(r.t.Context(), u, rand.New(rand.NewPCG(r.rng.Uint64(), 1)))
	}
	return p
}

// member opens an account with a key and money of one asset.
func (s *server) member(name, asset string, amount int) (account int, key string) {
	s.t.Helper()
	account = operate[struct{ Account int }](s, "account", "create", name+"@example.org").Account
	id := fmt.Sprint(account)
	key = operate[struct {
		Secret string `json:"api_key"`
	}](s, "key", "create", id, "--name", "test", "--scopes", "read,trade").Secret
	operate[any](s, "credit", id, asset, fmt.Sprint(amount))
	return account, key
}

// work lets the clients trade until stop is closed.
func (p *pit) work(round int, seed uint64, stop <-chan struct{}) {
	var all sync.WaitGroup
	for i := range pitClients {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				in := wanted{deed: [...]deed{
					placeOne, placeOne, placeOne, placeOne, cancelOne, cancelOne, takeOne, takeOne, takeOne, readOpen, readMoney, readBook,
					readBook, readBook,
				}[rng.IntN(14)]}
				switch in.deed {
				case placeOne:
					if !p.mayPlace() {
						in.deed = takeOne
					}
				case cancelOne:
					in.order = p.pick(rng)
				default:
				}
				if !p.note(i, in, fmt.Sprintf("%d-%d-%d", round, i, n)) {
					return
				}
			}
		})
	}
	all.Wait()
}

// mayPlace reports whether the open orders have room for another one, and takes it.
func (p *pit) mayPlace() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == mostOpen {
		return false
	}
	p.open++
	return true
}

// latest is the number of orders from which one to cancel is picked.
const latest = 8

// pick returns one of the latest orders.
func (p *pit) pick(rng *rand.Rand) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.placed) == 0 {
		return 1 << 60 // no order has this id
	}
	return p.placed[rng.IntN(len(p.placed))]
}

// note carries out an operation and records its answer, or that none came before the pit's context ended. It returns
// false without an answer.
func (p *pit) note(i int, in wanted, name string) bool {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	from := time.Since(p.began)
	out, err := p.ask(ctx, i, in, name)
	to := time.Since(p.began)

	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil && p.ctx.Err() != nil {
		p.record(i, in, outcome{unanswered: true}, from, math.MaxInt64)
		return false
	}
	if err != nil {
		p.problem = errors.Join(p.problem, fmt.Errorf("%s, %s %+v: %w", p.pair, deeds[in.deed], in, err))
		return false
	}
	p.record(i, in, out, from, to)
	switch in.deed {
	case placeOne:
		p.placed = append(p.placed, out.order)
		p.placed = p.placed[max(0, len(p.placed)-latest):]
		p.acked[name] = out.order
	case takeOne, cancelOne:
		if out.yes {
			p.open--
		}
	default:
		return true
	}
	p.told()
	return true
}

// record appends an operation to the history. The caller holds mu.
func (p *pit) record(i int, in wanted, out outcome, from, to time.Duration) {
	p.history = append(p.history, porcupine.Operation{ClientId: i, Input: in, Output: out, Call: int64(from), Return: int64(to)})
}

// ask carries out an operation.
func (p *pit) ask(ctx context.Context, i int, in wanted, name string) (out outcome, err error) {
	seller := p.sellers[i]
	order := client.NewOrder{
		Pair: p.pair, Side: client.Sell, Type: client.LimitOrder, TimeInForce: client.GTC, Price: "10", Amount: "1", ClientID: name,
	}
	switch in.deed {
	case placeOne:
		err = seller.ask(ctx, func(ctx context.Context, api *client.Client) error {
			placed, err := api.Place(ctx, &order)
			out.order = placed.OrderID
			return err
		})
	case cancelOne:
		err = seller.ask(ctx, func(ctx context.Context, api *client.Client) error { return api.Cancel(ctx, in.order) })
		if out.yes = err == nil; errors.Is(err, client.ErrOrderNotFound) {
			out.maybe, err = seller.tries > 1, nil
		}
	case takeOne:
		order.Side, order.TimeInForce = client.Buy, client.IOC
		err = p.takers[i].ask(ctx, func(ctx context.Context, api *client.Client) error {
			placed, err := api.Place(ctx, &order)
			if out.yes = placed.Status == client.Filled; err == nil && !out.yes && placed.Status != client.Killed {
				panic(fmt.Sprintf("an order ended as %+v", placed))
			}
			return err
		})
	case readOpen:
		err = seller.ask(ctx, func(ctx context.Context, api *client.Client) error {
			var ids []uint64
			for o, err := range api.OpenOrders(ctx, p.pair) {
				if err != nil {
					return err
				}
				ids = append(ids, o.OrderID)
			}
			slices.Reverse(ids)
			out.open = idText(ids)
			return nil
		})
	case readMoney:
		err = seller.ask(ctx, func(ctx context.Context, api *client.Client) error { return p.money(ctx, api, &out) })
	default: // readBook, at another node than the one that was asked last
		seller.moveOn()
		err = seller.ask(ctx, func(ctx context.Context, api *client.Client) error {
			book, err := api.OrderBook(ctx, p.pair, 0)
			if out.locked = 0; err == nil && len(book.Asks) > 0 {
				out.locked, err = units(book.Asks[0].Amount)
			}
			return err
		})
	}
	return out, err
}

// money reads what the seller has of the market's asset.
func (p *pit) money(ctx context.Context, api *client.Client, out *outcome) error {
	for b, err := range api.Balances(ctx) {
		if err != nil {
			return err
		}
		if b.Asset != p.symbol {
			continue
		}
		if out.locked, err = units(b.Locked); err == nil {
			out.total, err = units(b.Total)
		}
		return err
	}
	return fmt.Errorf("no balance of %s", p.symbol)
}

// units returns a whole number.
func units(d client.Decimal) (n uint64, err error) {
	whole, rest, _ := strings.Cut(string(d), ".")
	if strings.Trim(rest, "0") != "" {
		return 0, fmt.Errorf("%s is not whole", d)
	}
	_, err = fmt.Sscan(whole, &n)
	return n, err
}

// decide reads the state at a round's end, and wants the history to be linearizable up to it. Every
// acknowledged order must be there under its client id.
func (p *pit) decide(t *testing.T) {
	t.Helper()
	p.conclude(t, levelFrom(p.start))
	for _, id := range p.acked {
		p.start.highest = max(p.start.highest, id)
	}
	p.present(t)
	clear(p.acked)
}

// conclude reads the state at a round's end, wants the history to be possible in a model, and begins the next one with
// what it has read.
func (p *pit) conclude(t *testing.T, model porcupine.Model) {
	t.Helper()
	p.note(0, wanted{deed: readOpen}, "")
	p.note(0, wanted{deed: readMoney}, "")
	if p.problem != nil {
		t.Fatal(p.problem)
	}
	result, info := porcupine.CheckOperationsVerbose(model, p.history, decideWithin)
	if result != porcupine.Ok {
		file := filepath.Join(t.ArtifactDir(), "history.html")
		t.Errorf("%s: what %d clients were told makes no sense in any order (%s); see %s %v",
			p.pair, pitClients, result, file, porcupine.VisualizePath(model, info, file))
		t.Logf("the round began with %+v", p.start)
		for _, o := range p.history {
			t.Logf("client %d, %d to %d µs: %s", o.ClientId, o.Call/1000, o.Return/1000, model.DescribeOperation(o.Input, o.Output))
		}
	}

	n := len(p.history)
	p.start.open, p.start.total = p.history[n-2].Output.(outcome).open, p.history[n-1].Output.(outcome).total
	p.open = len(p.start.ids())
	p.history = p.history[:0]
}

// present asks for each acknowledged order of the round.
func (p *pit) present(t *testing.T) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(p.acked)) {
		var o client.Order
		err := p.sellers[0].ask(t.Context(), func(ctx context.Context, api *client.Client) (err error) {
			o, err = api.OrderByClientID(ctx, name)
			return err
		})
		if err != nil || o.OrderID != p.acked[name] {
			t.Errorf("%s: order %s was acknowledged as %d and is %d: %v", p.pair, name, p.acked[name], o.OrderID, err)
		}
	}
}
