package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"time"
)

// recordSize is the size of a record in bytes: {u8 kind, u8 side, u16 0, u32 user, u64
// id, i64 price, i64 quantity}, little-endian.
const recordSize = 32

// Kinds of records.
const (
	addGTC = iota
	addIOC
	cancel
	addMarket
)

const (
	// middle is the price to which the market reverts.
	middle = 100_000
	users  = 1000
	// Below manyResting resting orders the book is shallow ticks deep on a side, else
	// deep.
	manyResting = 10_000
	shallow     = 750
	deep        = 5000
)

// source is a splitmix64 generator.
type source struct{ state uint64 }

func (s *source) next() uint64 {
	s.state += 0x9E3779B97F4A7C15
	z := s.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below returns a number in [0, n).
func (s *source) below(n int) int { return int(s.next() % uint64(n)) }

// unit returns a number in [0, 1).
func (s *source) unit() float64 { return float64(s.next()>>11) / (1 << 53) }

// generator makes the commands of a market: a prefill, then passive and marketable
// orders, cancels, IOC and market orders around a random price. The order of its draws is
// the workload's definition: a seed gives one file.
type generator struct {
	random  source
	book    *book
	resting int
	depth   float64
	price   float64
	id      uint64
	// gone are ids of orders that never rested, for failing cancels.
	gone []uint64
	out  *bufio.Writer
}

// about is the JSON file of a workload.
type about struct {
	Prefill int `json:"prefill"`
	N       int `json:"n"`
	Users   int `json:"users"`
	totals
	Resting int `json:"resting_end"`
}

// generate writes a workload of n commands around resting resting orders.
func generate(to io.Writer, resting, n int, seed uint64) (about, error) {
	g := &generator{
		random: source{seed}, book: newBook(), resting: resting, depth: shallow, price: middle,
		out: bufio.NewWriterSize(to, 1<<20),
	}

	if resting > manyResting {
		g.depth = deep
	}
	a := about{N: n, Users: users}

	for ; len(g.book.live) < resting; a.Prefill++ {
		g.limit(false)
	}
	g.book.totals = totals{}

	for i := range n {
		if i%128 == 0 {
			g.price += (g.random.unit()-0.5)*1.2 - (g.price-middle)*0.00002
		}
		g.step()
	}
	a.totals, a.Resting = g.book.totals, len(g.book.live)

	return a, g.out.Flush()
}

// step makes a command.
func (g *generator) step() {
	switch x := g.random.unit(); {
	case x < 0.04:
		g.immediate(addIOC)
	case x < 0.05:
		g.immediate(addMarket)
	case x < 0.10:
		g.limit(true)
	case g.crowded():
		g.cancel()
	default:
		g.limit(false)
	}
	if len(g.gone) > 1<<16 {
		g.gone = g.gone[1<<15:]
	}
}

// crowded decides between a cancel and a passive order, so that the number of resting
// orders stays near its target.
func (g *generator) crowded() bool {
	n := len(g.book.live)
	return n > g.resting || n > g.resting*9/10 && g.random.next()&1 == 0
}

// limit places a GTC order at the best price of the other side or at an offset from the
// middle.
func (g *generator) limit(marketable bool) {
	g.id++
	side := uint8(g.random.next() & 1)
	qty := int64(1 + g.random.below(100))
	user := uint32(1 + g.random.below(users))
	price := int64(math.Round(g.price))

	if marketable {
		if best := g.book.best[1-side]; best > 0 && best < maxTick {
			price = best
		}
	} else {
		price += g.offset() * [2]int64{-1, 1}[side]
	}

	g.emit(record{addGTC, side, user, g.id, price, qty})
	g.book.place(&order{id: g.id, price: price, qty: qty, user: user, side: side}, true)
}

// offset returns the distance of a passive order from the middle: a power law with
// exponent 1.5, cut off at the depth.
func (g *generator) offset() int64 {
	const a = 0.5
	u := g.random.unit()
	return int64(math.Pow(1-u*(1-math.Pow(g.depth, -a)), -1/a))
}

// immediate places an order that never rests.
func (g *generator) immediate(kind uint8) {
	g.id++
	side := uint8(g.random.next() & 1)
	qty := int64(1 + g.random.below(150))
	user := uint32(1 + g.random.below(users))

	price := int64(0)
	if kind == addIOC {
		// The best price of the other side, or up to two ticks through it.
		price = g.book.best[1-side] + int64(g.random.below(3))*[2]int64{1, -1}[side]
		if price >= maxTick || price <= 0 {
			price = int64(g.price)
		}
	}

	g.emit(record{kind, side, user, g.id, price, qty})
	g.book.place(&order{price: price, qty: qty, side: side}, false)
	g.gone = append(g.gone, g.id)
}

// cancel cancels a live order, or one in fifty times an order that is gone.
func (g *generator) cancel() {
	if g.random.below(50) == 0 && len(g.gone) > 0 {
		g.emit(record{kind: cancel, user: 1, id: g.gone[g.random.below(len(g.gone))]})
		return
	}
	o := g.book.live[g.random.below(len(g.book.live))]
	g.emit(record{kind: cancel, side: o.side, user: o.user, id: o.id})
	g.book.remove(o)
}

// record is one command, as the format has it.
type record struct {
	kind, side uint8
	user       uint32
	id         uint64
	price, qty int64
}

func (g *generator) emit(c record) {
	var r [recordSize]byte
	r[0], r[1] = c.kind, c.side
	binary.LittleEndian.PutUint32(r[4:], c.user)
	binary.LittleEndian.PutUint64(r[8:], c.id)
	binary.LittleEndian.PutUint64(r[16:], uint64(c.price))
	binary.LittleEndian.PutUint64(r[24:], uint64(c.qty))
	_, _ = g.out.Write(r[:]) // Flush returns the error
}

func writeWorkload(args []string) error {
	var resting, n int
	var seed uint64
	var path string
	err := flags("workload", args, func(f *flag.FlagSet) {
		f.IntVar(&resting, "resting", 1000, "about how many orders rest")
		f.IntVar(&n, "n", 5_000_000, "commands behind the prefill")
		f.Uint64Var(&seed, "seed", 1, "seed")
		f.StringVar(&path, "o", "w.bin", "file to write; FILE.json gets the totals")
	})
	if err != nil {
		return err
	}
	return writeFiles(path, resting, n, seed)
}

// writeFiles writes a workload and its totals.
func writeFiles(path string, resting, n int, seed uint64) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	a, err := generate(file, resting, n, seed)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path+".json", append(text, '\n'), 0o644)
}

// measureBook measures the reference book: an upper bound for products, because it holds
// no money.
func measureBook(args []string) error {
	var path string
	err := flags("book", args, func(f *flag.FlagSet) {
		f.StringVar(&path, "workload", "w1k.bin", "file of the workload")
	})
	if err != nil {
		return err
	}

	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}

	text, err := os.ReadFile(path + ".json")
	if err != nil {
		return err
	}

	var want about
	if err := json.Unmarshal(text, &want); err != nil {
		return err
	}

	r := replayer{book: newBook(), orders: make([]*order, len(data)/recordSize+1)}
	r.apply(data[:want.Prefill*recordSize])
	r.book.totals = totals{}
	measured := data[want.Prefill*recordSize:]
	began := time.Now()
	r.apply(measured)
	spent := time.Since(began)

	if r.book.totals != want.totals {
		return fmt.Errorf("the totals are %+v, must be %+v", r.book.totals, want.totals)
	}
	return printJSON(map[string]float64{"commands_per_second": float64(len(measured)/recordSize) / spent.Seconds()})
}

// replayer applies a workload's records.
type replayer struct {
	book *book
	// orders is indexed by id.
	orders []*order
}

func (r *replayer) apply(data []byte) {
	for ; len(data) > 0; data = data[recordSize:] {
		le := binary.LittleEndian
		id := le.Uint64(data[8:])
		if data[0] == cancel {
			if o := r.orders[id]; o != nil && o.qty > 0 {
				r.book.remove(o)
				o.qty = 0
			}
			continue
		}
		o := &order{id: id, price: int64(le.Uint64(data[16:])), qty: int64(le.Uint64(data[24:])), side: data[1]}
		if data[0] == addGTC {
			r.orders[id] = o
		}
		r.book.place(o, data[0] == addGTC)
	}
}
