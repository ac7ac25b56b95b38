// Package lane reads the plain requests, which are nearly all there are, in place
// of net/http, which spends more on one than the exchange does on an order.
//
// It stands between the listener and net/http. A connection begins here and stays
// for as long as its requests are plain: POST by HTTP/1.1 to a path of the
// interfaces, with one Content-Length, headers of usual characters, and a head
// that arrives in one piece. With the first one that is not, the connection goes
// to net/http for good, together with every byte that was read and not answered;
// so this package refuses nothing and has no opinion about what is malformed.
// Both serve the same handler, and answers are the same bytes.
//
// Invariants: what is not surely plain is handed over before its handler runs;
// no connection holds more memory than its client has sent; each wait has an end.
//
// A handler is called with a request that ends with the patience of the exchange;
// it is not told that its client has gone. It cannot hijack or flush.
//
// Read conn.go, head.go, answer.go, then server.go.
package lane
