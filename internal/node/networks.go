package node

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

const (
	// askEvery is how often a network is asked when nothing happens.
	askEvery = 300 * time.Millisecond
	// headsLate is how many block times a head may be old before its network
	// counts as not operating.
	headsLate = 20
	// The directories of the embedded networks and of the signer's record.
	devnetDir = "devnet"
	signerDir = "signer"
	seedFile  = "seed"
)

// attached is a network that the exchange talks with.
type attached struct {
	id     bourse.NetworkID
	symbol bourse.Symbol
	// node and faults are those of an embedded network.
	node   *devnet.Node
	faults *devnet.Faults
	client chain.Network
	worker *wallet.Worker
	// wake receives when there is something to look at before askEvery.
	wake chan struct{}
}

// attach opens a sandbox's embedded networks and the workers that talk with them.
func (n *Node) attach() error {
	if !n.Sandbox {
		return n.checkSignerLimits()
	}
	outside, err := n.seed(devnetDir)
	if err != nil {
		return fmt.Errorf("embedded networks: %w", err)
	}
	own, err := n.seed(signerDir)
	if err != nil {
		return fmt.Errorf("signer: %w", err)
	}
	keyrings := map[bourse.NetworkID]signer.Network{}
	for _, p := range devnet.Networks() {
		if listed := n.view.Catalogue().Network(p.Symbol); listed != nil {
			keys := devnet.NewKeys(p, own)
			keyrings[listed.ID] = signer.Network{
				Codec: devnet.NewCodec(p, keys.Public()), Keys: keys, MaxCost: bourse.Units(1 << 62),
				Limit: n.signerLimit(listed.ID, &p.Shape),
			}
			if err := n.attachDevnet(p, listed.ID, keys.Public(), outside); err != nil {
				return fmt.Errorf("embedded network %s: %w", p.Symbol, err)
			}
		}
	}
	if err := n.checkSignerLimits(); err != nil {
		return err
	}
	d, err := disk.Open(filepath.Join(n.Data, signerDir))
	if err != nil {
		return err
	}
	n.closers = append(n.closers, d)
	keeper, err := signer.Open(d, keyrings, n.now)
	if err != nil {
		return err
	}
	n.closers = append(n.closers, keeper)
	for _, a := range n.networks {
		a.worker = wallet.NewWorker(wallet.Options{
			ID: a.id, Network: a.client, Signer: keeper, Board: n.board, Listed: n, Submit: n.submit, Log: n.Log,
		})
	}
	return nil
}

// now tells the machine's time.
func (n *Node) now() bourse.Time { return bourse.TimeOf(time.Now()) }

// attachDevnet opens an embedded network and a client of it.
func (n *Node) attachDevnet(p *devnet.Params, id bourse.NetworkID, key devnet.PublicKey, outside [32]byte) error {
	d, err := disk.Open(filepath.Join(n.Data, devnetDir, string(p.Symbol)))
	if err != nil {
		return err
	}
	n.closers = append(n.closers, d)
	hot := devnet.NewCodec(p, key).Destination(chain.IndexHot)
	node, err := devnet.Open(d, p, devnet.Options{Seed: outside, Clock: n.now, BlockTime: n.BlockTime, Hot: hot})
	if err != nil {
		return err
	}
	n.closers = append(n.closers, node)
	faults := devnet.NewFaults(node)
	client := devnet.NewClient(p, key, faults, devnet.ClientOptions{Clock: n.now, MaxAge: headsLate * n.BlockTime})
	n.networks = append(n.networks, &attached{
		id: id, symbol: p.Symbol, node: node, faults: faults, client: client, wake: make(chan struct{}, 1),
	})
	return nil
}

// seed returns the secret that the keys in a directory are made from.
func (n *Node) seed(dir string) (seed [32]byte, err error) {
	name := dir + "/" + seedFile
	b, err := disk.ReadFile(n.disk, name)
	switch {
	case err == nil && len(b) == len(seed):
		return [32]byte(b), nil
	case err == nil:
		return seed, fmt.Errorf("%s is not a seed", name)
	case !errors.Is(err, fs.ErrNotExist):
		return seed, err
	}
	if _, err := rand.Read(seed[:]); err != nil {
		return seed, err
	}
	return seed, n.writeSeed(dir, name, seed)
}

func (n *Node) writeSeed(dir, name string, seed [32]byte) error {
	if err := n.disk.MkdirAll(dir); err != nil {
		return err
	}
	if err := disk.Replace(n.disk, name, name+".tmp", seed[:]); err != nil {
		return err
	}
	return n.disk.SyncDir(".")
}

// Listed returns what the catalogue says of a network.
func (n *Node) Listed(id bourse.NetworkID) (*bourse.Network, []*bourse.NetworkAsset, []*bourse.Asset) {
	return n.view.Catalogue().Carried(id)
}

// submit carries a command.
func (n *Node) submit(ctx context.Context, c *bourse.Command) (bourse.Outcome, error) {
	r, err := n.sequencer.Do(ctx, c)
	return r.Outcome, err
}

// converse runs the conversation with a network. What the intake refuses, as
// while the exchange stops, and what a full disk refuses, is tried again.
func (n *Node) converse(ctx context.Context, a *attached) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		if _, err := a.node.Tick(); err != nil && !isFull(err) {
			return fmt.Errorf("embedded network %s: %w", a.symbol, err)
		}
		more, err := a.worker.Step(ctx)
		if known := new(bourse.Error); err != nil && ctx.Err() == nil && !errors.As(err, &known) && !isFull(err) {
			return fmt.Errorf("network %s: %w", a.symbol, err)
		}
		if more && err == nil {
			continue
		}
		timer.Reset(askEvery)
		select {
		case <-ctx.Done():
		case <-a.wake:
		case <-timer.C:
		}
	}
	return nil
}

// connections shows the wallet's interface what is connected.
type connections struct{ *Node }

// connection is a connected network, for the wallet's interface.
type connection struct {
	chain.Network
	worker *wallet.Worker
}

// Operating reports whether the network could be worked with when it was asked
// last.
func (c connection) Operating() bool { return c.worker.Health().Operating }

// Network returns a network; false if it is not connected.
func (c connections) Network(id bourse.NetworkID) (teller.Network, bool) {
	for _, a := range c.networks {
		if a.id == id {
			a.client.Watch(c.board.Accounts())
			return connection{a.client, a.worker}, true
		}
	}
	return nil, false
}

// formatHash writes the name of a transaction as its network does, or plainly if
// that is not connected.
func (c connections) formatHash(id bourse.NetworkID, tx bourse.TxHash) string {
	if n, connected := c.Network(id); connected {
		return n.FormatHash(tx)
	}
	return hex.EncodeToString(tx[:])
}
