package node

import (
	"context"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/accountv1"
	"github.com/bourse-exchange/bourse/internal/api/accountv2"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/api/binance/live"
	"github.com/bourse-exchange/bourse/internal/api/exports"
	"github.com/bourse-exchange/bourse/internal/api/icons"
	"github.com/bourse-exchange/bourse/internal/api/infov1"
	"github.com/bourse-exchange/bourse/internal/api/p2pv1"
	"github.com/bourse-exchange/bourse/internal/api/spotv1"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/api/walletv1"
	"github.com/bourse-exchange/bourse/internal/api/walletv2"
	"github.com/bourse-exchange/bourse/internal/coding"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/edge"
	"github.com/bourse-exchange/bourse/internal/sandbox"
)

// routes returns the handler of the public listener.
func (n *Node) routes() http.Handler {
	n.spot = &spotv1.Spot{
		View: n.view, History: n.reader, Sequencer: n.sequencer, PublicURL: n.PublicURL,
		DefaultPair: sandbox.DefaultPair,
	}
	money := teller.Teller{
		View: n.view, History: n.reader, Accounts: n.accounts, Sequencer: n.sequencer, Networks: connections{n},
		PublicURL: n.PublicURL,
	}
	n.wallet = &walletv1.Wallet{Teller: money}
	if n.Sandbox != nil {
		n.faucet = n.Sandbox.Faucet(time.Now)
	}
	n.exports = exports.New(money)

	mux := http.NewServeMux()
	for prefix, endpoints := range n.v1(&money) {
		n.rest.Handle(mux, prefix, endpoints)
	}
	for prefix, endpoints := range n.v2(&money) {
		v2.Handle(n.rest, mux, prefix, endpoints)
	}
	n.rest.Handle(mux, "/p2p", p2pv1.Endpoints())
	n.bots = n.newBots(&money)
	n.botStreams = live.New(live.Options{
		Facade: n.bots, Feed: n.botFeed, Server: n.streams, Publisher: n.botPublisher,
	})
	n.bots.Handle(mux, "/binance")
	n.botStreams.Handle(mux, "/binance")
	mux.Handle("/stream", n.streams)
	own := n.serveBrowsers(mux, &money)
	missing := n.missing()
	for path, pages := range map[string]http.Handler{
		"/icons/": icons.Handler(n.view, missing), "/docs": n.docs, "/docs/": n.docs, "/llms.txt": n.docs,
		"/terms": n.docs, "/privacy": n.docs,
		"/{$}": http.HandlerFunc(n.welcome),
	} {
		mux.Handle(path, n.metered(pages))
	}

	mux.HandleFunc("/healthz", n.healthz)
	mux.HandleFunc("/readyz", n.readyz)
	mux.Handle("/", own.Missing(missing))
	return n.apart(api.Transport(own.Before(mux), missing))
}

// apart keeps the host of operators off a listener of customers.
func (n *Node) apart(next http.Handler) http.Handler {
	if n.deskHost == "" {
		return next
	}
	return edge.OtherHost(n.deskHost, next)
}

// v1 returns the V1 interfaces for keys and pages, by the prefix of their paths.
func (n *Node) v1(money *teller.Teller) map[string][]api.Endpoint {
	return map[string][]api.Endpoint{
		"/account": (&accountv1.Account{Accounts: n.accounts, Who: n.limits.Guard(n.accounts)}).Endpoints(),
		"/info":    (&infov1.Info{Teller: *money, Notices: n.notices}).Endpoints(),
		"/spot":    n.spot.Endpoints(),
		"/wallet":  n.wallet.Endpoints(),
	}
}

// v2 returns the V2 interfaces for keys and pages, by the prefix of their paths.
func (n *Node) v2(money *teller.Teller) map[string][]v2.Endpoint {
	wallet := &walletv2.Wallet{Teller: *money}
	if n.faucet != nil {
		wallet.Faucet = n.faucet
	}
	return map[string][]v2.Endpoint{
		"/account/v2": slices.Concat((&accountv2.Account{Accounts: n.accounts, View: n.view}).Endpoints(), n.exports.Endpoints()),
		"/wallet/v2":  wallet.Endpoints(),
	}
}

// newBots returns the interface that bots of Binance speak.
func (n *Node) newBots(money *teller.Teller) *binance.Facade {
	return binance.New(binance.Options{
		View: n.view, History: n.reader, Sequencer: live.NewSequencer(n.sequencer),
		Signed: n.limits.GuardSigned(n.accounts), Turn: n.spot.Turn, Listens: n.listenKeys,
		Limits: n.limits, Weight: n.Limits.Weight, OrderLimit: n.Limits.Account.Orders, MaxOpen: engine.MaxOpenOrders,
		From: n.proxies.From, Observe: n.metrics.observe, Clock: time.Now, Now: n.clock.Now, Log: n.Log, Encoder: n.rest.Encoder,
		Patience: patience, Teller: money, Confirm: n.rest.Confirm,
	})
}

// botRoutes returns the handler of the listener for clients that take a host alone.
func (n *Node) botRoutes() http.Handler {
	mux := http.NewServeMux()
	n.bots.Handle(mux, "")
	n.botStreams.Handle(mux, "")
	return n.endingBroken(n.apart(api.Transport(mux, n.bots.Missing())))
}

// newREST returns the server of the HTTP interfaces.
func (n *Node) newREST() *api.Server {
	return &api.Server{
		Who: n.accounts, Signed: n.accounts, From: n.proxies.From, Limits: n.limits, Observe: n.metrics.observe,
		Clock: time.Now, After: time.After, Log: n.Log, Patience: patience, Encoder: coding.NewEncoder(runtime.GOMAXPROCS(0)),
		Confirm: n.confirm(),
	}
}

// confirm returns the confirmation that answers wait for; nil for an exchange on one node, which no other can
// replace unnoticed.
func (n *Node) confirm() func(context.Context) error {
	if n.Member == nil {
		return nil
	}
	return n.Member.Log.Confirm
}

// missing returns the handler of paths that do not exist: it answers in V1's form below
// /spot and /wallet, and in V2's elsewhere.
func (n *Node) missing() http.Handler {
	v1, elsewhere := n.rest.Missing(), v2.Missing(n.rest)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ofV1(r.URL.Path) {
			v1.ServeHTTP(w, r)
		} else {
			elsewhere.ServeHTTP(w, r)
		}
	})
}

// ofV1 reports whether errors of a path have V1's form.
func ofV1(path string) bool {
	below := func(prefix string) bool { return strings.HasPrefix(path+"/", prefix) }
	return (below("/spot/") || below("/wallet/")) && !below("/wallet/v2/")
}

// operators returns the handler of the admin socket.
func (n *Node) operators() http.Handler { return n.verbs().Handler() }

// verbs returns the verbs of operators.
func (n *Node) verbs() *admin.Server {
	s := &admin.Server{Options: admin.Options{
		Accounts: n.accounts, Notices: n.notices, Operators: n.office, Webhooks: n.webhooks,
		View: n.view, History: n.reader, Sequencer: n.sequencer,
		AcceptClock: n.acceptClock, Log: n.Log, FormatHash: connections{n}.formatHash, Voids: n.voided(),
		Status: n.status, Condition: n.vitals, Purses: n.purses, Cold: n.cold, Funds: n.funds,
	}}
	if n.Member != nil {
		s.Cluster, s.Confirm = members{n.Member}, n.confirm()
	}
	if n.letters != nil {
		s.Letters = n.letters
	}
	if n.Sandbox != nil {
		s.Devnet = n.Sandbox
	}
	return s
}
