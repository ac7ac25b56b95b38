package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse/internal/api/admin"
)

// route is an asset on a network, with amounts that suit it.
type route struct{ network, asset, deposit, withdrawal string }

var routes = []route{
	{"BTC", "BTC", "0.5", "0.02"}, {"LTC", "LTC", "5", "0.2"}, {"ETH", "ETH", "3", "0.1"},
	{"ETH", "USDT", "2000", "100"}, {"ATOM", "ATOM", "200", "7"},
}

// transfer is a row of /wallet/transactions.
type transfer struct {
	Xid     uint64
	Type    string
	Asset   string
	Network string
	Amount  string
	Status  string
	Address string
	Txid    string
	Fee     string
	Height  uint64
}

// walletAnswer is what the wallet's endpoints answer.
type walletAnswer struct {
	Success      bool
	Error        string
	Xid          uint64
	Address      string
	Memo         string
	FeeMin       string `json:"fee_min"`
	Transactions []transfer
	Balances     map[string]struct{ Total string }
}

// chains are the networks that customers' coins are on.
type chains interface {
	// advance mines a block on each.
	advance()
	// arrived returns the balance of an address on its chain, in whole coins.
	arrived(r route, address string) *big.Rat
}

// holder is a customer with a wallet, and what was acknowledged to him.
type holder struct {
	*server
	chains  chains
	account int
	key     string
	// fees are the least of each asset.
	fees map[string]string
	// given is what he was credited without a deposit.
	given map[string]string
	// asked are his withdrawals by the address that they go to, which is one for
	// each; zero for one whose answer never came.
	asked map[string]*payout
	// paid are his deposits by their transaction.
	paid map[string]route
	// seen are the times when deposits were shown to him as done, by xid; floor is the
	// last transaction of when everything was at rest.
	seen  map[uint64]time.Time
	floor uint64
	rng   *rand.Rand
	// withdrawals and deposits count what was acknowledged, lost what never was
	// answered.
	withdrawals, deposits, lost int
	problem                     error
	// told, if not nil, is called for each withdrawal that was acknowledged.
	told func()
}

type payout struct {
	route
	amount string
	xid    uint64
	// at is when it was acknowledged.
	at       time.Time
	canceled bool
	// sent is set when a cancel came too late.
	sent bool
}

func (s *server) holder(name string, given map[string]string) *holder {
	s.t.Helper()
	return s.holderOn(name, given, routes)
}

// goesTo lets the customer use another process of the exchange, and the networks that it shows.
func (h *holder) goesTo(s *server) { h.server, h.chains = s, s }

// holderOn opens an account for a customer whose coins move by these routes.
func (s *server) holderOn(name string, given map[string]string, routes []route) *holder {
	s.t.Helper()
	h := &holder{
		server: s, chains: s, given: given, fees: map[string]string{}, asked: map[string]*payout{}, paid: map[string]route{},
		seen: map[uint64]time.Time{},
	}
	h.account = operate[struct{ Account int }](s, "account", "create", name+"@example.org").Account
	id := fmt.Sprint(h.account)
	h.key = operate[struct {
		Secret string `json:"api_key"`
	}](s, "key", "create", id, "--name", "test", "--scopes", "read,trade,withdraw").Secret
	for asset, amount := range given {
		operate[any](s, "credit", id, asset, amount)
	}
	for _, r := range routes {
		h.fees[r.asset] = h.must("/withdraw/info", map[string]any{"asset": r.asset, "network": r.network}).FeeMin
	}
	return h
}

// do asks an endpoint of the wallet for its customer.
func (h *holder) do(client *http.Client, path string, body map[string]any) (walletAnswer, error) {
	body["api_key"] = h.key
	return ask[walletAnswer](client, h.url, "/wallet"+path, body)
}

func (h *holder) must(path string, body map[string]any) walletAnswer {
	h.t.Helper()
	a, err := h.do(http.DefaultClient, path, body)
	if err != nil || !a.Success {
		h.t.Fatalf("%s: %v %s", path, err, a.Error)
	}
	return a
}

// control asks for a verb of operators, without a process for it.
func control[A any](s *server, verb string, args map[string]any) (a A, err error) {
	answer, err := admin.Call(s.t.Context(), s.data, verb, args)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(answer, &a)
}

func mustControl[A any](s *server, verb string, args map[string]any) A {
	s.t.Helper()
	a, err := control[A](s, verb, args)
	if err != nil {
		s.t.Fatalf("%s %v: %v", verb, args, err)
	}
	return a
}

func (s *server) mine(network string) {
	s.t.Helper()
	mustControl[any](s, "devnet/mine", map[string]any{"network": network, "blocks": 1})
}

// advance mines a block on each embedded network.
func (s *server) advance() {
	s.t.Helper()
	for _, network := range []string{"BTC", "LTC", "ETH", "ATOM"} {
		s.mine(network)
	}
}

// address returns an address of the outside world.
func (s *server) address(network string) string {
	s.t.Helper()
	return mustControl[struct{ Address string }](s, "devnet/address", map[string]any{"network": network}).Address
}

// arrived returns the balance of an address, in whole coins.
func (s *server) arrived(r route, address string) *big.Rat {
	s.t.Helper()
	args := map[string]any{"network": r.network, "address": address, "asset": r.asset}
	return number(mustControl[struct{ Balance string }](s, "devnet/balance", args).Balance)
}

func number(s string) *big.Rat {
	n, ok := new(big.Rat).SetString(s)
	if !ok {
		return new(big.Rat)
	}
	return n
}

// withdraw asks for a withdrawal and remembers it. An error means that nobody
// knows what became of it.
func (h *holder) withdraw(client *http.Client, r route, address string) (*payout, error) {
	w := &payout{route: r, amount: r.withdrawal}
	h.asked[address] = w
	a, err := h.do(client, "/withdraw", map[string]any{
		"asset": r.asset, "network": r.network, "address": address, "amount": r.withdrawal, "fee": h.fees[r.asset],
	})
	if err != nil {
		h.lost++
		return nil, err
	}
	if !a.Success {
		h.problem = fmt.Errorf("a withdrawal of %s: %s", r.asset, a.Error)
		return nil, h.problem
	}
	w.xid, w.at = a.Xid, time.Now()
	h.withdrawals++
	if h.told != nil {
		h.told()
	}
	return w, nil
}

func (h *holder) cancel(client *http.Client, w *payout) error {
	a, err := h.do(client, "/withdraw/cancel", map[string]any{"xid": w.xid})
	if err != nil {
		return err
	}
	w.canceled, w.sent = a.Success, strings.Contains(a.Error, "already sent")
	if !w.canceled && !w.sent {
		return fmt.Errorf("a cancel of %d: %s", w.xid, a.Error)
	}
	return nil
}

// transactions returns the customer's, by xid, back to when all were at rest.
func (h *holder) transactions() map[uint64]transfer {
	h.t.Helper()
	rows := map[uint64]transfer{}
	for offset := 0; ; offset += 50 {
		a, err := h.do(http.DefaultClient, "/transactions", map[string]any{"offset": offset})
		switch {
		case err != nil:
			h.t.Fatal(err)
		case !a.Success && strings.Contains(a.Error, "History is"):
			offset -= 50 // it is catching up, and says so
			continue
		case !a.Success:
			h.t.Fatal(a.Error)
		}
		for _, row := range a.Transactions {
			if row.Xid <= h.floor {
				return rows
			}
			rows[row.Xid] = row
		}
		if len(a.Transactions) < 50 {
			return rows
		}
	}
}

// rest mines until nothing of the customer's is on its way any more.
func (h *holder) rest() map[uint64]transfer {
	h.t.Helper()
	for range 60 {
		h.chains.advance()
		rows, open := h.transactions(), 0
		for _, row := range rows {
			if row.Status != "DONE" && row.Status != "CANCELED" {
				open++
			}
		}
		if open == 0 {
			// What is done may still wait for its block.
			h.chains.advance()
			return rows
		}
	}
	h.t.Fatalf("never comes to rest: %+v", h.transactions())
	return nil
}

// settle holds what was acknowledged, what the exchange lists, what the chains
// show and what the customer has against each other.
func (h *holder) settle() {
	h.t.Helper()
	rows := h.rest()
	want := map[string]*big.Rat{}
	for asset, amount := range h.given {
		want[asset] = number(amount)
	}
	add := func(asset string, n *big.Rat) {
		if want[asset] == nil {
			want[asset] = new(big.Rat)
		}
		want[asset].Add(want[asset], n)
	}
	deposits := map[string]int{}
	byAddress := map[string]transfer{}
	for _, row := range rows {
		if row.Type == "DEPOSIT" {
			deposits[row.Txid]++
			add(row.Asset, number(row.Amount))
			if row.Status != "DONE" {
				h.t.Errorf("deposit %+v", row)
			}
			continue
		}
		byAddress[row.Address] = row
		if row.Status == "DONE" {
			add(row.Asset, new(big.Rat).Neg(number(row.Amount)))
			add(row.Asset, new(big.Rat).Neg(number(row.Fee)))
		}
	}
	for tx := range h.paid {
		if deposits[tx] != 1 {
			h.t.Errorf("deposit %s was credited %d times", tx, deposits[tx])
		}
	}
	for address, w := range h.asked {
		h.settled(address, w, byAddress)
	}
	for asset, b := range h.must("/balances", map[string]any{}).Balances {
		if n := want[asset]; n != nil && n.Cmp(number(b.Total)) != 0 {
			h.t.Errorf("%s of %s, and should be %s", b.Total, asset, n.FloatString(10))
		}
		h.given[asset] = b.Total
	}
	for xid := range rows {
		h.floor = max(h.floor, xid)
	}
	clear(h.asked)
	clear(h.paid)
	clear(h.seen)
}

// check asks for everything that was acknowledged since all was at rest.
func (h *holder) check() {
	h.t.Helper()
	if h.problem != nil {
		h.t.Error(h.problem)
	}
	rows := h.transactions()
	for xid := range h.seen {
		if row := rows[xid]; row.Type != "DEPOSIT" || row.Status != "DONE" {
			h.t.Errorf("deposit %d was done and is %+v", xid, row)
		}
	}
	for address, w := range h.asked {
		row, listed := rows[w.xid]
		switch {
		case w.xid == 0:
		case !listed || row.Address != address:
			h.t.Errorf("withdrawal %d to %s was acknowledged and is %+v", w.xid, address, row)
		case w.sent && row.Status == "CANCELED",
			// A cancel that finds the withdrawal at the signer is pending, and may learn then that it is signed.
			w.canceled && !slices.Contains([]string{"CANCELED", "DONE", "PENDING_CANCEL", "PROCESSING"}, row.Status):
			h.t.Errorf("withdrawal %+v is %+v", *w, row)
		}
	}
}

func (h *holder) settled(address string, w *payout, byAddress map[string]transfer) {
	h.t.Helper()
	row, listed := byAddress[address]
	got := h.chains.arrived(w.route, address)
	switch {
	case w.xid != 0 && (!listed || row.Xid != w.xid):
		h.t.Errorf("withdrawal %d was acknowledged and is gone", w.xid)
	case !listed && got.Sign() != 0:
		h.t.Errorf("%s was paid and nobody asked for it", address)
	case row.Status == "DONE" && got.Cmp(number(w.amount)) != 0:
		h.t.Errorf("%+v: paid %s, canceled %t", row, got.FloatString(10), w.canceled)
	case row.Status == "CANCELED" && (got.Sign() != 0 || w.sent):
		h.t.Errorf("%+v: paid %s, sent %t", row, got.FloatString(10), w.sent)
	}
}

// live deposits, withdraws, cancels and mines until the exchange dies.
func (h *holder) live() {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for {
		r := routes[h.rng.IntN(len(routes))]
		to, err := control[struct{ Address string }](h.server, "devnet/address", map[string]any{"network": r.network})
		if err != nil {
			return
		}
		w, err := h.withdraw(client, r, to.Address)
		if err != nil {
			return
		}
		if h.rng.IntN(4) == 0 && h.cancel(client, w) != nil {
			return
		}
		if h.rng.IntN(3) == 0 && h.deposit(client, routes[h.rng.IntN(len(routes))]) != nil {
			return
		}
		if h.rng.IntN(3) == 0 && h.happens(h.rng, r.network) != nil {
			return
		}
		if h.rng.IntN(3) == 0 && h.look(client) != nil {
			return
		}
	}
}

// look remembers the deposits that are shown as done.
func (h *holder) look(client *http.Client) error {
	a, err := h.do(client, "/transactions", map[string]any{"offset": 0, "type": "DEPOSIT", "status": "DONE"})
	if err != nil {
		return err
	}
	for _, row := range a.Transactions {
		if _, known := h.seen[row.Xid]; row.Xid > h.floor && !known {
			h.seen[row.Xid] = time.Now()
			h.deposits++
		}
	}
	return nil
}

// happens does something to a network: mostly a block, now and then a node that
// is silent for a while, or a last block that is replaced.
func (h *holder) happens(rng *rand.Rand, network string) error {
	verb, args := "devnet/mine", map[string]any{"network": network, "blocks": 1}
	switch {
	case rng.IntN(6) == 0:
		verb, args = "devnet/stop", map[string]any{"network": network, "stopped": rng.IntN(2) == 0}
	case rng.IntN(6) == 0 && network == "BTC": // which waits for two blocks
		if _, err := control[any](h.server, verb, args); err != nil {
			return err
		}
		verb, args = "devnet/reorg", map[string]any{"network": network, "depth": 1, "drop": false}
	}
	_, err := control[any](h.server, verb, args)
	return err
}

func (h *holder) deposit(client *http.Client, r route) error {
	to, err := h.do(client, "/deposit", map[string]any{"asset": r.asset, "network": r.network})
	if err != nil {
		return err
	}
	sent, err := control[struct{ Txid string }](h.server, "devnet/send", map[string]any{
		"network": r.network, "address": to.Address, "asset": r.asset, "amount": r.deposit, "memo": to.Memo,
	})
	if err != nil {
		return err
	}
	h.paid[sent.Txid] = r
	return nil
}
