package node

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

var errNoSigner = errors.New("networks of real money need a signer of their own: set signer.socket, or signer.url with cert, key and pin")

var errTwoLimits = errors.New("signer-limits are those of a signer in this process; one in another process has its own settings")

// openSigner returns the signer of all connected networks: the one in another process, or one
// whose record lies in the data directory.
//
// An exchange whose keys are not the signer's does not start: what customers paid to its addresses could
// not be spent. A signer that does not answer, or wants another epoch, is waited for.
func (n *Node) openSigner(ctx context.Context) (signer.Signer, error) {
	switch {
	case n.Signer == nil && n.Sandbox == nil:
		return nil, errNoSigner
	case n.Signer == nil:
		return n.openOwnSigner()
	case len(n.SignerLimits) > 0:
		return nil, errTwoLimits
	}
	o := n.signerOptions()
	for _, a := range n.networks {
		o.Networks[a.id] = a.Signer.Account
	}
	client := remote.NewClient(o)
	n.closers = append(n.closers, client)
	err := client.Greet(ctx)
	if errors.Is(err, signer.ErrKeys) || errors.Is(err, signer.ErrExchange) {
		return nil, err
	}
	if err != nil {
		n.Log.Warn("withdrawals wait for the signer", slog.Any("error", err))
	}
	return client, nil
}

func (n *Node) openOwnSigner() (signer.Signer, error) {
	known := map[bourse.NetworkID]signer.Network{}
	for _, a := range n.networks {
		s := a.Signer
		s.Limit = n.signerLimit(a.id, a.Network.Shape())
		known[a.id] = s
	}

	d, err := disk.Open(filepath.Join(n.Data, signer.Dir))
	if err != nil {
		return nil, err
	}
	n.closers = append(n.closers, d)
	keeper, err := signer.Open(d, signer.Options{
		Networks: known, Clock: n.now, New: true, Exchange: n.signerExchange(),
	})
	if err != nil {
		return nil, err
	}
	n.closers = append(n.closers, keeper)
	return keeper, keeper.Raise(n.signerEpoch())
}

// signerExchange returns the exchange as its signer knows it.
func (n *Node) signerExchange() signer.Exchange {
	return signer.Exchange{ID: n.identity.Exchange, Sandbox: n.identity.Sandbox}
}

// signerEpoch returns the epoch of this process.
func (n *Node) signerEpoch() signer.Epoch {
	return signer.Epoch{Incarnation: n.view.Catalogue().Incarnation, Term: n.term}
}

// signerOptions returns the options of a client of the signer, without networks.
func (n *Node) signerOptions() remote.Options {
	return remote.Options{
		Address: *n.Signer, Exchange: n.signerExchange(), Epoch: n.signerEpoch(),
		Networks: map[bourse.NetworkID]signer.Account{}, Now: time.Now,
	}
}

// signerAccounts returns how a sandbox asks the signer for its networks; nil if the sandbox
// signs itself.
func (n *Node) signerAccounts() func(context.Context) ([]signer.Account, error) {
	if n.Signer == nil {
		return nil
	}
	return func(ctx context.Context) ([]signer.Account, error) { return remote.Accounts(ctx, n.signerOptions()) }
}
