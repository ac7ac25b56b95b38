package devnet_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

// FuzzAddress reads addresses and memos: what is taken is written in one way
// alone.
func FuzzAddress(f *testing.F) {
	for _, p := range devnet.Networks() {
		codec := devnet.NewCodec(p, devnet.NewKeys(p, seed).Public())
		to := codec.Destination(1)
		f.Add(to.Address, to.Memo)
	}
	for _, s := range []string{"", "0x", "1", "bc1", "BC1QQ", "0x0000000000000000000000000000000000000000", "\u212a", "bc1\x00"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, address, memo string) {
		for _, p := range devnet.Networks() {
			codec := devnet.NewCodec(p, devnet.NewKeys(p, seed).Public())
			codec.Watch(3)
			if taken, err := codec.ParseAddress(address); err == nil {
				if again, err := codec.ParseAddress(taken); err != nil || again != taken {
					t.Errorf("%s: %q is %q, and that is %q: %v", p.Symbol, address, taken, again, err)
				}
			}
			if taken, err := codec.ParseMemo(memo); err == nil {
				if again, err := codec.ParseMemo(taken); err != nil || again != taken {
					t.Errorf("%s: memo %q is %q, and that is %q: %v", p.Symbol, memo, taken, again, err)
				}
			}
			codec.Owner(address, memo)
		}
	})
}

// said is a node that always says the same.
type said []byte

func (s said) Call(_ context.Context, request []byte) ([]byte, error) {
	id := idForm.FindSubmatch(request)[1]
	return bytes.Replace(s, []byte("ID"), id, 1), nil
}

// FuzzAnswer lets a node answer anything: the client takes it, or finds it odd.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `null`, `{"id":ID}`, `{"id":ID,"result":{}}`, `{"id":ID,"error":{"code":-5,"message":""}}`,
		`{"id":ID,"result":{"rate":2000000000}}`, `{"id":ID,"result":{"network":"ETH","height":1,"parent":"","time":0,"branch":0,"root":"","hash":"","known":1}}`,
		`{"id":ID,"result":{"address":"","coin":"ETH","amount":"-1"}}`, `{"id":ID,"result":{"hash":"","verdict":"accepted","reason":""}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, symbol := range []bourse.Symbol{"BTC", "ETH", "ATOM"} {
			p := devnet.Lookup(symbol)
			c := devnet.NewClient(p, devnet.NewKeys(p, seed).Public(), said(text), devnet.ClientOptions{})
			_, headErr := c.Health(t.Context())
			_, blockErr := c.Block(t.Context(), 1)
			_, balanceErr := c.Balance(t.Context(), c.Destination(1).Address, p.Shape.Coins[0].ID)
			_, nonceErr := c.Nonce(t.Context(), chain.IndexHot)
			_, feeErr := c.Fees(t.Context(), p.Shape.Coins[0].ID)
			for _, err := range []error{headErr, blockErr, balanceErr, nonceErr, feeErr} {
				if err != nil && !errors.Is(err, chain.ErrOdd) && !errors.Is(err, chain.ErrNoBlock) {
					t.Errorf("%s: the client says %v", symbol, err)
				}
			}
		}
	})
}

// FuzzChain opens a network on a log that ends in anything: what is no whole record
// is cut, and the network goes on.
func FuzzChain(f *testing.F) {
	for _, text := range []string{``, `{}`, "\x02\x00\x00\x00\x00\x00\x00\x00{}", "\xff\xff\xff\xff", "\x00\x00\x00\x00\x00\x00\x00\x00"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, end []byte) {
		now, p := bourse.Time(1e15), devnet.Lookup("ETH")
		d := memdisk.New(1)
		n := open(t, d, options(p, at(&now)), "ETH")
		before := n.Head()
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := d.Edit("chain.log")
		if err != nil {
			t.Fatal(err)
		}
		size, err := file.Size()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(end, size); err != nil {
			t.Fatal(err)
		}
		n = open(t, d, options(p, at(&now)), "ETH")
		if n.Head() != before {
			t.Errorf("the head is %+v, and was %+v", n.Head(), before)
		}
		if head, err := n.Mine(1); err != nil || head.Height != before.Height+1 {
			t.Errorf("%d, and mined %d: %v", before.Height, head.Height, err)
		}
	})
}
