package sandbox

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// TestKeysOfNodes connects an embedded network at two nodes of a cluster, of which the second leads for the first time once
// the signer is gone. It has the keys that the first one asked for.
func TestKeysOfNodes(t *testing.T) {
	dir := t.TempDir()
	p := devnet.Lookup("BTC")
	public := devnet.NewKeys(p, [32]byte{7}).Public().String()
	away := errors.New("the signer is away")
	connect := func(node string, answer error) (string, error) {
		d, err := disk.Open(filepath.Join(dir, node))
		if err != nil {
			t.Fatal(err)
		}
		w := New(Options{Host: filepath.Join(dir, "common", "networks.sock")})
		w.Join(Exchange{Signer: func(context.Context) ([]signer.Account, error) {
			return []signer.Account{{Name: p.Symbol, Chain: p.Identity(), Public: public}}, answer
		}})
		_, k, n, err := w.connect(d, p)
		if err != nil {
			return "", errors.Join(err, d.Close())
		}
		return k.String(), n.Close()
	}

	if _, err := connect("1", away); !errors.Is(err, away) {
		t.Errorf("keys that nobody has told: %v", err)
	}
	if k, err := connect("1", nil); err != nil || k != public {
		t.Errorf("the first node has %q, %v", k, err)
	}
	if k, err := connect("2", away); err != nil || k != public {
		t.Errorf("a node that leads for the first time has %q, %v", k, err)
	}
}
