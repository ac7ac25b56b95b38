// Package conformance tests a running exchange against docs/spec, clause by clause.
//
// It stands outside: it uses HTTP and WebSocket, and the bourse command for an operator's
// actions. It imports nothing of the product but a virtual authenticator and its
// descriptions, with which it validates every answer. It can therefore examine any exchange: by default it builds and
// starts one, and for checks that need a past a second one, with traders; with -url and
// -admin it uses a running one, which must have traded for a day.
//
// A check is a function that takes an [exam] and names, with covers, the clauses of the
// assertions that follow. TestEveryClauseIsCovered fails for a clause without a check.
// TestMutations runs the checks behind a proxy that changes an answer, and fails for a
// clause whose checks never notice, because an assertion that cannot fail proves nothing.
//
// Invariants: each check has its own accounts; it changes only markets that no other
// check uses meanwhile, and leaves their books empty. The same holds for networks, which
// make blocks only on demand; a check that needs several reserves them in the order BTC,
// LTC, ETH, ATOM. Waiting for the exchange bypasses the proxy, so that a changed answer
// never looks like a slow exchange. One check alone writes notices of a kind.
//
// Read exam_test.go first, then an area such as cancel_test.go; proxy_test.go and
// mutation_test.go test the checks themselves.
package conformance
