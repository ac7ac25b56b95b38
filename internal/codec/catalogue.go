package codec

import (
	"bytes"

	"github.com/bourse-exchange/bourse"
)

// Genesis codes the identity of an exchange.
func (c *Codec) Genesis(g *bourse.Genesis) {
	c.Fixed(g.Exchange[:])
	c.Bool(&g.Sandbox)
	Uint32(c, &g.Rules)
}

// Asset codes the definition of an asset; its id is its index.
func (c *Codec) Asset(a *bourse.Asset) {
	Text(c, &a.Symbol, maxSymbol)
	Text(c, &a.Name, maxName)
	Uint8(c, &a.Scale)
	c.Bool(&a.Enabled)
	c.Bool(&a.Experimental)
}

// Network codes the definition of a network; its id is its index.
func (c *Codec) Network(n *bourse.Network) {
	Text(c, &n.Symbol, maxSymbol)
	Text(c, &n.Name, maxName)
	Text(c, &n.MemoName, maxName)
	c.Bool(&n.Enabled)
	c.Bool(&n.Experimental)
}

// maxSymbol and maxName bound the texts of definitions, in bytes.
const (
	maxSymbol = 32
	maxName   = 128
)

// NetworkAsset codes an asset on a network.
func (c *Codec) NetworkAsset(n *bourse.NetworkAsset) {
	Uint16(c, &n.Asset)
	Uint16(c, &n.Network)
	Uint8(c, &n.Precision)
	Uint32(c, &n.Confirms)
	Text(c, &n.Contract, maxName)
	c.Amount(&n.MinDeposit)
	c.Amount(&n.MinWithdrawal)
	c.Amount(&n.FeeMin)
	c.Amount(&n.FeeMax)
	c.Bool(&n.Enabled)
}

// Market codes the definition of a market. Its id, pair and units are derived; its state
// is another command's.
func (c *Codec) Market(m *bourse.Market) {
	Uint16(c, &m.Base)
	Uint16(c, &m.Quote)
	Uint8(c, &m.BasePrecision)
	Uint8(c, &m.QuotePrecision)
	c.Bool(&m.Enabled)
	Uint8(c, &m.SelfTrade)
	c.Amount(&m.MinOrder)
	Uint64(c, &m.InitialPrice)
	Uint64(c, &m.MaxPrice)
	Uint32(c, &m.Maker)
	Uint32(c, &m.Taker)
	Uint32(c, &m.Collar)
	Uint32(c, &m.Band)
}

// FeeSchedule codes a schedule of fees.
func (c *Codec) FeeSchedule(s *bourse.FeeSchedule) {
	Uint16(c, &s.VolumeAsset)
	levels := List(c, &s.Levels, minFeeLevel)
	for i := range levels {
		l := &levels[i]
		c.Amount(&l.Volume)
		Uint32(c, &l.Maker)
		Uint32(c, &l.Taker)
	}
}

// minFeeLevel is the number of bytes of a level of fees.
const minFeeLevel = 24

// Tiers codes tiers.
func (c *Codec) Tiers(t *bourse.Tiers) {
	tiers := List(c, &t.List, minTier)
	for i := range tiers {
		Text(c, &tiers[i].Name, bourse.MaxTierName)
		limits := List(c, &tiers[i].Limits, minTierLimits)
		for j := range limits {
			l := &limits[j]
			Uint16(c, &l.Asset)
			c.limit(&l.Deposit)
			c.limit(&l.Trade)
			c.limit(&l.Withdrawal)
		}
	}
}

// minTier and minTierLimits are the least numbers of bytes of a tier and of limits of an asset.
const (
	minTier       = 2
	minTierLimits = 8
)

func (c *Codec) limit(l *bourse.FlowLimit) {
	c.bound(&l.Day)
	c.bound(&l.Month)
}

func (c *Codec) bound(b *bourse.Bound) {
	if c.Bool(&b.Set); b.Set {
		c.Amount(&b.Most)
	}
}

// Access codes the access of a key, a session or a person.
func (c *Codec) Access(a *bourse.Access) {
	c.Fixed(a.Digest[:])
	Uint64(c, &a.Expires)
}

// Person codes a person's access, if given, which does not expire.
func (c *Codec) Person(a **bourse.Access) {
	given := *a != nil
	if c.Bool(&given); given {
		c.Fixed(New(c, a).Digest[:])
	}
}

// ClientID codes a client id, or none.
func (c *Codec) ClientID(id *bourse.ClientID) {
	if !c.reading {
		n := bytes.IndexByte(id[:], 0)
		if n < 0 {
			n = len(id)
		}
		c.Fixed(id[:c.length(n, len(id))])
		return
	}
	*id = bourse.ClientID{}
	if b := c.take(c.length(0, len(id))); len(b) > 0 {
		var err error
		*id, err = bourse.ParseClientID(string(b))
		c.Want(err == nil)
	}
}

// NewOrder codes the request for an order.
func (c *Codec) NewOrder(p *bourse.NewOrder) {
	Uint16(c, &p.Market)
	Uint8(c, &p.Side)
	Uint8(c, &p.Type)
	Uint8(c, &p.TIF)
	Uint8(c, &p.SelfTrade)
	c.Bool(&p.PostOnly)
	Uint64(c, &p.Price)
	Uint64(c, &p.Stop)
	Uint64(c, &p.Lots)
	c.Amount(&p.Total)
	c.ClientID(&p.ClientID)
}

// NewList codes the request for a list of orders.
func (c *Codec) NewList(l *bourse.NewList) {
	Uint8(c, &l.Type)
	orders := List(c, &l.Orders, minNewOrder)
	for i := range orders {
		c.NewOrder(&orders[i])
	}
}

// minNewOrder is the number of bytes of the request for an order without a client id.
const minNewOrder = 51

// Outcome codes the first outcome of a request.
func (c *Codec) Outcome(o *bourse.Outcome) {
	Uint8(c, &o.Reason)
	Uint8(c, &o.Cancel)
	Uint8(c, &o.Status)
	Uint64(c, &o.ID)
	Uint64(c, &o.Filled)
	Uint8(c, &o.Second.Status)
	Uint64(c, &o.Second.Filled)
}
