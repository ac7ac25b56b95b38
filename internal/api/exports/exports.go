package exports

import (
	"bytes"
	"context"
	"net/http"
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

var periodFields = api.Fields{"from", "to"}

// Endpoints returns the endpoints of the interface.
func (e *Exports) Endpoints() []v2.Endpoint {
	list := make([]v2.Endpoint, 0, len(exports))
	for _, x := range exports {
		list = append(list, v2.Endpoint{
			Method: http.MethodGet, Path: "/exports/" + x.name, Scope: account.ScopeRead, Fields: periodFields,
			Answer: func(c *v2.Call) error { return e.answer(c, &x) },
		})
	}
	return list
}

// export is a kind of rows.
type export struct {
	name string
	head []string
	// pages returns a function that reads the next page of rows, newest first. A page may be
	// empty; nil is the end.
	pages func(e *Exports, who bourse.AccountID, from, to bourse.Time) func(context.Context) ([][]string, error)
}

var exports = [...]export{
	{"orders", ordersHead, (*Exports).orders},
	{"trades", tradesHead, (*Exports).trades},
	{"transfers", transfersHead, (*Exports).transfers},
	{"ledger", ledgerHead, (*Exports).ledger},
}

// errUnderWay refuses a second export.
var errUnderWay = bourse.Errorf(bourse.CodeBusy, "An export of the account is under way; wait for its end")

// answer writes the rows of a period, page by page.
func (e *Exports) answer(c *v2.Call, x *export) error {
	from, to := c.Period()
	if err := c.Err(); err != nil {
		return err
	}
	if now := e.View.Now(); to == 0 || to > now {
		to = now
	}
	who := c.Who.Account
	if !e.begin(who) {
		return errUnderWay
	}

	next := x.pages(e, who, from, to)
	c.Header.Set("Content-Disposition", `attachment; filename="`+x.name+`.csv"`)
	c.Flow("text/csv; charset=utf-8", func(f *api.Flow) error {
		defer e.end(who)
		return send(f, x.head, next)
	})
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
