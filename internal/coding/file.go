package coding

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/bourse-exchange/bourse"
)

// File is a document that never changes while the program runs. It is compressed as well as
// can be, for the first client that asks. Safe for concurrent use.
type File struct {
	kind, caching string
	body          []byte
	encoder       *Encoder
	// tag is the ETag of this version, without its quotes.
	tag     string
	encoded [codings]func() []byte
}

// NewFile returns a file of a Content-Type, with its Cache-Control. A nil encoder compresses
// nothing.
func NewFile(kind, caching string, body []byte, encoder *Encoder) *File {
	sum := sha256.Sum256(body)
	return &File{
		kind: kind, caching: caching, body: body, encoder: encoder, tag: fmt.Sprintf("%x", sum[:12]),
		encoded: [codings]func() []byte{
			Identity: func() []byte { return body },
			Gzip:     sync.OnceValue(func() []byte { return smallGzip(body) }),
			Zstd:     sync.OnceValue(func() []byte { return smallZstd(body) }),
		},
	}
}

// ServeHTTP answers with the file, or with 304 if the client has this version in the coding
// that it would get: each coding has a tag of its own. Ranges are not served.
func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.Serve(w, r, http.StatusOK) }

// Serve answers with the file and a status in place of 200.
func (f *File) Serve(w http.ResponseWriter, r *http.Request, status int) {
	chosen, tag := f.encoder.Choose(r.Header["Accept-Encoding"], len(f.body)), f.tag
	if chosen != Identity {
		tag += "-" + chosen.String()
	}
	tag = `"` + tag + `"`

	h := w.Header()
	h.Set("ETag", tag)
	h.Add("Vary", "Accept-Encoding")
	h.Set("Cache-Control", f.caching)
	if has := r.Header.Get("If-None-Match"); status == http.StatusOK && (has == "*" || strings.Contains(has, tag)) {
		w.WriteHeader(http.StatusNotModified)
		return
	}

	h.Set("Content-Type", f.kind)
	if chosen != Identity {
		h.Set("Content-Encoding", chosen.String())
	}
	body := f.encoded[chosen]()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

func smallGzip(body []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		bourse.Impossible("gzip: %v", err)
	}

	_, err = w.Write(body)
	if closed := w.Close(); err != nil || closed != nil {
		bourse.Impossible("gzip into memory: %v, %v", err, closed)
	}
	return out.Bytes()
}

func smallZstd(body []byte) []byte {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		bourse.Impossible("zstd: %v", err)
	}
	defer func() { _ = w.Close() }()
	return w.EncodeAll(body, nil)
}
