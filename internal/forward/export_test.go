package forward

import "net/http"

// RequestsPerSource bounds the requests of an address that are on their way.
const RequestsPerSource = requestsPerSource

// MostDials bounds the connections for streams that are made at once.
const MostDials = mostDials

// TakeStreams takes all places of a client's address for streams, until leave.
func (f *Forwarder) TakeStreams(r *http.Request) (leave func()) {
	from, n := f.From(r), 0
	for f.streams.take(from) {
		n++
	}
	return func() {
		for range n {
			f.streams.leave(from)
		}
	}
}
