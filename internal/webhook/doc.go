// Package webhook delivers bulletins to programs of the operator by HTTP, signed, in order and
// at least once.
//
// It stands behind the history: the follower writes a bulletin with its batch, and a courier for
// each endpoint reads them from there. Its place in the journal moves, in the accounts' store,
// after the endpoint answered 2xx. So a crash repeats a delivery and loses none, a backlog lies in
// the history and not in memory, and nothing in front of the journal waits for an endpoint.
//
// Invariants: an endpoint's deliveries have sequences without gaps; a repetition has the id, the
// sequence and the body of the first; nothing is sent about a command that is not durable; a
// secret is shown once and stored sealed, for its URL and kinds alone; nothing of an answer but its
// status is used.
//
// Read webhook.go, then service.go, courier.go, post.go; sign.go has the signature, guard.go
// the addresses that are refused.
package webhook
