// Package binance implements the interface that bots of Binance speak, beside V1 and V2.
//
// It stands at the edge, below /binance and, if the operator asks for it, on an address of
// its own. A request becomes the same commands, views and history as one of V1; the package
// has no rule of its own. [Endpoints] is the table of the documented interface, with one file
// for each endpoint that is served; docs/binance.md is written from it.
//
// Invariants: an endpoint or parameter that is not served is refused with its own code and a
// sentence, never ignored; every reason of a refusal has a code of Binance's; an answer's numbers
// are texts with the decimals of their market or asset; a refusal changes nothing.
//
// Read table.go, params.go, request.go, server.go, then order.go.
package binance
