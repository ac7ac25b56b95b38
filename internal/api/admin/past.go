package admin

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

// The numbers of rows of a page.
const (
	usualRows = 50
	mostRows  = 200
)

// rows returns the number of rows that a request asks for; zero is the usual one.
func rows(limit int) (int, error) {
	switch {
	case limit == 0:
		return usualRows, nil
	case limit < 0 || limit > mostRows:
		return 0, bourse.Errorf(bourse.CodeInvalid, "limit: 1 to %d", mostRows)
	}
	return limit, nil
}

type accountListArgs struct {
	// Search is the beginning of an e-mail address, or the number of an account.
	Search jsontext.Value   `json:"search"`
	After  bourse.AccountID `json:"after"`
	Limit  int              `json:"limit"`
}

// listedAnswer is an account in a list.
type listedAnswer struct {
	Account bourse.AccountID `json:"account"`
	// Email is empty if the account's row is not the journal's.
	Email   string `json:"email"`
	Created int64  `json:"created"`
	Frozen  bool   `json:"frozen"`
	Tier    string `json:"tier"`
}

// accountList lists accounts that have a person, by ascending number.
func (s *Server) accountList(ctx context.Context, a accountListArgs) (any, error) {
	limit, err := rows(a.Limit)
	if err != nil {
		return nil, err
	}
	found, err := s.search(ctx, &a, limit+1)
	if err != nil {
		return nil, err
	}
	found, next := cut(found, limit, func(one *account.Account) uint64 { return uint64(one.ID) })
	list := make([]listedAnswer, len(found))
	for i := range found {
		standing, _ := s.View.Account(found[i].ID)
		list[i] = listedAnswer{
			found[i].ID, found[i].Email, found[i].Created.Seconds(), found[i].Frozen, s.View.Catalogue().Tiers.Name(standing.Tier),
		}
	}
	return struct {
		Accounts []listedAnswer `json:"accounts"`
		// Next is the number after which the next page begins; absent on the last one.
		Next uint64 `json:"next,omitzero"`
	}{list, next}, nil
}

// search returns the account of a number, or those whose address begins with a text.
func (s *Server) search(ctx context.Context, a *accountListArgs, limit int) ([]account.Account, error) {
	var begins string
	if len(a.Search) > 0 && json.Unmarshal(a.Search, &begins) != nil {
		id, err := strconv.ParseUint(string(a.Search), 10, 32)
		if err != nil {
			return nil, bourse.Errorf(bourse.CodeInvalid, "search: must be the beginning of an address, or a number of an account")
		}
		who, found, err := s.Accounts.ByID(ctx, bourse.AccountID(id))
		if err != nil || !found || who.ID <= a.After {
			return nil, err
		}
		return []account.Account{who}, nil
	}
	if strings.ContainsRune(begins, 0) {
		return nil, bourse.Errorf(bourse.CodeInvalid, "search: must have no NUL")
	}
	return s.Accounts.Search(ctx, begins, a.After, limit)
}

// pageArgs select a page of an account's rows, newest first.
type pageArgs struct {
	Account bourse.AccountID `json:"account"`
	// Before is the member next of the page before; zero for the newest rows.
	Before uint64 `json:"before"`
	Limit  int    `json:"limit"`
}

// page checks the arguments of a page, and returns the number of its rows.
func (s *Server) page(a *pageArgs) (int, error) {
	if _, known := s.View.Account(a.Account); !known {
		return 0, bourse.Errorf(bourse.CodeNotFound, "unknown account %d", a.Account)
	}
	return rows(a.Limit)
}

// cut returns the rows of a page of limit+1 rows, and the place of the next page; zero on the last one.
func cut[T any](list []T, limit int, place func(*T) uint64) ([]T, uint64) {
	if len(list) <= limit {
		return list, 0
	}
	return list[:limit], place(&list[limit-1])
}

// orderAnswer is an order, open or final.
type orderAnswer struct {
	ID     bourse.OrderID `json:"obid"`
	Pair   bourse.Pair    `json:"pair"`
	Time   string         `json:"time"`
	Side   string         `json:"side"`
	Type   string         `json:"type"`
	TIF    string         `json:"time_in_force"`
	Price  string         `json:"price,omitempty"`
	Stop   string         `json:"stop,omitempty"`
	Amount string         `json:"amount,omitempty"`
	// Total is given in place of Amount for an order by total.
	Total  string `json:"total,omitempty"`
	Filled string `json:"filled"`
	Status string `json:"status"`
}

func describeOrder(c *view.Catalogue, o *bourse.Order) orderAnswer {
	m := c.Markets[o.Market]
	d := orderAnswer{
		ID: o.ID, Pair: m.Pair, Time: o.Time.Std().Format(time.RFC3339Nano), Side: o.Side.String(), Type: o.Type.String(),
		TIF: o.TIF.String(), Filled: o.Filled.Format(m.BasePrecision), Status: o.Status.String(),
	}
	if o.Type.HasPrice() {
		d.Price = o.Price.Format(m.QuotePrecision)
	}
	if o.Type.HasStop() {
		d.Stop = o.Stop.Format(m.QuotePrecision)
	}
	if o.Lots > 0 {
		d.Amount = o.Lots.Format(m.BasePrecision)
	} else {
		d.Total = o.Total.Format(c.Assets[m.Quote].Scale)
	}
	return d
}

// accountOrders lists an account's orders, open ones included.
func (s *Server) accountOrders(ctx context.Context, a pageArgs) (any, error) {
	limit, err := s.page(&a)
	if err != nil {
		return nil, err
	}
	found, err := s.History.Orders(ctx, a.Account, &history.ListQuery{Before: a.Before, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	found, next := cut(found, limit, func(o *history.OrderFills) uint64 { return uint64(o.ID) })
	list := make([]orderAnswer, len(found))
	for i := range found {
		list[i] = describeOrder(s.View.Catalogue(), &found[i].Order.Order)
	}
	return struct {
		Orders []orderAnswer `json:"orders"`
		Next   uint64        `json:"next,omitzero"`
	}{list, next}, nil
}

// entryAnswer is a change of a balance.
type entryAnswer struct {
	Seq     bourse.Seq      `json:"seq"`
	Time    string          `json:"time"`
	Asset   bourse.Symbol   `json:"asset"`
	Delta   string          `json:"delta"`
	Balance string          `json:"balance"`
	Kind    string          `json:"kind"`
	Order   bourse.OrderID  `json:"obid,omitzero"`
	ID      bourse.WalletID `json:"xid,omitzero"`
}

// accountLedger lists the changes of an account's balances.
func (s *Server) accountLedger(ctx context.Context, a pageArgs) (any, error) {
	limit, err := s.page(&a)
	if err != nil {
		return nil, err
	}
	assets := s.View.Catalogue().Assets
	q := &history.LedgerQuery{Account: a.Account, To: maxTime, Before: history.PlaceAt(a.Before), Limit: limit + 1}
	for _, asset := range assets[1:] {
		q.Assets = append(q.Assets, asset.ID)
	}
	found, err := s.History.Ledger(ctx, q)
	if err != nil {
		return nil, err
	}

	found, next := cut(found, limit, func(e *history.Entry) uint64 { return e.Cursor() })
	list := make([]entryAnswer, len(found))
	for i := range found {
		e := &found[i]
		delta := e.Amount.Format(assets[e.Asset].Scale)
		if e.Debit {
			delta = "-" + delta
		}
		list[i] = entryAnswer{
			e.Seq, e.Time.Std().Format(time.RFC3339Nano), assets[e.Asset].Symbol, delta, e.Balance.Format(assets[e.Asset].Scale),
			e.Kind.String(), e.Order, e.Movement,
		}
	}
	return struct {
		Entries []entryAnswer `json:"entries"`
		Next    uint64        `json:"next,omitzero"`
	}{list, next}, nil
}

// maxTime is after every time of a row.
const maxTime = bourse.Time(1<<63 - 1)

// transactionAnswer is a deposit or a withdrawal, open or over.
type transactionAnswer struct {
	ID      bourse.WalletID `json:"xid"`
	Kind    string          `json:"kind"`
	Asset   bourse.Symbol   `json:"asset"`
	Network bourse.Symbol   `json:"network,omitempty"`
	Amount  string          `json:"amount"`
	Fee     string          `json:"fee,omitempty"`
	Address string          `json:"address,omitempty"`
	Memo    string          `json:"memo,omitempty"`
	Status  string          `json:"status"`
	TxID    string          `json:"txid,omitempty"`
	// Party is the other account of a movement inside the exchange.
	Party   bourse.AccountID `json:"party,omitzero"`
	Created string           `json:"create_time"`
}

// accountTransactions lists an account's deposits and withdrawals.
func (s *Server) accountTransactions(ctx context.Context, a pageArgs) (any, error) {
	limit, err := s.page(&a)
	if err != nil {
		return nil, err
	}
	filter := history.MovementFilter{Before: bourse.WalletID(a.Before)}
	found, err := s.History.WalletTransactions(ctx, a.Account, filter, 0, limit+1)
	if err != nil {
		return nil, err
	}
	found, next := cut(found, limit, func(m *history.Movement) uint64 { return uint64(m.ID) })
	c := s.View.Catalogue()
	list := make([]transactionAnswer, len(found))
	for i := range found {
		m := &found[i]
		asset := c.Assets[m.Asset]
		list[i] = transactionAnswer{
			ID: m.ID, Kind: "deposit", Asset: asset.Symbol, Network: networkSymbol(c, m.Network),
			Amount: m.Amount.Format(asset.Scale), Address: m.Address, Memo: m.Memo, Status: m.Status.String(),
			TxID: s.txID(m.Network, m.Tx), Party: m.Party, Created: m.Created.Std().Format(time.RFC3339Nano),
		}
		if m.Kind == history.MovementWithdrawal {
			list[i].Kind, list[i].Fee = "withdrawal", m.Fee.Format(asset.Scale)
		}
	}
	return struct {
		Transactions []transactionAnswer `json:"transactions"`
		Next         uint64              `json:"next,omitzero"`
	}{list, next}, nil
}

// sessionAnswer is a live session.
type sessionAnswer struct {
	Address string `json:"address"`
	Agent   string `json:"agent"`
	Created int64  `json:"created"`
	Used    int64  `json:"used"`
	Expires int64  `json:"expires"`
}

// accountSessions lists an account's live sessions, oldest first.
func (s *Server) accountSessions(_ context.Context, a accountArgs) (any, error) {
	list := []sessionAnswer{}
	for _, one := range s.Accounts.Sessions(a.Account) {
		list = append(list, sessionAnswer{
			one.Address, one.Agent, one.Created.Seconds(), one.Used.Seconds(), one.Expires.Seconds(),
		})
	}
	return struct {
		Sessions []sessionAnswer `json:"sessions"`
	}{list}, nil
}
