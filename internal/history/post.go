package history

import "github.com/bourse-exchange/bourse"

// Post adds a command's ledger entries to a batch. market returns the definition of an
// existing market.
func Post(cmd *bourse.Command, ev *bourse.Events, market func(bourse.MarketID) *bourse.Market, b *Batch) {
	if len(ev.Trades) == 0 && len(ev.Transfers) == 0 {
		return
	}

	p := posting{cmd: cmd, ev: ev, batch: b, first: len(b.Entries)}
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventTraded:
			t := &ev.Trades[e.At]
			p.trade(t, market(t.Market))
		case bourse.EventTransfer:
			p.transfer(&ev.Transfers[e.At])
		case bourse.EventDeposit:
			d := &ev.Wallet.Deposits[e.At]
			p.refer(d.Account, d.ID, true)
		case bourse.EventWithdrawal:
			w := &ev.Wallet.Withdrawals[e.At]
			p.refer(w.Account, w.ID, false)
		default:
			// Nothing else moves money.
		}
	}

	p.balance()
}

// posting is the work on one command.
type posting struct {
	cmd   *bourse.Command
	ev    *bourse.Events
	batch *Batch
	// first is the command's first entry in the batch.
	first int
}

func (p *posting) entries() []Entry { return p.batch.Entries[p.first:] }

// add adds an entry of a customer, unless its amount is zero.
func (p *posting) add(e Entry) {
	if e.Amount.IsZero() || !e.Account.IsCustomer() {
		return
	}
	e.Seq, e.Time = p.cmd.Seq, p.cmd.Time
	p.batch.Entries = append(p.batch.Entries, e)
}

// trade adds the four sides of a trade, in the order in which the ledger posts them: the
// taker's payment first.
func (p *posting) trade(t *bourse.Trade, m *bourse.Market) {
	base, _ := m.BaseAmount(t.Lots) // it was traded, so it fits
	gives, gets := Entry{Asset: m.Quote, Amount: t.Total}, Entry{Asset: m.Base, Amount: base}
	if t.TakerSide == bourse.Sell {
		gives, gets = gets, gives
	}
	p.leg(t, gives, &t.Taker, &t.Maker)
	p.leg(t, gets, &t.Maker, &t.Taker)
}

func (p *posting) leg(t *bourse.Trade, e Entry, from, to *bourse.Fill) {
	e.Kind, e.Market, e.Trade = EntryTrade, t.Market, t.Number
	out, in := e, e
	out.Debit, out.Account, out.Order = true, from.Account, from.Order
	in.Account, in.Order, in.Amount = to.Account, to.Order, e.Amount.Minus(to.Fee)
	p.add(out)
	p.add(in)
}

// transferKinds are the kinds of entries of a transfer's two sides.
var transferKinds = [...]struct{ from, to EntryKind }{
	bourse.TransferCredit:        {0, EntryCredit},
	bourse.TransferCredited:      {0, EntryDeposit},
	bourse.TransferWithdrawal:    {EntryWithdrawal, 0},
	bourse.TransferWithdrawalFee: {EntryWithdrawalFee, 0},
	bourse.TransferInternal:      {EntryWithdrawal, EntryDeposit},
	bourse.TransferRefund:        {0, EntryRefund},
	bourse.TransferToCustomer:    {EntryTransferOut, EntryTransferIn},
}

func (p *posting) transfer(t *bourse.Transfer) {
	kinds := transferKinds[t.Kind]
	if t.From.IsCustomer() != (kinds.from != 0) || t.To.IsCustomer() != (kinds.to != 0) {
		bourse.Impossible("transfer of kind %d from %d to %d", t.Kind, t.From, t.To)
	}
	p.add(Entry{Account: t.From, Asset: t.Asset, Kind: kinds.from, Debit: true, Amount: t.Amount})
	p.add(Entry{Account: t.To, Asset: t.Asset, Kind: kinds.to, Amount: t.Amount})
}

// refer sets the deposit or withdrawal of the entries before its event.
func (p *posting) refer(account bourse.AccountID, id bourse.WalletID, deposit bool) {
	list := p.entries()
	for i := len(list) - 1; i >= 0 && list[i].Movement == 0; i-- {
		e := &list[i]
		isDeposit := e.Kind == EntryDeposit || e.Kind == EntryTransferIn
		if e.Account == account && isDeposit == deposit {
			e.Movement = id
		}
	}
}

// purse names a balance that entries change.
type purse struct {
	account bourse.AccountID
	asset   bourse.AssetID
}

// balance computes the balance after each entry, backwards from the balances after the
// command, and numbers each account's entries.
func (p *posting) balance() {
	after := make(map[purse]bourse.Amount, len(p.ev.Balances))
	for i := range p.ev.Balances {
		b := &p.ev.Balances[i]
		after[purse{b.Account, b.Asset}] = b.Available.Plus(b.Held)
	}

	list := p.entries()
	for i := len(list) - 1; i >= 0; i-- {
		e := &list[i]
		at := purse{e.Account, e.Asset}
		e.Balance = after[at]
		if e.Debit {
			after[at] = e.Balance.Plus(e.Amount)
		} else {
			after[at] = e.Balance.Minus(e.Amount)
		}
	}

	places := make(map[bourse.AccountID]uint32, len(list))
	for i := range list {
		list[i].Place = places[list[i].Account]
		places[list[i].Account]++
	}
}
