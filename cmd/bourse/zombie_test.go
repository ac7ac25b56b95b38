package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/node"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

// payingArgs are those of nodes whose networks make blocks on demand.
var payingArgs = append([]string{"--block-time=0"}, trioArgs...)

// wealth is what a holder has, to withdraw for a while.
func wealth() map[string]string {
	return map[string]string{"BTC": "1000", "LTC": "1000", "ETH": "1000", "USDT": "1000000", "ATOM": "100000"}
}

// at returns a node as a server.
func (g *trio) at(n nodeLine) *server {
	return &server{t: g.t, data: nodeDir(g.data, n.Node), url: "http://" + n.Listen}
}

// next returns the node that leads after another one, once orders are taken.
func (g *trio) next(after nodeLine, key string) nodeLine {
	g.t.Helper()
	for n := 0; ; n++ {
		other := g.nodes[n%3]
		if other.Node == after.Node || !buyAt("http://"+other.Listen, key, fmt.Sprintf("next-%d-%d", after.Node, n)) {
			continue
		}
		if leader := g.status(other.Node).Leader; leader != 0 && leader != after.Node {
			return g.nodes[leader-1]
		}
	}
}

// busy deposits and withdraws on each route, and has some networks make blocks.
func (h *holder) busy() {
	h.t.Helper()
	for i, r := range routes {
		must(h.t, h.deposit(http.DefaultClient, r))
		if _, err := h.withdraw(http.DefaultClient, r, h.address(r.network)); err != nil {
			h.t.Fatal(err)
		}
		if i%2 == 0 {
			h.mine(r.network)
		}
	}
}

// TestNodesPayOnce kills the leader of three nodes while deposits and withdrawals are on their way: each deposit
// is credited once, each withdrawal is paid once, and the chains agree with the journal.
func TestNodesPayOnce(t *testing.T) {
	g := startTrioOf(t, payingArgs...)
	first := g.leader()
	h := g.at(first).holder("someone", wealth())
	h.busy()
	must(t, syscall.Kill(first.PID, syscall.SIGKILL))

	second := g.next(first, h.key)
	h.goesTo(g.at(second))
	h.check()
	h.busy()
	h.settle()
	report := operate[struct {
		Networks []struct{ Network, Chain string }
	}](h.server, "audit")
	if len(report.Networks) == 0 {
		t.Error("no networks")
	}
	for _, n := range report.Networks {
		if n.Chain != "agrees" {
			t.Errorf("network %s: the chain %s", n.Network, n.Chain)
		}
	}
	t.Logf("%d withdrawals and %d deposits", h.withdrawals, 2*len(routes))
	g.end(second.Node)
}

// TestZombieDoesNothingOutside stops the leader's process with a withdrawal unpaid and a delivery to a webhook due, until
// another node leads, and lets it go on. The signer gives its term nothing any more. It delivers nothing and opens
// no account, and the other one has paid once.
func TestZombieDoesNothingOutside(t *testing.T) {
	var delivered atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		delivered.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer receiver.Close()
	g := startTrioOf(t, payingArgs...)
	first := g.leader()
	zombie := g.at(first)
	h := zombie.holder("someone", wealth())
	hook := operate[struct{ Webhook uint64 }](zombie, "webhook", "add", receiver.URL+"/").Webhook
	h.busy()
	old := g.asks(first)
	within(t, patience, "a delivery", func() bool { return delivered.Load() > 0 })
	g.freeze(first)

	second := g.next(first, h.key)
	h.goesTo(g.at(second))
	if _, _, err := old.After(t.Context(), 1, 0); !errors.Is(err, signer.ErrEpoch) {
		t.Errorf("the signer answers the term of a leader that was replaced: %v", err)
	}
	h.busy()
	h.settle()
	operate[any](h.server, "webhook", "remove", fmt.Sprint(hook))
	before := delivered.Load()

	must(t, syscall.Kill(first.PID, syscall.SIGCONT))
	for n := 0; g.status(second.Node).Nodes[first.Node-1].Role != "replica"; n++ {
		if _, err := control[any](zombie, "account/create", map[string]any{"email": fmt.Sprintf("zombie%d@example.org", n)}); err == nil &&
			g.status(second.Node).Leader == second.Node {
			t.Fatal("a deposed leader opens an account")
		}
	}
	if rows := g.accountsLike("zombie%"); rows != 0 {
		t.Errorf("a deposed leader writes %d accounts", rows)
	}
	h.busy()
	h.settle()
	if after := delivered.Load(); after != before {
		t.Errorf("a deposed leader delivers to a webhook %d times", after-before)
	}
	g.end(second.Node)
}

// freeze stops a node's process between two writes to the accounts' database. Nodes of one machine share a file, and one
// that is stopped in the middle of a write keeps the others from it.
func (g *trio) freeze(n nodeLine) {
	g.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(g.data, commonDir, node.AccountsDB)+"?_pragma=busy_timeout(30000)")
	must(g.t, err)
	defer func() { must(g.t, db.Close()) }()
	writer, err := db.Conn(g.t.Context())
	must(g.t, err)
	_, err = writer.ExecContext(g.t.Context(), "BEGIN IMMEDIATE")
	must(g.t, err)
	must(g.t, syscall.Kill(n.PID, syscall.SIGSTOP))
	within(g.t, patience, "the process to stop", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.PID))
		return err == nil && bytes.Contains(stat, []byte(") T "))
	})
	_, err = writer.ExecContext(g.t.Context(), "ROLLBACK")
	must(g.t, err)
	must(g.t, writer.Close())
}

// accountsLike counts the rows of accounts, those without an id too.
func (g *trio) accountsLike(email string) (rows int) {
	g.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(g.data, commonDir, node.AccountsDB))
	must(g.t, err)
	must(g.t, db.QueryRowContext(g.t.Context(), `SELECT count(*) FROM accounts WHERE email LIKE $1`, email).Scan(&rows))
	must(g.t, db.Close())
	return rows
}

// asks returns a client of the signer with the epoch of the leader.
func (g *trio) asks(leader nodeLine) *remote.Client {
	g.t.Helper()
	var id signer.ExchangeID
	must(g.t, id.UnmarshalText([]byte(exchangeOf(g.at(leader)))))
	o := remote.Options{
		Address:  remote.Address{Socket: filepath.Join(g.data, commonDir, signerSocket)},
		Exchange: signer.Exchange{ID: id, Sandbox: true},
		Epoch:    signer.Epoch{Incarnation: 1, Term: g.status(leader.Node).Term},
		Now:      time.Now,
	}
	list, err := remote.Accounts(g.t.Context(), o)
	must(g.t, err)
	o.Networks = map[bourse.NetworkID]signer.Account{1: list[0]}
	c := remote.NewClient(o)
	g.t.Cleanup(func() { _ = c.Close() })
	must(g.t, c.Greet(g.t.Context()))
	return c
}
