package hostile

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// Bounds of a history. The cost of checking grows with the number of concurrent
// operations and the length. Clients therefore meet after each round, when the level is
// empty, and each round is a history of its own.
const (
	linearClients = 8
	linearRound   = 25
	linearRounds  = 80
)

// TestHistories lets clients place, take, cancel and read concurrently while another one
// listens to the stream. All answers must be linearizable: some order puts each operation
// between its request and its answer and agrees with the changes in the stream.
func TestHistories(t *testing.T) {
	rounds := linearRounds
	if testing.Short() {
		rounds /= 10
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	l := contest(t, "TEST10")
	var makers, takers [linearClients]account
	for i := range linearClients {
		makers[i], takers[i] = *l.maker, *l.taker
		makers[i].client, takers[i].client = newClient(), newClient()
		t.Cleanup(makers[i].client.CloseIdleConnections)
		t.Cleanup(takers[i].client.CloseIdleConnections)
	}
	stream := l.listen(t)
	for round := range rounds {
		from := l.bookSeq(t)
		var work sync.WaitGroup
		for client := range linearClients {
			random := rand.New(rand.NewPCG(seed, uint64(round*linearClients+client)))
			work.Go(func() {
				for range linearRound {
					l.operate(t, &makers[client], &takers[client], client, random)
				}
			})
		}
		work.Wait()
		l.decide(t, l.overhear(t, stream, from))
	}
}

// listener is a subscriber of a book.
type listener struct {
	mu   sync.Mutex
	list []message
	err  error
}

// listen subscribes to the market's book.
func (l *contested) listen(t *testing.T) *listener {
	t.Helper()
	s, err := attacked.subscribe(l.pair + "@orderBook")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	heard := &listener{}
	go func() {
		for {
			m, err := s.next()
			heard.mu.Lock()
			heard.list, heard.err = append(heard.list, m), err
			heard.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return heard
}

func (l *contested) bookSeq(t *testing.T) uint64 {
	t.Helper()
	book, err := attacked.book(l.pair)
	if err != nil {
		t.Fatal(err)
	}
	return book.Seq
}

// overhear returns the amounts of the level after each change of a round.
func (l *contested) overhear(t *testing.T, h *listener, from uint64) (amounts []uint64) {
	t.Helper()
	to := l.bookSeq(t)
	arrived := func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.err != nil || to == from || len(h.list) > 0 && h.list[len(h.list)-1].Seq >= to
	}
	if !eventually(patience, arrived) {
		t.Fatalf("of the changes up to %d nothing was heard", to)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.list {
		if m.Seq <= from || m.Seq > to {
			continue
		}
		many, err := whole(m.Amount)
		if err != nil || m.Seq != from+uint64(len(amounts))+1 {
			t.Fatalf("message %d came behind %d: %+v %v", m.Seq, from+uint64(len(amounts)), m, err)
		}
		amounts = append(amounts, many)
	}
	h.list = nil
	return amounts
}

// decide checks a round.
func (l *contested) decide(t *testing.T, heard []uint64) {
	t.Helper()
	l.note(t, l.maker, l.taker, 0, input{act: list})
	if t.Failed() {
		t.FailNow()
	}
	model := levelModel(heard)
	result, info := porcupine.CheckOperationsVerbose(model, l.history, checkWithin)
	if result != porcupine.Ok {
		file := filepath.Join(t.ArtifactDir(), "history.html")
		t.Fatalf("%s: what was told makes no sense in any order; see %s %v", result, file, porcupine.VisualizePath(model, info, file))
	}
	l.history = l.history[:0]
	l.maker.must(t, "/open_orders/cancel_all", nil)
	l.maker.hasHeld(t, l.symbol, "0")
}

// contested is a level of a market, with the history of a round.
type contested struct {
	maker, taker *account
	symbol, pair string
	began        time.Time

	mu      sync.Mutex
	history []porcupine.Operation
	// ids are the latest orders, open or not.
	ids []uint64
}

func contest(t *testing.T, symbol string) *contested {
	return &contested{
		maker: attacked.open(t, "1000000 "+symbol), taker: attacked.open(t, "10000000 USDT"),
		symbol: symbol, pair: symbol + "/USDT", began: time.Now(),
	}
}

// remembered is the number of the latest orders from which one is picked.
const remembered = 16

// pick returns one of the latest orders.
func (l *contested) pick(random *rand.Rand) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ids) == 0 {
		return 1 << 60 // no order has this id
	}
	return l.ids[random.IntN(len(l.ids))]
}

// operate carries out a random operation and records it.
func (l *contested) operate(t *testing.T, maker, taker *account, client int, random *rand.Rand) {
	in := input{act: [...]act{place, place, place, place, cancel, cancel, take, take, take, depth, depth, held, list, look}[random.IntN(14)]}
	if in.act == cancel || in.act == look {
		in.obid = l.pick(random)
	}
	l.note(t, maker, taker, client, in)
}

// note carries out an operation and records its answer.
func (l *contested) note(t *testing.T, maker, taker *account, client int, in input) {
	from := time.Since(l.began)
	out, err := l.ask(maker, taker, in)
	to := time.Since(l.began)
	if err != nil {
		t.Errorf("%s: %v", acts[in.act], err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history = append(l.history, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: int64(from), Return: int64(to)})
	if in.act == place {
		l.ids = append(l.ids, out.obid)
		l.ids = l.ids[max(0, len(l.ids)-remembered):]
	}
}

// ask carries out an operation.
func (l *contested) ask(maker, taker *account, in input) (out told, err error) {
	var got answer
	switch in.act {
	case place:
		got, err = maker.ask("/open_orders/new", limit(l.pair, "SELL", "10", "1"))
		out.obid = got.Obid
	case cancel:
		got, err = maker.ask("/open_orders/cancel", fields{"obid": in.obid})
		if out.yes = got.Success; got.Error == "Order not found" {
			got.Success = true
		}
	case take:
		got, err = taker.ask("/open_orders/new", immediate(l.pair, "BUY", "10", "1"))
		if out.yes = got.Status == "FILLED"; !out.yes && got.Status != "KILLED" {
			err = fmt.Errorf("an order ended as %+v", got)
		}
	case depth:
		if got, err = taker.ask("/orderbook", fields{"pair": l.pair}); err == nil && len(got.Asks) > 0 {
			out.many, err = whole(got.Asks[0].Amount)
		}
	case held:
		var all map[string]balance
		all, err = maker.balances()
		if got.Success = true; err == nil {
			out.many, err = whole(all[l.symbol].Locked)
		}
	case list:
		got, err = maker.ask("/open_orders", fields{"offset": 0, "filter_pair": l.pair})
		for _, o := range got.Orders {
			out.open = append(out.open, o.Obid)
		}
	case look:
		got, err = maker.ask("/order", fields{"obid": in.obid})
		if out.yes = got.Order.Status == "OPEN"; got.Error == "Order not found" {
			got.Success = true
		}
	}
	if err == nil && !got.Success {
		err = fmt.Errorf("refused: %s", got.Error)
	}
	return out, err
}

// whole parses an amount that must be an integer.
func whole(text string) (uint64, error) {
	r := rat(text)
	if !r.IsInt() {
		return 0, fmt.Errorf("%s is not whole", text)
	}
	return strconv.ParseUint(r.Num().String(), 10, 64)
}
