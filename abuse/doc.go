// Package abuse lets crowds that have nothing attack what strangers share on a
// running exchange, and wants those who trade and log in beside them to be refused
// nothing.
//
// Like hostile it stands outside: it builds the bourse command, runs sandboxes with
// production limits, and speaks HTTP, WebSocket and the admin socket to them. It
// imports nothing of the product. Each client address is a loopback address of its
// own.
//
// What a crowd does is data: testdata holds a file for each surface, an attack for
// each bound that somebody could fill for others. attack_test.go says which words an
// attack has. A file has an exchange to itself. Beside each attack a trader in each
// main market places, trades, cancels and listens, and people sign up, log in and
// reset passwords.
//
// The bars: no honest request is refused; the process goes on and /healthz answers;
// no request ends with status 500; what an attacker adds to disk and memory in a
// second is printed, and is below the bounds of the attack; the journal's audit agrees
// at the end. The full form (make abuse) also lets the same crowd ask for /healthz at
// the same pace, in windows that alternate with those of the attack, and wants the
// honest 99th percentile of ACK to stay within twice of that.
//
// TestFullDisk does the same on a small disk, where orders are refused with the
// documented error and cancels are taken.
//
// Read attack_test.go first, then window_test.go and honest_test.go.
package abuse
