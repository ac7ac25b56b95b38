// Package hostile attacks a running exchange from outside, and wants it to
// notice nothing.
//
// It stands outside, like conformance: it builds the bourse command, runs one
// sandbox without traders, and speaks HTTP, WebSocket and the admin socket to it.
// It imports nothing of the product.
//
// What is sent is data: testdata holds a file for each surface, a case for each
// way to be malformed, and says what the answer must be. The words of a file are
// in the test of its surface; chain.txt, the answers of a network's node, is read
// by internal/chain/devnet. Beside every file a healthy client trades and reads,
// and fails at the first answer that is not as it should be. After every file the
// attacker has what it had, the goroutines and the memory of the exchange are
// back where they were, nothing ended with status 500, and no secret was in
// anything that came back or went to the log. At the end the journal is audited.
//
// The other tests are about many clients at once: orders for more than there is
// (bombs_test.go), histories that must have an order in which they make sense
// (model_test.go, linear_test.go), books kept from the stream and connections
// that do not read (books_test.go), floods (floods_test.go), clients that leave
// in the middle (leavers_test.go), more connections than files (files_test.go),
// and crowds, of thousands on demand (soak_test.go).
//
// Invariants: a test uses a market that no other one uses; no assertion is about
// how long something took, as long as it ended, but for the crowds of thousands.
//
// Read cases_test.go first, then exchange_test.go and healthy_test.go.
package hostile
