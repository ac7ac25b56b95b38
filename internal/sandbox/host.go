package sandbox

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// inside is the node of an embedded network in this process.
type inside struct {
	*devnet.Node
	faults *devnet.Faults
	disk   io.Closer
}

// Call carries a client's request through the faults.
func (i inside) Call(ctx context.Context, request []byte) ([]byte, error) {
	return i.faults.Call(ctx, request)
}

// Head returns the chain's last block.
func (i inside) Head() (chain.BlockRef, error) { return i.Node.Head(), nil }

// Send pays from the outside world.
func (i inside) Send(pay chain.Pay) (chain.Hash, error) { return i.Node.Send(pay) }

// Lag hides the last blocks.
func (i inside) Lag(blocks uint64) error {
	i.Node.Lag(blocks, false)
	return nil
}

// Stop makes the node silent, or lets it answer again.
func (i inside) Stop(stopped bool) error {
	if stopped {
		i.faults.Stop()
	} else {
		i.faults.Start()
	}
	return nil
}

// Close closes the network and its directory.
func (i inside) Close() error { return errors.Join(i.Node.Close(), i.disk.Close()) }

// newInside opens a network in a directory, which Close closes.
func newInside(d *disk.Dir, p *devnet.Params, o devnet.Options) (chainNode, error) {
	node, err := devnet.Open(d, p, o)
	if err != nil {
		return nil, err
	}
	return inside{node, devnet.NewFaults(node), d}, nil
}

// Host has the embedded networks of exchanges in other processes: the nodes of a cluster, of which one leads
// after the other. The chains outlive each of them, and have one writer whichever leads.
type Host struct {
	networks map[bourse.Symbol]chainNode
}

// HostOptions configure a Host.
type HostOptions struct {
	// Dir is the directory of the networks' directories and of their secret.
	Dir string
	// Signer has the exchange's keys, to whose hot wallets the first blocks pay.
	Signer map[bourse.Symbol]signer.Network
	// Clock returns the machine's time.
	Clock func() bourse.Time
	// BlockTime is the time between blocks; zero makes blocks on demand alone.
	BlockTime bourse.Time
}

// Keys returns the embedded networks of a signer, with keys made from the secret in its directory. It bounds
// nothing: no money of a sandbox is real.
func Keys(d disk.Disk) (map[bourse.Symbol]signer.Network, error) {
	seed, err := disk.Secret(d, seedFile)
	if err != nil {
		return nil, err
	}
	all := map[bourse.Symbol]signer.Network{}
	for _, p := range devnet.Networks() {
		keys := devnet.NewKeys(p, seed)
		n := signingWith(p, keys.Public())
		n.Keys, n.Limit = keys, signer.Unlimited
		all[p.Symbol] = n
	}
	return all, nil
}

// OpenHost opens the networks, and makes the missing ones.
func OpenHost(o *HostOptions) (_ *Host, err error) {
	h := &Host{map[bourse.Symbol]chainNode{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	d, err := disk.Open(o.Dir)
	if err != nil {
		return nil, err
	}
	outside, err := disk.Secret(d, seedFile)
	if err := errors.Join(err, d.Close()); err != nil {
		return nil, err
	}

	for _, p := range devnet.Networks() {
		d, err := disk.Open(filepath.Join(o.Dir, string(p.Symbol)))
		if err != nil {
			return nil, err
		}
		h.networks[p.Symbol], err = newInside(d, p, devnet.Options{
			Seed: outside, Clock: o.Clock, BlockTime: o.BlockTime, Hot: o.Signer[p.Symbol].Codec.Destination(chain.IndexHot),
		})
		if err != nil {
			delete(h.networks, p.Symbol)
			return nil, errors.Join(err, d.Close())
		}
	}
	return h, nil
}

// Tick makes the blocks that are due. A full disk is retried with the next one.
func (h *Host) Tick() error {
	for _, n := range h.networks {
		if _, err := n.Tick(); err != nil && !disk.IsFull(err) {
			return err
		}
	}
	return nil
}

// Close closes the networks.
func (h *Host) Close() error {
	var errs []error
	for _, n := range h.networks {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}

// Handler answers the exchanges: the requests of clients, and the controls. It trusts its peers, as a socket of
// one user can.
func (h *Host) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{network}"+callPath, h.serve(func(ctx context.Context, n chainNode, body []byte) ([]byte, error) {
		return n.Call(ctx, body)
	}))
	mux.HandleFunc("POST /{network}"+controlPath, h.serve(func(_ context.Context, n chainNode, body []byte) ([]byte, error) {
		var c control
		if err := json.Unmarshal(body, &c, json.RejectUnknownMembers(true)); err != nil {
			return nil, err
		}
		a, err := c.do(n)
		if known := new(bourse.Error); errors.As(err, &known) {
			a.Code = known.Code
		}
		if err != nil {
			a.Error = err.Error()
		}
		return json.Marshal(&a)
	}))
	return mux
}

// serve returns the handler of a request to a network's node.
func (h *Host) serve(do func(context.Context, chainNode, []byte) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n, known := h.networks[bourse.Symbol(r.PathValue("network"))]
		if !known {
			http.NotFound(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxControl))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer, err := do(r.Context(), n, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		_, _ = w.Write(answer) // the exchange may be gone
	}
}
