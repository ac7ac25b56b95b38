package node

import (
	"net/http"
	"time"

	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/accountv2"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/api/icons"
	"github.com/bourse-exchange/bourse/internal/api/spotv1"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/api/walletv1"
	"github.com/bourse-exchange/bourse/internal/api/walletv2"
	"github.com/bourse-exchange/bourse/internal/sandbox"
)

// routes returns the handler of the public listener.
func (n *Node) routes() http.Handler {
	rest := &api.Server{
		Who: n.accounts, From: n.proxies.From, Limits: n.limits, Observe: n.metrics.observe,
		Clock: time.Now, Log: n.Log, Patience: patience,
	}
	spot := &spotv1.Spot{
		View: n.view, History: n.reader, Sequencer: n.sequencer, PublicURL: n.PublicURL,
		DefaultPair: sandbox.DefaultPair,
	}
	money := teller.Teller{
		View: n.view, History: n.reader, Accounts: n.accounts, Sequencer: n.sequencer, Networks: connections{n},
		PublicURL: n.PublicURL,
	}

	mux := http.NewServeMux()
	v2.Handle(rest, mux, "/account/v2", (&accountv2.Account{Accounts: n.accounts}).Endpoints())
	rest.Handle(mux, "/spot", spot.Endpoints())
	rest.Handle(mux, "/wallet", (&walletv1.Wallet{Teller: money}).Endpoints())
	v2.Handle(rest, mux, "/wallet/v2", (&walletv2.Wallet{Teller: money}).Endpoints())
	mux.Handle("/stream", n.streams)
	for path, pages := range map[string]http.Handler{
		"/icons/": icons.Handler(n.view), "/docs": n.docs, "/docs/": n.docs, "/{$}": http.HandlerFunc(n.welcome),
	} {
		mux.Handle(path, n.limits.Metered(n.proxies.From, pages))
	}

	mux.HandleFunc("/healthz", n.healthz)
	mux.HandleFunc("/readyz", n.readyz)
	return mux
}

// operators returns the handler of the admin socket.
func (n *Node) operators() http.Handler {
	s := &admin.Server{Options: admin.Options{
		Accounts: n.accounts, View: n.view, History: n.reader, Sequencer: n.sequencer, AcceptClock: n.acceptClock,
		Log: n.Log, FormatHash: connections{n}.formatHash, Voids: n.voided(),
	}}
	if n.letters != nil {
		s.Letters = n.letters
	}
	if n.Sandbox != nil {
		s.Devnet = n.Sandbox
	}
	return s.Handler()
}
