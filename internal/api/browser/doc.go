// Package browser serves the exchange's own pages beside the interfaces: sessions by cookie, and
// the guard in front of every path that takes one.
//
// It stands at the edge. A cookie session is an ordinary session of package account, whose
// secret is in a cookie that scripts cannot read. Below /web/api pages reach the endpoints of
// the other interfaces with the cookie in place of the key, and /web/stream is the stream of
// the cookie's account.
//
// Invariants: no answer below /web holds the secret of a session; no page of another origin
// reads an answer, or causes one that changes anything; a cookie means nothing on any other
// path.
//
// Read guard.go, cookie.go, session.go, then headers.go. Not here: the pages themselves
// (package web).
package browser
