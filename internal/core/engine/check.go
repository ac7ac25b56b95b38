package engine

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// holding names one customer's balance of one asset.
type holding struct {
	account bourse.AccountID
	asset   bourse.AssetID
}

// Check recomputes the invariants of money and books from scratch and returns the first
// violation. It reads the whole state: tests call it after every command, audits at the
// end.
func (e *Engine) Check() error {
	holds := map[holding]bourse.Amount{}
	open := 0
	for s := range e.arena.All {
		o := e.arena.At(s)
		m := e.markets[o.Market]
		if terms := e.termsOf(s, o); terms.Lots > bourse.MaxLots || o.Changed.Has(book.Prevented) == (terms.Lots == o.Lots) {
			return fmt.Errorf("order %d has lots %d, and self-trade prevention took %d", o.ID, o.Lots, e.arena.Prevented(s))
		}
		need := e.reserve(m, s, o)
		if e.other(s, o) != 0 {
			var err error
			if need, err = e.checkPair(m, s, o); err != nil {
				return err
			}
		}
		h := holding{o.Account, m.Held(o.Side)}
		sum, fits := holds[h].Add(need)
		if !fits {
			return fmt.Errorf("the orders of account %d hold more than fits", o.Account)
		}
		holds[h] = sum
		open++
	}

	if open != e.arena.Len() {
		return fmt.Errorf("%d orders are found by id and %d are open", open, e.arena.Len())
	}
	if !e.custody.Holds(func(account bourse.AccountID, asset bourse.AssetID, amount bourse.Amount) bool {
		h := holding{account, asset}
		sum, fits := holds[h].Add(amount)
		holds[h] = sum
		return fits
	}) {
		return errors.New("withdrawals hold more than fits")
	}

	if err := e.checkCustody(); err != nil {
		return err
	}

	if err := e.checkFees(); err != nil {
		return err
	}

	if err := e.checkTiers(); err != nil {
		return err
	}

	if err := e.checkAccounts(); err != nil {
		return err
	}

	if err := e.checkOperators(); err != nil {
		return err
	}

	for _, m := range e.markets[1:] {
		if err := e.checkMarket(m); err != nil {
			return fmt.Errorf("market %s: %w", m.Pair, err)
		}
	}
	return e.checkMoney(holds)
}

// checkAccounts compares the markets of each account with the lists of its open orders.
func (e *Engine) checkAccounts() error {
	open := 0
	for id := bourse.AccountID(1); id <= e.lastAccount; id++ {
		last := bourse.MarketID(0)
		for _, market := range e.accounts.At(uint32(id)).markets {
			list := e.markets[market].book.Listed(id)
			if market <= last || list == nil || list.Open == 0 {
				return fmt.Errorf("account %d has open orders in market %d after %d", id, market, last)
			}
			last = market
			open += int(list.Open)
		}
	}
	if open != e.arena.Len() {
		return fmt.Errorf("accounts have %d open orders of %d", open, e.arena.Len())
	}
	return nil
}

// checkMoney compares the ledger with the holds of open orders and withdrawals.
func (e *Engine) checkMoney(holds map[holding]bourse.Amount) error {
	seen := 0
	for _, a := range e.assets[1:] {
		if err := e.ledger.Check(a.ID); err != nil {
			return err
		}
		for b := range e.ledger.Customers(a.ID) {
			want := holds[holding{b.Account, b.Asset}]
			if !want.IsZero() {
				seen++
			}
			if b.Held != want {
				return fmt.Errorf("account %d holds %s of %s, its orders and withdrawals %s",
					b.Account, b.Held.Format(a.Scale), a.Symbol, want.Format(a.Scale))
			}
		}
	}

	if seen != len(holds) {
		return fmt.Errorf("%d holdings are reserved and %d held", len(holds), seen)
	}
	return nil
}

func (e *Engine) checkMarket(m *market) error {
	if err := m.book.Check(&e.arena); err != nil {
		return err
	}
	bids, asks := m.book.Side(bourse.Buy), m.book.Side(bourse.Sell)
	if !bids.Empty() && !asks.Empty() && bids.Best() >= asks.Best() {
		return fmt.Errorf("crossed: bid %d, ask %d", bids.Best(), asks.Best())
	}
	if m.tradable != e.takesOrders(m) {
		return errors.New("whether it takes orders is out of date")
	}
	if m.last != 0 && m.book.Satisfied(m.last) {
		return fmt.Errorf("a stop waits that the last price %d satisfies", m.last)
	}
	return nil
}

// Holdings yields the ledger for an audit: customers first, then the exchange's own
// accounts.
func (e *Engine) Holdings(
	customer func(bourse.Balance), own func(bourse.AssetID, bourse.AccountID, bourse.Amount, bourse.Amount),
) {
	for _, a := range e.assets[1:] {
		for b := range e.ledger.Customers(a.ID) {
			customer(b)
		}
		for _, o := range e.ledger.Own(a.ID) {
			own(a.ID, o.Account, o.Owes, o.Has)
		}
	}
}

// Depth returns the levels of a side of a market, best first.
func (e *Engine) Depth(id bourse.MarketID, side bourse.Side) []bourse.Level {
	m := e.market(id)
	if m == nil {
		return nil
	}
	var levels []bourse.Level
	for price, level := range m.book.Side(side).Levels {
		levels = append(levels, bourse.Level{
			Market: id, Side: side, Price: price, Lots: level.Total, Seq: m.levelSeq,
		})
	}
	return levels
}

// Balance returns a customer's balance of an asset.
func (e *Engine) Balance(account bourse.AccountID, asset bourse.AssetID) bourse.Balance {
	return e.ledger.Balance(account, asset)
}
