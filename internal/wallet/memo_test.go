package wallet_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// TestLongMemos keeps a deposit's memo up to as many bytes as the rules allow, and pays a withdrawal with the longest memo.
func TestLongMemos(t *testing.T) {
	for rules, most := range map[uint32]int{bourse.RulesLongMemos - 1: bourse.MaxEarlyMemo, bourse.RulesLongMemos: bourse.MaxMemo} {
		l := listed(onATOM, atom)
		w := newWorldOf(t, &bourse.Genesis{Sandbox: true, Rules: rules}, onATOM)
		w.open()
		w.credit(l, 1, 100*l.least)
		n := w.network(onATOM)
		long := strings.Repeat("m", bourse.MaxMemo)
		to := chain.Destination{Address: n.client.Destination(1).Address, Memo: long}
		tx, err := n.node.Send(chain.Pay{To: to, Coin: l.coin(), Amount: bourse.Units(50 * l.least)})
		if err != nil {
			t.Fatal(err)
		}
		w.mine(onATOM, int(l.confirms))
		d := w.deposit(tx, 0)
		if d.Memo != long[:most] || d.Account != 0 {
			t.Errorf("rules %d: %+v", rules, d)
		}
		w.assign(d, 1)

		address, err := n.node.NewAddress()
		if err != nil {
			t.Fatal(err)
		}
		id := w.must(bourse.Command{Kind: bourse.CommandWithdraw, Account: 1, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
			Network: onATOM, Asset: l.asset, Amount: l.ledger(2 * l.least), Fee: l.ledger(l.fee), Address: address, Memo: long[:most],
		}}})
		w.outside[bourse.WalletID(id)] = address
		w.settle()
		w.mine(onATOM, 1)
		w.wants(bourse.WalletID(id), bourse.WalletDone, true)
		w.finish()
	}
}

// TestCrowdOfLongMemos takes in a transaction with more inflows than fit a command, all with the longest memo: it comes in
// parts, and stops nothing.
func TestCrowdOfLongMemos(t *testing.T) {
	for _, each := range []int{499, 500, 501, 998, 999, 1500} {
		l := listed(onATOM, atom)
		w := newWorld(t, onATOM)
		w.open()
		w.lies = true
		n := w.network(onATOM)
		credit := chain.Credit{
			Address: n.client.Destination(1).Address, Memo: strings.Repeat("m", bourse.MaxMemo), Coin: l.coin(), Amount: bourse.Units(l.least),
		}
		w.logs = func(b *chain.Block) {
			for i := range b.Txs {
				b.Txs[i].Credits = nil
				for index := range uint32(each) {
					credit.Index = index
					b.Txs[i].Credits = append(b.Txs[i].Credits, credit)
				}
			}
		}
		w.pay(l, 1, l.least)
		w.mine(onATOM, 1)
		if len(w.deposits) != each || w.board.State(onATOM).Tip != n.node.Head() {
			t.Errorf("%d inflows made %d deposits; %+v", each, len(w.deposits), n.worker.Health())
		}
	}
}
