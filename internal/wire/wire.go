package wire

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
)

// Writer appends a JSON value to a buffer and places the commas.
type Writer struct {
	buf []byte
	// start is the offset of the value in buf.
	start int
}

// NewWriter returns a writer of a value after the contents of buf.
func NewWriter(buf []byte) *Writer { return &Writer{buf, len(buf)} }

// Bytes returns the whole buffer, including the bytes before the value.
func (w *Writer) Bytes() []byte { return w.buf }

// Reset begins a value after the contents of buf.
func (w *Writer) Reset(buf []byte) { w.buf, w.start = buf, len(buf) }

// next writes a comma before any element but the first.
func (w *Writer) next() {
	if n := len(w.buf); n > w.start && w.buf[n-1] != '{' && w.buf[n-1] != '[' && w.buf[n-1] != ':' {
		w.buf = append(w.buf, ',')
	}
}

// Name begins a member of an object. Its value must follow.
func (w *Writer) Name(name string) {
	w.next()
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
}

// Object begins an object as an element or as the value of a name.
func (w *Writer) Object() {
	w.next()
	w.buf = append(w.buf, '{')
}

// EndObject ends an object.
func (w *Writer) EndObject() { w.buf = append(w.buf, '}') }

// Array begins an array.
func (w *Writer) Array() {
	w.next()
	w.buf = append(w.buf, '[')
}

// EndArray ends an array.
func (w *Writer) EndArray() { w.buf = append(w.buf, ']') }

// Text writes a member with a string; invalid UTF-8 is replaced.
func (w *Writer) Text(name, value string) {
	w.Name(name)
	w.String(value)
}

// String writes a string as an element or as the value of a name.
func (w *Writer) String(value string) {
	w.next()
	w.buf, _ = jsontext.AppendQuote(w.buf, value) // the only errors are about invalid UTF-8, which is replaced
}

// Word writes a member with a string that needs no escapes.
func (w *Writer) Word(name, value string) {
	w.Name(name)
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, value...)
	w.buf = append(w.buf, '"')
}

// Bool writes a member.
func (w *Writer) Bool(name string, value bool) {
	w.Name(name)
	w.buf = strconv.AppendBool(w.buf, value)
}

// Int writes a member.
func (w *Writer) Int(name string, value int64) {
	w.Name(name)
	w.buf = strconv.AppendInt(w.buf, value, 10)
}

// Number writes a member with a formatted JSON number.
func (w *Writer) Number(name, value string) {
	w.Name(name)
	w.buf = append(w.buf, value...)
}

// Raw writes a member with a JSON value.
func (w *Writer) Raw(name string, value []byte) {
	w.Name(name)
	w.buf = append(w.buf, value...)
}

// Uint writes a member.
func (w *Writer) Uint(name string, value uint64) {
	w.Name(name)
	w.buf = strconv.AppendUint(w.buf, value, 10)
}

// Integer writes an integer as an element or as the value of a name.
func (w *Writer) Integer(value uint64) {
	w.next()
	w.buf = strconv.AppendUint(w.buf, value, 10)
}

// Amount writes a member with a decimal of a scale, without trailing zeros.
func (w *Writer) Amount(name string, value bourse.Amount, scale uint8) {
	w.Name(name)
	w.Decimal(value, scale)
}

// Decimal writes a decimal of a scale, without trailing zeros, as an element or as the value of
// a name.
func (w *Writer) Decimal(value bourse.Amount, scale uint8) {
	w.next()
	w.buf = append(w.buf, '"')
	w.buf = value.Append(w.buf, scale)
	w.buf = append(w.buf, '"')
}

// Price writes a member with a decimal, without trailing zeros.
func (w *Writer) Price(name string, value bourse.Price, precision uint8) {
	w.Amount(name, bourse.Units(uint64(value)), precision)
}

// Lots writes a member with a decimal, without trailing zeros.
func (w *Writer) Lots(name string, value bourse.Lots, precision uint8) {
	w.Amount(name, bourse.Units(uint64(value)), precision)
}

// Fixed writes a member with exactly this many decimals.
func (w *Writer) Fixed(name string, value uint64, decimals uint8) {
	w.Name(name)
	w.FixedDecimal(value, decimals)
}

// FixedDecimal writes a decimal with exactly this many decimals, as an element or as the value
// of a name.
func (w *Writer) FixedDecimal(value uint64, decimals uint8) {
	w.next()
	w.buf = append(w.buf, '"')
	w.buf = bourse.Units(value).AppendFixed(w.buf, decimals)
	w.buf = append(w.buf, '"')
}

// Time writes a member with Unix seconds and six decimals, as a string.
func (w *Writer) Time(name string, value bourse.Time) {
	w.Name(name)
	w.buf = append(w.buf, '"')
	w.buf = value.Append(w.buf)
	w.buf = append(w.buf, '"')
}

// Seconds writes a member with whole Unix seconds as a number; null for the zero time.
func (w *Writer) Seconds(name string, value bourse.Time) {
	if value == 0 {
		w.Null(name)
		return
	}
	w.Int(name, int64(value/bourse.Second))
}

// Null writes a member with null.
func (w *Writer) Null(name string) { w.Number(name, "null") }

// Maybe writes a member with a string; null for the empty string.
func (w *Writer) Maybe(name, value string) {
	if value == "" {
		w.Null(name)
		return
	}
	w.Text(name, value)
}
