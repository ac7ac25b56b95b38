package conformance

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// fields is the body of a request.
type fields map[string]any

// with returns a copy with a field set, or removed if v is nil.
func (f fields) with(name string, v any) fields {
	c := fields{}
	for k, old := range f {
		c[k] = old
	}
	c[name] = v
	if v == nil {
		delete(c, name)
	}
	return c
}

// answer is an HTTP answer.
type answer struct {
	status int
	header http.Header
	body   []byte
	// body is decoded, whatever Content-Encoding the header has; value is its JSON, or nil.
	value *value
}

// post sends a request to an endpoint below /spot.
func (x *exam) post(path string, body fields) *answer {
	x.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		x.broken("%v", err)
	}
	return x.raw(path, string(b))
}

// raw posts any body.
func (x *exam) raw(path, body string) *answer {
	x.Helper()
	return x.send(http.MethodPost, "/spot"+path, body, nil)
}

// send sends any request.
func (x *exam) send(method, path, body string, header http.Header) *answer {
	x.Helper()
	a, err := x.exchange.send(method, x.url+path, body, header)
	if err != nil {
		x.broken("%s %s: %v", method, path, err)
	}
	x.shapedAnswer(method, path, body, a)
	return a
}

// sure posts a request again until its outcome is known, which unrest may lose. It is for what may be done twice, such as
// what a check undoes.
func (e *exchange) sure(path, body string) (a *answer, err error) {
	for a == nil || e.cluster != nil && err == nil && a.unknown() {
		if a, err = e.send(http.MethodPost, e.url+path, body, nil); err != nil {
			return a, err
		}
	}
	return a, nil
}

// unknown reports whether nobody knows if the answer's request was carried out. V1 says so in the body alone.
func (a *answer) unknown() bool {
	return a.status == http.StatusBadGateway || a.status == http.StatusGatewayTimeout || a.value.get("code").text == "TIMEOUT"
}

func (e *exchange) send(method, url, body string, header http.Header) (*answer, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	res, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	a := &answer{status: res.StatusCode, header: res.Header, value: nothing}
	if a.body, err = io.ReadAll(res.Body); err != nil {
		return nil, err
	}
	if a.body, err = recode(res.Header.Get("Content-Encoding"), a.body, decoded); err != nil {
		return nil, err
	}
	if v, err := parseValue(bytes.TrimSpace(a.body)); err == nil {
		a.value = v
	}
	return a, nil
}

// eventually repeats a request until an answer is as wanted or the time is over, and
// returns the last one.
func (x *exam) eventually(in time.Duration, request func() *answer, wanted func(*answer) bool) *answer {
	x.Helper()
	end, every := time.NewTimer(in), time.NewTicker(20*time.Millisecond)
	defer end.Stop()
	defer every.Stop()
	for {
		a := request()
		if wanted(a) {
			return a
		}
		select {
		case <-end.C:
			return a
		case <-every.C:
		}
	}
}
