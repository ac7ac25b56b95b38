package wallet_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// TestStolenNonces lets a stolen exchange have payments signed with nonces at and far ahead of the next one, and not
// broadcast them. Once an operator has resumed the network, its withdrawals are paid in the order of the chain.
func TestStolenNonces(t *testing.T) {
	accounts := func(l *listing) bool { return !l.outputs() }
	eachThat(t, accounts, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		n := w.network(l.network)
		first := w.mustWithdraw(l, 1, l.least)
		w.mine(l.network, 2)
		w.wants(first, bourse.WalletDone, true)

		for i, nonce := range []uint64{1, 2, 1_000_000} {
			fees, err := n.client.Fees(t.Context(), l.coin())
			if err != nil {
				t.Fatal(err)
			}
			p := chain.Payment{
				Kind: bourse.SignedWithdrawal, Coin: l.coin(), Amount: bourse.Units(l.least),
				To: n.client.Destination(2), From: chain.IndexHot, Nonce: nonce, CostCap: fees.Cost,
			}
			u, err := n.client.Prepare(t.Context(), &p)
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.keeper.Sign(t.Context(), u, signer.Expect{
				Network: l.network, Kind: p.Kind, ID: bourse.WalletID(1000 + i), Coin: p.Coin, Amount: p.Amount, To: p.To,
				CostCap: p.CostCap, Nonce: nonce,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		w.open()
		w.settle()
		if s := w.board.State(l.network); s.Halted != bourse.HaltUnknownSigned || s.Record < 4 {
			t.Fatalf("%+v", s)
		}

		w.pause(l.network, false)
		for range 3 {
			id := w.mustWithdraw(l, 1, l.least)
			w.mine(l.network, 3)
			w.wants(id, bourse.WalletDone, true)
		}
	})
}
