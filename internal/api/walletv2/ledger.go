package walletv2

import (
	"bytes"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/sheet"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/history"
)

var ledgerFields = fields(v2.CursorFields, api.Fields{"asset", "from", "to", "format"})

// ledger lists every change of the account's balances, newest first.
func (w *Wallet) ledger(c *v2.Call) error {
	after, limit := c.Cursor()
	asCSV := wantsCSV(c)
	q := &history.LedgerQuery{Account: c.Who.Account, Before: history.PlaceAt(after), Limit: limit + 1}
	q.From = seconds(c, "from", 0)
	q.To = seconds(c, "to", lastSecond) + bourse.Second - 1 // includes the last second
	only := w.assetFilter(c)
	if err := c.Err(); err != nil {
		return err
	}

	for _, a := range w.View.Catalogue().Assets[1:] {
		if only == 0 || a.ID == only {
			q.Assets = append(q.Assets, a.ID)
		}
	}
	list, err := w.History.Ledger(c.Context, q)
	if err != nil {
		return err
	}
	if asCSV {
		return w.writeCSV(c, list, limit)
	}
	v2.WriteCursor(c, limit, list, func(e *history.Entry) uint64 { return e.Cursor() }, func(e *history.Entry) { w.writeEntry(c, e) })
	return nil
}

// lastSecond bounds the requested times, in Unix seconds.
const lastSecond = 1 << 40

// seconds reads a Unix time; absent is otherwise.
func seconds(c *v2.Call, name string, otherwise int64) bourse.Time {
	if c.Has(name) {
		otherwise = c.Int(name, 0, lastSecond)
	}
	return bourse.Time(otherwise) * bourse.Second
}

// wantsCSV reports whether the field format, or without it the header Accept, selects
// CSV.
func wantsCSV(c *v2.Call) bool {
	if !c.Has("format") {
		return c.Accepts("text/csv")
	}
	format := c.Text("format")
	if format != "csv" && format != "json" {
		c.Fail(api.Invalid("format", "must be csv or json"))
	}
	return format == "csv"
}

func (w *Wallet) writeEntry(c *v2.Call, e *history.Entry) {
	asset := w.View.Catalogue().Assets[e.Asset]
	out := c.Out

	out.Uint("seq", uint64(e.Seq))
	out.Seconds("time", e.Time)
	out.Word("asset", string(asset.Symbol))
	out.Word("delta", delta(e, asset.Scale))
	out.Amount("balance", e.Balance, asset.Scale)
	out.Word("kind", e.Kind.String())
	out.Name("reference")
	out.Object()

	for _, ref := range [...]struct {
		name string
		id   uint64
	}{{"order", uint64(e.Order)}, {"trade", e.Trade}, {"xid", uint64(e.Movement)}} {
		if ref.id != 0 {
			out.Uint(ref.name, ref.id)
		} else {
			out.Null(ref.name)
		}
	}
	out.EndObject()
}

// delta formats a change with its sign.
func delta(e *history.Entry, scale uint8) string {
	if e.Debit {
		return "-" + e.Amount.Format(scale)
	}
	return e.Amount.Format(scale)
}

// writeCSV answers with a page of entries as CSV (RFC 4180) with a header line. The next
// cursor is in the header Next-Cursor.
func (w *Wallet) writeCSV(c *v2.Call, list []history.Entry, limit int) error {
	if len(list) > limit {
		list = list[:limit]
		c.Expose("Next-Cursor", strconv.FormatUint(list[limit-1].Cursor(), 10))
	}

	var text bytes.Buffer
	rows := [][]string{{"seq", "time", "asset", "delta", "balance", "kind", "order", "trade", "xid"}}

	for i := range list {
		e := &list[i]
		asset := w.View.Catalogue().Assets[e.Asset]
		rows = append(rows, []string{
			number(uint64(e.Seq)), strconv.FormatInt(e.Time.Seconds(), 10), string(asset.Symbol), delta(e, asset.Scale),
			e.Balance.Format(asset.Scale), e.Kind.String(),
			number(uint64(e.Order)), number(e.Trade), number(uint64(e.Movement)),
		})
	}

	if err := sheet.NewWriter(&text).Rows(rows...); err != nil {
		return err
	}
	c.Attach("text/csv; charset=utf-8", text.Bytes())
	return nil
}

// number formats an id; zero is empty.
func number(id uint64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatUint(id, 10)
}
