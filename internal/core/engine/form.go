package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
	"github.com/bourse-exchange/bourse/internal/core/book"
	"github.com/bourse-exchange/bourse/internal/core/ledger"
)

// The canonical form of the engine's own types. Snapshot writes and Restore reads them.

// codeGenesis codes the engine's sequence and time, and the identity and incarnation of the exchange.
func (e *Engine) codeGenesis(c *codec.Codec) {
	codec.Uint64(c, &e.seq)
	codec.Uint64(c, &e.now)
	opened := e.genesis != nil
	if c.Bool(&opened); opened {
		c.Genesis(codec.New(c, &e.genesis))
		codec.Uint32(c, &e.rules)
		codec.Uint32(c, &e.incarnation)
	}
}

func (m *market) code(c *codec.Codec) {
	c.Market(m.Market)
	codec.Uint8(c, &m.State)
	codec.Uint64(c, &m.last)
	codec.Uint64(c, &m.trades)
	codec.Uint64(c, &m.levelSeq)
}

// codeSchedule codes the schedule of fees, if there is one, and the pass that sets levels.
func (e *Engine) codeSchedule(c *codec.Codec) {
	f := &e.fees
	defined := f.schedule != nil
	if c.Bool(&defined); defined {
		c.FeeSchedule(codec.New(c, &f.schedule))
		codec.Uint32(c, &f.pass)
	}
}

// code codes a volume without its empty days.
func (v *volume) code(c *codec.Codec) {
	codec.Uint32(c, &v.account)
	codec.Uint32(c, &v.day)
	c.Amount(&v.today)

	var traded uint32 // a bit for each day
	for i := range v.days {
		if !v.days[i].IsZero() {
			traded |= 1 << i
		}
	}
	codec.Uint32(c, &traded)
	for i := range v.days {
		if traded&(1<<i) != 0 {
			c.Amount(&v.days[i])
		}
	}
}

// codeTiers codes the tiers, if there are any.
func (e *Engine) codeTiers(c *codec.Codec) {
	defined := e.tiers.defined != nil
	if c.Bool(&defined); defined {
		c.Tiers(codec.New(c, &e.tiers.defined))
	}
}

// code codes a window as it is in an hour.
func (m *moved) code(c *codec.Codec, hour uint32) {
	codec.Uint16(c, &m.asset)
	codec.Uint8(c, &m.flow)
	m.window.Code(c, hour)
}

func (a *account) code(c *codec.Codec) {
	c.Fixed(a.token[:])
	c.Fixed(a.person[:])
	c.Bool(&a.frozen)
	codec.Uint64(c, &a.held)
	c.Bool(&a.ownFees)
	codec.Uint8(c, &a.level)
	c.Bool(&a.fixed)
	codec.Uint8(c, &a.tier)
	codec.Uint32(c, &a.maker)
	codec.Uint32(c, &a.taker)
	codec.Uint64(c, &a.orders)
	codec.Uint64(c, &a.fills)
	codec.Uint64(c, &a.movements)
	codec.Uint64(c, &a.streams.Orders)
	codec.Uint64(c, &a.streams.Balances)
	codec.Uint64(c, &a.streams.Transfers)
}

func (k *key) code(c *codec.Codec) {
	codec.Uint64(c, &k.id)
	codec.Uint32(c, &k.account)
	c.Fixed(k.token[:])
	c.Access(&k.Access)
}

func codeOwn(c *codec.Codec, o *ledger.Own) {
	codec.Uint32(c, &o.Account)
	c.Amount(&o.Owes)
	c.Amount(&o.Has)
}

// codeBalance codes a customer's balance; account zero ends the balances of an asset.
func codeBalance(c *codec.Codec, b *bourse.Balance) {
	if codec.Uint32(c, &b.Account); b.Account != 0 {
		c.Amount(&b.Available)
		c.Amount(&b.Held)
	}
}

// extra holds the fields of an open order that few orders have.
type extra struct {
	stop book.Stop
	// list is the id of the order's list.
	list bourse.OrderID
	// prevented is the quantity that self-trade prevention took.
	prevented bourse.Lots
}

// codeOrder codes an open order, and those fields that it has of more.
func codeOrder(c *codec.Codec, o *book.Order, more *extra) {
	codec.Uint64(c, &o.ID)
	codec.Uint32(c, &o.Account)
	codec.Uint16(c, &o.Market)
	codec.Uint8(c, &o.Side)
	codec.Uint8(c, &o.State)
	codec.Uint8(c, &o.Type)
	codec.Uint8(c, &o.TIF)
	codec.Uint8(c, &o.SelfTrade)
	c.Bool(&o.PostOnly)
	c.Bool(&o.Triggered)
	c.Bool(&o.Named)
	codec.Uint8(c, &o.Changed)
	c.Bool(&o.Listed)
	codec.Uint64(c, &o.Price)
	codec.Uint64(c, &o.Lots)
	codec.Uint64(c, &o.Filled)
	codec.Uint64(c, &o.Time)
	codec.Uint64(c, &o.Ordinal)
	if o.Type.HasStop() {
		codec.Uint64(c, &more.stop.Price)
		c.Amount(&more.stop.Total)
	}
	if o.Listed {
		codec.Uint64(c, &more.list)
	}
	if o.Changed.Has(book.Prevented) {
		codec.Uint64(c, &more.prevented)
	}
}

func (s *partialCancel) code(c *codec.Codec) {
	codec.Uint32(c, &s.account)
	codec.Uint16(c, &s.market)
	codec.Uint64(c, &s.upTo)
}

func (d *deadman) code(c *codec.Codec) {
	codec.Uint32(c, &d.account)
	codec.Uint16(c, &d.market)
	codec.Uint64(c, &d.connection)
	codec.Uint64(c, &d.expires)
	codec.Uint64(c, &d.upTo)
}

// code codes a taken client id without its time of end.
func (n *name) code(c *codec.Codec) {
	codec.Uint32(c, &n.account)
	c.NewOrder(&n.place)
	c.Bool(&n.replaces)
	codec.Uint64(c, &n.replaced)
	listed := n.list != nil
	if c.Bool(&listed); listed {
		c.NewList(codec.New(c, &n.list))
	}
	c.Outcome(&n.outcome)
}
