package postgres

import (
	"bytes"
	"math"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// TestAppendValue encodes values that fit their columns, and refuses those that do
// not: cut off, they would be other values.
func TestAppendValue(t *testing.T) {
	for name, c := range map[string]struct {
		column uint32
		value  any
		want   string // empty if it is refused
	}{
		"null":                       {pgtype.Int8OID, nil, "\xff\xff\xff\xff"},
		"the least bigint":           {pgtype.Int8OID, int64(math.MinInt64), "\x00\x00\x00\x08\x80\x00\x00\x00\x00\x00\x00\x00"},
		"the least integer":          {pgtype.Int4OID, int64(math.MinInt32), "\x00\x00\x00\x04\x80\x00\x00\x00"},
		"more than an integer":       {pgtype.Int4OID, int64(math.MaxInt32) + 1, ""},
		"the most of a smallint":     {pgtype.Int2OID, int64(math.MaxInt16), "\x00\x00\x00\x02\x7f\xff"},
		"less than a smallint":       {pgtype.Int2OID, int64(math.MinInt16) - 1, ""},
		"true":                       {pgtype.BoolOID, true, "\x00\x00\x00\x01\x01"},
		"false":                      {pgtype.BoolOID, false, "\x00\x00\x00\x01\x00"},
		"text with a zero byte":      {pgtype.TextOID, "a\x00", "\x00\x00\x00\x04a\uFFFD"},
		"text that is not UTF-8":     {pgtype.TextOID, "\xff", "\x00\x00\x00\x03\uFFFD"},
		"no text":                    {pgtype.TextOID, "", "\x00\x00\x00\x00"},
		"bytes":                      {pgtype.ByteaOID, []byte{0, 0xff}, "\x00\x00\x00\x02\x00\xff"},
		"text for bytes":             {pgtype.ByteaOID, "a", ""},
		"bytes for text":             {pgtype.TextOID, []byte("a"), ""},
		"a number for text":          {pgtype.TextOID, int64(1), ""},
		"a truth for a number":       {pgtype.Int8OID, true, ""},
		"a float, which nothing has": {pgtype.Int8OID, 1.5, ""},
	} {
		got, err := appendValue([]byte("row"), c.column, c.value)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s is taken: %q", name, got)
		case c.want != "" && (err != nil || !bytes.Equal(got, append([]byte("row"), c.want...))):
			t.Errorf("%s is %q (%v), want %q", name, got, err, c.want)
		}
	}
}

// TestRowOfAnotherTable refuses a row with too few values.
func TestRowOfAnotherTable(t *testing.T) {
	c := copier{types: []uint32{pgtype.Int8OID, pgtype.Int8OID}}
	if err := c.Add(t.Context(), int64(1)); err == nil || len(c.encoded) != 0 {
		t.Errorf("one value for two columns: %v, %q", err, c.encoded)
	}
}
