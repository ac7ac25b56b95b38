package walletv2

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/history"
)

var ledgerFields = fields(v2.CursorFields, api.Fields{"asset", "from", "to", "format"})

// The cursor of an entry is its command, and above that its place among the
// account's entries of the command.
const placeShift = 40

func cursorOf(e *history.Entry) uint64 { return uint64(e.Place)<<placeShift | uint64(e.Seq) }

func placeAt(cursor uint64) history.EntryPlace {
	return history.EntryPlace{Seq: bourse.Seq(cursor & (1<<placeShift - 1)), Place: uint32(cursor >> placeShift)}
}

// ledger lists every change of what the account has, newest first.
func (w *Wallet) ledger(c *v2.Call) error {
	after, limit, err := c.Cursor()
	if err != nil {
		return err
	}
	asCSV, err := wantsCSV(c)
	if err != nil {
		return err
	}
	q := &history.LedgerQuery{Account: c.Who.Account, Before: placeAt(after), Limit: limit + 1}
	if q.From, err = seconds(c, "from", 0); err != nil {
		return err
	}
	if q.To, err = seconds(c, "to", lastSecond); err != nil {
		return err
	}
	q.To += bourse.Second - 1 // all of that second
	only, err := filterBy(c, "asset", w.View.Catalogue().Asset, func(a *bourse.Asset) bourse.AssetID { return a.ID })
	if err != nil {
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
	v2.WriteCursor(c, "entries", limit, list, cursorOf, func(e *history.Entry) { w.writeEntry(c, e) })
	return nil
}

// lastSecond bounds the times that are asked for.
const lastSecond = 1 << 40

// seconds reads a field with a time; absent is otherwise.
func seconds(c *v2.Call, name string, otherwise int64) (bourse.Time, error) {
	if !c.Has(name) {
		return bourse.Time(otherwise) * bourse.Second, nil
	}
	n, err := c.Int(name, 0, lastSecond)
	return bourse.Time(n) * bourse.Second, err
}

// wantsCSV reports whether the answer is to be CSV, by the field format or the
// header Accept.
func wantsCSV(c *v2.Call) (bool, error) {
	if !c.Has("format") {
		return c.Accepts("text/csv"), nil
	}
	format, err := c.Text("format")
	if err == nil && format != "csv" && format != "json" {
		err = api.Invalid("format", "must be csv or json")
	}
	return format == "csv", err
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

// delta writes a change with its sign.
func delta(e *history.Entry, scale uint8) string {
	if e.Debit {
		return "-" + e.Amount.Format(scale)
	}
	return e.Amount.Format(scale)
}

// writeCSV answers with a page of entries as CSV (RFC 4180), one line for each
// below the names of the columns. The cursor is in a header.
func (w *Wallet) writeCSV(c *v2.Call, list []history.Entry, limit int) error {
	if len(list) > limit {
		list = list[:limit]
		c.Header("Next-Cursor", strconv.FormatUint(cursorOf(&list[limit-1]), 10))
	}
	var text bytes.Buffer
	out := csv.NewWriter(&text)
	out.UseCRLF = true
	rows := [][]string{{"seq", "time", "asset", "delta", "balance", "kind", "order", "trade", "xid"}}
	for i := range list {
		e := &list[i]
		asset := w.View.Catalogue().Assets[e.Asset]
		rows = append(rows, []string{
			number(uint64(e.Seq)), strconv.FormatInt(e.Time.Seconds(), 10), string(asset.Symbol), delta(e, asset.Scale),
			e.Balance.Format(asset.Scale), e.Kind.String(), number(uint64(e.Order)), number(e.Trade), number(uint64(e.Movement)),
		})
	}
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	c.Attach("text/csv; charset=utf-8", text.Bytes())
	return nil
}

// number writes an id; zero is none.
func number(id uint64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatUint(id, 10)
}
