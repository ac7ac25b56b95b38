package historytest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// The size of a random past: few accounts and markets, so that they meet.
const (
	pastAccounts = 5
	pastMarkets  = 3
)

// past makes up rows that could come from an engine, without accounting for the money.
type past struct {
	rng       *rand.Rand
	cursor    history.Cursor
	lastOrder bourse.OrderID
	orders    map[bourse.AccountID]uint64
	fills     map[bourse.AccountID]uint64
	trades    map[bourse.MarketID]uint64
	movements map[bourse.AccountID]uint64
	open      []bourse.Order
	names     int
}

func newPast(seed uint64) *past {
	return &past{
		rng:    rand.New(rand.NewPCG(seed, 0)),
		cursor: history.Cursor{Time: 20_000*bourse.Day + 7},
		orders: map[bourse.AccountID]uint64{},
		fills:  map[bourse.AccountID]uint64{},
		trades: map[bourse.MarketID]uint64{},

		movements: map[bourse.AccountID]uint64{},
	}
}

// batch makes up the rows of some commands.
func (p *past) batch(commands int) *history.Batch {
	b := &history.Batch{From: p.cursor.Seq + 1}
	for range commands {
		p.cursor.Seq++
		p.wait()
		switch n := p.rng.IntN(29); {
		case n < 6:
			p.place(b)
		case n < 9:
			p.end(b)
		case n < 17:
			p.trade(b)
		case n < 18:
			p.transfer(b)
		case n < 19:
			p.note(b)
		case n < 22:
			p.move(b)
		case n < 25:
			p.amend(b)
		case n < 27:
			p.proclaim(b)
		default:
			p.post(b)
		}
	}

	for i := range p.cursor.Chain {
		p.cursor.Chain[i] = byte(p.rng.Uint32())
	}
	b.To, b.Time, b.Chain = p.cursor.Seq, p.cursor.Time, p.cursor.Chain
	return b
}

// wait lets time go by: mostly little, sometimes hours or days.
func (p *past) wait() {
	spans := [...]bourse.Time{0, 1, bourse.Second, 20 * bourse.Second, 3 * bourse.Minute, 2 * bourse.Hour,
		30 * bourse.Hour}
	if n := p.rng.IntN(60); n < len(spans) {
		p.cursor.Time += spans[n]
	}
}

func (p *past) account() bourse.AccountID { return bourse.AccountID(1 + p.rng.IntN(pastAccounts)) }
func (p *past) market() bourse.MarketID   { return bourse.MarketID(1 + p.rng.IntN(pastMarkets)) }

// amount returns amounts of all sizes.
func (p *past) amount() bourse.Amount {
	a := bourse.Amount{Hi: p.rng.Uint64(), Lo: p.rng.Uint64()}
	switch p.rng.IntN(4) {
	case 0:
		return a
	case 1:
		return bourse.Amount{Lo: a.Lo}
	}
	return bourse.Units(a.Lo % 1_000_000)
}

// place accepts an order; some are final at once.
func (p *past) place(b *history.Batch) {
	account := p.account()
	p.lastOrder += bourse.OrderID(1 + p.rng.IntN(2))
	p.orders[account]++
	o := bourse.Order{
		ID: p.lastOrder, Account: account, Status: bourse.Open,
		Ordinal: p.orders[account], Time: p.cursor.Time, Triggered: p.rng.IntN(2) == 0,
		NewOrder: bourse.NewOrder{
			Market: p.market(), Side: bourse.Side(1 + p.rng.IntN(2)), Type: bourse.OrderType(1 + p.rng.IntN(int(bourse.LastOrderType))),
			TIF: bourse.TimeInForce(1 + p.rng.IntN(3)), SelfTrade: bourse.SelfTradeMode(p.rng.IntN(int(bourse.LastSelfTradeMode) + 1)),
			PostOnly: p.rng.IntN(2) == 0, Price: bourse.Price(p.rng.Int64N(int64(bourse.MaxPrice))),
			Stop: bourse.Price(p.rng.IntN(3)), Lots: bourse.Lots(p.rng.Int64N(int64(bourse.MaxLots))),
			Total: p.amount(),
		},
	}

	if p.rng.IntN(4) == 0 {
		o.List = o.ID - bourse.OrderID(p.rng.IntN(2))
	}

	if p.rng.IntN(3) == 0 { // names repeat
		name, _ := bourse.ParseClientID(fmt.Sprintf("name-%d", p.rng.IntN(p.names/3+1)))
		p.names++
		o.ClientID = name
	}

	if p.rng.IntN(8) == 0 {
		p.close(b, o)
		return
	}
	p.open = append(p.open, o)
}

// amend changes the terms of an open order.
func (p *past) amend(b *history.Batch) {
	if len(p.open) == 0 {
		return
	}
	o := &p.open[p.rng.IntN(min(3, len(p.open)))]
	a := history.Amendment{
		Seq: p.cursor.Seq, Account: o.Account, Order: o.ID, Time: p.cursor.Time,
		From: bourse.Terms{Price: o.Price, Lots: o.Lots},
	}
	o.Price, o.Lots = bourse.Price(p.rng.Int64N(int64(bourse.MaxPrice))), bourse.Lots(p.rng.Int64N(int64(bourse.MaxLots)))
	o.Amended, a.To = true, bourse.Terms{Price: o.Price, Lots: o.Lots}
	b.Amendments = append(b.Amendments, a)
}

// end closes an open order, not the oldest first.
func (p *past) end(b *history.Batch) {
	if len(p.open) < 5 {
		return
	}
	at := p.rng.IntN(len(p.open))
	o := p.open[at]
	p.open = slices.Delete(p.open, at, at+1)
	p.close(b, o)
}

func (p *past) close(b *history.Batch, o bourse.Order) {
	o.Status = bourse.OrderStatus(2 + p.rng.IntN(3))
	o.Prevented = bourse.Lots(p.rng.IntN(3))
	b.Orders = append(b.Orders, history.Order{Order: o, Seq: p.cursor.Seq, Closed: p.cursor.Time})
}

// trade matches two open orders, as if they were of one market.
func (p *past) trade(b *history.Batch) {
	if len(p.open) < 2 {
		return
	}
	maker, taker := &p.open[p.rng.IntN(len(p.open)-1)], &p.open[len(p.open)-1]

	p.trades[taker.Market]++
	t := history.Trade{
		Seq: p.cursor.Seq, Market: taker.Market, Number: p.trades[taker.Market], Time: p.cursor.Time,
		TakerSide: taker.Side, Price: bourse.Price(1 + p.rng.Int64N(int64(bourse.MaxPrice))),
		Lots: bourse.Lots(1 + p.rng.Int64N(int64(bourse.MaxLots))), Total: p.amount(),
	}
	b.Trades = append(b.Trades, t)

	for role, o := range []*bourse.Order{maker, taker} {
		p.fills[o.Account]++
		o.Filled++
		f := history.Fill{
			Seq: t.Seq, Account: o.Account, Ordinal: p.fills[o.Account], Order: o.ID, Market: t.Market,
			Trade: t.Number, Time: t.Time, Side: t.TakerSide, Role: bourse.Role(role + 1), Price: t.Price, Lots: t.Lots,
			Total: t.Total, Fee: p.amount(),
		}
		if o == maker {
			f.Side = t.TakerSide.Opposite()
		}
		b.Fills = append(b.Fills, f)
	}
}

// transfer adds up to three transfers of one command.
func (p *past) transfer(b *history.Batch) {
	for i := range 1 + p.rng.IntN(3) {
		b.Transfers = append(b.Transfers, history.Transfer{
			Seq: p.cursor.Seq, Index: i, Time: p.cursor.Time,
			Transfer: bourse.Transfer{
				Kind: bourse.TransferCredit, From: bourse.AccountSandbox, To: p.account(),
				Asset: bourse.AssetID(1 + p.rng.IntN(4)), Amount: p.amount(),
			},
		})
	}
}

func (p *past) note(b *history.Batch) {
	b.Notes = append(b.Notes, history.Note{
		Seq: p.cursor.Seq, Time: p.cursor.Time, Operator: p.rng.Uint32(),
		Text: fmt.Sprintf("it's \"%d\"\n; été, 株\x01\t'--", p.rng.IntN(100)),
	})
}

// move ends some deposits and withdrawals, not the oldest first, and changes some ended
// ones.
func (p *past) move(b *history.Batch) {
	for range 1 + p.rng.IntN(3) {
		account := p.account()
		p.movements[account] += 2
		ordinal := 1 + p.rng.Uint64N(p.movements[account])
		m := history.Movement{
			Seq: p.cursor.Seq, Account: account, Ordinal: ordinal, ID: bourse.WalletID(10*ordinal + uint64(account)),
			Kind: history.MovementKind(1 + ordinal%4), Network: bourse.NetworkID(1 + p.rng.IntN(3)),
			Asset: bourse.AssetID(1 + ordinal%3), Amount: p.amount(), Status: bourse.WalletDone,
			Memo: fmt.Sprintf("\xff\x00 %d é'", p.rng.IntN(100)), Created: p.cursor.Time - bourse.Minute,
			Done: p.cursor.Time, Other: bourse.WalletID(p.rng.IntN(2)),
		}

		for i := range m.Tx {
			m.Tx[i] = byte(p.rng.Uint32())
		}
		if m.Kind == history.MovementTransferOut {
			m.Network, m.Party, m.Message = 0, p.account(), bourse.Token{byte(ordinal), 15: 1}
		}
		if m.Kind == history.MovementWithdrawal {
			m.Status += bourse.WalletStatus(p.rng.IntN(2)) - 1
			m.Fee, m.Address, m.Refunded = p.amount(), fmt.Sprint("to-", p.rng.IntN(9)), p.rng.IntN(9) == 0
		} else {
			m.Mined, m.Height, m.Target = p.rng.IntN(2) == 0, p.rng.Uint64N(1<<40), 1+p.rng.Uint32N(90)
		}
		b.Movements = append(b.Movements, m)
	}
}

// post makes up entries of some accounts' ledgers.
func (p *past) post(b *history.Batch) {
	places := map[bourse.AccountID]uint32{}
	for range 1 + p.rng.IntN(6) {
		account := p.account()
		b.Entries = append(b.Entries, history.Entry{
			EntryPlace: history.EntryPlace{Seq: p.cursor.Seq, Place: places[account]}, Time: p.cursor.Time,
			Account: account, Asset: bourse.AssetID(1 + p.rng.IntN(3)), Kind: history.EntryKind(1 + p.rng.IntN(8)),
			Debit: p.rng.IntN(2) == 0, Amount: p.amount(), Balance: p.amount(),
			Market: bourse.MarketID(p.rng.IntN(3)), Trade: p.rng.Uint64N(9),
			Order: bourse.OrderID(p.rng.IntN(9)), Movement: bourse.WalletID(p.rng.IntN(9)),
		})
		places[account]++
	}
}

// proclaim adds up to three bulletins of one command.
func (p *past) proclaim(b *history.Batch) {
	for i := range uint32(1 + p.rng.IntN(3)) {
		b.Bulletins = append(b.Bulletins, history.Bulletin{
			BulletinPlace: history.BulletinPlace{Seq: p.cursor.Seq, Place: i}, Time: p.cursor.Time,
			Kind: history.BulletinKind(1 + p.rng.IntN(int(history.LastBulletinKind))),
			Data: fmt.Sprintf(`{"memo":"it's \\u0000 %d 株"}`, p.rng.IntN(100)),
		})
	}
}
