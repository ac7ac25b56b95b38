package wallet_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
)

// keep restarts the exchange with the cold storage of a seed; zero is none.
func (w *world) keep(seed byte) {
	w.tb.Helper()
	w.cold = nil
	if seed > 0 {
		key := coldKeys(w.network(onBTC), seed).Public()
		w.cold = &key
	}
	w.restart()
	w.settle()
}

func coldKeys(n *network, seed byte) *devnet.Keys { return devnet.NewKeys(n.params, [32]byte{seed}) }

// payCold pays to an address of the cold storage of a seed, and mines it.
func (w *world) payCold(seed byte, number uint32, units uint64) chain.Outpoint {
	w.tb.Helper()
	n, l := w.network(onBTC), listed(onBTC, btc)
	to := devnet.NewCodec(n.params, coldKeys(n, seed).Public()).Destination(number)
	tx, err := n.node.Send(chain.Pay{To: to, Coin: l.coin(), Amount: bourse.Units(units)})
	if err != nil {
		w.tb.Fatal(err)
	}
	w.mine(onBTC, 1)
	return chain.Outpoint{Tx: tx}
}

// spendCold spends an output of the cold storage of a seed, as the people who have its keys do.
func (w *world) spendCold(seed byte, from chain.Input, to chain.Destination, units uint64) {
	w.tb.Helper()
	n, l := w.network(onBTC), listed(onBTC, btc)
	keys := coldKeys(n, seed)
	theirs := devnet.NewClient(n.params, keys.Public(), n.node, devnet.ClientOptions{})
	from.Coin = l.coin()
	unsigned, err := theirs.Prepare(w.tb.Context(), &chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: l.coin(), Amount: bourse.Units(units), To: to,
		Inputs: []chain.Input{from}, CostCap: bourse.Units(1e15),
	})
	if err != nil {
		w.tb.Fatal(err)
	}
	raw, _, err := keys.Sign(unsigned.Raw)
	if err != nil {
		w.tb.Fatal(err)
	}
	if v, err := theirs.Broadcast(w.tb.Context(), raw); err != nil || v.Kind != chain.Accepted {
		w.tb.Fatal(v, err)
	}
	w.mine(onBTC, 1)
}

// TestColdStorage counts what cold storage receives as the exchange's own, per block, and pays nothing of it. What
// leaves it without the exchange's doing halts the network.
func TestColdStorage(t *testing.T) {
	w, l := newWorld(t, onBTC), listed(onBTC, btc)
	n := w.network(onBTC)
	if n.worker.Purse(t.Context()).Cold != nil {
		t.Error("a cold storage without the setting")
	}
	w.keep(9)
	hot := n.worker.Hot()[btc]
	much, _ := hot.Div64(l.unit)
	at := w.payCold(9, 0, 3*much.Lo)
	w.payCold(9, chain.ColdAddresses-1, 5)
	w.payCold(9, chain.ColdAddresses, 7) // beyond the last address that is watched
	purse := n.worker.Purse(t.Context())
	if purse.Hot[btc] != hot || purse.Cold[btc] != l.ledger(3*much.Lo+5) {
		t.Fatalf("%s hot and %s cold", purse.Hot[btc].Format(0), purse.Cold[btc].Format(0))
	}

	w.credit(l, 1, 3*much.Lo)
	id := w.mustWithdraw(l, 1, 2*much.Lo)
	w.settle()
	w.mine(onBTC, 1)
	w.wants(id, bourse.WalletProcessing, false)
	w.keep(9)
	w.wants(id, bourse.WalletProcessing, false)

	// Its holders move it to the hot wallet. The block is taken in, and the network waits for an operator.
	own := chain.Input{Outpoint: at, Owner: 0, Amount: bourse.Units(3 * much.Lo)}
	w.spendCold(9, own, n.client.Destination(chain.IndexHot), 5*much.Lo/2)
	if s := w.board.State(onBTC); s.Halted != bourse.HaltStrangeSpend || s.Tip != n.node.Head() {
		t.Fatalf("%+v", s)
	}
	if purse := n.worker.Purse(t.Context()); !hot.Less(purse.Hot[btc]) {
		t.Errorf("%s hot and %s cold", purse.Hot[btc].Format(0), purse.Cold[btc].Format(0))
	}
	w.pause(onBTC, false)
	w.settle()
	w.mine(onBTC, 1)
	w.wants(id, bourse.WalletDone, true)
	w.finish()
}

// TestColdStorageLeavesTheChain takes back blocks that paid to cold storage and spent it.
func TestColdStorageLeavesTheChain(t *testing.T) {
	w := newWorld(t, onBTC)
	n := w.network(onBTC)
	w.keep(9)
	at := w.payCold(9, 1, 1_000_000)
	own := chain.Input{Outpoint: at, Owner: 1, Amount: bourse.Units(1_000_000)}
	w.spendCold(9, own, n.client.Destination(chain.IndexHot), 500_000)
	if _, err := n.node.Reorg(2, false); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.finish()
}

// TestOtherColdStorage keeps the exchange from a network whose cold storage in the journal is another one than in the
// settings.
func TestOtherColdStorage(t *testing.T) {
	w, l := newWorld(t, onBTC), listed(onBTC, btc)
	n := w.network(onBTC)
	w.keep(9)
	w.payCold(9, 0, 1_000_000)
	for _, other := range []byte{0, 8} {
		w.keep(other)
		if _, err := n.node.Mine(1); err != nil {
			t.Fatal(err)
		}
		w.settle()
		h, read := n.worker.Health(), w.board.State(onBTC).Tip == n.node.Head()
		if h.Operating || read || !strings.Contains(h.Reason, "set cold as it was") {
			t.Errorf("cold storage %d: %+v", other, h)
		}
		if got := n.worker.Purse(t.Context()).Cold[btc]; got != l.ledger(1_000_000) {
			t.Errorf("cold storage %d has %s", other, got.Format(0))
		}
	}
	w.keep(9)
	w.finish()
}

// TestColdStorageFromBefore spends what cold storage had before the setting: it was never counted, and the block is
// taken in.
func TestColdStorageFromBefore(t *testing.T) {
	w := newWorld(t, onBTC)
	n := w.network(onBTC)
	at := w.payCold(9, 0, 1_000_000)
	w.keep(9)
	to, err := n.node.NewAddress()
	if err != nil {
		t.Fatal(err)
	}
	own := chain.Input{Outpoint: at, Owner: 0, Amount: bourse.Units(1_000_000)}
	w.spendCold(9, own, chain.Destination{Address: to}, 900_000)
	if s := w.board.State(onBTC); s.Stopped() || s.Tip != n.node.Head() || !n.worker.Health().Operating {
		t.Fatalf("%+v, %+v", s, n.worker.Health())
	}
}
