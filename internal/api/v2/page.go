package v2

import (
	"slices"
	"strconv"

	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
)

// Rows of a page by default and at most.
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

// Page is a range of a list.
type Page struct{ Offset, Limit int }

// Page reads PageFields.
func (c *Call) Page() Page {
	limit := c.limit()
	return Page{c.Offset(), limit}
}

// Cursor reads CursorFields: the cursor, zero for the first page, and the number of rows.
func (c *Call) Cursor() (after uint64, limit int) {
	limit = c.limit()
	return c.ID("cursor"), limit
}

func (c *Call) limit() int {
	text := c.Integer("limit")
	if text == "" {
		return usualLimit
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && n < 1 || text[0] == '-':
		c.Fail(api.Invalid("limit", "must be at least 1"))
	case err != nil || n > mostLimit:
		c.Fail(api.Errorf(codes.LimitOutOfRange, "limit: at most %d", mostLimit))
	}
	return int(n)
}

// Query returns the number of rows to query: one more than the page has, to find out
// whether there are more.
func (p Page) Query() int { return p.Limit + 1 }

// WriteList writes a page from the rows of a query for p.Query() rows, and whether there
// are more.
func WriteList[T any](c *Call, name string, p Page, rows []T, write func(*T)) {
	more := len(rows) > p.Limit
	writeArray(c, name, rows[:min(len(rows), p.Limit)], write)
	c.Out.Bool("more", more)
}

// WritePart writes a page of a complete list.
func WritePart[T any](c *Call, name string, p Page, all []T, write func(*T)) {
	WriteList(c, name, p, all[min(p.Offset, len(all)):], write)
}

// WriteCursor writes the entries of a page from the rows of a query for limit+1 rows,
// and the cursor of the last one, which is null on the last page.
func WriteCursor[T any](c *Call, limit int, rows []T, cursor func(*T) uint64, write func(*T)) {
	more := len(rows) > limit
	rows = rows[:min(len(rows), limit)]
	writeArray(c, "entries", rows, write)
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

// maxSearch bounds a search phrase, in bytes.
const maxSearch = 256

// Search reads SearchFields; absent is empty.
func (c *Call) Search() string {
	q := c.Text("q")
	if len(q) > maxSearch {
		c.Fail(api.Invalid("q", "at most "+strconv.Itoa(maxSearch)+" bytes"))
	}
	return q
}

// Sort is the order of a list.
type Sort struct {
	By         string
	Descending bool
}

// Sort reads OrderFields. The list can be sorted by the given fields; the default is the
// first, ascending.
func (c *Call) Sort(fields ...string) Sort {
	by := fields[0]
	if c.Has("orderBy") {
		by = c.oneOf("orderBy", fields...)
	}
	return Sort{by, c.Has("orderDir") && c.oneOf("orderDir", "ASC", "DESC") == "DESC"}
}

// oneOf reads a field that must be one of the words.
func (c *Call) oneOf(name string, words ...string) string {
	text := c.Text(name)
	if !slices.Contains(words, text) {
		c.Fail(api.UnknownWord(name, text, words...))
	}
	return text
}
