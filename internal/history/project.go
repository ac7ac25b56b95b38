package history

import (
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Project adds a command's rows to a batch. Announcements of a restore leave no rows.
func Project(cmd *bourse.Command, ev *bourse.Events, b *Batch) {
	if cmd.Kind == 0 {
		return
	}

	if b.From == 0 {
		b.From = cmd.Seq
	}
	b.To, b.Time = cmd.Seq, cmd.Time

	transfers := 0
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventOrderClosed:
			o := next(&b.Orders)
			o.Order, o.Seq, o.Closed = ev.Orders[e.At], cmd.Seq, cmd.Time
		case bourse.EventOrderAmended:
			o := &ev.Orders[e.At]
			b.Amendments = append(b.Amendments, Amendment{
				Seq: cmd.Seq, Account: o.Account, Order: o.ID, Time: cmd.Time,
				From: ev.Former, To: bourse.Terms{Price: o.Price, Lots: o.Lots},
			})
		case bourse.EventTraded:
			b.addTrade(cmd, &ev.Trades[e.At])
		case bourse.EventTransfer:
			b.Transfers = append(b.Transfers, Transfer{
				Seq: cmd.Seq, Index: transfers, Time: cmd.Time, Transfer: ev.Transfers[e.At],
			})
			transfers++
		case bourse.EventNoted:
			f := &ev.Facts[e.At]
			b.Notes = append(b.Notes, Note{Seq: cmd.Seq, Time: cmd.Time, Operator: f.Operator, Text: f.Text})
		case bourse.EventAct: // one a command at most
			act := ev.Facts[e.At].Act
			b.Notes = append(b.Notes, Note{Seq: cmd.Seq, Time: cmd.Time, Operator: NoUser, Text: act.String()})
		case bourse.EventRaised:
			f := &ev.Facts[e.At]
			b.Notes = append(b.Notes, Note{
				Seq: cmd.Seq, Time: cmd.Time, Operator: f.Operator, Text: fmt.Sprintf("incarnation %d: %s", f.Incarnation, f.Text),
			})
		case bourse.EventDeposit:
			d := &ev.Wallet.Deposits[e.At]
			if d.Account != 0 && d.Status == bourse.WalletDone {
				b.Movements = append(b.Movements, OfDeposit(cmd.Seq, d))
			}
		case bourse.EventWithdrawal:
			w := &ev.Wallet.Withdrawals[e.At]
			if w.Status == bourse.WalletDone || w.Status == bourse.WalletCanceled {
				b.Movements = append(b.Movements, OfWithdrawal(cmd.Seq, w))
			}
		default:
			// Open orders and movements, rejections, books and definitions are not
			// history.
		}
	}
}

// next adds a row to a list and returns it to be filled in place, because rows are large
// and copying them is most of a trade's cost here. The row may hold old values: the
// caller must set every field.
func next[R any](list *[]R) *R {
	n := len(*list)
	*list = slices.Grow(*list, 1)[:n+1]
	return &(*list)[n]
}

// addTrade adds a trade and both its fills, the maker's first: if both belong to one
// account, that is the order of their ordinals.
func (b *Batch) addTrade(cmd *bourse.Command, t *bourse.Trade) {
	*next(&b.Trades) = Trade{
		Seq: cmd.Seq, Market: t.Market, Number: t.Number, Time: cmd.Time,
		TakerSide: t.TakerSide, Price: t.Price, Lots: t.Lots, Total: t.Total,
	}
	b.addFill(cmd, t, &t.Maker, t.TakerSide.Opposite(), bourse.Maker)
	b.addFill(cmd, t, &t.Taker, t.TakerSide, bourse.Taker)
}

func (b *Batch) addFill(cmd *bourse.Command, t *bourse.Trade, f *bourse.Fill, side bourse.Side, role bourse.Role) {
	*next(&b.Fills) = Fill{
		Seq: cmd.Seq, Account: f.Account, Ordinal: f.Ordinal, Order: f.Order,
		Market: t.Market, Trade: t.Number, Time: cmd.Time, Side: side, Role: role,
		Price: t.Price, Lots: t.Lots, Total: t.Total, Fee: f.Fee,
	}
}
