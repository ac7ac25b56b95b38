package coding

import "sync"

// Document is a body that many clients get. It is compressed for the first one that asks.
// Safe for concurrent use; the bytes never change.
type Document struct {
	body    []byte
	encoded [codings]struct {
		once sync.Once
		body []byte
	}
}

// NewDocument returns a document of a body that must not change.
func NewDocument(body []byte) *Document { return &Document{body: body} }

// In returns the body in a coding. The bytes are shared.
func (d *Document) In(c Coding, e *Encoder) []byte {
	if c == Identity {
		return d.body
	}
	in := &d.encoded[c]
	in.once.Do(func() { in.body = e.Encode(c, nil, d.body) })
	return in.body
}
