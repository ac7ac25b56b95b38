package wallet_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// coolWorld returns an exchange on the network of outputs with cold storage, whose hot wallet keeps a quarter of what it
// has, and with that quarter in the network's units.
func coolWorld(t *testing.T) (w *world, l *listing, quarter uint64) {
	t.Helper()
	w, l = newWorld(t, onBTC), listed(onBTC, btc)
	have, _ := w.network(onBTC).worker.Hot()[btc].Div64(4 * l.unit)
	w.bands = map[bourse.AssetID]wallet.Band{btc: {Low: l.ledger(have.Lo)}}
	w.keep(9)
	return w, l, have.Lo
}

func (w *world) order(l *listing, units uint64) bourse.WalletID {
	w.tb.Helper()
	return bourse.WalletID(w.must(bourse.Command{
		Kind: bourse.CommandCool, On: true, AssetID: l.asset, Amount: l.ledger(units),
		Wallet: &bourse.WalletCommand{Network: l.network},
	}))
}

func (w *world) endOrder(l *listing) {
	w.tb.Helper()
	w.must(bourse.Command{Kind: bourse.CommandCool, Wallet: &bourse.WalletCommand{Network: l.network}})
}

// cools returns the transactions to cold storage that are not final.
func (w *world) cools(l *listing) (list []bourse.SignedTx) {
	for _, s := range w.board.Signed(l.network) {
		if s.Kind == bourse.SignedCool {
			list = append(list, s)
		}
	}
	return list
}

// wantsCold fails unless cold storage has an amount on the chain, as the ledger says, and no order waits.
func (w *world) wantsCold(l *listing, units uint64) {
	w.tb.Helper()
	n := w.network(l.network)
	if got := n.worker.Purse(w.tb.Context()).Cold[l.asset]; got != l.ledger(units) {
		w.tb.Fatalf("%s are in cold storage, and not %s", got.Format(0), l.ledger(units).Format(0))
	}
	if why := n.worker.Cooling(); why != "" || w.board.State(l.network).Cool.ID != 0 {
		w.tb.Fatalf("an order waits: %s", why)
	}
	w.checkOwned(n)
}

// TestCool moves an amount to cold storage by an order. The hot wallet has less by that and by the network's cost, and
// pays withdrawals.
func TestCool(t *testing.T) {
	w, l, quarter := coolWorld(t)
	hot := w.network(onBTC).worker.Hot()[btc]
	w.order(l, 2*quarter)
	w.settle()
	list := w.cools(l)
	if len(list) != 1 || list[0].State != bourse.SignedAccepted {
		t.Fatalf("%d are signed", len(list))
	}
	w.restart()
	w.settle()
	w.mine(onBTC, 1)
	w.wantsCold(l, 2*quarter)
	left := hot.Minus(l.ledger(2 * quarter)).Minus(list[0].Cost.Amount)
	if got := w.network(onBTC).worker.Hot()[btc]; got != left {
		t.Errorf("%s are hot, and not %s", got.Format(0), left.Format(0))
	}
	if s := w.board.State(onBTC); s.Stopped() {
		t.Errorf("%+v", s)
	}
	w.credit(l, 1, quarter)
	id := w.mustWithdraw(l, 1, quarter/2)
	w.settle()
	w.mine(onBTC, 1)
	w.wants(id, bourse.WalletDone, true)
	w.finish()
	w.wantsCold(l, 2*quarter)
}

// TestCoolKeepsWhatIsNeeded leaves orders waiting that would leave the hot wallet too little: for hot.low, for withdrawals
// on hold, for those of frozen accounts; and signs them once there is enough.
func TestCoolKeepsWhatIsNeeded(t *testing.T) {
	w, l, quarter := coolWorld(t)
	n := w.network(onBTC)
	waits := func(why string) {
		t.Helper()
		w.settle()
		if got := n.worker.Cooling(); !strings.Contains(got, why) || w.board.State(onBTC).Cool.ID == 0 {
			t.Fatalf("%q, and not %q", got, why)
		}
	}
	w.order(l, 3*quarter) // its cost would be below hot.low
	waits("less than hot.low")
	w.restart()
	waits("less than hot.low")
	w.endOrder(l)

	w.credit(l, 1, 2*quarter)
	w.must(bourse.Command{Kind: bourse.CommandSecureAccount, Account: 1, Hold: bourse.Hour})
	held := w.mustWithdraw(l, 1, quarter)
	w.order(l, 2*quarter)
	waits("less than hot.low")
	w.restart()
	waits("less than hot.low")
	if reason := w.cancel(held); reason != 0 {
		t.Fatal(reason)
	}
	w.settle()
	if len(w.cools(l)) != 1 {
		t.Fatalf("it waits: %s", n.worker.Cooling())
	}
	w.mine(onBTC, 2)
	w.wantsCold(l, 2*quarter)

	w.credit(l, 2, 2*quarter)
	w.limit = func(chain.CoinID) signer.Limit { return signer.Limit{} }
	w.restart()
	id := w.mustWithdraw(l, 2, quarter/4)
	w.order(l, 20_000) // a withdrawal that waits at the signer's limits holds up no order
	w.settle()
	if len(w.cools(l)) != 2 {
		t.Fatalf("it waits: %s", n.worker.Cooling())
	}
	w.mine(onBTC, 1)
	w.order(l, quarter*3/4) // the hot wallet keeps its amount
	waits("less than hot.low")
	w.freeze(2, true)
	waits("less than hot.low")
	w.endOrder(l)
	w.limit = signer.Unlimited
	w.restart()
	w.finish()
	w.wants(id, bourse.WalletDone, true)
}

// TestCoolNeedsSettings signs nothing without cold storage, and without a bound of what the hot wallet keeps.
func TestCoolNeedsSettings(t *testing.T) {
	w, l, quarter := coolWorld(t)
	n := w.network(onBTC)
	bands := w.bands
	for _, of := range []struct {
		seed  byte
		bands map[bourse.AssetID]wallet.Band
		why   string
	}{
		{9, nil, "hot.low is not set"}, {9, map[bourse.AssetID]wallet.Band{btc: {High: l.ledger(quarter)}}, "hot.low is not set"},
		{0, bands, "no cold storage"},
	} {
		w.bands = of.bands
		w.keep(of.seed)
		if w.board.State(onBTC).Cool.ID == 0 {
			w.order(l, quarter)
			w.settle()
		}
		if got := n.worker.Cooling(); !strings.Contains(got, of.why) || len(w.cools(l)) > 0 {
			t.Errorf("%q, and not %q", got, of.why)
		}
	}
	w.bands = bands
	w.keep(9)
	w.mine(onBTC, 1)
	w.wantsCold(l, quarter)
	w.finish()
}

// TestCoolCrashes ends the process at each moment of an order: it is carried out once.
func TestCoolCrashes(t *testing.T) {
	story := func(w *world, l *listing, quarter uint64) {
		w.order(l, quarter)
		w.settle()
		w.mine(onBTC, 1)
		w.order(l, quarter/2)
		w.settle()
		w.mine(onBTC, 1)
		w.finish()
		w.wantsCold(l, quarter+quarter/2)
	}
	w, l, quarter := coolWorld(t)
	before := w.points
	story(w, l, quarter)
	for point := before + 1; point <= w.points; point++ {
		w, l, quarter := coolWorld(t)
		w.together = point%2 == 0
		w.at = func(at int, _ string) {
			if at == point {
				panic(crashed{})
			}
		}
		crashes := w.crashes
		story(w, l, quarter)
		if w.crashes != crashes+1 {
			t.Fatalf("%d crashes at point %d", w.crashes-crashes, point)
		}
	}
}

// TestEndCool gives up a move that no block takes. A withdrawal outbids it, no other order is taken before that one is deep
// enough, and nothing is in cold storage.
func TestEndCool(t *testing.T) {
	w, l, quarter := coolWorld(t)
	n := w.network(onBTC)
	w.stuck = 1
	w.restart()
	w.order(l, 3*quarter-quarter/4)
	w.settle()
	must(t, n.node.Spike(3))
	w.mine(onBTC, 4)
	if list := w.cools(l); len(list) != 1 || list[0].State != bourse.SignedAccepted || n.worker.Overdue() != 1 {
		t.Fatalf("%d are signed, %d overdue", len(list), n.worker.Overdue())
	}
	w.endOrder(l)
	cool := bourse.Command{
		Kind: bourse.CommandCool, On: true, AssetID: btc, Amount: l.ledger(quarter), Wallet: &bourse.WalletCommand{Network: onBTC},
	}
	if got := w.commit(&cool).Reason; got != bourse.CoolOpen {
		t.Fatal(got)
	}

	w.credit(l, 1, 3*quarter)
	id := w.mustWithdraw(l, 1, 3*quarter-quarter/8) // takes the outputs of the move
	w.settle()
	must(t, n.node.Spike(1))
	must(t, n.node.Restore()) // another node offers the transaction that was given up
	w.mine(onBTC, int(l.confirms))
	w.wants(id, bourse.WalletDone, true)
	w.wantsCold(l, 0)
	if got := w.commit(&cool).Reason; got != 0 && got != bourse.InsufficientFunds {
		t.Fatal(got)
	}
	w.finish()
}

// TestCoolEndedAtTheSigner ends an order while the signer is asked, and gives another one. What was signed is moved, and the
// other order waits for its block.
func TestCoolEndedAtTheSigner(t *testing.T) {
	w, l, quarter := coolWorld(t)
	w.when("after a signature", func() {
		w.endOrder(l)
		w.order(l, quarter/2)
	})
	w.order(l, quarter)
	w.settle()
	if got := len(w.cools(l)); got != 1 || w.board.State(onBTC).Cool.ID == 0 {
		t.Fatalf("%d are signed at once", got)
	}
	w.restart()
	w.settle()
	if got := w.network(onBTC).worker.Cooling(); got != "the transaction of an earlier order may still be mined" {
		t.Fatalf("it waits: %q", got)
	}
	w.mine(onBTC, 1)
	w.mine(onBTC, 1)
	w.wantsCold(l, quarter+quarter/2)
	w.finish()
}

// TestEndedCoolIsMined mines a move that was given up: it is in cold storage all the same, and nothing is halted.
func TestEndedCoolIsMined(t *testing.T) {
	w, l, quarter := coolWorld(t)
	n := w.network(onBTC)
	w.order(l, quarter)
	w.settle()
	w.endOrder(l)
	w.mine(onBTC, 1)
	w.wantsCold(l, quarter)
	if s := w.board.State(onBTC); s.Stopped() {
		t.Errorf("%+v", s)
	}
	w.order(l, quarter)
	w.settle()
	if _, err := n.node.Reorg(1, false); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.mine(onBTC, 2)
	w.wantsCold(l, 2*quarter)
	w.finish()
}
