package api

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// MaxFields bounds the fields of an endpoint.
const MaxFields = 16

// Fields are the names that a request may hold. Other names are ignored.
type Fields []string

// Form is a JSON object whose known fields are read by name. Duplicates of a known name,
// names that differ from one in case alone, invalid UTF-8 and trailing data are refused.
//
// The first error sticks: Err returns it, and fields read after it are zero. An endpoint
// reads its fields in the order in which they are to be refused, then checks Err once
// before it acts.
type Form struct {
	fields Fields
	// values holds the raw value of each known field, a slice of body; nil if it is
	// absent or null.
	values  [MaxFields]jsontext.Value
	body    []byte
	decoder jsontext.Decoder
	// query is set if the values come from a query string, where all are strings.
	query bool
	err   error
}

// ErrNotObject is the error for a body that is not one strict JSON object.
var ErrNotObject = bourse.Errorf(bourse.CodeInvalid, "Request must be one JSON object")

// Parse reads a body, which must not change while the form is used. Errors are
// *bourse.Errors. After any but ErrNotObject the fields can still be read.
func (f *Form) Parse(body []byte, fields Fields) error {
	f.fields, f.body, f.query, f.err = fields, body, false, nil
	f.values = [MaxFields]jsontext.Value{}
	f.decoder.Reset(bytes.NewBuffer(body))

	misnamed, err := f.members()
	if err != nil {
		return err
	}

	if _, err := f.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return ErrNotObject
	}
	return misnamed
}

// forget drops the values, and keeps the memory of the decoder.
func (f *Form) forget() {
	f.fields, f.values, f.body, f.err = nil, [MaxFields]jsontext.Value{}, nil, nil
}

// members reads the object. misnamed is the error for the first name that differs from a
// known one in case alone.
func (f *Form) members() (misnamed, err error) {
	begin, err := f.decoder.ReadToken()
	if err != nil || begin.Kind() != '{' {
		return nil, ErrNotObject
	}

	for f.decoder.PeekKind() == '"' {
		name, err := f.decoder.ReadValue()
		if err != nil {
			return nil, ErrNotObject
		}
		at, err := f.index(name)
		if misnamed == nil {
			misnamed = err
		}

		value, err := f.decoder.ReadValue()
		if err != nil {
			return nil, ErrNotObject
		}

		if at >= 0 && value.Kind() != 'n' {
			end := f.decoder.InputOffset()
			f.values[at] = f.body[end-int64(len(value)) : end]
		}
	}

	if end, err := f.decoder.ReadToken(); err != nil || end.Kind() != '}' {
		return nil, ErrNotObject
	}
	return misnamed, nil
}

// index returns the index of a quoted name among the known fields, or -1.
func (f *Form) index(quoted jsontext.Value) (int, error) {
	name := text(quoted)
	for i, known := range f.fields {
		if string(name) == known {
			return i, nil
		}
	}
	for _, known := range f.fields {
		if strings.EqualFold(string(name), known) {
			given := strconv.Quote(cut(string(name)))
			return -1, bourse.Errorf(bourse.CodeInvalid, "Unknown field %s, did you mean %s?", given, known)
		}
	}
	return -1, nil
}

func unquote(v jsontext.Value) string { return string(text(v)) }

// text returns the content of a JSON string, without a copy unless it has escapes.
func text(v jsontext.Value) []byte {
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	plain, _ := jsontext.AppendUnquote(nil, v) // Parse checked it
	return plain
}

// Err returns the first error of reading; nil if there was none.
func (f *Form) Err() error { return f.err }

// Fail keeps the first error; nil is ignored.
func (f *Form) Fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// raw returns the raw value of a field; nil if it is absent or null.
func (f *Form) raw(name string) jsontext.Value {
	for i, known := range f.fields {
		if name == known {
			return f.values[i]
		}
	}
	bourse.Impossible("field %s is not declared", name)
	return nil
}

// value returns raw(name), or nil after an error.
func (f *Form) value(name string) jsontext.Value {
	if f.err != nil {
		return nil
	}
	return f.raw(name)
}

// Has reports whether a field is present and not null.
func (f *Form) Has(name string) bool { return f.raw(name) != nil }

// Missing returns the error for an absent required field.
func Missing(name string) error {
	return &bourse.Error{Code: bourse.CodeMissing, Message: "Missing data: " + name}
}

// Invalid returns the error for a malformed field.
func Invalid(name, why string) error {
	return &bourse.Error{Code: bourse.CodeInvalid, Message: name + ": " + why}
}

// Require fails with the first of the named fields that is absent.
func (f *Form) Require(names ...string) {
	for _, name := range names {
		if !f.Has(name) {
			f.Fail(Missing(name))
			return
		}
	}
}

// Text returns a string field; absent is empty.
func (f *Form) Text(name string) string {
	v := f.value(name)
	switch {
	case v == nil:
		return ""
	case v.Kind() != '"':
		f.Fail(Invalid(name, "must be a string"))
		return ""
	}
	return unquote(v)
}

// Bool returns a boolean field; absent is false.
func (f *Form) Bool(name string) bool {
	v := f.scalar(name)
	if v != nil && v.Kind() != 't' && v.Kind() != 'f' {
		f.Fail(Invalid(name, "must be true or false"))
	}
	return v != nil && v.Kind() == 't'
}

// Int returns an integer field in [low, high]; absent is low. "-0" is refused.
func (f *Form) Int(name string, low, high int64) int64 {
	v := f.scalar(name)
	switch {
	case f.err != nil:
		return 0
	case v == nil:
		return low
	}

	n, err := strconv.ParseInt(string(v), 10, 64)
	if v.Kind() != '0' || err != nil || n < low || n > high || n == 0 && len(v) > 1 {
		bounds := strconv.FormatInt(low, 10) + " to " + strconv.FormatInt(high, 10)
		f.Fail(Invalid(name, "must be an integer from "+bounds))
		return 0
	}
	return n
}

// Integer returns the text of an integer field of any size; absent is empty.
func (f *Form) Integer(name string) string {
	v := f.scalar(name)
	if v != nil && (v.Kind() != '0' || bytes.ContainsAny(v, ".eE")) {
		f.Fail(Invalid(name, "must be an integer"))
		return ""
	}
	return string(v)
}

// MaxOffset bounds the offset of a list.
const MaxOffset = 1<<31 - 1

// Offset returns the rows of a list to skip.
func (f *Form) Offset() int { return int(f.Int("offset", 0, MaxOffset)) }

// Period returns the times that the fields from and to bound, whole Unix seconds, both
// included; zero is no bound.
func (f *Form) Period() (from, to bourse.Time) {
	from = f.Second("from")
	if f.Has("to") {
		to = f.Second("to")
		to += min(bourse.Second-1, math.MaxInt64-to)
	}
	return from, to
}

// maxSeconds is the latest Unix second that fits bourse.Time.
const maxSeconds = math.MaxInt64 / int64(bourse.Second)

// Resolution reads the resolution of candles.
func (f *Form) Resolution(name string) bourse.Resolution {
	res, known := bourse.ParseResolution(f.Text(name))
	if !known {
		f.Fail(Invalid(name, "must be one of 1, 3, 5, 15, 30, 60, 120, 240, 360, 720, 1D, 1W, 1M"))
	}
	return res
}

// Second returns a time in Unix seconds; absent is zero.
func (f *Form) Second(name string) bourse.Time {
	return bourse.Time(f.Int(name, 0, maxSeconds)) * bourse.Second
}

// ID returns an id field, an integer or a string of digits; absent is zero.
func (f *Form) ID(name string) uint64 {
	v := f.value(name)
	if v == nil {
		return 0
	}

	digits := string(v)
	if v.Kind() == '"' {
		digits = unquote(v)
	}
	n, err := ParseID(digits)
	if err != nil {
		f.Fail(Invalid(name, err.Error()))
	}
	return n
}

var errNotID = errors.New("must be a positive integer")

// ParseID parses decimal digits. Errors are for clients.
func ParseID(digits string) (uint64, error) {
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, errNotID
		}
	}
	if n, err := strconv.ParseUint(digits, 10, 63); err == nil {
		return n, nil
	}
	return 0, errNotID
}

// Texts returns a field that is an array of at most most strings; in a query string
// commas separate them.
func (f *Form) Texts(name string, most int) []string {
	v := f.value(name)
	if v == nil {
		return nil
	}

	list, ok := array(v, most)
	if f.query {
		list = strings.SplitN(unquote(v), ",", most+1)
		ok = len(list) <= most
	}
	if !ok {
		f.Fail(Invalid(name, "must be an array of at most "+strconv.Itoa(most)+" strings"))
		return nil
	}
	return list
}

// array reads an array of at most most strings.
func array(v jsontext.Value, most int) (list []string, ok bool) {
	if v.Kind() != '[' {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	_, _ = d.ReadToken() // Form.Parse checked it

	for d.PeekKind() != ']' {
		e, err := d.ReadValue()
		if err != nil || e.Kind() != '"' || len(list) == most {
			return nil, false
		}
		list = append(list, unquote(e))
	}
	return list, true
}

// TextOrTexts returns a field that is a string or an array of at most most strings.
func (f *Form) TextOrTexts(name string, most int) []string {
	v := f.value(name)
	switch {
	case v != nil && v.Kind() == '"':
		return []string{unquote(v)}
	case v != nil && v.Kind() != '[':
		f.Fail(Invalid(name, "must be a string or an array of strings"))
	}
	return f.Texts(name, most)
}

// enum is a type with a word for each value from one on.
type enum interface {
	~uint8
	String() string
}

// Word returns a field whose value parse must know; absent is zero.
func Word[E enum](f *Form, name string, parse func(string) (E, bool)) E {
	text := f.Text(name)
	if f.err != nil || !f.Has(name) {
		return 0
	}
	e, ok := parse(text)
	if !ok {
		f.Fail(UnknownWord(name, text, wordsOf(parse)...))
	}
	return e
}

// wordsOf returns the words that parse knows.
func wordsOf[E enum](parse func(string) (E, bool)) (words []string) {
	for e := E(1); ; e++ {
		word := e.String()
		if _, known := parse(word); !known {
			return words
		}
		words = append(words, word)
	}
}

// Words returns a field that is one of the words, or an array of them, as their indices. The
// word at index zero is none.
func Words[E ~uint8](f *Form, name string, words []string) []E {
	var list []E
	for _, text := range f.TextOrTexts(name, len(words)-1) {
		at := slices.Index(words[1:], text) + 1
		if at == 0 {
			f.Fail(UnknownWord(name, text, words[1:]...))
			return nil
		}
		list = append(list, E(at))
	}
	return list
}

// UnknownWord returns the error for a field that is none of the words it may be.
func UnknownWord(name, text string, words ...string) error {
	return Invalid(name, strconv.Quote(cut(text))+" is none of "+strings.Join(words, ", "))
}

// Read parses a string field; absent is parsed as the empty string.
func Read[T any](f *Form, name string, parse func(string) (T, error)) (value T) {
	text := f.Text(name)
	if f.err != nil {
		return value
	}
	value, err := parse(text)
	if err != nil {
		f.Fail(Invalid(name, err.Error()))
	}
	return value
}

// FactorCode returns the code of a second factor, empty for none.
func (f *Form) FactorCode(name string) string {
	text := f.Text(name)
	if text != "" {
		f.Fail(account.CheckCode(name, text))
	}
	return text
}

// Pair returns the market that a required field names, or nil after an error.
func (f *Form) Pair(name string, find func(bourse.Pair) *bourse.Market) *bourse.Market {
	f.Require(name)
	return f.OptionalPair(name, find)
}

// OptionalPair returns the market that a field names; nil if it is absent or after an
// error.
func (f *Form) OptionalPair(name string, find func(bourse.Pair) *bourse.Market) *bourse.Market {
	pair := f.Text(name)
	if f.err != nil || !f.Has(name) {
		return nil
	}

	m := find(bourse.Pair(pair))
	if m == nil {
		f.Fail(bourse.Errorf(bourse.CodeNotFound, "%s: unknown pair %q", name, cut(pair)))
	}
	return m
}

// Unknown returns the error for a field with an unknown symbol.
func Unknown(field, kind, symbol string) error {
	return bourse.Errorf(bourse.CodeNotFound, "%s: unknown %s %q", field, kind, cut(symbol))
}

// Named returns the asset or network whose symbol a field gives, or nil after an error.
// The name of the field, asset or network, is also the kind in the error.
func Named[T any](f *Form, name string, find func(bourse.Symbol) *T) *T {
	symbol := f.Text(name)
	if f.err != nil {
		return nil
	}
	found := find(bourse.Symbol(symbol))
	if found == nil {
		f.Fail(Unknown(name, name, symbol))
	}
	return found
}

// ClientID returns the field client_id; zero if it is absent.
func ClientID(f *Form) (id bourse.ClientID) {
	if f.Has("client_id") {
		id = Read(f, "client_id", bourse.ParseClientID)
	}
	return id
}

// cut shortens a client's text for an error message.
func cut(s string) string {
	const most = 64
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
