package binance

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/coding"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Sequencer sequences commands.
type Sequencer interface {
	// Do submits a command and waits for its outcome.
	Do(ctx context.Context, c *bourse.Command) (sequencer.Result, error)
}

// Options are the parts of the exchange that the interface needs.
type Options struct {
	View      *view.View
	History   *history.Reader
	Sequencer Sequencer
	// Signed checks signatures, and counts wrong ones against their source.
	Signed api.Verifier
	// Turn serializes the orders of an account that may walk much of a book; over ends the
	// turn.
	Turn func(limits *api.Limiter, who bourse.AccountID, p *bourse.NewOrder) (over func(), err error)
	// Listens are the listen keys.
	Listens *ListenKeys
	// Limits count requests beside the weights; nil allows everything.
	Limits *api.Limiter
	// Weight bounds the weight of a source's requests in a minute; zero is no bound.
	Weight int
	// OrderLimit is the rate of an account's orders, which Limits enforces; zero for none.
	OrderLimit api.Rate
	// Teller has the services of the wallet.
	Teller *teller.Teller
	// MaxOpen is the most open orders of an account in a market.
	MaxOpen int
	// From returns a client's address.
	From func(*http.Request) netip.Addr
	// Observe is called with the outcome and duration of each request.
	Observe func(endpoint string, status int, success bool, took time.Duration)
	Clock   func() time.Time
	// Now returns the exchange's time, which timestamps are held against; nil for that of Clock.
	Now func() bourse.Time
	Log *slog.Logger
	// Encoder compresses answers.
	Encoder *coding.Encoder
	// Patience bounds the time of a request.
	Patience time.Duration
	// Confirm is that of [api.Server].
	Confirm func(context.Context) error
}

// orderWindows are the windows in which an account's orders are counted, and their names in
// headers.
var orderWindows = [...]struct {
	width    time.Duration
	header   string
	interval string
	number   int
}{
	{10 * time.Second, "X-MBX-ORDER-COUNT-10S", "SECOND", 10},
	{24 * time.Hour, "X-MBX-ORDER-COUNT-1D", "DAY", 1},
}

// limit returns the orders that an account may place in a window, whatever it did before;
// zero for no bound.
func (f *Facade) limit(window int) int {
	switch rate := f.OrderLimit; {
	case rate.PerSecond <= 0:
		return 0
	case window == 0:
		return min(rate.Burst, int(rate.PerSecond*orderWindows[window].width.Seconds()))
	default:
		return int(rate.PerSecond * orderWindows[window].width.Seconds())
	}
}

// Facade implements the interface.
type Facade struct {
	Options
	endpoints []Endpoint
	symbols   symbols
	weights   *windows[netip.Addr]
	orders    [len(orderWindows)]*windows[bourse.AccountID]
}

// New returns the interface.
func New(o Options) *Facade {
	f := &Facade{Options: o, endpoints: Endpoints(), weights: newWindows[netip.Addr](time.Minute)}
	if f.Now == nil {
		f.Now = func() bourse.Time { return bourse.TimeOf(f.Clock()) }
	}
	for i := range f.orders {
		f.orders[i] = newWindows[bourse.AccountID](orderWindows[i].width)
	}
	return f
}

// Begin returns a request whose parameters are known.
func (f *Facade) Begin(ctx context.Context, p *Params, from netip.Addr) *Request {
	return &Request{Params: p, Context: ctx, From: from, facade: f, names: f.symbols.of(f.View)}
}

// Admit counts a request to an endpoint: its weight against its source, and the request against
// the limit of r.Who. Then it returns the error of its parameters, if any: a malformed request
// counts as well.
func (f *Facade) Admit(r *Request, e *Endpoint) error {
	r.class = e.Class
	var malformed error
	if e.State != NotServed {
		malformed = r.check(e)
	}
	weight := 1
	if malformed == nil {
		weight = e.Weight.Of(r.Params)
	}
	if err := f.weigh(r, weight); err != nil {
		return err
	}
	return malformed
}

// weigh counts a request of a weight.
func (f *Facade) weigh(r *Request, weight int) error {
	source, now := account.Neighbourhood(r.From), f.Clock()
	if r.Weight = f.weights.add(source, weight, now); f.Weight > 0 && r.Weight > f.Weight {
		return &late{errBusy, f.weights.rest(now)}
	}
	standing, within := f.Limits.Take(r.class, r.payer())
	switch {
	case within:
		return nil
	case r.class == api.Orders:
		return &late{errManyOrders, standing.Next}
	}
	return &late{errBusy, standing.Next}
}

// late is an error with the time after which a client may try again.
type late struct {
	cause *Error
	after time.Duration
}

// Error returns the message.
func (l *late) Error() string { return l.cause.Message }

// Unwrap returns the error.
func (l *late) Unwrap() error { return l.cause }

// Permit refuses a request whose key lacks the permission that an endpoint needs.
func (e *Endpoint) Permit(who account.Identity) error {
	if !who.Scopes.Has(e.Security.scope()) {
		return errKey
	}
	return nil
}

// Do answers an admitted request.
func (f *Facade) Do(r *Request, e *Endpoint) error {
	if e.State == NotServed {
		return Errorf(codeUnsupported, "%s", e.Note)
	}
	err := e.Answer(f, r)
	if err == nil {
		err = r.Err()
	}
	if err == nil && e.Counts > 0 {
		f.countOrders(r, e.Counts)
	}
	if f.Confirm == nil || api.WithoutEffect(err) {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context, f.Patience) // the context of a connection's request has no end
	defer cancel()
	if f.Confirm(ctx) != nil {
		return errTimeout
	}
	return err
}

// countOrders counts orders that were taken.
func (f *Facade) countOrders(r *Request, n int) {
	now := f.Clock()
	for i, w := range f.orders {
		r.Orders[i] = w.add(r.Who.Account, n, now)
	}
}

// Find returns the endpoint of a method and path; nil if there is none.
func (f *Facade) Find(method, path string) *Endpoint {
	for i := range f.endpoints {
		if e := &f.endpoints[i]; e.Method == method && e.Path == path {
			return e
		}
	}
	return nil
}

// Named returns the endpoint of a method of the WebSocket interface; nil if there is none.
func (f *Facade) Named(method string) *Endpoint {
	for i := range f.endpoints {
		if e := &f.endpoints[i]; e.WS == method && method != "" {
			return e
		}
	}
	return nil
}
