package conformance

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

var codingChecks = []check{largeAnswers, weights, plainAnswers, documents}

func TestCodings(t *testing.T) { examine(t, codingChecks) }

// decoded and encoded are what recode does to a body.
const decoded, encoded = true, false

// recode decodes or encodes a body; without a coding it is left as it is.
func recode(coding string, body []byte, decode bool) ([]byte, error) {
	var out bytes.Buffer
	switch {
	case coding == "gzip" && decode && len(body) > 0:
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(&out, r)
		return out.Bytes(), err
	case coding == "gzip" && !decode:
		w := gzip.NewWriter(&out)
		_, err := w.Write(body)
		if closed := w.Close(); err == nil {
			err = closed
		}
		return out.Bytes(), err
	case coding == "zstd" && decode:
		r, err := zstd.NewReader(nil)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return r.DecodeAll(body, nil)
	case coding == "zstd":
		w, err := zstd.NewWriter(nil)
		if err != nil {
			return nil, err
		}
		defer func() { _ = w.Close() }()
		return w.EncodeAll(body, nil), nil
	}
	return body, nil
}

// accepting sends a request with an Accept-Encoding.
func (x *exam) accepting(accept, method, path, body string) *answer {
	x.Helper()
	return x.send(method, path, body, http.Header{"Accept-Encoding": {accept}})
}

// shelf is a market with a book of more than 1 KiB that no check changes.
type shelf struct {
	seller      *account
	pair        string
	large, best string
	book, touch *value
}

func (x *exam) shelf() *shelf {
	x.Helper()
	m := x.market()
	s := &shelf{seller: x.trader(m), pair: m.pair}
	for i := range 32 {
		s.seller.sell(m, strconv.Itoa(10+i), "1")
	}
	s.large, s.best = `{"pair":"`+m.pair+`"}`, `{"pair":"`+m.pair+`","depth":1}`
	s.book = x.send(http.MethodPost, "/spot/orderbook", s.large, nil).value
	s.touch = x.send(http.MethodPost, "/spot/orderbook", s.best, nil).value
	return s
}

// comes checks an answer that must vary by the request's coding.
func (x *exam) comes(a *answer, coding string, want *value) {
	x.Helper()
	x.equal("answer", a.value.String(), want.String())
	x.equal("Content-Encoding", a.header.Get("Content-Encoding"), coding)
	x.equal("Vary", a.header.Get("Vary"), "Accept-Encoding")
}

func largeAnswers(x *exam) {
	x.covers("SPOT-COD-1")
	s := x.shelf()
	x.comes(x.send(http.MethodPost, "/spot/orderbook", s.large, nil), "", s.book)
	if n := len(s.book.String()); n <= 1024 {
		x.Errorf("%d bytes", n)
	}

	own := `{"offset":0,"api_key":"` + s.seller.key + `"}`
	for _, coding := range []string{"gzip", "zstd"} {
		x.comes(x.accepting(coding, http.MethodPost, "/spot/orderbook", s.large), coding, s.book)
		x.comes(x.accepting(coding, http.MethodGet, "/spot/orderbook?pair="+s.pair, ""), coding, s.book)
		x.comes(x.accepting(coding, http.MethodPost, "/spot/orderbook", s.best), "", s.touch)
		for _, path := range []string{"/spot/open_orders", "/spot/orders_history"} {
			plain := x.send(http.MethodPost, path, own, nil).value
			x.comes(x.accepting(coding, http.MethodPost, path, own), coding, plain)
		}
	}
}

func weights(x *exam) {
	x.covers("SPOT-COD-2")
	s := x.shelf()
	for accept, coding := range map[string]string{
		"gzip, deflate, br, zstd": "zstd", "gzip;q=0.9, zstd;q=0.8": "gzip", "gzip;q=0, *": "", "*;q=0.5, zstd;q=0": "gzip",
		"br": "", "gzip;q=0, zstd;q=0": "", "*;q=0": "", "identity, gzip;q=0.5": "", "GZIP": "gzip", "identity;q=0": "",
	} {
		x.comes(x.accepting(accept, http.MethodPost, "/spot/orderbook", s.large), coding, s.book)
	}
	for accept, coding := range map[string]string{
		"gzip, identity;q=0": "gzip", "zstd, *;q=0": "zstd", "gzip, identity;q=0.001": "", "identity;q=0": "",
	} {
		x.comes(x.accepting(accept, http.MethodPost, "/spot/orderbook", s.best), coding, s.touch)
	}
}

func plainAnswers(x *exam) {
	x.covers("SPOT-COD-3")
	m := x.market()
	a := x.trader(m)
	const all = "gzip, zstd, identity;q=0"
	plain := func(path, body string) *answer {
		got := x.accepting(all, http.MethodPost, path, body)
		x.equal("Content-Encoding of "+path, got.header.Get("Content-Encoding"), "")
		return got
	}

	key := `"api_key":"` + a.key + `"`
	x.failsNaming(plain("/spot/orderbook", `{"pair":"`+strings.Repeat("X", 2000)+`"}`), "pair")
	order := `,"pair":"` + m.pair + `","side":"SELL","type":"LIMIT","time_in_force":"GTC","price":"10","amount":"1"`
	x.match(plain("/spot/open_orders/new", `{`+key+order+`,"resp_type":"ACK"}`).value, `{"success":true,"obid":"#id","status":"OPEN"}`)
	x.succeeds(plain("/spot/open_orders/cancel_all", `{`+key+`}`))
	for path, body := range map[string]string{
		"/wallet/balances": `{` + key + `}`, "/wallet/transactions": `{` + key + `,"offset":0}`,
	} {
		want := x.send(http.MethodPost, path, body, nil)
		x.equal(path, plain(path, body).value.String(), want.value.String())
	}

	keys := http.Header{"Authorization": {"Bearer " + a.key}}
	want := x.send(http.MethodGet, "/account/v2/api-keys", "", keys.Clone())
	keys.Set("Accept-Encoding", all)
	got := x.send(http.MethodGet, "/account/v2/api-keys", "", keys)
	x.equal("Content-Encoding of keys", got.header.Get("Content-Encoding"), "")
	x.equal("keys", got.value.String(), want.value.String())
}

func documents(x *exam) {
	x.covers("SPOT-COD-4")
	plain := x.send(http.MethodGet, "/docs/spot.yaml", "", nil)
	tags := map[string]bool{}
	for _, coding := range []string{"", "gzip", "zstd"} {
		got := x.accepting(coding, http.MethodGet, "/docs/spot.yaml", "")
		x.equal("Content-Encoding", got.header.Get("Content-Encoding"), coding)
		x.equal("Vary", got.header.Get("Vary"), "Accept-Encoding")
		if !bytes.Equal(got.body, plain.body) || !bytes.Contains(got.body, []byte("openapi")) {
			x.Errorf("%q: another document of %d bytes", coding, len(got.body))
		}

		tag := got.header.Get("ETag")
		if tag == "" || tags[tag] {
			x.Errorf("%q has the tag %q of another coding", coding, tag)
		}
		tags[tag] = true
		for known := range tags {
			again := x.send(http.MethodGet, "/docs/spot.yaml", "", http.Header{
				"Accept-Encoding": {coding}, "If-None-Match": {known},
			})
			if (again.status == http.StatusNotModified) != (known == tag) {
				x.Errorf("%q with %s: status %d", coding, known, again.status)
			}
		}
		part := x.send(http.MethodGet, "/docs/spot.yaml", "", http.Header{
			"Accept-Encoding": {coding}, "Range": {"bytes=0-99"},
		})
		if part.status != http.StatusOK || len(part.body) != len(plain.body) {
			x.Errorf("%q: a range has status %d and %d bytes", coding, part.status, len(part.body))
		}
	}
}
