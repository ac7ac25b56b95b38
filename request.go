package bourse

import "strconv"

// signedRequest is the first part of every signed request. Another form gets another word,
// so that no signature is good for two forms.
const signedRequest = "bourse-req-1"

// Request is a request whose client signs it instead of sending a secret.
type Request struct {
	// Exchange is the id of the exchange that the request is for, 32 hexadecimal digits.
	Exchange string
	// Key is the id of the signing key, 64 hexadecimal digits.
	Key string
	// Timestamp is the client's time and Window the time for which the request is good,
	// both in milliseconds.
	Timestamp, Window int64
	// Method, Path and Query are those of the request line, as sent. Query is without its
	// question mark.
	Method, Path, Query string
	// BodyHash is the SHA-256 of the body, 64 hexadecimal digits.
	BodyHash string
}

// AppendText appends the text that is signed: nine parts, each as a netstring, which is its
// length in bytes, a colon, the part and a comma. Lengths keep a byte of one part from
// being read as another part's.
func (r *Request) AppendText(b []byte) []byte {
	b = appendNetstring(b, signedRequest)
	b = appendNetstring(b, r.Exchange)
	b = appendNetstring(b, r.Key)
	b = appendNetstring(b, strconv.FormatInt(r.Timestamp, 10))
	b = appendNetstring(b, strconv.FormatInt(r.Window, 10))
	b = appendNetstring(b, r.Method)
	b = appendNetstring(b, r.Path)
	b = appendNetstring(b, r.Query)
	return appendNetstring(b, r.BodyHash)
}

func appendNetstring(b []byte, part string) []byte {
	b = strconv.AppendInt(b, int64(len(part)), 10)
	b = append(b, ':')
	b = append(b, part...)
	return append(b, ',')
}
