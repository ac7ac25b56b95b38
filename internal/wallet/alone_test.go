package wallet_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// TestAlone bounds what one node alone credits of each coin in a day: the rest is the customer's and waits until an operator
// admits it, whatever is started anew meanwhile. Smaller deposits that still fit pass, and the next day has a bound of its own.
func TestAlone(t *testing.T) {
	eachThat(t, (*listing).ripens, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.alone = map[bourse.AssetID]bourse.Amount{l.asset: l.ledger(5 * l.least)}
		w.open()
		treasury := w.balance(bourse.AccountTreasury, l.asset)

		first := w.pay(l, 1, 3*l.least)
		w.mine(l.network, 1)
		w.restart()
		much := w.pay(l, 1, 3*l.least)
		w.mine(l.network, 1)
		if _, err := n.node.Reorg(1, false); err != nil { // what counted once does not count again
			t.Fatal(err)
		}
		fits := w.pay(l, 2, 2*l.least)
		w.mine(l.network, 1)
		over := w.pay(l, 2, l.least)
		w.mine(l.network, int(l.confirms))

		for tx, done := range map[chain.Hash]bool{first: true, much: false, fits: true, over: false} {
			if d := w.deposit(tx, 0); (d.Status == bourse.WalletDone) != done || d.Account == 0 || d.OverAlone == done || !d.Mined {
				t.Errorf("%+v, want it credited: %t", d, done)
			}
		}
		if got := w.balance(bourse.AccountTreasury, l.asset); got != treasury {
			t.Errorf("the treasury has %s", got.Format(0))
		}
		w.assign(w.deposit(much, 0), 1)
		if d := w.deposit(much, 0); d.Status != bourse.WalletDone || d.Account != 1 || d.OverAlone {
			t.Errorf("an operator's word: %+v", d)
		}

		w.now += bourse.Day
		w.mine(l.network, 1) // the day begins with its first command
		next := w.pay(l, 2, 5*l.least)
		w.mine(l.network, int(l.confirms))
		if d := w.deposit(next, 0); d.Status != bourse.WalletDone {
			t.Errorf("on the next day: %+v", d)
		}
		w.assign(w.deposit(over, 0), 2)
		w.finish()
	})
}

// TestAloneUnderOlderRules parks what one node alone does not credit while programs may read the journal that know no marks.
func TestAloneUnderOlderRules(t *testing.T) {
	l := listed(onBTC, btc)
	w := newWorldOf(t, &bourse.Genesis{Sandbox: true, Rules: bourse.RulesOverAlone - 1}, onBTC)
	w.alone = map[bourse.AssetID]bourse.Amount{}
	w.open()
	parked := w.pay(l, 1, l.least)
	w.mine(onBTC, 1)
	w.must(bourse.Command{Kind: bourse.CommandSetRules, Rules: bourse.RulesOverAlone})
	waits := w.pay(l, 1, l.least)
	w.mine(onBTC, int(l.confirms))

	if d := w.deposit(parked, 0); d.Account != 0 || d.OverAlone {
		t.Errorf("under older rules: %+v", d)
	}
	if d := w.deposit(waits, 0); d.Account != 1 || !d.OverAlone || d.Status != bourse.WalletPending {
		t.Errorf("once the rules are adopted: %+v", d)
	}
	w.assign(w.deposit(parked, 0), 1)
	w.assign(w.deposit(waits, 0), 1)
	w.finish()
}

// TestAloneWithoutTheCoin credits nothing of a coin that the setting does not name.
func TestAloneWithoutTheCoin(t *testing.T) {
	l := listed(onBTC, btc)
	w := newWorld(t, onBTC)
	w.alone = map[bourse.AssetID]bourse.Amount{}
	w.open()
	tx := w.pay(l, 1, l.least)
	w.mine(onBTC, int(l.confirms))
	if d := w.deposit(tx, 0); d.Account != 1 || !d.OverAlone || d.Status != bourse.WalletPending {
		t.Errorf("%+v", d)
	}
}

// TestAloneCountsOnce counts a deposit once that is credited in the block that has it: two events of one command tell of it.
func TestAloneCountsOnce(t *testing.T) {
	atOnce := func(l *listing) bool { return !l.ripens() }
	eachThat(t, atOnce, func(t *testing.T, w *world, l *listing) {
		w.alone = map[bourse.AssetID]bourse.Amount{l.asset: l.ledger(4 * l.least)}
		w.open()
		first := w.pay(l, 1, 2*l.least)
		w.mine(l.network, 1)
		second := w.pay(l, 2, 2*l.least)
		w.mine(l.network, 1)
		beyond := w.pay(l, 2, l.least)
		w.mine(l.network, 1)
		for tx, credited := range map[chain.Hash]bool{first: true, second: true, beyond: false} {
			if d := w.deposit(tx, 0); (d.Status == bourse.WalletDone) != credited {
				t.Errorf("%+v, want it credited: %t", d, credited)
			}
		}
	})
}

// TestAloneGoesOn ends the exchange between two parts of a block: what the first part had is not counted again with the rest.
func TestAloneGoesOn(t *testing.T) {
	l := listed(onBTC, btc)
	w := newWorld(t, onBTC)
	const txs, outputs = 7, 200
	w.alone = map[bourse.AssetID]bourse.Amount{btc: l.ledger(txs * outputs * l.least)}
	w.open()
	for range txs {
		amounts := make([]uint64, outputs)
		for i := range amounts {
			amounts[i] = l.least
		}
		w.pay(l, 1, amounts...)
	}
	w.at = func(_ int, what string) {
		if what == "after a command" {
			w.at = nil
			panic(crashed{})
		}
	}
	w.mine(onBTC, int(l.confirms))
	if got := w.balance(1, btc); w.crashes != 1 || got != l.ledger(txs*outputs*l.least) {
		t.Errorf("%d crashes, and the account has %s", w.crashes, got.Format(0))
	}
}

// TestAloneLetsTopUpsPass counts no top-up, which brings a customer's address the exchange's own money.
func TestAloneLetsTopUpsPass(t *testing.T) {
	token, native := listed(onETH, usdt), listed(onETH, eth)
	w := newWorld(t, onETH)
	w.alone = map[bourse.AssetID]bourse.Amount{usdt: token.ledger(1 << 40), eth: native.ledger(2 * native.least)}
	w.open()
	w.pay(token, 1, 2*token.least)
	w.movesTo(token, bourse.SignedTopUp)
	tx := w.pay(native, 2, 2*native.least)
	w.mine(onETH, int(native.confirms))
	if d := w.deposit(tx, 0); d.Status != bourse.WalletDone {
		t.Errorf("behind a top-up: %+v", d)
	}
}
