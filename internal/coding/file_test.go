package coding_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/coding"
)

// get asks for a file, with headers like "Name: value".
func get(f *coding.File, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

// TestFile wants the coding that the client asks for, a tag of its own for
// each, and the same bytes each time.
func TestFile(t *testing.T) {
	body := []byte(strings.Repeat("all the same, ", 1000))
	f := coding.NewFile("text/plain", "no-cache", body, coding.NewEncoder(1))
	plain := get(f, "Accept-Encoding: identity")
	small := get(f, "Accept-Encoding: gzip")
	if got := small.Header(); got.Get("Content-Encoding") != "gzip" || got.Get("Vary") != "Accept-Encoding" ||
		got.Get("ETag") == plain.Header().Get("ETag") {
		t.Errorf("plain %v, gzip %v", plain.Header(), got)
	}
	r, err := gzip.NewReader(bytes.NewReader(small.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); err != nil || !bytes.Equal(text, body) || !bytes.Equal(plain.Body.Bytes(), body) {
		t.Errorf("%d bytes, %v", len(text), err)
	}

	again := get(f, "Accept-Encoding: gzip", "If-None-Match: "+small.Header().Get("ETag"))
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("the version that the client has: %d %s", again.Code, again.Body)
	}
	if other := get(f, "If-None-Match: "+small.Header().Get("ETag")); other.Code != http.StatusOK {
		t.Errorf("a version in another coding: %d", other.Code)
	}

	lost := httptest.NewRecorder()
	f.Serve(lost, httptest.NewRequest(http.MethodGet, "/", nil), http.StatusNotFound)
	if lost.Code != http.StatusNotFound || !bytes.Equal(lost.Body.Bytes(), body) {
		t.Errorf("with a status: %d", lost.Code)
	}
}
