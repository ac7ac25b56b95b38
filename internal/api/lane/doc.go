// Package lane serves plain requests, nearly all of the traffic, in place of net/http,
// which costs more for one than the exchange does for an order.
//
// It stands between the listener and net/http. A connection starts here and stays while
// its requests are plain: POST by HTTP/1.1 to a path of the interfaces, with one
// Content-Length, headers of usual characters, and a head that arrives in one piece. At
// the first other request, net/http takes the connection over for good, with every byte
// read and not answered; so this package refuses nothing and defines no error. Both call
// the same handler and answer with the same bytes: TestSame compares them.
//
// Invariants: a request that is not surely plain goes to net/http before its handler
// runs; a connection holds no more memory than its client has sent; every wait has a
// deadline.
//
// The context of a request ends with the exchange's patience, not when the client leaves.
// A handler cannot hijack or flush.
//
// Read conn.go, head.go, answer.go, then server.go.
package lane
