package live

import (
	"errors"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/binance"
)

// method is a method of a connection itself. do carries it out, and writes its answer.
type method struct {
	binance.Endpoint
	// signed is set if a request needs a signature of its own.
	signed bool
	// later is set if the answerer carries it out, else the reader does.
	later bool
	do    func(e *entry, f *flight, c *credentials) error
}

// methods are the methods of connections.
var methods = map[string]*method{
	"session.logon":                      {signedParams(), true, false, (*entry).logOn},
	"session.status":                     {plainParams(), false, false, (*entry).status},
	"session.logout":                     {plainParams(), false, false, (*entry).logOut},
	"session.subscriptions":              {plainParams(), false, true, (*entry).listSubscriptions},
	"userDataStream.subscribe":           {plainParams(), false, true, (*entry).subscribe},
	"userDataStream.subscribe.signature": {signedParams(), true, true, (*entry).subscribeSigned},
	"userDataStream.unsubscribe":         {plainParams("subscriptionId"), false, true, (*entry).unsubscribe},
}

// ownWeight is the weight of a method of connections.
const ownWeight = 2

func plainParams(names ...string) binance.Endpoint {
	e := binance.Endpoint{Weight: binance.Weight{Of: func(*binance.Params) int { return ownWeight }}}
	for _, name := range names {
		e.Params = append(e.Params, binance.Param{Name: name})
	}
	return e
}

// signedParams is the endpoint of a method whose signature is taken once, as that of a request
// that changes something.
func signedParams() binance.Endpoint {
	e := plainParams()
	e.Security = binance.Trade
	return e
}

// own carries out a method of the connection.
func (e *entry) own(f *flight, m *method, c *credentials) (err error) {
	facade, r := e.live.Facade, f.request
	r.Who = e.who
	switch {
	case m.signed && c.key == "":
		return errors.Join(facade.Admit(r, f.endpoint), binance.Missing("apiKey"))
	case m.signed:
		if r.Who, err = facade.Claim(r.Context, c.key, r); err != nil {
			return errors.Join(facade.Admit(r, f.endpoint), err)
		}
	}
	if err := facade.Admit(r, f.endpoint); err != nil {
		return err
	}
	if m.signed {
		if err := facade.Verify(r.Context, c.key, r, f.endpoint, []byte(c.signed)); err != nil {
			return err
		}
	}

	if m.later {
		f.later = func() error { return m.do(e, f, c) }
		return nil
	}
	f.begin()
	return m.do(e, f, c)
}

// logOn makes the key of a request that of the session.
func (e *entry) logOn(f *flight, c *credentials) error {
	if err := e.keys.hold(e, f.request.Who); err != nil {
		return err
	}
	e.who, e.key, e.authorized = f.request.Who, c.key, e.live.Facade.Now()
	return e.status(f, c)
}

// logOut makes the session that of no key, and ends its subscription.
func (e *entry) logOut(f *flight, c *credentials) error {
	f.land = func(answer []byte) {
		e.subscriptions.endOwn(e)
		e.Subscriber().Answer(e.Gone(), answer)
	}
	e.who, e.key, e.authorized = account.Identity{}, "", 0
	return e.status(f, c)
}

// status writes the state of the session.
func (e *entry) status(f *flight, _ *credentials) error {
	out := f.out
	out.Object()
	if e.who.Account == 0 {
		out.Null("apiKey")
		out.Null("authorizedSince")
	} else {
		out.Text("apiKey", e.key)
		out.Int("authorizedSince", millis(e.authorized))
	}
	out.Int("connectedSince", millis(e.since))
	out.Bool("returnRateLimits", e.tell)
	out.Int("serverTime", millis(e.live.Facade.Now()))
	out.Bool("userDataStream", e.subscriptions.any())
	out.EndObject()
	return nil
}
