package connect_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain/quorum"
	"github.com/bourse-exchange/bourse/internal/connect"
)

// TestNodesShareAddresses connects a network of two nodes with a data directory: an address has one record in the file,
// for whichever node's client it was derived, and the next start takes it from there.
func TestNodesShareAddresses(t *testing.T) {
	const one, two = `[{url: "http://127.0.0.1:8545"}]`, `[{url: "http://127.0.0.1:1"}, {url: "http://127.0.0.1:2"}]`
	const accounts, recordSize = 3, 28
	list, err := connect.ParseProduction([]byte(strings.Replace(block(t), one, two, 1)))
	if err != nil {
		t.Fatal(err)
	}
	eth := &list[1]
	l := connect.Local{
		Clock: func() bourse.Time { return 0 }, Native: "ETH", Data: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	}
	file := filepath.Join(l.Data, "addresses", "ETH")

	for range 2 {
		c, err := eth.Connect(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		c.Network.Watch(accounts)
		to := c.Network.Destination(accounts)
		if owner, ours := c.Network.Owner(to.Address, ""); !ours || owner.Index != accounts {
			t.Errorf("the address of account %d belongs to %v", accounts, owner)
		}
		if _, several := c.Network.(*quorum.Network); !several {
			t.Errorf("the network is a %T", c.Network)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		info, err := os.Stat(file)
		if err != nil || info.Size() != accounts*recordSize {
			t.Errorf("the file of addresses: %v, %v", info, err)
		}
	}

	// A file in the place of the directory keeps no addresses, and stops nothing.
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(file), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := eth.Connect(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	c.Network.Watch(accounts)
	if to := c.Network.Destination(1); to.Address == "" {
		t.Error("account 1 has no address")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
