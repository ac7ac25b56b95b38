package bourse

// RequestHash is the hash of a client's name for a request, or of a request's body.
type RequestHash [16]byte

// Once makes a request idempotent: a client that repeats Key with the same Body gets the
// first outcome. The zero value asks for nothing.
type Once struct{ Key, Body RequestHash }

// IsZero reports whether o is the zero value.
func (o *Once) IsZero() bool { return *o == Once{} }
