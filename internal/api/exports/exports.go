package exports

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/sheet"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

const (
	// pageSize is the number of rows that are read at once.
	pageSize = 250
	// pageWithin bounds the time to read them.
	pageWithin = 10 * time.Second
)

// Exports implements the interface.
type Exports struct {
	teller.Teller

	mu sync.Mutex
	// under are the accounts with an export under way.
	under map[bourse.AccountID]struct{}
}

// New returns the interface.
func New(t teller.Teller) *Exports {
	return &Exports{Teller: t, under: map[bourse.AccountID]struct{}{}}
}

// Endpoints returns the endpoints of the interface.
func (e *Exports) Endpoints() []v2.Endpoint {
	list := make([]v2.Endpoint, 0, len(exports))
	for _, x := range exports {
		list = append(list, v2.Endpoint{
			Method: http.MethodGet, Path: "/exports/" + x.name, Scope: account.ScopeRead,
			Fields: slices.Concat(api.Fields{"from", "to"}, x.filters),
			Answer: func(c *v2.Call) error { return e.answer(c, &x) },
		})
	}
	return list
}

// export is a kind of rows.
type export struct {
	name string
	head []string
	// filters are the fields beside from and to.
	filters api.Fields
	// pages returns a function that reads the next page of rows, newest first. A page may be
	// empty; nil is the end.
	pages func(e *Exports, who bourse.AccountID, s *selection) func(context.Context) ([][]string, error)
}

const (
	fieldPair, fieldSide, fieldType, fieldAsset = "pair", "side", "type", "asset"
)

var exports = [...]export{
	{"orders", ordersHead, api.Fields{fieldPair, fieldSide, fieldType}, (*Exports).orders},
	{"trades", tradesHead, api.Fields{fieldPair, fieldSide}, (*Exports).trades},
	{"transfers", transfersHead, api.Fields{fieldAsset, fieldType}, (*Exports).transfers},
	{"ledger", ledgerHead, api.Fields{fieldAsset}, (*Exports).ledger},
}

// errUnderWay refuses a second export.
var errUnderWay = bourse.Errorf(bourse.CodeBusy, "An export of the account is under way; wait for its end")

// answer writes the rows of a period, page by page.
func (e *Exports) answer(c *v2.Call, x *export) error {
	s := e.selection(c, x)
	if err := c.Err(); err != nil {
		return err
	}
	who := c.Who.Account
	if !e.begin(who) {
		return errUnderWay
	}

	next := x.pages(e, who, &s)
	c.Flow("text/csv; charset=utf-8", func(f *api.Flow) error {
		defer e.end(who)
		c.Header.Set("Content-Disposition", `attachment; filename="`+x.name+`.csv"`)
		return send(f, x.head, next)
	}, func() { e.end(who) })
	return nil
}

// send writes the header line and all pages.
func send(f *api.Flow, head []string, next func(context.Context) ([][]string, error)) error {
	var text bytes.Buffer
	rows := [][]string{head}
	for rows != nil {
		text.Reset()
		if err := sheet.NewWriter(&text).Rows(rows...); err != nil {
			return err
		}
		if _, err := f.Write(text.Bytes()); err != nil {
			return err
		}
		if err := f.Turn(); err != nil {
			return err
		}

		ctx, cancel := context.WithTimeout(f.Context, pageWithin)
		page, err := next(ctx)
		cancel()
		if err != nil {
			return err
		}
		rows = page
	}
	return nil
}

// begin notes that an account has an export under way, unless it has one.
func (e *Exports) begin(who bourse.AccountID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, has := e.under[who]; has {
		return false
	}
	e.under[who] = struct{}{}
	return true
}

func (e *Exports) end(who bourse.AccountID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.under, who)
}

// moment writes a time for a spreadsheet, in UTC; the zero time is empty.
func moment(t bourse.Time) string {
	if t == 0 {
		return ""
	}
	return t.Std().Format("2006-01-02 15:04:05.000000")
}
