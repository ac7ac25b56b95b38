package wallet_test

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// when does something once, at the next moment of this name.
func (w *world) when(moment string, do func()) {
	w.at = func(_ int, what string) {
		if what == moment {
			w.at = nil
			do()
		}
	}
}

// TestCanceledAtTheSigner ends the process between the request to the signer and its
// signature, and cancels: the withdrawal is pending until the signer has said never.
func TestCanceledAtTheSigner(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.when("before a signature", func() {
			if reason := w.cancel(id); reason != 0 {
				t.Fatal(reason)
			}
			w.wants(id, bourse.WalletPendingCancel, false)
			if w.cancel(id) != bourse.WithdrawalNotFound || w.balance(1, l.asset) != l.ledger(100*l.least) {
				t.Fatal("a second cancel does more")
			}
			panic(crashed{})
		})
		w.settle()
		w.wants(id, bourse.WalletCanceled, false)
		if got := w.engine.Balance(1, l.asset).Available; got != l.ledger(100*l.least) {
			t.Fatal(got.Format(0))
		}
		w.finish()
	})
}

// TestSignedAndCanceled has the signer sign, the process end, and the owner cancel: what
// is signed is paid.
func TestSignedAndCanceled(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.when("after a signature", func() {
			if reason := w.cancel(id); reason != 0 {
				t.Fatal(reason)
			}
			w.freeze(1, true)
			panic(crashed{})
		})
		w.settle()
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestRestoredExchange goes on with an older journal. What the signer signed since is
// learned: a withdrawal that the journal has is paid once, and one that it does not know
// halts the network.
func TestRestoredExchange(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		w.mine(l.network, 1)
		known := w.mustWithdraw(l, 1, 10*l.least)
		backup := len(w.journal)
		unknown := w.mustWithdraw(l, 1, 7*l.least)
		w.settle()
		w.mine(l.network, 1)
		w.wants(unknown, bourse.WalletDone, true)

		w.journal, w.times = w.journal[:backup], w.times[:backup]
		w.replay()
		w.open()
		w.settle()
		w.wants(known, bourse.WalletDone, true)
		if s := w.board.State(l.network); s.Halted != bourse.HaltUnknownSigned {
			t.Fatalf("%+v", s)
		}
		late, _ := w.withdraw(l, 1, 5*l.least)
		w.settle()
		w.mine(l.network, 2)
		if w.withdrawals[late].Status == bourse.WalletDone || !w.paid(late).IsZero() {
			t.Fatalf("%+v", w.withdrawals[late])
		}

		w.pause(l.network, false)
		w.settle()
		w.mine(l.network, 2)
		w.wants(late, bourse.WalletDone, true)
	})
}

// TestForgottenRecord goes on with a signer that lost its record: it signs nothing.
func TestForgottenRecord(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		kept := w.vault
		for _, lost := range []bool{true, false} {
			if w.vault = kept; lost {
				w.vault = memdisk.New(3)
			}
			w.open()
			id := w.mustWithdraw(l, 1, 5*l.least)
			w.settle()
			w.mine(l.network, 1)
			w.wants(id, map[bool]bourse.WalletStatus{true: bourse.WalletProcessing, false: bourse.WalletDone}[lost], !lost)
		}
		w.finish()
	})
}

// TestOtherRecord goes on with a record of as many entries that are others: nothing is
// signed.
func TestOtherRecord(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		other := newWorld(t, l.network)
		for i, x := range []*world{w, other} {
			x.credit(l, 1, 100*l.least)
			x.mustWithdraw(l, 1, uint64(10+i)*l.least)
			x.settle()
			x.mine(l.network, 1)
		}
		w.vault = other.vault
		w.open()
		id := w.mustWithdraw(l, 1, 5*l.least)
		w.settle()
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletProcessing, false)
	})
}

// TestOddEntries has the signer answer with entries that no journal takes: the network signs nothing more, reads
// blocks, and goes on once the answers are right.
func TestOddEntries(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		for name, spoil := range map[string]func(*signer.Signed){
			"no bytes":       func(s *signer.Signed) { s.Raw = nil },
			"other bytes":    func(s *signer.Signed) { s.Raw = []byte("bytes") },
			"another hash":   func(s *signer.Signed) { s.Hash[0]++ },
			"no hash":        func(s *signer.Signed) { s.Hash = chain.Hash{} },
			"no chain":       func(s *signer.Signed) { s.Chain = chain.Hash{} },
			"another number": func(s *signer.Signed) { s.Record += 2 },
		} {
			id := w.mustWithdraw(l, 1, 5*l.least)
			w.spoil = spoil
			w.settle()
			tx := w.pay(l, 2, 2*l.least)
			w.mine(l.network, int(l.confirms)+1)
			w.wants(id, bourse.WalletProcessing, false)
			if d := w.deposit(tx, 0); d.Status != bourse.WalletDone {
				t.Errorf("%s: a deposit meanwhile: %+v", name, d)
			}
			w.spoil = nil
			w.settle()
			w.mine(l.network, 1)
			w.wants(id, bourse.WalletDone, true)
		}
		w.finish()
	})
}

// TestRefusedBySigner goes on with an older journal, and with a signer that refuses it until an operator has adopted it.
// Meanwhile no block is read, so that what the lost part of the journal paid is known before a block shows it.
func TestRefusedBySigner(t *testing.T) {
	for _, refusal := range []error{signer.ErrAdopt, signer.ErrKeys, signer.ErrExchange} {
		each(t, func(t *testing.T, w *world, l *listing) {
			w.credit(l, 1, 100*l.least)
			id := w.mustWithdraw(l, 1, 10*l.least)
			backup := 0
			w.when("after a signature", func() { backup = len(w.journal) })
			w.settle()
			w.mine(l.network, 1)
			w.wants(id, bourse.WalletDone, true)

			w.journal, w.times = w.journal[:backup], w.times[:backup]
			w.replay()
			w.open()
			before := w.board.State(l.network)
			w.apart = refusal
			w.mine(l.network, 2)
			h := w.network(l.network).worker.Health()
			if got := w.board.State(l.network); got != before || h.Operating || h.Reason != refusal.Error() {
				t.Fatalf("%+v, %+v", got, h)
			}
			w.apart = nil
			w.mine(l.network, 1)
			w.wants(id, bourse.WalletDone, true)
			if s := w.board.State(l.network); s.Stopped() {
				t.Fatalf("%+v", s)
			}
			w.finish()
		})
	}
}

// TestAwayAfterARestore goes on with an older journal while the signer is away. The block with what it signed looks like a
// theft and halts the network; its record makes it a payment, and nothing more is signed for that withdrawal.
func TestAwayAfterARestore(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		backup := 0
		w.when("after a signature", func() { backup = len(w.journal) })
		w.settle()
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)

		w.journal, w.times = w.journal[:backup], w.times[:backup]
		w.replay()
		w.open()
		w.apart = errors.New("it is away")
		w.mine(l.network, 1)
		if s := w.board.State(l.network); s.Halted != bourse.HaltStrangeSpend {
			t.Fatalf("%+v", s)
		}
		w.apart = nil
		w.settle()
		w.wants(id, bourse.WalletDone, true)
		asked := w.asked
		w.pause(l.network, false)
		w.mine(l.network, 1)
		if w.asked != asked {
			t.Errorf("the signer was asked %d times more", w.asked-asked)
		}
		late := w.mustWithdraw(l, 1, 5*l.least)
		w.mine(l.network, 2)
		w.wants(late, bourse.WalletDone, true)
		w.finish()
	})
}

// TestAwayForLong goes on with an older journal while the signer is away for more blocks than are remembered. The network
// reads none beyond the one with a payment that the journal does not know, whatever operators do and however often the
// process starts, so that the payment is known as one once the record tells of it.
func TestAwayForLong(t *testing.T) {
	const remembered = 1000
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		backup := 0
		w.when("after a signature", func() { backup = len(w.journal) })
		w.settle()
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)

		w.journal, w.times = w.journal[:backup], w.times[:backup]
		w.replay()
		w.open()
		w.apart = errors.New("it is away")
		w.settle()
		w.restart()
		w.settle()
		w.pause(l.network, false)
		n := w.network(l.network)
		if _, err := n.node.Mine(remembered + 1); err != nil {
			t.Fatal(err)
		}
		w.settle()
		if h := n.worker.Health(); h.Operating || !n.worker.AwaitsRecord() || w.board.State(l.network).Tip == n.node.Head() {
			t.Errorf("after the halt: %+v", h)
		}

		w.apart = nil
		w.settle()
		w.wants(id, bourse.WalletDone, true)
		if n.worker.AwaitsRecord() {
			t.Error("the record was heard")
		}
		w.pause(l.network, false)
		late := w.mustWithdraw(l, 1, 5*l.least)
		w.mine(l.network, 2)
		w.wants(late, bourse.WalletDone, true)
		w.finish()
	})
}
