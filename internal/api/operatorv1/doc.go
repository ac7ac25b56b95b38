// Package operatorv1 is the interface of operators, on a listener of its own.
//
// It stands at the edge. A person accepts an invitation with a passkey, logs in with it, and has a
// session whose secret is in a cookie. An operator's order is a verb of package admin, carried out
// as an act: each request that changes something has a reason, and is confirmed by an assertion of
// the operator's passkey over the request. The answer is the act, if it waits for a second operator.
//
// A program has an operator's key, which reads, and stops things without an assertion.
//
// Invariants: no session of a customer, and no key of one, is anything here; a request of a session that
// changes something needs an assertion of its own; a request of a key that does so only stops something, publishes
// or ends a notice, or enables or tests a webhook; the role that a route names is a courtesy,
// because the engine holds every act against its operators.
//
// Read desk.go, session.go, acts.go, then verbs.go. Not here: what operators may do (core/engine),
// the verbs (api/admin), passkeys and sessions (operator), the guard of the listener (api/browser).
package operatorv1
