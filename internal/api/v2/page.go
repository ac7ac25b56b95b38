package v2

import (
	"strconv"

	"github.com/bourse-exchange/bourse/internal/api"
)

// How many rows a page has, unless it is asked for another number, and at most.
const (
	usualLimit = 50
	mostLimit  = 500
)

// The parameters of lists.
var (
	PageFields   = api.Fields{"offset", "limit"}
	CursorFields = api.Fields{"cursor", "limit"}
	SearchFields = api.Fields{"q"}
	OrderFields  = api.Fields{"orderBy", "orderDir"}
)

// Page is a part of a list, by its place.
type Page struct{ Offset, Limit int }

// Page reads PageFields.
func (c *Call) Page() (p Page, err error) {
	if p.Limit, err = c.limit(); err != nil {
		return p, err
	}
	p.Offset, err = c.Offset()
	return p, err
}

// Cursor reads CursorFields: where to go on, zero for the beginning, and how many
// rows to show.
func (c *Call) Cursor() (after uint64, limit int, err error) {
	if limit, err = c.limit(); err != nil {
		return 0, 0, err
	}
	after, err = c.ID("cursor")
	return after, limit, err
}

func (c *Call) limit() (int, error) {
	text, err := c.Integer("limit")
	if err != nil || text == "" {
		return usualLimit, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && n < 1 || text[0] == '-':
		return 0, api.Invalid("limit", "must be at least 1")
	case err != nil || n > mostLimit:
		return 0, Errorf(LimitOutOfRange, "limit: at most %d", mostLimit)
	}
	return int(n), nil
}

// Query is how many rows to look for, so that it is seen whether there are more.
func (p Page) Query() int { return p.Limit + 1 }

// WriteList writes a page that was looked for with Query rows, and whether there
// are more.
func WriteList[T any](c *Call, name string, p Page, rows []T, write func(*T)) {
	more := len(rows) > p.Limit
	writeArray(c, name, rows[:min(len(rows), p.Limit)], write)
	c.Out.Bool("more", more)
}

// WritePart writes the page of a list that is at hand as a whole.
func WritePart[T any](c *Call, name string, p Page, all []T, write func(*T)) {
	WriteList(c, name, p, all[min(p.Offset, len(all)):], write)
}

// WriteCursor writes rows that were looked for with one more than limit; the
// cursor is that of the last row shown, and null if there are no more.
func WriteCursor[T any](c *Call, name string, limit int, rows []T, cursor func(*T) uint64, write func(*T)) {
	more := len(rows) > limit
	rows = rows[:min(len(rows), limit)]
	writeArray(c, name, rows, write)
	if more {
		c.Out.Uint("cursor", cursor(&rows[limit-1]))
		return
	}
	c.Out.Null("cursor")
}

func writeArray[T any](c *Call, name string, rows []T, write func(*T)) {
	c.Out.Name(name)
	c.Out.Array()
	for i := range rows {
		c.Out.Object()
		write(&rows[i])
		c.Out.EndObject()
	}
	c.Out.EndArray()
}

// maxSearch is the longest phrase that is searched for, in bytes.
const maxSearch = 256

// Search reads SearchFields; absent is empty.
func (c *Call) Search() (string, error) {
	q, err := c.Text("q")
	if err == nil && len(q) > maxSearch {
		return "", api.Invalid("q", "at most "+strconv.Itoa(maxSearch)+" bytes")
	}
	return q, err
}

// Order is how a list is sorted.
type Order struct {
	By         string
	Descending bool
}

// Order reads OrderFields. A list may be sorted by these fields; unless it is
// asked for another one, by the first, ascending.
func (c *Call) Order(fields ...string) (o Order, err error) {
	o.By = fields[0]
	if c.Has("orderBy") {
		if o.By, err = c.oneOf("orderBy", fields...); err != nil {
			return o, err
		}
	}
	if c.Has("orderDir") {
		direction, err := c.oneOf("orderDir", "ASC", "DESC")
		o.Descending = direction == "DESC"
		return o, err
	}
	return o, nil
}

func (c *Call) oneOf(name string, words ...string) (string, error) {
	text, err := c.Text(name)
	if err != nil {
		return "", err
	}
	for _, w := range words {
		if w == text {
			return w, nil
		}
	}
	return "", api.Invalid(name, "is none of the values it may have")
}
