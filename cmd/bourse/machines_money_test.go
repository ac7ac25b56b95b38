package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
	"github.com/bourse-exchange/bourse/internal/pinned"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

// signerKey is the key of one side of a connection to a signer, and its pin.
type signerKey struct{ cert, key, pin string }

func newSignerKey(t *testing.T) signerKey {
	t.Helper()
	dir := t.TempDir()
	pin := strings.TrimSpace(signerTool(t, "certify", dir))
	return signerKey{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), pin}
}

// listens lets a signer be reached at an address by TLS, by the given keys alone, in place of its socket. It returns the signer's key.
func (k *keeper) listens(address string, theirs ...signerKey) signerKey {
	k.t.Helper()
	own, pins := newSignerKey(k.t), make([]string, len(theirs))
	for i := range theirs {
		pins[i] = theirs[i].pin
	}
	k.args = append(k.args[:len(k.args)-2], "--listen", address, "--cert", own.cert, "--key", own.key, "--pin", strings.Join(pins, ","))
	return own
}

// signed returns the highest term that the signer knows, and the number of its signatures of the only network.
func (k *keeper) signed() (term, signatures uint64) {
	k.t.Helper()
	var s signer.Status
	must(k.t, json.Unmarshal([]byte(signerTool(k.t, "status", k.dir)), &s))
	if len(s.Networks) != 1 {
		k.t.Fatalf("the signer has %d networks", len(s.Networks))
	}
	return s.Term, s.Networks[0].Signed
}

// as returns a client of the signer with a machine's key, in the epoch of a leader of that machine.
func (h *host) as(id, at string, own signerKey, pin string, term uint64) *remote.Client {
	h.t.Helper()
	config, err := pinned.TLS(own.cert, own.key, pin)
	must(h.t, err)
	var x signer.ExchangeID
	must(h.t, x.UnmarshalText([]byte(id)))
	o := remote.Options{
		Address: remote.Address{TCP: at, TLS: config}, Exchange: signer.Exchange{ID: x},
		Epoch: signer.Epoch{Incarnation: 1, Term: term}, Now: time.Now,
	}
	list, err := remote.Accounts(h.t.Context(), o)
	must(h.t, err)
	o.Networks = map[bourse.NetworkID]signer.Account{1: list[0]}
	c := remote.NewClient(o)
	h.t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestMachinesPay moves real money of a test chain through three machines with a signer elsewhere, which each reaches with a key of its
// own: a deposit is credited, the leader is killed, and the next one pays a withdrawal that customers ordered before. Then that one stops in
// its tracks with a withdrawal to sign, and goes on when a third one has paid it: the signer gives its term nothing more. The audit finds
// nothing amiss.
func TestMachinesPay(t *testing.T) {
	if testing.Short() {
		return
	}
	r := bitcoins(t, nodetest.Knots())
	m := newMachines(t)
	one := m.add(1)
	id := one.found()
	catalogue := filepath.Join(one.base, "catalogue.yaml")
	write(t, catalogue, listedForTests)
	operate[any](&server{t: t, data: one.dir}, "catalogue", "apply", catalogue)

	keeper, said := newKeeperOf(t, rehearsalLimits, "--exchange", id)
	keys := []signerKey{newSignerKey(t), newSignerKey(t), newSignerKey(t)}
	at := freeAddress(t)
	pin := keeper.listens(at, keys...).pin
	keeper.start()
	password := filepath.Join(one.base, "btc.pw")
	write(t, password, nodetest.Password+"\n")
	settings := func(h *host) {
		own := keys[h.number-1]
		h.settings(fmt.Sprintf(`accounts: %s
networks:
  BTC:
    adapter: bitcoin
    params: regtest
    nodes: [{url: %q, user: %s, password-file: %s}]
    keys: %q
    start: %q
signer: {url: "tls://%s", cert: %s, key: %s, pin: %s}
`, m.accounts, r.node.URL, nodetest.User, password, printedKeys(t, said, "regtest"), regtestStart, at, own.cert, own.key, pin))
	}
	one.kill()
	settings(one)
	one.start()
	for n := uint64(2); n <= 3; n++ {
		h := m.add(n)
		settings(h)
		h.joins(one)
	}

	leader := one.awaits(1, 2, 3)
	v := &venue{keeper: keeper, depositor: &depositor{realNode: r}}
	v.server = &server{t: t, data: leader.dir, url: leader.url}
	goesTo := func(h *host) { v.data, v.url = h.dir, h.url }
	v.mine(1)
	v.opens()
	v.deposit()
	xid, address := v.ordered("0.05")

	first := leader.view().Term
	leader.kill()
	next := leader.other(m.all).awaits(without(leader.number, 1, 2, 3)...)
	goesTo(next)
	operate[any](v.server, "withdrawal", "approve", fmt.Sprint(xid))
	v.arrives(address, "0.05")
	v.audited()
	if term, _ := keeper.signed(); term <= first {
		t.Errorf("the signer signs in term %d, and the leader of term %d was killed", term, first)
	}
	leader.start()
	if now := next.awaits(1, 2, 3); now != next {
		next = now
		goesTo(next)
	}

	second, _ := keeper.signed()
	zombie := next.as(id, at, keys[next.number-1], pin, second)
	keeper.kill()
	_, address = v.approved("0.04") // the signer is down
	must(t, next.cmd.Process.Signal(stopSignal))
	third := next.other(m.all).awaits(without(next.number, 1, 2, 3)...)
	goesTo(third)
	keeper.start()
	v.arrives(address, "0.04")
	term, before := keeper.signed()
	if term <= second {
		t.Errorf("the signer signs in term %d, and the leader of term %d was stopped", term, second)
	}
	if err := zombie.Greet(t.Context()); !errors.Is(err, signer.ErrEpoch) {
		t.Errorf("the signer takes the term of a leader that was replaced: %v", err)
	}
	must(t, next.cmd.Process.Signal(continueSignal))
	third.awaits(1, 2, 3)
	if now, after := keeper.signed(); now == term && after != before {
		t.Errorf("%d signatures for a leader that was replaced", after-before)
	}
	goesTo(third.awaits(1, 2, 3))
	v.pays("0.03")
	v.audited()
}

// without returns numbers but for one.
func without(one uint64, all ...uint64) (list []uint64) {
	for _, n := range all {
		if n != one {
			list = append(list, n)
		}
	}
	return list
}
