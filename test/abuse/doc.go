// Package abuse lets crowds without money attack the shared resources of a running
// exchange, and checks that honest clients beside them are refused nothing.
//
// Like hostile it tests from outside: it builds the bourse command, runs sandboxes with
// production limits, and uses HTTP, WebSocket and the operators' socket. It imports
// nothing of the product. Each client address is a loopback address of its own.
//
// Attacks are data: testdata has a file for each surface and an attack for each bound
// that an attacker could exhaust. attack_test.go defines the words of an attack. A file
// has its own exchange. Beside each attack a trader in each main market places, trades,
// cancels and listens, and people sign up, log in and reset passwords.
//
// Each attack must meet these bars: no honest request is refused; the process runs and
// /healthz answers; no request has status 500; an attacker's growth of disk and memory
// per second, which is printed, stays below the attack's bounds; the journal passes its
// audit at the end. In the full form (make abuse) the same crowd also requests /healthz
// at the same pace, in windows that alternate with those of the attack, and the honest
// 99th percentile of ACK must stay within twice of that.
//
// TestFullDisk does the same on a small disk, where orders get the documented error and
// cancels work.
//
// Read attack_test.go first, then window_test.go and honest_test.go.
package abuse
