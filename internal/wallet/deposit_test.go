package wallet_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// each runs a test for every asset of the catalogue on its network.
func each(t *testing.T, test func(t *testing.T, w *world, l *listing)) {
	t.Helper()
	eachThat(t, func(*listing) bool { return true }, test)
}

// eachThat runs a test on each listing that passes.
func eachThat(t *testing.T, passes func(*listing) bool, test func(t *testing.T, w *world, l *listing)) {
	t.Helper()
	for i := range listings {
		l := &listings[i]
		if !passes(l) {
			continue
		}
		t.Run(string(l.symbol), func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t, l.network), l)
		})
	}
}

// TestDepositIsCreditedOnceAtItsTarget follows a deposit block by block.
func TestDepositIsCreditedOnceAtItsTarget(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		tx := w.pay(l, 1, 2*l.least)
		w.settle()
		if len(w.deposits) > 0 {
			t.Fatal("a deposit that is in no block")
		}
		for depth := uint64(1); depth <= 2*uint64(l.confirms); depth++ {
			w.mine(l.network, 1)
			d := w.deposit(tx, 0)
			done := depth >= uint64(l.confirms)
			if done != (d.Status == bourse.WalletDone) || !done && d.Confirms(w.board.State(l.network).Tip.Height) != depth {
				t.Fatalf("at depth %d: %+v", depth, d)
			}
			if got := w.balance(1, l.asset); done != !got.IsZero() {
				t.Fatalf("at depth %d the account has %s", depth, got.Format(0))
			}
		}
		w.finish()
	})
}

// shallow is how deep a chain can be rewritten before deposits are credited; a
// network that credits at once has no such depth.
func (l *listing) shallow() int { return int(l.confirms) - 1 }

// ripens reports whether a deposit waits for more blocks than its own.
func (l *listing) ripens() bool { return l.shallow() > 0 }

// TestDepositMinedAgain takes a deposit's block off the chain: it is pending with
// no confirmations, and credited once when another block has it.
func TestDepositMinedAgain(t *testing.T) {
	eachThat(t, (*listing).ripens, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		// Something lies in front of it the first time and behind it later.
		w.pay(l, 2, l.least)
		tx := w.pay(l, 1, 2*l.least)
		w.mine(l.network, 1)
		first := w.deposit(tx, 0)
		if _, err := n.node.Reorg(1, false); err != nil {
			t.Fatal(err)
		}
		w.settle()
		tip := w.board.State(l.network).Tip.Height
		if d := w.deposit(tx, 0); d.Status != bourse.WalletPending || d.Mined || d.Confirms(tip) != 0 {
			t.Fatalf("its block left: %+v", d)
		}
		w.mine(l.network, int(l.confirms))
		if d := w.deposit(tx, 0); d.Status != bourse.WalletDone || d.Block == first.Block || d.ID != first.ID {
			t.Fatalf("mined again: %+v, first %+v", d, first)
		}
		if s := w.board.State(l.network); s.Stopped() {
			t.Error("withdrawals stopped")
		}
		w.finish()
	})
}

// TestDepositGoneAndBack drops a deposit from chain and pool: it is canceled
// after as many blocks as it would have needed, and credited once if it is mined
// even then.
func TestDepositGoneAndBack(t *testing.T) {
	eachThat(t, (*listing).ripens, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		tx := w.pay(l, 1, 2*l.least)
		w.mine(l.network, 1)
		if _, err := n.node.Reorg(1, true); err != nil {
			t.Fatal(err)
		}
		w.settle()
		for d := w.deposit(tx, 0); w.board.State(l.network).Tip.Height < d.Gone+uint64(l.confirms); w.mine(l.network, 1) {
			if d = w.deposit(tx, 0); d.Status != bourse.WalletPending {
				t.Fatalf("%+v", d)
			}
		}
		if d := w.deposit(tx, 0); d.Status != bourse.WalletCanceled {
			t.Fatalf("after %d blocks: %+v", l.confirms, d)
		}
		w.mine(l.network, 3)
		if err := n.node.Restore(); err != nil {
			t.Fatal(err)
		}
		w.mine(l.network, 1)
		if d := w.deposit(tx, 0); d.Status != bourse.WalletPending || !d.Mined {
			t.Fatalf("mined after all: %+v", d)
		}
		w.mine(l.network, int(l.confirms))
		if d := w.deposit(tx, 0); d.Status != bourse.WalletDone {
			t.Fatalf("deep enough after all: %+v", d)
		}
		w.finish()
	})
}

// TestDoubleSpend has a depositor take his payment back: it is never credited.
func TestDoubleSpend(t *testing.T) {
	eachThat(t, (*listing).ripens, func(t *testing.T, w *world, l *listing) {
		tx := w.pay(l, 1, 2*l.least)
		w.mine(l.network, 1)
		if _, err := w.network(l.network).node.DoubleSpend(tx); err != nil {
			t.Fatal(err)
		}
		w.settle()
		w.mine(l.network, int(l.confirms)+1)
		if d := w.deposit(tx, 0); d.Status != bourse.WalletCanceled || !w.balance(1, l.asset).IsZero() {
			t.Fatalf("%+v", d)
		}
		w.finish()
	})
}

// TestReorgAfterCredit halts the network's withdrawals until an operator resumes
// them, and loses or doubles nothing.
func TestReorgAfterCredit(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		tx := w.pay(l, 1, 10*l.least)
		w.mine(l.network, int(l.confirms))
		if _, err := w.network(l.network).node.Reorg(int(l.confirms), false); err != nil {
			t.Fatal(err)
		}
		w.settle()
		if s := w.board.State(l.network); s.Halted != bourse.HaltReorg {
			t.Fatalf("%+v", s)
		}
		id := w.mustWithdraw(l, 1, l.least)
		w.mine(l.network, int(l.confirms)+1)
		if d := w.deposit(tx, 0); d.Status != bourse.WalletDone || !d.Mined {
			t.Fatalf("%+v", d)
		}
		w.wants(id, bourse.WalletPending, false)
		w.pause(l.network, false)
		w.settle()
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestSeveralOutputs credits each output of one transaction once.
func TestSeveralOutputs(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		tx := w.pay(l, 1, l.least, 2*l.least, 3*l.least)
		w.mine(l.network, int(l.confirms))
		for i := range uint32(3) {
			if d := w.deposit(tx, i); d.Status != bourse.WalletDone || d.Amount != l.ledger(uint64(i+1)*l.least) {
				t.Errorf("output %d: %+v", i, d)
			}
		}
		w.finish()
	})
}

// TestDust is recorded and not credited, until an operator says so.
func TestDust(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		tx := w.pay(l, 1, l.least-1)
		w.mine(l.network, int(l.confirms)+1)
		d := w.deposit(tx, 0)
		if d.Status != bourse.WalletPending || !d.BelowMin || !w.balance(1, l.asset).IsZero() {
			t.Fatalf("%+v", d)
		}
		w.assign(d, 1)
		if d := w.deposit(tx, 0); d.Status != bourse.WalletDone {
			t.Fatalf("%+v", d)
		}
		w.finish()
	})
}

func (w *world) assign(d bourse.Deposit, account bourse.AccountID) {
	w.tb.Helper()
	w.must(bourse.Command{
		Kind: bourse.CommandAssignDeposit, Account: account, Wallet: &bourse.WalletCommand{Deposit: d.Number},
	})
}

// TestMemos parks what names nobody, and gives it to whom an operator says.
func TestMemos(t *testing.T) {
	l := listed(onATOM, atom)
	for name, memo := range map[string]string{"none": "", "words": "for my friend", "nobody yet": "99999998", "mistyped": "199"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, onATOM)
			n := w.network(onATOM)
			to := chain.Destination{Address: n.client.Destination(1).Address, Memo: memo}
			tx, err := n.node.Send(chain.Pay{To: to, Coin: l.coin(), Amount: bourse.Units(2 * l.least)})
			if err != nil {
				t.Fatal(err)
			}
			w.mine(onATOM, 3)
			d := w.deposit(tx, 0)
			if d.Account != 0 || d.Status != bourse.WalletPending {
				t.Fatalf("%+v", d)
			}
			w.assign(d, 2)
			if d := w.deposit(tx, 0); d.Account != 2 || d.Status != bourse.WalletDone || w.balance(2, atom) != d.Amount {
				t.Fatalf("%+v", d)
			}
			w.finish()
		})
	}
}

// TestFailedPayments credits nothing that a block has and the network did not
// carry out: a token that returns false, gas that ran out, money that was not
// there.
func TestFailedPayments(t *testing.T) {
	for _, l := range []*listing{listed(onETH, usdt), listed(onETH, eth), listed(onATOM, atom)} {
		t.Run(string(l.symbol), func(t *testing.T) {
			w := newWorld(t, l.network)
			n := w.network(l.network)
			_, err := n.node.SendFailing(chain.Pay{To: n.client.Destination(1), Coin: l.coin(), Amount: bourse.Units(5 * l.least)})
			if err != nil {
				t.Fatal(err)
			}
			w.mine(l.network, 5)
			if len(w.deposits) > 0 || !w.balance(1, l.asset).IsZero() {
				t.Fatalf("%+v", w.deposits)
			}
			w.finish()
		})
	}
}

// TestHiddenDeposit pays an address by a contract's call, which no block shows. A sweep
// takes what the journal knows of, so that the chain contradicts nothing.
func TestHiddenDeposit(t *testing.T) {
	l := listed(onETH, eth)
	w := newWorld(t, onETH)
	n := w.network(onETH)
	to := n.client.Destination(1)
	hot := w.has(n, chain.IndexHot, l)
	w.pay(l, 1, 50*l.least)
	w.mine(onETH, 1)
	if _, err := n.node.SendHidden(chain.Pay{To: to, Coin: l.coin(), Amount: bourse.Units(1)}); err != nil {
		t.Fatal(err)
	}
	w.mine(onETH, 5)
	if h, s := n.worker.Health(), w.board.State(onETH); !h.Operating || s.Tip != n.node.Head() {
		t.Fatalf("%+v at %+v", h, s)
	}
	if left, got := w.has(n, 1, l), w.has(n, chain.IndexHot, l); left != bourse.Units(1) || !hot.Less(got) {
		t.Fatalf("%s are left, the hot wallet had %s and has %s", left.Format(0), hot.Format(0), got.Format(0))
	}
	w.finish()
}

// TestDustHoldsNoSweepBack sends a unit to a depositor in each block. What is settled is swept
// meanwhile, of a coin and of a token.
func TestDustHoldsNoSweepBack(t *testing.T) {
	for _, l := range []*listing{listed(onETH, eth), listed(onETH, usdt)} {
		t.Run(string(l.symbol), func(t *testing.T) {
			w := newWorld(t, onETH)
			n := w.network(onETH)
			hot := w.has(n, chain.IndexHot, l)
			w.pay(l, 1, 50*l.least)
			for range 4 * l.confirms {
				w.mine(onETH, 1)
				for _, coin := range []*listing{listed(onETH, eth), l} {
					w.pay(coin, 1, 1)
				}
			}
			if left, got := w.has(n, 1, l), w.has(n, chain.IndexHot, l); !left.Less(bourse.Units(5*l.least)) || !hot.Less(got) {
				t.Fatalf("%s are left, the hot wallet had %s and has %s", left.Format(0), hot.Format(0), got.Format(0))
			}
			w.mine(onETH, 1)
			w.finish()
		})
	}
}

// TestUnsettledMoneyIsNotSwept replaces the block of a deposit that came to an address with settled
// money: the sweep before that took the settled money alone.
func TestUnsettledMoneyIsNotSwept(t *testing.T) {
	l := listed(onETH, eth)
	w := newWorld(t, onETH)
	n := w.network(onETH)
	w.pay(l, 1, 50*l.least)
	w.mine(onETH, int(l.confirms)-1)
	young := w.pay(l, 1, 30*l.least)
	w.mine(onETH, 2) // the first deposit is swept
	if left := w.has(n, 1, l); left.Less(bourse.Units(30*l.least)) || !left.Less(bourse.Units(31*l.least)) {
		t.Fatalf("%s are left", left.Format(0))
	}
	if _, err := n.node.DoubleSpend(young); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.mine(onETH, 10)
	if h, s := n.worker.Health(), w.board.State(onETH); !h.Operating || s.Stopped() || s.Tip != n.node.Head() {
		t.Fatalf("%+v at %+v", h, s)
	}
	w.finish()
}

func (w *world) has(n *network, index uint32, l *listing) bourse.Amount {
	w.tb.Helper()
	has, err := n.node.Balance(n.client.Destination(index).Address, l.coin())
	if err != nil {
		w.tb.Fatal(err)
	}
	return has
}

// TestAmountsBeyondTheLedger has a token's contract log transfers of more than there can be, beside a deposit: they
// are left out, and the network goes on.
func TestAmountsBeyondTheLedger(t *testing.T) {
	for _, much := range []bourse.Amount{bourse.MaxAmount, {Hi: 1 << 63}, {Hi: 1 << 48}} {
		t.Run(much.Format(0), func(t *testing.T) {
			l := listed(onETH, usdt)
			w := newWorld(t, onETH)
			n := w.network(onETH)
			tx := w.pay(l, 1, 2*l.least)
			w.logs = func(b *chain.Block) {
				for i := range b.Txs {
					for index := range uint32(3) {
						b.Txs[i].Debits = append(b.Txs[i].Debits, chain.Debit{
							Address: n.client.Destination(2).Address, Coin: l.coin(), Amount: much,
						})
						b.Txs[i].Credits = append(b.Txs[i].Credits, chain.Credit{
							Index: 100 + index, Address: n.client.Destination(1).Address, Coin: l.coin(), Amount: much,
						})
					}
				}
			}
			w.mine(onETH, int(l.confirms))
			if d := w.deposit(tx, 0); d.Status != bourse.WalletDone || len(w.deposits) != 1 {
				t.Fatalf("%+v of %d", d, len(w.deposits))
			}
			w.finish()
		})
	}
}

// TestManyDepositsInABlock takes in a block that does not fit one command, with a
// crash between its parts.
func TestManyDepositsInABlock(t *testing.T) {
	l := listed(onBTC, btc)
	w := newWorld(t, onBTC)
	const txs, outputs = 9, 200
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
	if w.crashes != 1 || len(w.deposits) != txs*outputs {
		t.Fatalf("%d crashes, %d deposits", w.crashes, len(w.deposits))
	}
	if got := w.balance(1, btc); got != l.ledger(txs*outputs*l.least) {
		t.Fatal(got.Format(0))
	}
	w.finish()
}

// TestReorganisedBetweenParts takes a block off the chain of which only a part is
// taken in.
func TestReorganisedBetweenParts(t *testing.T) {
	l := listed(onBTC, btc)
	w := newWorld(t, onBTC)
	n := w.network(onBTC)
	for range 7 {
		amounts := make([]uint64, 200)
		for i := range amounts {
			amounts[i] = l.least
		}
		w.pay(l, 1, amounts...)
	}
	w.at = func(_ int, what string) {
		if what == "after a command" {
			w.at = nil
			if _, err := n.node.Reorg(1, false); err != nil {
				t.Fatal(err)
			}
			panic(crashed{})
		}
	}
	w.mine(onBTC, 1)
	if tip := w.board.State(onBTC); w.crashes != 1 || tip.Part != 0 || tip.Tip != n.node.Head() || len(w.deposits) == 0 {
		t.Fatalf("%d crashes, %+v", w.crashes, tip)
	}
	w.finish()
	if got := w.balance(1, btc); got != l.ledger(7*200*l.least) {
		t.Fatal(got.Format(0))
	}
}

// TestPartsOfOneReading has a crash between the parts of a block, after which the node tells more of the block, or less:
// it could trace it, or could not. All that the block shows is credited once.
func TestPartsOfOneReading(t *testing.T) {
	const txs, each, calls = 9, 190, 60
	for name, traced := range map[string][2]bool{"traced first": {true, false}, "traced later": {false, true}} {
		t.Run(name, func(t *testing.T) {
			l := listed(onETH, eth)
			w := newWorld(t, onETH)
			n := w.network(onETH)
			w.lies = true
			for range txs {
				w.pay(l, 1, 10*l.least)
			}
			called := traced[0]
			w.logs = func(b *chain.Block) {
				b.Uncalled = !called
				for i := range b.Txs {
					credit := chain.Credit{Address: n.client.Destination(1).Address, Coin: l.coin(), Amount: bourse.Units(l.least)}
					for index := range uint32(each) {
						credit.Index = 100 + index
						b.Txs[i].Credits = append(b.Txs[i].Credits, credit)
					}
					for index := uint32(0); called && index < calls; index++ {
						credit.Index, credit.Amount = 1<<24+index, bourse.Units(2*l.least)
						b.Txs[i].Credits = append(b.Txs[i].Credits, credit)
					}
				}
			}
			w.at = func(_ int, what string) {
				if what == "after a command" {
					w.at, called = nil, traced[1]
					panic(crashed{})
				}
			}
			w.mine(onETH, 1)
			w.logs = nil
			w.mine(onETH, int(l.confirms))

			shown := 0
			for _, d := range w.deposits {
				if d.Amount != l.ledger(2*l.least) && d.Status == bourse.WalletDone {
					shown++
				}
			}
			if want := txs * (1 + each); w.crashes != 1 || shown != want || w.board.State(onETH).Tip != n.node.Head() {
				t.Errorf("%d crashes, %d deposits of %d; %+v; %+v", w.crashes, shown, want, w.board.State(onETH), n.worker.Health())
			}
		})
	}
}
