// Package hostile attacks a running exchange from outside and checks that it keeps
// working.
//
// It stands outside, like conformance: it builds the bourse command, runs one sandbox
// without traders, and uses HTTP, WebSocket and the operators' socket. It imports nothing
// of the product.
//
// The inputs are data: testdata has a file for each surface, with a case for each
// malformation and its expected answer. The words of a file are defined in the test of
// its surface; internal/chain/devnet reads chain.txt, the answers of a network's node.
// Beside every file a healthy client trades and reads, and fails at the first wrong
// answer. After every file the attacker's balances and orders are unchanged, the
// goroutines and the memory of the exchange are back, no request had status 500, and no
// secret was in an answer or the log. At the end the journal is audited. production.txt is for
// an exchange of its own: in production, with an owner, behind a proxy.
//
// The other tests are about many clients at once: orders for more than a balance
// (bombs_test.go), linearizable histories (model_test.go, linear_test.go), books kept
// from the stream and connections that do not read (books_test.go), floods
// (floods_test.go), clients that leave during a request (leavers_test.go), more
// connections than file descriptors (files_test.go), and crowds, of thousands on demand
// (soak_test.go).
//
// Invariants: a test has a market of its own; except for the crowds of thousands, no test
// asserts a duration.
//
// Read cases_test.go first, then exchange_test.go and healthy_test.go.
package hostile
