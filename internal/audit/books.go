package audit

import (
	"fmt"
	"math/big"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

// Books are a second bookkeeping: they know trades, transfers and open orders from the
// events, compute in big integers, and never read a balance that the engine announced.
type Books struct {
	markets map[bourse.MarketID]*bourse.Market
	orders  map[bourse.OrderID]*openOrder
	// owned holds the accounts' total balances. The outside's accounts go below zero.
	owned map[place]*big.Int
	fees  map[bourse.AssetID]*big.Int
	// postings counts the postings by asset.
	postings map[bourse.AssetID]uint64
	wallet   wallet
}

// place is one account's balance of one asset.
type place struct {
	account bourse.AccountID
	asset   bourse.AssetID
}

type openOrder struct {
	bourse.Order
	filled bourse.Lots
}

// NewBooks returns empty books.
func NewBooks() *Books {
	return &Books{
		markets: map[bourse.MarketID]*bourse.Market{}, orders: map[bourse.OrderID]*openOrder{},
		owned: map[place]*big.Int{}, fees: map[bourse.AssetID]*big.Int{}, postings: map[bourse.AssetID]uint64{},
		wallet: newWallet(),
	}
}

// Enter applies the events of a command.
func (b *Books) Enter(ev *bourse.Events) {
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventMarket:
			m := ev.Facts[e.At].Market
			b.markets[m.ID] = m
		case bourse.EventOrderAccepted:
			o := &ev.Orders[e.At]
			b.orders[o.ID] = &openOrder{Order: *o}
		case bourse.EventOrderAmended:
			o := &ev.Orders[e.At]
			b.orders[o.ID].Price, b.orders[o.ID].Lots = o.Price, o.Lots
		case bourse.EventOrderPrevented:
			o := &ev.Orders[e.At]
			b.orders[o.ID].Prevented = o.Prevented
		case bourse.EventOrderClosed:
			delete(b.orders, ev.Orders[e.At].ID)
		case bourse.EventTraded:
			b.trade(&ev.Trades[e.At])
		case bourse.EventTransfer:
			t := &ev.Transfers[e.At]
			b.move(t.From, t.To, t.Asset, number(t.Amount))
			b.wallet.transfer(t)
		case bourse.EventDeposit:
			b.wallet.deposit(&ev.Wallet.Deposits[e.At])
		case bourse.EventWithdrawal:
			b.wallet.withdrawal(&ev.Wallet.Withdrawals[e.At])
		default: // no effect on money
		}
	}
}

func (b *Books) trade(t *bourse.Trade) {
	m := b.markets[t.Market]
	buyer, seller := &t.Taker, &t.Maker
	if t.TakerSide == bourse.Sell {
		buyer, seller = seller, buyer
	}

	lots := new(big.Int).SetUint64(uint64(t.Lots))
	amount := new(big.Int).Mul(lots, new(big.Int).SetUint64(m.LotUnit))
	total := new(big.Int).Mul(lots, new(big.Int).SetUint64(uint64(t.Price)))
	total.Mul(total, new(big.Int).SetUint64(m.TotalUnit))

	b.move(seller.Account, buyer.Account, m.Base, amount)
	b.move(buyer.Account, seller.Account, m.Quote, total)
	b.fee(buyer, m.Base)
	b.fee(seller, m.Quote)

	for _, f := range [...]*bourse.Fill{buyer, seller} {
		if o := b.orders[f.Order]; o != nil {
			o.filled = f.Filled
		}
	}
}

func (b *Books) fee(f *bourse.Fill, asset bourse.AssetID) {
	fee := number(f.Fee)
	b.move(f.Account, bourse.AccountFees, asset, fee)
	sum := b.fees[asset]
	if sum == nil {
		sum = new(big.Int)
		b.fees[asset] = sum
	}
	sum.Add(sum, fee)
}

func (b *Books) move(from, to bourse.AccountID, asset bourse.AssetID, amount *big.Int) {
	b.at(place{from, asset}).Sub(b.at(place{from, asset}), amount)
	b.at(place{to, asset}).Add(b.at(place{to, asset}), amount)
	b.postings[asset]++
}

func (b *Books) at(p place) *big.Int {
	n := b.owned[p]
	if n == nil {
		n = new(big.Int)
		b.owned[p] = n
	}
	return n
}

// holds recomputes the held balances from open orders and withdrawals.
func (b *Books) holds() map[place]*big.Int {
	held := map[place]*big.Int{}
	for _, o := range b.orders {
		m := b.markets[o.Market]
		p := place{o.Account, m.Held(o.Side)}
		if held[p] == nil {
			held[p] = new(big.Int)
		}
		held[p].Add(held[p], b.heldFor(o, m))
	}

	for _, w := range b.wallet.open {
		p := place{w.Account, w.Asset}
		if held[p] == nil {
			held[p] = new(big.Int)
		}
		held[p].Add(held[p], number(w.Held()))
	}
	return held
}

// heldFor recomputes the hold of an open order. Two open orders of a list hold the larger
// need of the two, counted for the first one.
func (b *Books) heldFor(o *openOrder, m *bourse.Market) *big.Int {
	need := o.held(m)
	if o.List == 0 {
		return need
	}

	first, second := b.orders[o.List], b.orders[o.List+1]
	switch {
	case first == nil || second == nil || second.List != o.List:
		return need
	case o == second:
		return new(big.Int)
	}
	if other := second.held(m); need.Cmp(other) < 0 {
		return other
	}
	return need
}

// held recomputes the hold of an open order alone.
func (o *openOrder) held(m *bourse.Market) *big.Int {
	if o.Lots == 0 {
		return number(o.Total) // a BUY by total, which waits for its stop
	}
	n := new(big.Int).SetUint64(uint64(o.Lots - o.filled - o.Prevented))
	if o.Side == bourse.Sell {
		return n.Mul(n, new(big.Int).SetUint64(m.LotUnit))
	}
	n.Mul(n, new(big.Int).SetUint64(uint64(o.Price)))
	return n.Mul(n, new(big.Int).SetUint64(m.TotalUnit))
}

// Check compares the engine's ledger with the books and returns every difference.
func (b *Books) Check(e *engine.Engine) []string {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }

	held, seen := b.holds(), map[place]bool{}
	zero := new(big.Int)
	e.Holdings(func(l bourse.Balance) {
		p := place{l.Account, l.Asset}
		seen[p] = true
		if want, got := b.at(p), new(big.Int).Add(number(l.Available), number(l.Held)); want.Cmp(got) != 0 {
			say("account %d has %s of asset %d; its postings make %s", l.Account, got, l.Asset, want)
		}
		want := held[p]
		if want == nil {
			want = zero
		}
		if got := number(l.Held); want.Cmp(got) != 0 {
			say("account %d has %s of asset %d held; its open orders and withdrawals hold %s", l.Account, got,
				l.Asset, want)
		}
	}, func(asset bourse.AssetID, account bourse.AccountID, owes, has bourse.Amount) {
		p := place{account, asset}
		seen[p] = true
		if want, got := b.at(p), new(big.Int).Sub(number(has), number(owes)); want.Cmp(got) != 0 {
			say("the exchange's account %d has %s of asset %d; its postings make %s", account, got, asset, want)
		}
	})

	for p, n := range b.owned {
		if !seen[p] && n.Sign() != 0 {
			say("account %d has nothing of asset %d; its postings make %s", p.account, p.asset, n)
		}
	}
	for p, n := range held {
		if !seen[p] {
			say("account %d holds nothing of asset %d; its open orders and withdrawals hold %s", p.account, p.asset, n)
		}
	}
	b.checkWallet(e, say)
	return wrong
}

// number returns an amount as a big integer.
func number(a bourse.Amount) *big.Int {
	n := new(big.Int).SetUint64(a.Hi)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(a.Lo))
}
