package history_test

import (
	"context"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// all is every asset of the rig.
var all = []bourse.AssetID{1, 2, 3}

// ledgerOf returns an account's whole ledger, newest first, read in pages.
func (r *rig) ledgerOf(t *testing.T, account bourse.AccountID, assets ...bourse.AssetID) []history.Entry {
	t.Helper()
	var list []history.Entry
	q := history.LedgerQuery{Account: account, Assets: assets, To: 1 << 60, Limit: 7}
	for {
		page, err := r.reader.Ledger(context.Background(), &q)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, page...)
		if len(page) < q.Limit {
			return list
		}
		q.Before = page[len(page)-1].EntryPlace
	}
}

// TestLedgerTellsEveryChange runs random commands and wants the entries of each
// balance to lead from nothing to what there is, without a gap, each with its
// reason.
func TestLedgerTellsEveryChange(t *testing.T) {
	seen := map[history.EntryKind]int{}
	for seed := range uint64(8) {
		r := newRig(seed, 500)
		for range 400 {
			r.pass()
			r.frame(r.some(1 + r.rng.IntN(4))...)
		}
		if _, err := r.reader.Ledger(context.Background(), &history.LedgerQuery{Account: 1, Assets: all, Limit: 1}); err == nil {
			t.Fatal("a ledger was read that is not stored")
		}
		r.follow(len(r.behind))
		for account := bourse.AccountID(1); account <= accounts; account++ {
			list := r.ledgerOf(t, account, all...)
			for _, asset := range all {
				r.checkChain(t, account, asset, list)
			}
			for i := range list {
				seen[list[i].Kind]++
				r.checkReference(t, &list[i])
			}
		}
	}
	for kind := history.EntryTrade; kind <= history.EntryRefund; kind++ {
		if seen[kind] == 0 {
			t.Errorf("there is no %s", kind)
		}
	}
	t.Log(seen)
}

// checkChain walks an account's entries in an asset from the newest back.
func (r *rig) checkChain(t *testing.T, account bourse.AccountID, asset bourse.AssetID, list []history.Entry) {
	t.Helper()
	b := r.view.Balance(account, asset)
	balance, last := b.Available.Plus(b.Held), history.EntryPlace{Seq: 1 << 62}
	for _, e := range list {
		if e.Seq > last.Seq || e.Seq == last.Seq && e.Place >= last.Place {
			t.Fatalf("account %d: %+v follows %+v", account, e, last)
		}
		last = e.EntryPlace
		if e.Asset != asset {
			continue
		}
		if e.Balance != balance || e.Amount.IsZero() || e.Account != account {
			t.Fatalf("account %d has %s, and the entry is %+v", account, balance.Format(0), e)
		}
		if e.Debit {
			balance = balance.Plus(e.Amount)
		} else {
			balance = balance.Minus(e.Amount)
		}
	}
	if !balance.IsZero() {
		t.Fatalf("account %d began with %s of %d", account, balance.Format(0), asset)
	}
}

// checkReference wants an entry to name what it was for.
func (r *rig) checkReference(t *testing.T, e *history.Entry) {
	t.Helper()
	switch e.Kind {
	case history.EntryTrade:
		for _, f := range r.all.fills {
			if f.Seq == e.Seq && f.Order == e.Order && f.Market == e.Market && f.Account == e.Account {
				return
			}
		}
	case history.EntryCredit:
		return
	default:
		for _, m := range r.all.movements {
			in := m.Kind == history.MovementDeposit || m.Kind == history.MovementTransferIn
			amount := m.Amount
			if e.Amount == m.Fee {
				amount = m.Fee
			}
			if m.ID == e.Movement && m.Account == e.Account && e.Amount == amount && (in != e.Debit || e.Kind == history.EntryRefund) {
				return
			}
		}
	}
	t.Fatalf("nothing is %+v", *e)
}

func TestLedgerBounds(t *testing.T) {
	r := newRig(1, 500)
	for i := range bourse.Time(5) {
		r.now = 30_000*bourse.Day + i*bourse.Hour
		r.frame(bourse.Command{Kind: bourse.CommandCredit, Account: 1, AssetID: 1 + bourse.AssetID(i%2), Amount: bourse.Units(5)})
	}
	r.follow(len(r.behind))
	at := func(hour bourse.Time) bourse.Time { return 30_000*bourse.Day + hour*bourse.Hour }
	for _, c := range []struct {
		assets   []bourse.AssetID
		from, to bourse.Time
		limit    int
		want     []bourse.Time
	}{
		{all, at(0), at(9), 9, []bourse.Time{4, 3, 2, 1, 0}},
		{all, at(1), at(3), 9, []bourse.Time{3, 2, 1}},
		{all, at(1), at(3), 2, []bourse.Time{3, 2}},
		{all[:1], at(1), at(4), 9, []bourse.Time{4, 2}},
		{all[1:2], at(0), at(2), 9, []bourse.Time{1}},
		{all, at(3) + 1, at(4) - 1, 9, nil},
	} {
		list, err := r.reader.Ledger(context.Background(), &history.LedgerQuery{
			Account: 1, Assets: c.assets, From: c.from, To: c.to, Limit: c.limit,
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []bourse.Time
		for _, e := range list {
			got = append(got, (e.Time-at(0))/bourse.Hour)
		}
		sameRows(t, "entries", got, c.want, equal)
	}
}
