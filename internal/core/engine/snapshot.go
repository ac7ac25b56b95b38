package engine

import (
	"crypto/sha256"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
	"github.com/bourse-exchange/bourse/internal/core/book"
	"github.com/bourse-exchange/bourse/internal/core/ordered"
)

// stateVersion is the version of the canonical form.
const stateVersion = 8

// Snapshot writes the whole state in its canonical form: emit receives the bytes in order
// and must not keep them. The form depends on the state alone, never on its layout in
// memory.
func (e *Engine) Snapshot(emit func([]byte)) {
	c := codec.NewWriter(emit)
	version := uint32(stateVersion)
	codec.Uint32(c, &version)
	e.codeGenesis(c)
	e.writeCatalogue(c)
	e.writeAccounts(c)
	e.writeVolumes(c)
	e.writeMoved(c)
	e.writeLedger(c)
	e.writeOrders(c)
	e.writeDeadmen(c)
	e.writeNames(c)
	e.custody.Write(c)
	e.writeOperators(c)
	c.Flush()
}

// StateHash returns the SHA-256 of the canonical form.
func (e *Engine) StateHash() [32]byte {
	h := sha256.New()
	e.Snapshot(func(b []byte) { h.Write(b) })
	return [32]byte(h.Sum(nil))
}

func (e *Engine) writeCatalogue(c *codec.Codec) {
	c.Count(len(e.assets) - 1)
	for _, a := range e.assets[1:] {
		c.Asset(a)
	}
	c.Count(len(e.networks) - 1)
	for _, n := range e.networks[1:] {
		c.Network(n)
	}
	c.Count(len(e.networkAssets))
	for _, n := range e.networkAssets {
		c.NetworkAsset(n)
	}
	c.Count(len(e.markets) - 1)
	for _, m := range e.markets[1:] {
		m.code(c)
	}
	e.codeSchedule(c)
	e.codeTiers(c)
}

func (e *Engine) writeAccounts(c *codec.Codec) {
	c.Count(int(e.lastAccount))
	for id := bourse.AccountID(1); id <= e.lastAccount; id++ {
		e.accounts.At(uint32(id)).code(c)
	}
	writeKeys(c, &e.keys)
	writeKeys(c, &e.sessions)
}

func (e *Engine) writeVolumes(c *codec.Codec) {
	c.Count(int(e.fees.used) - len(e.fees.free))
	for id := bourse.AccountID(1); id <= e.lastAccount; id++ {
		if v := e.volume(id); v != nil {
			v.code(c)
		}
	}
}

func writeKeys(c *codec.Codec, set *keys) {
	codec.Uint64(c, &set.last)
	c.Count(len(set.byID))
	for _, k := range set.sorted() {
		k.code(c)
	}
}

func (e *Engine) writeLedger(c *codec.Codec) {
	for _, a := range e.assets[1:] {
		own := e.ledger.Own(a.ID)
		c.Count(len(own))
		for i := range own {
			codeOwn(c, &own[i])
		}

		for b := range e.ledger.Customers(a.ID) {
			codeBalance(c, &b)
		}
		codeBalance(c, &bourse.Balance{})
	}
}

// writeOrders writes all open orders by id, the lists that pair them, then the ids of each
// queue that trades depend on, because queues have their own order.
func (e *Engine) writeOrders(c *codec.Codec) {
	codec.Uint64(c, &e.lastOrder)
	c.Count(e.arena.Len())
	for s := range e.arena.All {
		o := e.arena.At(s)
		more := extra{stop: e.stop(s, o), list: e.listOf(s, o), prevented: e.arena.Prevented(s)}
		codeOrder(c, o, &more)
	}
	e.writePairs(c)

	for _, m := range e.markets[1:] {
		for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
			for _, level := range m.book.Side(side).Levels {
				e.writeQueue(c, level.Head)
			}
			endQueue(c)
		}
		e.writeQueue(c, m.book.Queued())
		endQueue(c)
	}

	c.Count(len(e.partials))
	for i := range e.partials {
		e.partials[i].code(c)
	}
}

// writePairs writes the lists of which neither order has won, by id.
func (e *Engine) writePairs(c *codec.Codec) {
	for s := range e.arena.All {
		if o := e.arena.At(s); e.other(s, o) != 0 && e.listOf(s, o) == o.ID {
			codec.Uint64(c, &o.ID)
		}
	}
	endQueue(c)
}

func (e *Engine) writeQueue(c *codec.Codec, s book.Slot) {
	for ; s != 0; s = e.arena.Next(s) {
		codec.Uint64(c, &e.arena.At(s).ID)
	}
}

// endQueue writes order id zero, which ends a queue and the lists.
func endQueue(c *codec.Codec) {
	var none bourse.OrderID
	codec.Uint64(c, &none)
}

// writeDeadmen writes the armed switches by key.
func (e *Engine) writeDeadmen(c *codec.Codec) {
	codec.Uint64(c, &e.deadmen.lastConnection)
	codec.Uint64(c, &e.deadmen.closed)
	c.Count(len(e.deadmen.byKey))
	for _, d := range ordered.Values(e.deadmen.byKey, deadmanKey.compare) {
		d.code(c)
	}
}

// writeNames writes the client ids of open orders, by order, then those of ended orders,
// oldest first.
func (e *Engine) writeNames(c *codec.Codec) {
	c.Count(len(e.names.byOrder))
	for s := range e.arena.All {
		if o := e.arena.At(s); o.Named {
			e.names.entries[e.names.byOrder[o.ID]].code(c)
		}
	}

	c.Count(len(e.names.byID) - len(e.names.byOrder))
	for at := e.names.oldest; at != 0; at = e.names.entries[at].newer {
		e.names.entries[at].code(c)
		codec.Uint64(c, &e.names.entries[at].ended)
	}
}
