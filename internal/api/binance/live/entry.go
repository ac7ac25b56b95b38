package live

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// entry is the protocol of a connection that enters orders. The reader takes requests in
// order: it submits the commands of one before it reads the next. The answerer waits for
// their outcomes and answers in the same order.
type entry struct {
	*stream.Conn

	live   *Live
	use    stream.Use
	parser parser
	// given are the parameters of the request that is read.
	given []parameter
	// tell is set if answers have the limits unless a request asks otherwise.
	tell  bool
	since bourse.Time

	queue *queue
	// answering is closed when the answerer has ended; nil until it begins.
	answering chan struct{}

	// who identifies the session; authorized is the time of its log-on. Owned by the reader.
	who        account.Identity
	key        string
	authorized bourse.Time
	// changing is set if a request that replaces or amends an order may have no answer yet. Owned
	// by the reader.
	changing bool

	keys          keys
	subscriptions subscriptions
}

// entry upgrades a request to a connection that enters orders.
func (l *Live) entry(w http.ResponseWriter, r *http.Request) {
	if err := plainTimes(r); err != nil {
		l.refuse(w, r, err)
		return
	}
	tell := !strings.EqualFold(r.URL.Query().Get("returnRateLimits"), "false")
	l.Server.Accept(w, r, func(c *stream.Conn) stream.Protocol {
		return &entry{Conn: c, live: l, tell: tell, since: l.Facade.Now(), queue: newQueue()}
	})
}

// Begin does nothing: the client speaks first.
func (e *entry) Begin() {}

// Lost closes the connection: there is no state to send in place of a lost message.
func (e *entry) Lost(*feed.Hold) { e.End(tryAgain, "messages were lost", true) }

// Meter counts frames that are no requests; those are counted as such.
func (e *entry) Meter(op ws.OpCode, size int) error {
	if op == ws.OpText {
		return nil
	}
	return e.use.Frame(e.live.Server, payer(e.Conn, e.who), size)
}

// Leave answers nothing more, and waits until the answerer has ended.
func (e *entry) Leave() {
	e.live.Feed.Leave(e.Subscriber())
	e.queue.end()
	if e.answering != nil {
		<-e.answering
	}
	e.live.Feed.Leave(e.Subscriber()) // a late answer may have subscribed
}

// Handle takes a request.
func (e *entry) Handle(message []byte) error {
	e.queue.reserve(len(message))
	if e.answering == nil {
		e.answering = make(chan struct{})
		go e.answer()
	}

	f := &flight{entry: e, began: e.live.Facade.Clock(), size: len(message), tell: e.tell, method: "unknown"}
	r, err := e.parser.parse(message)
	f.id = r.id
	if err == nil {
		err = e.take(f, &r)
	}
	var flood error
	if f.err == nil {
		f.err = err
	}
	if err != nil {
		flood = e.refused(f, err)
	}
	e.queue.add(f)
	return flood
}

// refused counts a request that was not carried out, unless Admit did and was within the limits:
// one that goes on is closed.
func (e *entry) refused(f *flight, err error) error {
	known := binance.Known(err)
	if admitted := f.request != nil; admitted && (known == nil || known.HTTP() != http.StatusTooManyRequests) {
		return nil
	}
	return e.use.Frame(e.live.Server, payer(e.Conn, e.who), f.size)
}

// credentials are the parameters of a request that endpoints do not see.
type credentials struct {
	key string
	// signed is the text that a signature covers.
	signed string
	has    bool
}

// take reads a request and carries it out, unless that has to wait for earlier ones.
func (e *entry) take(f *flight, r *request) error {
	name := strings.TrimPrefix(r.method, "v3/")
	own := methods[name]
	if own != nil {
		f.endpoint = &own.Endpoint
	} else if f.endpoint = e.live.Facade.Named(name); f.endpoint == nil {
		return binance.ErrUnknownMethod
	}
	f.method = "WS " + name

	params, c, err := e.params(f, r)
	if err != nil {
		return err
	}
	f.request = e.live.Facade.Begin(context.WithValue(e.Gone(), flying{}, f), params, e.From())
	switch {
	case own != nil:
		return e.own(f, own, &c)
	default:
		if err := e.admit(f, &c); err != nil {
			return err
		}
	}

	switch f.endpoint.Class {
	case api.Orders, api.Cancels:
		e.submit(f)
	default:
		f.later = func() error { return e.live.Facade.Do(f.request, f.endpoint) }
	}
	return nil
}

// params reads the parameters of a request.
func (e *entry) params(f *flight, r *request) (*binance.Params, credentials, error) {
	var c credentials
	params := new(binance.Params)
	e.given = e.given[:0]
	if r.params != "" && r.params[0] != '{' {
		return params, c, errNotJSON
	}

	var first error
	for i := range e.parser.members {
		if err := e.param(f, params, &c, &e.parser.members[i]); err != nil && first == nil {
			first = err
		}
	}
	if c.has {
		c.signed = signedText(e.given)
	}
	return params, c, first
}

// param reads a parameter.
func (e *entry) param(f *flight, params *binance.Params, c *credentials, m *member) error {
	text := m.text
	switch m.kind {
	case '"':
		text = unquoted(text)
	case '{':
		return errParams
	default: // as it was sent
	}

	switch {
	case len(e.given) == binance.MaxParams:
		return binance.ErrTooMany
	case m.name != "signature":
		e.given = append(e.given, parameter{m.name, text})
	}
	switch m.name {
	case "apiKey":
		c.key, c.has = text, true
		return nil
	case "returnRateLimits":
		f.tell = text != "false"
		return nil
	case "signature":
		c.has = true
	}
	return params.Add(m.name, text)
}

// parameter is a parameter of a request.
type parameter struct{ name, text string }

// signedText returns the text of parameters that a signature covers.
func signedText(list []parameter) string {
	slices.SortFunc(list, func(a, b parameter) int { return cmp.Compare(a.name, b.name) })
	var text strings.Builder
	for i, p := range list {
		if i > 0 {
			text.WriteByte('&')
		}
		text.WriteString(p.name + "=" + p.text)
	}
	return text.String()
}

// admit counts a request, and checks its signature or that of the session. The limit of an
// account is that of the one that the key claims.
func (e *entry) admit(f *flight, c *credentials) (err error) {
	facade, r := e.live.Facade, f.request
	switch {
	case f.endpoint.Security == binance.None || f.endpoint.State == binance.NotServed:
		return facade.Admit(r, f.endpoint)
	case c.has:
		return e.admitSigned(f, c)
	case e.who.Account == 0:
		return errors.Join(facade.Admit(r, f.endpoint), binance.Missing("apiKey"))
	}

	if r.Who, err = e.live.Facade.Listens.Holder(e.who.Key, e.From()); err != nil {
		return errors.Join(facade.Admit(r, f.endpoint), err)
	}
	if err := facade.Admit(r, f.endpoint); err != nil {
		return err
	}
	if err := facade.Fresh(r); err != nil {
		return err
	}
	return f.endpoint.Permit(r.Who)
}

// admitSigned counts a request, and then checks its signature.
func (e *entry) admitSigned(f *flight, c *credentials) (err error) {
	facade, r := e.live.Facade, f.request
	if r.Who, err = facade.Claim(r.Context, c.key, r); err != nil {
		return errors.Join(facade.Admit(r, f.endpoint), err)
	}
	if err := facade.Admit(r, f.endpoint); err != nil {
		return err
	}
	if f.endpoint.Security == binance.UserStream {
		return f.endpoint.Permit(r.Who)
	}
	if err := facade.Verify(r.Context, c.key, r, f.endpoint, []byte(c.signed)); err != nil {
		return err
	}
	return f.endpoint.Permit(r.Who)
}

// The methods whose requests wait, or let others wait: cancelAll cancels all orders of a market,
// replace and amend name an order in the lane of orders.
const (
	cancelAll = "openOrders.cancelAll"
	replace   = "order.cancelReplace"
	amend     = "order.amend.keepPriority"
)

// submit carries out a request up to its first command. One that fails before may miss what
// earlier requests do, as the cancel of an order that is on its way: it is carried out again
// when these have their outcomes.
func (e *entry) submit(f *flight) {
	if e.waits(f.endpoint) {
		e.settle()
	}
	first := e.queue.settled()
	f.request.Pending = !first
	paused := e.try(f)
	if !paused && f.err != nil && !first {
		e.settle()
		f.err, f.request.Pending = nil, false
		e.try(f)
	}
	if f.endpoint.WS == replace || f.endpoint.WS == amend {
		e.changing = true
	}
}

// waits reports whether a request waits for the outcomes of those before it. The sequencer lets
// cancels overtake orders: a cancel of all orders must not, nor any cancel an earlier request
// that may name the same order. An amendment is compared with the quantity that the order has.
func (e *entry) waits(of *binance.Endpoint) bool {
	return of.WS == cancelAll || e.changing && (of.Class == api.Cancels || of.WS == amend)
}

// settle waits until all earlier requests have their answers.
func (e *entry) settle() {
	e.queue.settle()
	e.changing = false
}

// try carries out a request until its worker pauses, and reports whether it did.
func (e *entry) try(f *flight) (paused bool) {
	f.begin()
	f.worker = e.live.workers.get()
	if f.worker.start(f) {
		return true
	}
	e.live.workers.put(f.worker)
	f.worker = nil
	return false
}

// begin begins an answer.
func (f *flight) begin() {
	const usual = 768 // bytes
	f.out = message(usual)
	f.out.Object()
	f.out.Number("id", f.id)
	f.out.Int("status", http.StatusOK)
	f.out.Name("result")
	f.request.Out = f.out
}

// do carries out the endpoint.
func (f *flight) do() { f.err = f.entry.live.Facade.Do(f.request, f.endpoint) }

// answer answers requests, in order, until the queue ends.
func (e *entry) answer() {
	defer close(e.answering)
	for f := e.queue.take(); f != nil; f = e.queue.take() {
		f.finish()
		status := f.complete()
		e.live.Facade.Observe(f.method, status, f.err == nil, e.live.Facade.Clock().Sub(f.began))
		frame := framed(f.out)
		if f.land != nil && f.err == nil {
			f.land(frame)
		} else {
			e.Subscriber().Answer(e.Gone(), frame)
		}
		e.queue.landed(f)
	}
}

// finish carries out the rest of a request.
func (f *flight) finish() {
	live := f.entry.live
	switch {
	case f.worker != nil:
		for more := true; more; more = f.worker.resume() {
			f.await()
		}
		live.workers.put(f.worker)
		f.worker = nil
	case f.later != nil && f.err == nil:
		ctx, cancel := context.WithTimeout(f.request.Context, live.Facade.Patience)
		defer cancel()
		f.request.Context = ctx
		f.begin()
		f.err = f.later()
	}
}

// await waits for the outcome of a command, unless the client has left.
func (f *flight) await() {
	select {
	case <-f.ticket.Done():
		return // as for most of a frame
	default:
	}

	patience, cancel := context.WithTimeout(f.entry.Gone(), f.entry.live.Facade.Patience)
	defer cancel()
	select {
	case <-f.ticket.Done():
	case <-patience.Done():
		f.late = true
	}
}

// complete completes the answer and returns its status.
func (f *flight) complete() int {
	status := http.StatusOK
	if f.err != nil {
		status = f.fail()
	}
	if f.tell && f.request != nil {
		f.entry.live.Facade.WriteUsed(f.out, f.request)
	}
	f.out.EndObject()
	return status
}

// fail writes the answer for an error.
func (f *flight) fail() int {
	facade := f.entry.live.Facade
	known := binance.Known(f.err)
	if known == nil {
		if f.entry.Gone().Err() == nil {
			facade.Log.Error("request failed", slog.String("endpoint", f.method), slog.Any("error", f.err))
		}
		known = binance.ErrInternal
	}

	const usual = 256 // bytes
	f.out = message(usual)
	f.out.Object()
	f.out.Number("id", f.id)
	f.out.Int("status", int64(known.HTTP()))
	f.out.Name("error")
	f.out.Object()
	f.out.Int("code", int64(known.Code))
	f.out.Text("msg", known.Message)
	if after, limited := binance.RetryAfter(f.err); limited {
		f.retryAfter(f.out, after)
	} else if known.Data != nil {
		f.out.Raw("data", known.Data)
	}
	f.out.EndObject()
	return known.HTTP()
}

// retryAfter writes the time after which a refused client may try again.
func (f *flight) retryAfter(out *wire.Writer, after time.Duration) {
	now := f.entry.live.Facade.Clock()
	out.Name("data")
	out.Object()
	out.Int("serverTime", now.UnixMilli())
	out.Int("retryAfter", now.Add(after).UnixMilli())
	out.EndObject()
}
