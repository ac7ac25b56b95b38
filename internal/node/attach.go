package node

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/connect"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// askEvery is the time between polls of an idle network.
const askEvery = 300 * time.Millisecond

// attached is a connected network with its worker.
type attached struct {
	*wallet.Connection
	id     bourse.NetworkID
	symbol bourse.Symbol
	worker *wallet.Worker
}

// attach connects the listed networks and gives all of them one signer.
func (n *Node) attach(ctx context.Context) error {
	attachments, err := n.attachments(ctx)
	if err != nil {
		return err
	}
	for _, a := range attachments {
		listed := n.view.Catalogue().Network(a.Symbol)
		if listed == nil {
			continue
		}
		c, err := a.Open()
		if err != nil {
			return fmt.Errorf("network %s: %w", a.Symbol, err)
		}
		n.closers = append(n.closers, closer(c.Close))
		n.networks = append(n.networks, &attached{Connection: c, id: listed.ID, symbol: a.Symbol})
	}
	if err := n.checkSignerLimits(); err != nil || len(n.networks) == 0 {
		return err
	}

	keeper, err := n.openSigner(ctx)
	if err != nil {
		return err
	}
	for _, a := range n.networks {
		a.worker = wallet.NewWorker(wallet.Options{
			ID: a.id, Network: a.Network, Signer: keeper, Board: n.board, Listed: n, Submit: n.submit, Start: a.Start,
			Stuck: a.Stuck, Outputs: a.Outputs, Joined: a.Joined, Bands: a.Hot, Alone: a.Alone,
			Credited: n.reader.Credited, Log: n.Log,
		})
	}
	return nil
}

// attachments returns the networks to connect: a sandbox's, or those of the settings.
func (n *Node) attachments(ctx context.Context) ([]wallet.Attachment, error) {
	if n.Sandbox != nil {
		return n.Networks, nil
	}

	list := make([]wallet.Attachment, len(n.Real))
	for i := range n.Real {
		s := &n.Real[i]
		listed := n.view.Catalogue().Network(s.Symbol)
		if err := n.checkListed(s, listed); err != nil {
			return nil, fmt.Errorf("network %s: %w", s.Symbol, err)
		}
		list[i] = wallet.Attachment{Symbol: s.Symbol, Open: func() (*wallet.Connection, error) {
			_, terms, assets := n.Listed(listed.ID)
			l := connect.Local{
				Clock: n.now, Known: n.isKnown(listed.ID), Depth: connect.Depth(terms),
				Terms: terms, Assets: assets, Data: n.Data,
				Log: n.Log.With(slog.String("network", string(s.Symbol))),
			}
			l.Native, l.Tokens = connect.Listed(s.Symbol, terms, assets)
			for _, id := range s.Strays(l) {
				n.Log.Error("a coin does not move: its contract is no address of the network",
					slog.String("network", string(s.Symbol)), slog.String("contract", string(id)))
			}
			return s.Connect(ctx, l)
		}}
	}
	return list, nil
}

// isKnown reports whether the journal has read a network's chain, also if it begins anew.
func (n *Node) isKnown(id bourse.NetworkID) bool {
	s := n.board.State(id)
	return s.Tip != bourse.BlockRef{} || s.Recount != bourse.BlockRef{}
}

// checkListed checks a network of the settings against the catalogue's, which is nil if it lists none. The coins of
// a test chain are worth nothing and trade against real ones, so the catalogue has to mark the network.
func (n *Node) checkListed(s *connect.Settings, listed *bourse.Network) error {
	switch {
	case listed == nil:
		return fmt.Errorf("the settings name it and the catalogue does not: start without it, list it with `%s catalogue apply FILE`, "+
			"and start again", n.Admin)
	case s.IsTest() && !listed.Experimental:
		return fmt.Errorf("the coins of %s are worth nothing: to rehearse, list the network with `experimental: true`", s.Chain)
	}
	return nil
}

// closer makes an io.Closer of a function.
type closer func() error

// Close calls the function.
func (c closer) Close() error { return c() }

// now returns the machine's time.
func (n *Node) now() bourse.Time { return bourse.TimeOf(time.Now()) }

// Listed returns the catalogue's entries for a network.
func (n *Node) Listed(id bourse.NetworkID) (*bourse.Network, []*bourse.NetworkAsset, []*bourse.Asset) {
	return n.view.Catalogue().Carried(id)
}

// submit carries a command through the sequencer.
func (n *Node) submit(ctx context.Context, c *bourse.Command) (bourse.Outcome, error) {
	r, err := n.sequencer.Do(ctx, c)
	return r.Outcome, err
}

// converse runs the worker of a network until ctx ends. Refusals of the intake, as during
// a stop, and a full disk are retried.
func (n *Node) converse(ctx context.Context, a *attached) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		if err := a.tick(); err != nil {
			return fmt.Errorf("network %s: %w", a.symbol, err)
		}

		more, err := a.worker.Step(ctx)
		if known := new(bourse.Error); err != nil && ctx.Err() == nil && !errors.As(err, &known) && !disk.IsFull(err) {
			return fmt.Errorf("network %s: %w", a.symbol, err)
		}
		if more && err == nil {
			continue
		}

		timer.Reset(askEvery)
		select {
		case <-ctx.Done():
		case <-a.Changed:
		case <-timer.C:
		}
	}
	return nil
}

// tick lets an embedded network make its blocks. A full disk is retried.
func (a *attached) tick() error {
	if a.Tick == nil {
		return nil
	}
	if err := a.Tick(); err != nil && !disk.IsFull(err) {
		return err
	}
	return nil
}

// connections offers the connected networks to the wallet's interface.
type connections struct{ *Node }

// connection is a connected network, for the wallet's interface.
type connection struct {
	chain.Network
	worker *wallet.Worker
	board  *wallet.Board
}

// Owner returns the owner of an address and memo. After a start it waits until the addresses of all accounts are known,
// as the network's worker does.
func (c connection) Owner(address, memo string) (chain.Owner, bool) {
	c.Watch(c.board.Accounts())
	return c.Network.Owner(address, memo)
}

// Operating reports whether the network worked at the last poll.
func (c connection) Operating() bool { return c.worker.Health().Operating }

// Network returns a network; false if it is not connected.
func (c connections) Network(id bourse.NetworkID) (teller.Network, bool) {
	for _, a := range c.networks {
		if a.id == id {
			return connection{a.Network, a.worker, c.board}, true
		}
	}
	return nil, false
}

// formatHash writes a transaction's hash in its network's format, or in hexadecimal if
// the network is not connected.
func (c connections) formatHash(id bourse.NetworkID, tx bourse.TxHash) string {
	if n, connected := c.Network(id); connected {
		return n.FormatHash(tx)
	}
	return hex.EncodeToString(tx[:])
}
