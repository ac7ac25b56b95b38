package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/connect"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

const (
	// headsLate is the age of a head, in block times, above which its network counts as
	// not operating.
	headsLate = 20
	// networksDir is the directory of the embedded networks.
	networksDir = "devnet"
	seedFile    = "seed"
)

// embedded is an embedded network.
type embedded struct {
	params *devnet.Params
	id     bourse.NetworkID
	node   chainNode
	client *devnet.Client
	// changed wakes the exchange to look at the network at once.
	changed chan struct{}
}

// Attachments returns the networks: the real ones of Options, or the embedded ones.
func (w *World) Attachments() []wallet.Attachment {
	if len(w.Real) > 0 {
		return w.real()
	}
	all := devnet.Networks()
	list := make([]wallet.Attachment, len(all))
	for i, p := range all {
		list[i] = wallet.Attachment{Symbol: p.Symbol, Open: func() (*wallet.Connection, error) { return w.open(p) }}
	}
	return list
}

// real returns the real networks.
func (w *World) real() []wallet.Attachment {
	list := make([]wallet.Attachment, len(w.Real))
	for i := range w.Real {
		s := &w.Real[i]
		list[i] = wallet.Attachment{Symbol: s.Symbol, Open: func() (*wallet.Connection, error) {
			_, own, err := w.seeds()
			if err != nil {
				return nil, err
			}
			seed := own[:]
			if w.exchange.Signer != nil {
				seed = nil
			}
			id := w.exchange.View.Catalogue().Network(s.Symbol).ID
			_, terms, assets := w.exchange.View.Catalogue().Carried(id)
			native, tokens := connect.Listed(s.Symbol, terms, assets)
			return s.Connect(context.Background(), connect.Local{
				Seed: seed, Clock: w.exchange.Now, Native: native, Tokens: tokens,
				Known: w.exchange.Board.State(id).Tip != bourse.BlockRef{}, Depth: connect.Depth(terms),
				Terms: terms, Assets: assets, Data: w.exchange.Data,
				Log: w.exchange.Log.With(slog.String("network", string(s.Symbol))),
			})
		}}
	}
	return list
}

// open opens an embedded network and a client of it.
func (w *World) open(p *devnet.Params) (*wallet.Connection, error) {
	d, err := disk.Open(filepath.Join(w.exchange.Data, networksDir, string(p.Symbol)))
	if err != nil {
		return nil, err
	}

	signing, public, node, err := w.connect(d, p)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}

	n := &embedded{
		params: p, id: w.exchange.View.Catalogue().Network(p.Symbol).ID, node: node, changed: make(chan struct{}, 1),
	}
	n.client = devnet.NewClient(p, public, node, devnet.ClientOptions{
		Clock: w.exchange.Now, MaxAge: headsLate * w.BlockTime,
	})
	w.networks = append(w.networks, n)
	return &wallet.Connection{
		Network: n.client, Signer: signing, Outputs: wallet.DefaultOutputs,
		Changed: n.changed, Tick: n.tick, Close: node.Close,
	}, nil
}

// connect returns the signer's part of an embedded network, the exchange's public key, and the node: in the
// network's directory, which it closes, or at a Host. After an error the directory is the caller's.
func (w *World) connect(d *disk.Dir, p *devnet.Params) (n signer.Network, k devnet.PublicKey, node chainNode, err error) {
	if w.Host != "" {
		if w.exchange.Signer == nil {
			return n, k, nil, errOtherSigner
		}
		if n, k, err = w.sharedSigning(p); err != nil {
			return n, k, nil, err
		}
		return n, k, newOutside(w.Host, p.Symbol, d), nil
	}

	outside, own, err := w.seeds()
	if err != nil {
		return n, k, nil, err
	}
	if n, k, err = w.signing(d, p, own); err != nil {
		return n, k, nil, err
	}
	node, err = newInside(d, p, devnet.Options{
		Seed: outside, Clock: w.exchange.Now, BlockTime: w.BlockTime, Hot: n.Codec.Destination(chain.IndexHot),
	})
	return n, k, node, err
}

// publicFile has the public key of an embedded network, in the network's directory or beside a Host, if a signer
// in another process has the private one.
const publicFile = "public"

var errOtherSigner = errors.New("the sandbox was made with a signer in another process, and has none now, or the other way round")

// signing returns the signer's part of an embedded network, and the exchange's public key. With
// a signer in another process, the first start asks it for the key.
func (w *World) signing(d disk.Disk, p *devnet.Params, own [32]byte) (n signer.Network, k devnet.PublicKey, err error) {
	text, err := disk.ReadFile(d, publicFile)
	kept := err == nil
	if !kept && !errors.Is(err, fs.ErrNotExist) {
		return n, k, err
	}

	switch err = nil; {
	case w.exchange.Signer == nil && kept:
		err = errOtherSigner
	case w.exchange.Signer == nil:
		keys := devnet.NewKeys(p, own)
		k, n.Keys = keys.Public(), keys
	case kept:
		k, err = devnet.ParsePublicKey(string(text))
	default:
		k, err = w.askKey(d, p)
	}
	if err != nil {
		return n, k, err
	}
	keys := n.Keys
	n = signingWith(p, k)
	n.Keys = keys
	return n, k, nil
}

// sharedSigning is signing for the nodes of a cluster. They keep the public keys beside the Host: one that leads for the
// first time has them also while the signer is away.
func (w *World) sharedSigning(p *devnet.Params) (n signer.Network, k devnet.PublicKey, err error) {
	d, err := disk.Open(filepath.Join(filepath.Dir(w.Host), "keys", string(p.Symbol)))
	if err != nil {
		return n, k, err
	}
	n, k, err = w.signing(d, p, [32]byte{})
	return n, k, errors.Join(err, d.Close())
}

// signingWith returns the signer's part of an embedded network, without keys and limits.
func signingWith(p *devnet.Params, k devnet.PublicKey) signer.Network {
	return signer.Network{
		Account: signer.Account{Name: p.Symbol, Chain: p.Identity(), Public: k.String()},
		Codec:   devnet.NewCodec(p, k), MaxCost: bourse.Units(1 << 62), HourCost: signer.UnlimitedCost(),
	}
}

// askKey asks the signer for a network's public key and keeps it. It refuses a network that has
// blocks: deposits in them went to addresses of another key.
func (w *World) askKey(d disk.Disk, p *devnet.Params) (k devnet.PublicKey, err error) {
	names, err := d.List(".")
	if err != nil {
		return k, err
	}
	if slices.ContainsFunc(names, func(name string) bool { return name != publicFile+".tmp" }) {
		return k, errOtherSigner
	}
	list, err := w.exchange.Signer(context.Background())
	if err != nil {
		return k, err
	}
	for _, a := range list {
		if a.Name != p.Symbol || a.Chain != p.Identity() {
			continue
		}
		if k, err = devnet.ParsePublicKey(a.Public); err != nil {
			return k, err
		}
		return k, disk.Replace(d, publicFile, publicFile+".tmp", []byte(a.Public))
	}
	return k, fmt.Errorf("the signer has no keys of the embedded network %s", p.Symbol)
}

func (n *embedded) tick() error {
	_, err := n.node.Tick()
	return err
}

// seeds returns the secrets from which the keys of the outside world and of the exchange
// are made.
func (w *World) seeds() (outside, own [32]byte, err error) {
	d, err := disk.Open(w.exchange.Data)
	if err != nil {
		return outside, own, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()

	if outside, err = disk.Secret(d, networksDir+"/"+seedFile); err != nil {
		return outside, own, fmt.Errorf("embedded networks: %w", err)
	}
	if own, err = disk.Secret(d, signer.Dir+"/"+seedFile); err != nil {
		return outside, own, fmt.Errorf("signer: %w", err)
	}
	return outside, own, nil
}

// carried returns the catalogue's entries for a network.
func (w *World) carried(n *embedded) (*bourse.Network, []*bourse.NetworkAsset, []*bourse.Asset) {
	return w.exchange.View.Catalogue().Carried(n.id)
}
