package devnet_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

func TestSmoke(t *testing.T) {
	for _, p := range devnet.Networks() {
		keys := devnet.NewKeys(p, [32]byte{1})
		codec := devnet.NewCodec(p, keys.Public())
		now := bourse.Time(1e15)
		n, err := devnet.Open(memdisk.New(1), p, devnet.Options{Clock: func() bourse.Time { return now }, Hot: codec.Destination(chain.IndexHot)})
		if err != nil {
			t.Fatal(err)
		}
		c := devnet.NewClient(p, keys.Public(), devnet.NewFaults(n), devnet.ClientOptions{})
		h, err := c.Health(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.Block(t.Context(), h.Head.Height)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(p.Symbol, h, len(b.Txs), codec.Destination(0), codec.Destination(7))
	}
}
