package forward

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
)

// openWithin is the time for the leader to take a stream that a client waits for with a request on its own.
const openWithin = 5 * time.Second

// sentBehind are the headers of a client's request that a stream opened for it has. The key of a WebSocket is one's own: it
// proves that the leader speaks the protocol, and nothing about the client.
var sentBehind = [...]string{"Sec-Websocket-Key", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

// Open opens a WebSocket at the leader, on a path, for a client whose own one r opened at this node. It takes a place as
// a stream that is forwarded, and ends as one: with the forwarder, or once another node leads. An error means that the leader
// has no such stream.
func (f *Forwarder) Open(r *http.Request, path string) (io.ReadWriteCloser, error) {
	leader := f.Leader()
	if leader == nil {
		return nil, errNoLeader
	}
	from := f.From(r)
	if !f.streams.take(from) {
		return nil, errCrowded
	}

	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	leave := sync.OnceFunc(func() {
		f.streams.leave(from)
		cancel()
	})
	late, stop := context.WithTimeout(ctx, openWithin)
	defer stop()
	defer context.AfterFunc(late, cancel)()
	body, err := f.upgrade(r.WithContext(ctx), path)
	if err != nil {
		leave()
		return nil, err
	}
	forget := context.AfterFunc(f.ended, leave) //nolint:contextcheck // the end of the forwarder ends the stream, too
	context.AfterFunc(ctx, func() {
		forget()         // else the forwarder would keep each stream that it ever had
		_ = body.Close() // a read under way ends by it
	})
	go f.endWithLead(ctx, leader.ID, leave)
	return &opened{ReadWriteCloser: body, leave: leave}, nil
}

// upgrade sends the request for a stream, and returns the connection behind it.
func (f *Forwarder) upgrade(r *http.Request, path string) (io.ReadWriteCloser, error) {
	out := r.Clone(r.Context())
	out.URL, out.Body = &url.URL{Scheme: "https", Host: "node", Path: path}, http.NoBody
	out.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}}
	for _, name := range sentBehind {
		if list, given := r.Header[name]; given {
			out.Header[name] = list
		}
	}
	address(out, r)

	answer, err := f.RoundTrip(out)
	if err != nil {
		return nil, errNotSent // nothing of it was carried out: the client asks for something once it is open
	}
	body, both := answer.Body.(io.ReadWriteCloser)
	if answer.StatusCode == http.StatusSwitchingProtocols && both {
		return body, nil
	}
	_ = answer.Body.Close()
	if answer.StatusCode == http.StatusTooManyRequests {
		return nil, bourse.ErrBusy
	}
	return nil, errNotSent
}

// opened is a stream at the leader.
type opened struct {
	io.ReadWriteCloser
	leave func()
}

// Close ends the stream and gives its place back.
func (o *opened) Close() error {
	o.leave()
	return nil
}
