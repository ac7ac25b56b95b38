package live

import (
	"net/http"
	"strings"
	"sync"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Options are the parts of the exchange that the interface needs.
type Options struct {
	Facade *binance.Facade
	// Feed is the one that Publisher stages in, and no other.
	Feed      *feed.Feed
	Server    *stream.Server
	Publisher *Publisher
}

// Live serves the connections of the interface.
type Live struct {
	Options
	// envelopes are those of combined streams, by the stream's name: a valid one, of which
	// there are a bounded number for each market.
	envelopes sync.Map
	workers   workers
}

// New returns the interface.
func New(o Options) *Live { return &Live{Options: o} }

// Handle registers the paths below a prefix.
func (l *Live) Handle(mux *http.ServeMux, prefix string) {
	mux.HandleFunc(prefix+"/ws", func(w http.ResponseWriter, r *http.Request) { l.streams(w, r, nil, false) })
	mux.HandleFunc(prefix+"/ws/{name...}", func(w http.ResponseWriter, r *http.Request) {
		l.streams(w, r, named(r.PathValue("name")), false)
	})
	mux.HandleFunc(prefix+"/stream", func(w http.ResponseWriter, r *http.Request) {
		l.streams(w, r, named(r.URL.Query().Get("streams")), true)
	})
	mux.HandleFunc(prefix+"/ws-api/v3", l.entry)
}

// named returns the names of a list that slashes separate.
func named(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == '/' })
}

// streams upgrades a request to a connection that has some streams from its beginning.
func (l *Live) streams(w http.ResponseWriter, r *http.Request, names []string, combined bool) {
	first, err := l.first(r, names)
	if err == nil {
		err = plainTimes(r)
	}
	if err != nil {
		l.refuse(w, r, err)
		return
	}
	l.Server.Accept(w, r, func(c *stream.Conn) stream.Protocol {
		return &streams{
			Conn: c, live: l, combined: combined, first: first, names: map[string]feed.Topic{},
		}
	})
}

// plainTimes refuses a connection whose times would be in microseconds.
func plainTimes(r *http.Request) error {
	if unit := r.URL.Query().Get("timeUnit"); unit != "" && !strings.EqualFold(unit, "millisecond") {
		return binance.Unsupported("Times of WebSocket messages are in milliseconds.")
	}
	return nil
}

// refuse answers a request that is not upgraded, which counts as a request of its source.
func (l *Live) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if !l.Server.Limits.AdmitPage(w, api.Payer{Source: l.Facade.From(r)}) {
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	known := binance.Known(err)
	if known == nil {
		known = binance.Unsupported("The request cannot be upgraded.")
	}
	out := wire.NewWriter(nil)
	binance.WriteError(out, known)
	w.Header()["Content-Type"] = []string{"application/json;charset=UTF-8"}
	w.WriteHeader(known.HTTP())
	_, _ = w.Write(out.Bytes()) // the client may be gone
}

// payer returns the account or source that pays for a connection.
func payer(c *stream.Conn, who account.Identity) api.Payer {
	return api.Payer{Account: who.Account, Source: c.From()}
}

// Close ends what Live keeps beside its connections, which must be closed before.
func (l *Live) Close() { l.workers.stop() }

// message returns a writer of a message of about a size.
func message(size int) *wire.Writer {
	return wire.NewWriter(make([]byte, stream.HeaderRoom, stream.HeaderRoom+size))
}

// framed returns the frame of a message.
func framed(w *wire.Writer) []byte { return stream.Frame(w.Bytes()) }

// millis returns a time in milliseconds.
func millis(t bourse.Time) int64 { return int64(t / (bourse.Second / 1000)) }

// tryAgain is the close code for a client that may connect again, of the registry of RFC 6455.
const tryAgain ws.StatusCode = 1013
