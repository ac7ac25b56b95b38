package historytest

import (
	"context"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

func TestMemory(t *testing.T) {
	Run(t, func(*testing.T) func() history.Store {
		m := NewMemory()
		return func() history.Store { return m }
	})
}

// TestMemoryByHand holds the model itself against answers written down, which the
// suite, in which it is compared with itself, does not.
func TestMemoryByHand(t *testing.T) {
	ctx, m := context.Background(), NewMemory()
	name := bourse.ClientID{'a'}
	order := func(id bourse.OrderID, ordinal uint64, market bourse.MarketID) history.Order {
		return history.Order{Order: bourse.Order{
			ID: id, Account: 1, Ordinal: ordinal, NewOrder: bourse.NewOrder{Market: market, ClientID: name},
		}, Seq: 1}
	}
	trade := func(number uint64, at bourse.Time, price bourse.Price) history.Trade {
		return history.Trade{Market: 1, Number: number, Time: at, Price: price, Lots: 2, Total: bourse.Units(10)}
	}
	fill := func(ordinal uint64, id bourse.OrderID, market bourse.MarketID) history.Fill {
		return history.Fill{Account: 1, Ordinal: ordinal, Order: id, Market: market}
	}
	moved := func(seq bourse.Seq, index int, to bourse.AccountID) history.Transfer {
		return history.Transfer{Seq: seq, Index: index, Transfer: bourse.Transfer{From: 9, To: to}}
	}
	write(t, m, &history.Batch{
		From: 1, To: 2,
		Orders:    []history.Order{order(7, 3, 1), order(4, 1, 2), order(5, 2, 1)},
		Trades:    []history.Trade{trade(1, 5, 9), trade(2, bourse.Minute, 8), trade(3, bourse.Minute+1, 11)},
		Fills:     []history.Fill{fill(1, 4, 2), fill(2, 5, 1), fill(3, 4, 1)},
		Transfers: []history.Transfer{moved(1, 0, 1), moved(1, 1, 2), moved(2, 0, 1)},
		Notes:     []history.Note{{Seq: 1, Text: "a"}, {Seq: 2, Text: "b"}},
		Movements: []history.Movement{
			{Seq: 1, Account: 1, Ordinal: 3, ID: 7, Kind: history.MovementDeposit, Status: bourse.WalletDone},
			{Seq: 1, Account: 1, Ordinal: 1, ID: 5, Kind: history.MovementDeposit, Status: bourse.WalletDone},
			{Seq: 2, Account: 1, Ordinal: 2, ID: 6, Kind: history.MovementWithdrawal, Status: bourse.WalletCanceled},
			{Seq: 2, Account: 1, Ordinal: 3, ID: 7, Kind: history.MovementDeposit, Status: bourse.WalletDone, Height: 9},
		},
	})
	want := func(about string, list any, err error, n int, ok bool) {
		t.Helper()
		if err != nil || !ok {
			t.Errorf("%s: %d rows, %+v, %v", about, n, list, err)
		}
	}
	orders, err := m.Orders(ctx, 1, history.Span{First: 2, Last: 9})
	want("orders", orders, err, len(orders), len(orders) == 2 && orders[0].ID == 7 && orders[1].ID == 5)
	orders, err = m.OrdersIn(ctx, 1, 1, history.Window{Span: history.Span{Last: 3}, Until: 99, Skip: 1, Limit: 5})
	want("orders of a market", orders, err, len(orders), len(orders) == 1 && orders[0].ID == 5)
	named, found, err := m.OrderNamed(ctx, 1, name)
	want("named", named, err, 1, found && named.ID == 7)
	_, found, err = m.Order(ctx, 2, 7)
	want("of another account", nil, err, 0, !found)
	fills, err := m.Fills(ctx, 1, history.Span{First: 1, Last: 2})
	want("fills", fills, err, len(fills), len(fills) == 2 && fills[0].Ordinal == 2)
	fills, err = m.FillsOf(ctx, 1, []bourse.OrderID{4})
	want("fills of an order", fills, err, len(fills), len(fills) == 2 && fills[0].Ordinal == 1 && fills[1].Ordinal == 3)
	fills, err = m.FillsIn(ctx, 1, 1, history.Window{Span: history.Span{Last: 2}, Limit: 5})
	want("fills of a market", fills, err, len(fills), len(fills) == 1 && fills[0].Ordinal == 2)
	minutes := history.Series{Market: 1, Width: history.Minute}
	candles, err := m.Candles(ctx, minutes, 1, bourse.Minute, 5)
	want("candles", candles, err, len(candles), len(candles) == 1 && candles[0] == history.Candle{
		Start: bourse.Minute, Open: 8, High: 11, Low: 8, Close: 11, Volume: bourse.Units(4), Value: bourse.Units(20),
		First: 2, Last: 3,
	})
	before, found, err := m.CandleBefore(ctx, minutes, bourse.Minute)
	want("candle before", before, err, 1, found && before.Start == 0 && before.Close == 9)
	transfers, err := m.Transfers(ctx, 1, 0, 5)
	want("transfers", transfers, err, len(transfers), len(transfers) == 2 && transfers[0].Seq == 2)
	notes, err := m.Notes(ctx, 1, 5)
	want("notes", notes, err, len(notes), len(notes) == 1 && notes[0].Text == "a")
	moves, err := m.Movements(ctx, 1, history.Span{First: 2, Last: 9})
	want("movements", moves, err, len(moves), len(moves) == 2 && moves[0].Height == 9 && moves[1].ID == 6)
	moves, err = m.MovementsIn(ctx, 1, history.MovementFilter{Of: history.MovementSet(0).With(history.MovementDeposit)}, history.Window{Span: history.Span{Last: 3}, Until: 99, Skip: 1, Limit: 5})
	want("deposits", moves, err, len(moves), len(moves) == 1 && moves[0].ID == 5)
}
