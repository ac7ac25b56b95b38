package remote_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/pinned"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

// The networks by the exchange's ids, which differ from those of the signer.
const (
	btc bourse.NetworkID = iota + 11
	eth
)

var sandbox = signer.Exchange{ID: signer.ExchangeID{9}, Sandbox: true}

// rig is a signer behind a listener, with the nodes of its networks.
type rig struct {
	t         *testing.T
	local     *signer.Local
	disk      *memdisk.Disk
	now       bourse.Time
	networks  map[bourse.NetworkID]signer.Network
	options   signer.Options
	address   remote.Address
	operators string
	clients   map[bourse.NetworkID]*devnet.Client
	nodes     map[bourse.NetworkID]*devnet.Node
	// server is the clock of the server's deadlines.
	server func() time.Time
	stop   context.CancelFunc
	ended  chan error
	// log is read after end.
	log bytes.Buffer
}

// newRig starts a signer whose limits are one thousand units a payment, three an hour and ten a
// day, with a hundred free.
func newRig(t *testing.T) *rig {
	r := &rig{
		t: t, disk: memdisk.New(1), now: 1e15, networks: map[bourse.NetworkID]signer.Network{},
		clients: map[bourse.NetworkID]*devnet.Client{}, nodes: map[bourse.NetworkID]*devnet.Node{}, server: time.Now,
	}
	for id, symbol := range map[bourse.NetworkID]bourse.Symbol{btc: "BTC", eth: "ETH"} {
		p := devnet.Lookup(symbol)
		keys := devnet.NewKeys(p, [32]byte{7})
		codec := devnet.NewCodec(p, keys.Public())
		node, err := devnet.Open(memdisk.New(2), p, devnet.Options{Clock: r.clock, Hot: codec.Destination(chain.IndexHot)})
		if err != nil {
			t.Fatal(err)
		}
		r.nodes[id], r.clients[id] = node, devnet.NewClient(p, keys.Public(), node, devnet.ClientOptions{})
		r.networks[id-10] = signer.Network{
			Account: signer.Account{Name: symbol, Chain: p.Identity(), Public: keys.Public().String()},
			Codec:   codec, Keys: keys, MaxCost: bourse.Units(1e15), HourCost: bourse.Units(5e15),
			Limit: func(chain.CoinID) signer.Limit {
				return signer.Limit{Payment: bourse.Units(1000), Hour: bourse.Units(3000), Day: bourse.Units(10_000), Free: bourse.Units(100)}
			},
		}
	}
	r.options = signer.Options{Networks: r.networks, Clock: r.clock, New: true, Exchange: sandbox}
	r.open()
	r.listen()
	t.Cleanup(r.end)
	return r
}

func (r *rig) clock() bourse.Time { return r.now }

// open opens the signer anew, after a power cut.
func (r *rig) open() {
	r.t.Helper()
	r.disk = r.disk.Crash()
	var err error
	if r.local, err = signer.Open(r.disk, r.options); err != nil {
		r.t.Fatal(err)
	}
}

// listen serves the exchange by TLS and the operators by a socket.
func (r *rig) listen() {
	r.t.Helper()
	ours, theirs := r.certify(), r.certify()
	config, err := pinned.TLS(ours.cert, ours.key, theirs.pin)
	if err != nil {
		r.t.Fatal(err)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.address.TCP = plain.Addr().String()
	if r.address.TLS, err = pinned.TLS(theirs.cert, theirs.key, ours.pin); err != nil {
		r.t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "bourse-signer-")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r.operators = filepath.Join(dir, "s")
	own, err := net.Listen("unix", r.operators)
	if err != nil {
		r.t.Fatal(err)
	}

	s := &remote.Server{Local: r.local, Now: func() time.Time { return r.server() }, Log: slog.New(slog.NewTextHandler(&r.log, nil))}
	ctx, stop := context.WithCancel(r.t.Context())
	r.stop, r.ended = stop, make(chan error, 2)
	go func() { r.ended <- s.Serve(ctx, tls.NewListener(plain, config)) }()
	go func() { r.ended <- s.ServeOperators(ctx, own) }()
}

// end stops the server.
func (r *rig) end() {
	r.stop()
	if err := errors.Join(<-r.ended, <-r.ended); err != nil {
		r.t.Error(err)
	}
}

type certified struct{ cert, key, pin string }

func (r *rig) certify() (c certified) {
	r.t.Helper()
	cert, key, pin, err := pinned.Certify(time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	dir := r.t.TempDir()
	c = certified{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), pin}
	if err := errors.Join(os.WriteFile(c.cert, cert, 0o600), os.WriteFile(c.key, key, 0o600)); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// of returns the options of a client with the exchange's credentials, in an epoch.
func (r *rig) of(incarnation bourse.Incarnation, term uint64) remote.Options {
	o := remote.Options{
		Address: r.address, Exchange: sandbox, Epoch: signer.Epoch{Incarnation: incarnation, Term: term},
		Networks: map[bourse.NetworkID]signer.Account{}, Now: time.Now,
	}
	for id, n := range r.networks {
		o.Networks[id+10] = n.Account
	}
	return o
}

// client is a client with the exchange's credentials.
func (r *rig) client(o remote.Options) *remote.Client {
	c := remote.NewClient(o)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// payment is a withdrawal that everything is right about, prepared.
func (r *rig) payment(id bourse.NetworkID, xid bourse.WalletID, amount uint64) (chain.Unsigned, signer.Expect) {
	r.t.Helper()
	to, err := r.nodes[id].NewAddress()
	if err != nil {
		r.t.Fatal(err)
	}
	return r.pay(id, xid, amount, to)
}

// pay is a withdrawal to an address, from an output or with a nonce that depends on its id.
func (r *rig) pay(id bourse.NetworkID, xid bourse.WalletID, amount uint64, to string) (chain.Unsigned, signer.Expect) {
	r.t.Helper()
	shape := r.clients[id].Shape()
	p := chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: shape.Native, Amount: bourse.Units(amount), To: chain.Destination{Address: to},
		CostCap: bourse.Units(1e15),
	}
	if shape.Outputs {
		p.Inputs = r.outputs(id)[xid%50 : xid%50+1]
	} else {
		p.Nonce = uint64(xid)
	}
	u, err := r.clients[id].Prepare(r.t.Context(), &p)
	if err != nil {
		r.t.Fatal(err)
	}
	return u, signer.Expect{
		Network: id, Kind: p.Kind, ID: xid, Coin: p.Coin, Amount: p.Amount, To: p.To, CostCap: p.CostCap, Nonce: p.Nonce,
	}
}

// outputs returns what the hot wallet was funded with.
func (r *rig) outputs(id bourse.NetworkID) (inputs []chain.Input) {
	r.t.Helper()
	block, err := r.clients[id].Block(r.t.Context(), 1)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, tx := range block.Txs {
		for _, g := range tx.Credits {
			if _, ours := r.clients[id].Owner(g.Address, g.Memo); ours {
				inputs = append(inputs, chain.Input{
					Outpoint: chain.Outpoint{Tx: tx.Hash, Index: g.Index}, Coin: g.Coin, Amount: g.Amount,
				})
			}
		}
	}
	return inputs
}

// approver is a key of an approver.
func approver(number byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed([]byte{31: number}) }
