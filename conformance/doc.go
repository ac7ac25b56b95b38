// Package conformance holds a running exchange against docs/spec, clause by
// clause.
//
// It stands outside: it speaks HTTP and WebSocket, and uses the bourse command
// for what only an operator can do. It imports nothing of the product but
// its descriptions, against which it holds every answer, so that it can examine any
// exchange: by default it builds and starts one, with -url and -admin it uses one
// that runs.
//
// A check is a function that takes an [exam] and says with covers which clauses
// the assertions that follow are about. TestEveryClauseIsCovered fails for a
// clause that no check names. TestMutations runs the checks behind a proxy that
// changes an answer on its way, and fails for a clause whose checks never
// notice: an assertion that cannot fail proves nothing.
//
// Invariants: each check has accounts of its own; what it does to a market, it
// does to one that no other check uses meanwhile, and it leaves its book empty.
// So it is with networks, which make blocks on demand alone: one that needs
// several takes them in the order BTC, LTC, ETH, ATOM. What the exchange does by
// itself is waited for past the proxy, so that a changed answer never passes for
// a slow exchange.
//
// Read exam_test.go first, then any of the areas, such as cancel_test.go;
// proxy_test.go and mutation_test.go examine the checks themselves.
package conformance
